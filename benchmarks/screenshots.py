"""Screenshots of docs/web.md: the sample corpus, the default model, a headless Chromium."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, Page, sync_playwright

HOME = Path(__file__).parents[1]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
PROVIDER = "#/ask?q=" + quote("what happens if we change the OAuth provider?")
REDIS = "#/ask?q=" + quote("Why were sessions moved out of Redis?")


@contextmanager
def serving() -> Iterator[str]:
    """Index the sample corpus and yield the address of a server for it."""
    with tempfile.TemporaryDirectory() as folder:
        weft = [sys.executable, "-m", "weft", "--db", f"{folder}/weft.db"]
        subprocess.run([*weft, "index", str(HOME / "examples" / "corpus"), "-q"], check=True)
        server = subprocess.Popen(
            [*weft, "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        try:
            assert server.stdout is not None
            line = next(line for line in server.stdout if "http://" in line)
            yield line[line.index("http://") :].split()[0] + "/"
        finally:
            server.terminate()
            server.wait(30)


def settled(page: Page) -> None:
    """Wait until the graph stops moving."""
    page.wait_for_timeout(500)
    page.wait_for_selector(".graph[data-settled]")


def shoot(browser: Browser, url: str, out: Path) -> None:
    """Write the screenshots."""
    page = browser.new_page(viewport={"width": 1280, "height": 860})
    page.goto(url + PROVIDER)
    settled(page)
    page.screenshot(path=out / "web-light.png")
    page.click(".evidence li:nth-child(5) .why")
    page.evaluate("document.querySelector('.evidence li:nth-child(5)').scrollIntoView()")
    page.screenshot(path=out / "web-why.png")
    page.evaluate("scrollTo(0, 0)")
    page.click("[data-name='Auth Service'] circle")
    settled(page)
    page.click("text=Enlarge")
    settled(page)
    page.mouse.move(5, 5)
    page.screenshot(path=out / "web-graph.png")
    page.goto(url + "#/graph")
    page.wait_for_selector("[data-arranged]")
    page.wait_for_timeout(500)
    page.screenshot(path=out / "web-explorer.png")
    page.close()
    dark = browser.new_page(viewport={"width": 1280, "height": 860}, color_scheme="dark")
    dark.goto(url + REDIS)
    settled(dark)
    dark.screenshot(path=out / "web-dark.png")
    phone = browser.new_page(viewport={"width": 390, "height": 844}, device_scale_factor=2)
    phone.goto(url + REDIS)
    settled(phone)
    phone.screenshot(path=out / "web-phone.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HOME / "docs", help="where they go")
    parser.add_argument("--chromium", default=shutil.which("chromium") or "chromium")
    given = parser.parse_args()
    with serving() as url, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=given.chromium, args=FLAGS)
        shoot(browser, url, given.out)
        browser.close()
    if squeeze := shutil.which("pngquant"):
        for path in sorted(given.out.glob("web-*.png")):
            subprocess.run([squeeze, "--force", "--quality", "85-100", "--output", path, path], check=True)


if __name__ == "__main__":
    main()
