"""Headless Chromium, if it is installed."""

import shutil
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()

MAX_WAIT_MS = 120_000
"""Ends a page that hangs. A busy machine takes more than the half minute of Playwright's default."""

SHOWN = "#main > [aria-busy=false]"


@contextmanager
def running_browser():
    """Give a browser, or skip and say how to get one."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: pip install playwright")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("no Chromium was found: apt-get install -y chromium")
    with sync_api.sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=path, args=FLAGS, timeout=MAX_WAIT_MS)
        yield made
        made.close()


@contextmanager
def opened(browser, url, *, width=1200, height=900, scheme="light", path=""):
    """Give a page at an address; in the end nothing may have gone wrong in it, and nothing been kept from running."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    context.set_default_timeout(MAX_WAIT_MS)
    page = context.new_page()
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
    page.add_init_script(
        "window.violations = []; addEventListener('securitypolicyviolation', e => violations.push(e.violatedDirective))"
    )
    page.goto(url + path)
    yield page
    assert wrong == []
    assert page.evaluate("window.violations") == []
    context.close()


def ask(page, question):
    """Type a question and wait for the answer."""
    page.get_by_role("searchbox", name="Question").fill(question)
    page.keyboard.press("Enter")
    page.wait_for_selector(".verdict")
    page.wait_for_selector(SHOWN)


def show(page, address):
    """Go to another view of the same page and wait until all of it is there."""
    page.evaluate(
        """address => { document.querySelector('#main > *')?.removeAttribute('aria-busy');
        if (location.href === new URL(address, location).href) dispatchEvent(new HashChangeEvent('hashchange'));
        else location.href = address; }""",
        address,
    )
    page.wait_for_selector(SHOWN)
