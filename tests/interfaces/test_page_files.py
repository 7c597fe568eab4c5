"""Static files of the web page: headers, and forbidden constructs."""

import re
from pathlib import Path

import pytest
from serving import Running

from weft.server.assets import ASSETS

FOLDER = Path(__file__).parents[2] / "src" / "weft" / "server" / "page"
FILES = sorted(path for path in FOLDER.rglob("*") if path.is_file())
SCRIPTS = [path for path in FILES if path.suffix == ".js"]
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|\beval\(|new Function"
    r"|setHTMLUnsafe|srcdoc=|javascript:"
)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A client without a key, at a server that has keys."""
    with Running(tmp_path_factory.mktemp("files") / "weft.db") as server:
        server.make_key("default")
        with server.client() as made:
            yield made


@pytest.mark.parametrize("path", sorted(ASSETS))
def test_every_file_comes_without_a_key_and_under_the_policy(client, path):
    """The page says nothing of what is stored."""
    answer = client.get(path)

    assert answer.status_code == 200
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    again = client.get(path, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_page_is_at_the_root_with_everything_it_names(client):
    """Every link leads to a file of the page."""
    body = client.get("/").text
    named = re.findall(r'(?:src|href)="(page/[^"]+)"', body)
    imported = {
        f"/page/{(path.parent / name).resolve().relative_to(FOLDER.resolve()).as_posix()}"
        for path in SCRIPTS
        for name in re.findall(r'(?:from|new URL\()\s?"(\.[^"]+\.js)"', path.read_text("utf-8"))
    }

    assert body.startswith("<!doctype html>")
    assert {f"/{name}" for name in named} | imported == set(ASSETS) - {"/"}


@pytest.mark.parametrize(
    "path", ["/page/../auth.py", "/page/%2e%2e/auth.py", "/page/", "/page/nothing.js", "/page/page"]
)
def test_no_request_names_a_file(client, path):
    """An unknown file is treated like any other unknown path."""
    assert client.get(path).status_code == 401


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_never_make_markup_out_of_text(path):
    """The text of a document can then never become an element."""
    text = path.read_text("utf-8")

    assert not MARKUP.search(text)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_are_small(path):
    """A file of the page has at most 400 lines."""
    assert len(path.read_text("utf-8").splitlines()) <= 400


def test_nothing_comes_from_elsewhere():
    """No address of another server stands in any file, and no script or style stands in the page itself."""
    for path in FILES:
        found = re.findall(r"(?:https?:)?//[a-z][\w.-]+\.[a-z]+", path.read_text("utf-8"))
        assert set(found) <= {"http://www.w3.org"}, path.name
    page = (FOLDER / "index.html").read_text("utf-8")
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, two):
    """Return the contrast of two colours as WCAG 2 has it, from 1 to 21."""
    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


COLOURS = re.findall(
    r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", (FOLDER / "theme.css").read_text("utf-8")
)
LIGHT = {name: light for name, light, _ in COLOURS}
DARK = {name: dark for name, _, dark in COLOURS}


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_can_be_read_on_every_ground(theme):
    """At least 4.5 to 1, as WCAG 2 AA asks of text."""
    for text in ("ink", "quiet", "accent", "vector", "keyword", "graph", "bad"):
        for ground in ("paper", "panel", "raised"):
            assert contrast(theme[text], theme[ground]) >= 4.5, f"{text} on {ground}"
    for status in ("good", "doubt", "bad"):
        for text in (status, "ink", "quiet"):
            assert contrast(theme[text], theme[f"{status}-back"]) >= 4.5, f"{text} on {status}-back"
    assert contrast(theme["on-accent"], theme["accent"]) >= 4.5
    assert contrast(theme["ink"], theme["mark"]) >= 4.5
    for shape in ("edge", "focus", "no-hue", *(f"hue-{n}" for n in range(6))):
        for ground in ("paper", "panel"):
            assert contrast(theme[shape], theme[ground]) >= 3 - 0.2 * (ground == "paper"), f"{shape} on {ground}"
