"""Screenshots of docs/web.md: the sample corpus, the default model, a headless Chromium."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from harness import make_parser
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from weft import open_engine
from weft.load.conversations.turns import Conversation, Message, to_document
from weft.records import to_microseconds

HOME = Path(__file__).parents[1]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
PROVIDER = "#/ask?q=" + quote("what happens if we change the OAuth provider?")
REDIS = "#/ask?q=" + quote("Why were sessions moved out of Redis?")
VIEWS = {
    "compare": "#/compare?q=" + quote("Why were sessions moved out of Redis?"),
    "entity": "#/entity?name=" + quote("Auth Service"),
    "facts": "#/facts?subject=" + quote("Auth Service"),
    "entities": "#/entities",
    "documents": "#/documents",  # the last: its search leads to the document
}
"""Views that need no preparation, by the name of their image."""
SAID = {
    "2026-03-02": ("Which port has staging?", "Staging listens on port 5433, behind the gateway."),
    "2026-03-09": ("Why did the nightly export fail?", "The disk of the export host was full; it has 200 GB now."),
}
"""Questions and answers of the timeline, by day."""
COLOURS = 256
"""Colours of an image; more do not show, and make the files larger."""


@contextmanager
def serving() -> Iterator[tuple[str, list[str]]]:
    """Index the sample corpus; yield the address of a server for it, and the command line with its store."""
    with tempfile.TemporaryDirectory() as folder:
        weft = [sys.executable, "-m", "weft", "--db", f"{folder}/weft.db"]
        # Beside the store, sources are relative, and no image shows a path of this machine.
        # A headless browser often has no Chinese font, so the Chinese part is left out.
        shutil.copytree(HOME / "examples" / "corpus", f"{folder}/corpus", ignore=shutil.ignore_patterns("zh"))
        subprocess.run([*weft, "index", f"{folder}/corpus", "-q"], check=True)
        server = subprocess.Popen(
            [*weft, "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        try:
            assert server.stdout is not None
            line = next(line for line in server.stdout if "http://" in line)
            yield line[line.index("http://") :].split()[0] + "/", weft
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
    page.locator(".about .choice", has_text="Auth Service").first.click()
    settled(page)
    page.click("text=Enlarge")
    settled(page)
    page.mouse.move(5, 5)
    page.screenshot(path=out / "web-graph.png")
    page.goto(url + "#/graph")
    page.wait_for_selector("[data-arranged]")
    page.wait_for_timeout(500)
    page.screenshot(path=out / "web-explorer.png")
    for name, address in VIEWS.items():
        page.goto(url + address)
        page.wait_for_selector("#main > [aria-busy=false]")
        page.screenshot(path=out / f"web-{name}.png")
    page.get_by_label("Search").fill("ADR-0012")
    page.get_by_role("link", name="ADR-0012").first.click()
    page.wait_for_selector(".chunks")
    page.wait_for_timeout(1000)
    page.screenshot(path=out / "web-document.png")
    page.close()
    dark = browser.new_page(viewport={"width": 1280, "height": 860}, color_scheme="dark")
    dark.goto(url + REDIS)
    settled(dark)
    dark.screenshot(path=out / "web-dark.png")
    phone = browser.new_page(viewport={"width": 390, "height": 844}, device_scale_factor=2)
    phone.goto(url + REDIS)
    settled(phone)
    phone.screenshot(path=out / "web-phone.png")


def shoot_timeline(browser: Browser, url: str, out: Path, command: list[str]) -> None:
    """Write the screenshot of the timeline, with a conversation."""
    turns = [
        Message(role=role, text=text, time=to_microseconds(datetime.fromisoformat(f"{day}T09:30:00+00:00")))
        for day, said in SAID.items()
        for role, text in zip(("user", "assistant"), said, strict=True)
    ]
    talk = Conversation(source="claude:staging", host="claude", id="staging", title="Staging and exports")
    with open_engine(command[command.index("--db") + 1]) as engine:
        engine.add([to_document(turns, talk)])
    page = browser.new_page(viewport={"width": 1280, "height": 860})
    page.goto(url + "#/timeline")
    page.wait_for_selector("section.panel h2")
    page.screenshot(path=out / "web-timeline.png")
    page.close()


def shoot_status(browser: Browser, url: str, out: Path, weft: list[str]) -> None:
    """Write the screenshot of the status view with keys; from then on the server asks for a key."""
    key = ""
    for name in (["importer", "--write"], ["dashboard"], ["owner", "--admin"]):
        key = subprocess.run([*weft, "keys", "create", *name], check=True, capture_output=True, text=True).stdout
    page = browser.new_page(viewport={"width": 1280, "height": 1240})
    page.goto(url)
    page.evaluate("key => sessionStorage.setItem('weft-key', key)", key.strip())
    page.goto(url + "#/status")
    page.reload()
    page.wait_for_selector("#keys-title")
    page.screenshot(path=out / "web-status.png")


def squeeze(path: Path) -> None:
    """Reduce the colours of an image."""
    Image.open(path).convert("RGB").quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE).save(path, optimize=True)


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--out", type=Path, default=HOME / "docs", help="where they go")
    parser.add_argument("--chromium", default=shutil.which("chromium") or "chromium")
    given = parser.parse_args()
    with serving() as (url, weft), sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=given.chromium, args=FLAGS)
        shoot(browser, url, given.out)
        shoot_timeline(browser, url, given.out, weft)
        shoot_status(browser, url, given.out, weft)
        browser.close()
    for path in sorted(given.out.glob("web-*.png")):
        squeeze(path)


if __name__ == "__main__":
    main()
