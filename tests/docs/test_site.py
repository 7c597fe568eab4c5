"""Documentation site: it builds strictly, without network, and has the pages generated from code."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from browsing import MAX_WAIT_MS, running_browser

HOME = Path(__file__).parents[2]
OTHER_HOST = re.compile(
    r"""<(?:script|img|iframe|link(?![^>]*rel="canonical"))\b[^>]{0,500}\b(?:src|href)="(?:https?:)?//[^"]+"""
)
"""A file that a browser would load from another host while it shows a page."""


PAGES = ["index.html", "python.html", "performance.html"]
"""Pages with pictures, code, wide tables and links in text."""

MAX_BLOCKS = 25
"""Blocks of a page that are checked: the page of Python repeats the same elements a hundred times."""

CUT = """blocks => {
    for (const all of ['article > *', '.md-nav--secondary li'])
        for (const rest of [...document.querySelectorAll(all)].slice(blocks)) rest.remove();
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site; a missing page, a dead link or anchor, or a page outside the navigation ends the build."""
    tmp_path = tmp_path_factory.mktemp("site")
    pytest.importorskip("material", reason="mkdocs-material is missing: pip install '.[docs]'")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)],
        cwd=HOME,
        env={
            **os.environ,
            "NO_MKDOCS_2_WARNING": "1",
            "PYTHONPATH": str(HOME / "src"),
            "https_proxy": "http://127.0.0.1:9",
        },
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert done.returncode == 0, done.stderr
    return tmp_path


def test_the_site_has_the_pages_from_code_and_asks_no_other_host(site):
    """Pages made from code are there; search prefers guides to decisions."""
    assert "Help: weft index" in (site / "cli.html").read_text("utf-8")
    assert "POST /query" in (site / "http.html").read_text("utf-8")
    python = (site / "python.html").read_text("utf-8")
    assert "Engine.memory_search" in python and "source_prefix" in python
    assert " at 0x" not in python
    assert "search.top_k" in (site / "configuration.html").read_text("utf-8")
    assert not (site / "reference").exists()
    home = (site / "index.html").read_text("utf-8")
    assert home.index("pip install") < home.index("weft query") and "make demo" not in home
    pages = list(site.rglob("*.html"))
    assert len(pages) > 50
    assert not [(page.name, found) for page in pages for found in OTHER_HOST.findall(page.read_text("utf-8"))]
    weights = {
        entry["location"].partition("#")[0]: entry.get("boost", 1.0)
        for entry in json.loads((site / "search" / "search_index.json").read_text("utf-8"))["docs"]
    }
    assert weights["decisions/0018-postgresql.html"] < weights["postgres.html"] < weights["guides/notes.html"]


@pytest.fixture(scope="module")
def browser():
    """Give one headless Chromium to all tests."""
    with running_browser() as made:
        yield made


@pytest.mark.browser
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_pages_of_the_site_pass_axe(site, browser, scheme, width):
    """The colours and controls of the theme are repaired by `docs/assets/site.css` and `site.js`."""
    axe = pytest.importorskip("axe_playwright_python", reason="pip install axe-playwright-python")
    page = browser.new_page(viewport={"width": width, "height": 860}, color_scheme=scheme)
    page.set_default_timeout(MAX_WAIT_MS)
    for name in PAGES:
        page.goto((site / name).as_uri())
        page.evaluate(CUT, MAX_BLOCKS)
        page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text("utf-8"))
        found = page.evaluate("axe.run({resultTypes: ['violations']}).then(found => found.violations)")
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found] == [], name
    page.close()
