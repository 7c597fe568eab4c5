"""HTML."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loading import Load, check_document, only_document, only_reason

from weft.config import LoadOptions
from weft.load.file_reader import LoadError
from weft.load.formats.html import load_html
from weft.records import Document, Skipped

TAGS = "h1 p ul ol li table tr td th pre code br div b nav script"
FRAGMENTS = [
    *(f"<{tag}>" for tag in TAGS.split()),
    *(f"</{tag}>" for tag in TAGS.split()),
    "words",
    "# &amp; \x85\u2028",
    "<img alt='x'>",
    "<!--",
    "&#0;&#xd800;",
]

PAGE = """<!DOCTYPE html>
<html><head>
<title> The
 handbook </title>
<meta name="Description" content="How we work">
<meta name="keywords" content="a, b ,">
<style>p { color: red }</style>
</head>
<body>
<nav><a href="/">Home</a></nav>
<h1>Welcome</h1>
<p>First <b>bold</b>
 words<script>alert(1)</script> and <code>x = 1</code>.</p>
<!-- a
comment -->
<h2>List</h2>
<ul>
  <li>one
    <ul><li>inner</li></ul>
  </li>
  <li><p>two</p></li>
</ul>
<table>
<tr><th>name</th><th>owner</th></tr>
<tr><td><p>auth</p></td><td>Identity<br>team</td></tr>
</table>
<pre>
def f():
    return 1
</pre>
tail
</body></html>
"""


def read(load: Load, path: Path, data: str | bytes) -> Document:
    """Write a page and return the document it becomes."""
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return only_document(load(path))


def test_the_structure_of_a_page_becomes_markdown(load: Load, tmp_path: Path) -> None:
    """Headings, lists, tables and code are kept; scripts and navigation are removed."""
    document = read(load, tmp_path / "a.html", PAGE)

    assert document.text == (
        "# Welcome\n\n"
        "First bold words and `x = 1`.\n\n"
        "## List\n\n"
        "- one\n  - inner\n- two\n\n"
        "| name: auth | owner: Identity team |\n\n"
        "```\ndef f():\n    return 1\n```\n\n"
        "tail"
    )
    assert (document.title, document.form) == ("The handbook", "markdown")
    assert document.metadata == {"description": "How we work", "keywords": ["a", "b"]}


def test_each_line_knows_where_it_stands_in_the_page(load: Load, tmp_path: Path) -> None:
    """Citations of a page point into its source."""
    document = read(load, tmp_path / "a.html", PAGE)

    places = dict(zip(document.text.split("\n"), document.lines or (), strict=True))
    source = PAGE.split("\n")
    for line, marker in [
        ("# Welcome", "<h1>"),
        ("First bold words and `x = 1`.", "<p>First"),
        ("## List", "<h2>"),
        ("- one", "<li>one"),
        ("  - inner", "inner"),
        ("- two", "two"),
        ("| name: auth | owner: Identity team |", "auth"),
        ("def f():", "def f"),
        ("    return 1", "return 1"),
        ("tail", "tail"),
    ]:
        assert marker in source[places[line] - 1], line


def test_lines_are_counted_beyond_the_limit_of_libxml2(load: Load, tmp_path: Path) -> None:
    """It stops counting at 65535."""
    document = read(load, tmp_path / "a.html", "<p>top</p>" + "\n" * 70_000 + "<p>low</p>\n<p>end</p>")

    assert document.text == "top\n\nlow\n\nend"
    assert list(document.lines or ())[::2] == [1, 70_001, 70_002]


@pytest.mark.parametrize(
    "data",
    [
        '<meta charset="gb2312"><p>数据库服务</p>'.encode("gb18030"),
        '<meta http-equiv="Content-Type" content="text/html; charset=gbk"><p>数据库服务</p>'.encode("gbk"),
        '<?xml version="1.0" encoding="shift_jis"?><html><p>数据库服务</p></html>'.replace(
            "数据库服务", "日本語"
        ).encode("shift_jis"),
        "<p>数据库服务</p>".encode(),
        "<p>数据库服务由平台团队负责</p>".encode("gb18030"),
        '<meta charset="latin-1"><p>数据库服务</p>'.encode("utf-16"),
        '<meta charset="nonsense"><p>数据库服务</p>'.encode(),
        '<meta charset="base64"><p>数据库服务</p>'.encode(),
    ],
)
def test_the_charset_is_the_mark_then_the_declared_then_a_guess(load: Load, tmp_path: Path, data: bytes) -> None:
    """Pages lie about their charset in every way; a missing one is no reason for garbled words."""
    text = read(load, tmp_path / "a.html", data).text

    assert text.startswith("数据库服务") or text == "日本語"


def test_a_page_nested_a_hundred_thousand_deep_is_read(load: Load, tmp_path: Path) -> None:
    """The words at the bottom and those after it are both there."""
    start = time.process_time()
    deep = "<div>" * 100_000 + "<h2>deep</h2>words" + "</div>" * 100_000 + "<p>after</p>"
    document = read(load, tmp_path / "a.html", deep)

    assert document.text == "## deep\n\nwords\n\nafter"
    assert time.process_time() - start < 60


def test_lists_nested_without_end_are_skipped(load: Load, tmp_path: Path) -> None:
    """A page that is nested too deeply is skipped as a whole."""
    (tmp_path / "a.html").write_text("<ul><li>x" * 50_000)

    assert only_reason(load()) == "broken"


def test_words_that_look_like_markdown_are_not_structure(load: Load, tmp_path: Path) -> None:
    """A paragraph with a hash is no heading, and code with a fence does not end early."""
    document = read(load, tmp_path / "a.html", "<p># no</p><p>```</p><pre>```\nx\n```</pre>")

    assert document.text == "\\# no\n\n\\```\n\n````\n```\nx\n```\n````"


def test_layout_tables_keep_their_headings(load: Load, tmp_path: Path) -> None:
    """Old pages and mails put whole articles into a cell, and tables into that."""
    page = (
        "<table><tr><td><h1>Title</h1><p>one</p><p>two</p>"
        "<table><tr><td>a</td><td>b</td></tr></table>rest</td><td>side</td></tr></table>"
    )
    document = read(load, tmp_path / "a.html", page)

    assert document.text == "# Title\n\none\n\ntwo\n\n| a | b |\n\nrest\n\nside"
    assert document.title == "Title"


@pytest.mark.parametrize(
    "table, text",
    [
        ("<tr><th>name<th>owner</tr><tr><td>a<td>b</tr>", "| name: a | owner: b |"),
        ("<thead><tr><th>name<th>owner</tr></thead>", "| name | owner |"),
        ("<tr><td>a<td>b</tr><tr><td>c<td>d</tr>", "| a | b |\n| c | d |"),
        ("<tr><th>port<td>80</tr><tr><th>host<td>a</tr>", "| port | 80 |\n| host | a |"),
        (
            "<tr><th rowspan=2>name<th colspan=2>size</tr><tr><th>w<th>h</tr><tr><td>a<td>1<td>2</tr>",
            "| name: a | size w: 1 | size h: 2 |",
        ),
        (
            "<tr><th>team<th>who</tr><tr><td rowspan=2>Core<td>Ann</tr><tr><td>Bob</tr><tr><td colspan=2>all</tr>",
            "| team: Core | who: Ann |\n| team: Core | who: Bob |\nteam: all",
        ),
        ("<tr><th>a<th>b</tr><tr><td rowspan=99999999999 colspan=-1>x<td>y</tr>", "| a: x | b: y |"),
        (
            "<tr><td>a<table><tr><th>n<th>m</tr><tr><td>1<td>2</tr></table></td><td>b</td></tr>",
            "a\n\n| n: 1 | m: 2 |\n\nb",
        ),
    ],
)
def test_rows_of_a_table_repeat_its_header(load: Load, tmp_path: Path, table: str, text: str) -> None:
    """A row in the middle of a long table is understood alone; merged cells keep the columns in place."""
    assert read(load, tmp_path / "a.html", f"<table>{table}</table>").text == text


def test_many_empty_elements_take_no_time(load: Load, tmp_path: Path) -> None:
    """Reading is linear, whatever fills a paragraph or a cell."""
    start = time.process_time()
    blanks = "<b> </b><p></p>" * 25_000
    document = read(load, tmp_path / "a.html", f"<p>{blanks}</p><table><tr><td>{blanks}x</td></tr></table>")

    assert document.text == "x"
    assert time.process_time() - start < 15


@pytest.mark.parametrize("attribute", ["a{} ", 'a{}=">" ', "/=a{}", "a{}='<b>'"])
def test_an_element_with_endless_attributes_is_refused(load: Load, tmp_path: Path, attribute: str) -> None:
    """The parser compares each of them with all others."""
    many = "".join(attribute.format(n) for n in range(300_000))
    (tmp_path / "a.html").write_text(f"<p>words</p><p {many}>more</p>")

    assert only_reason(load()) == "broken"


def test_code_in_a_page_is_not_taken_for_attributes(load: Load, tmp_path: Path) -> None:
    """Only tags that the parser recognises count."""
    code = "if (i <n) { x = 'a b' } " * 3000
    page = f"<script>{code}</script><style>a <b {code}</style><p title='{'a=b ' * 3000}'>words</p>"

    assert read(load, tmp_path / "a.html", page).text == "words"
    assert read(load, tmp_path / "a.html", "<p>words</p>" + "<script>" * 200_000).text == "words"


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=30))
def test_any_soup_of_tags_is_read(fragments: list[str]) -> None:
    """However tags are mixed up, the words come out, each line with a number."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.html"
        path.write_text("<body>" + "\n".join([*fragments, "</pre></table>last words"]), encoding="utf-8")
        try:
            (document,) = load_html(path, source="a.html", options=LoadOptions())
        except LoadError as error:
            assert error.reason == "no text"
        else:
            check_document(document)


def test_hidden_words_are_left_out(load: Load, tmp_path: Path) -> None:
    """Invisible text is not evidence."""
    document = read(load, tmp_path / "a.xhtml", '<p>seen<span aria-hidden="true">¶</span> too</p><p hidden>no</p>')

    assert document.text == "seen too"


def test_pages_without_words_are_skipped(load: Load, tmp_path: Path) -> None:
    """Files that only have the extension of a page are skipped too."""
    (tmp_path / "a.html").write_text("<script>1</script>")
    (tmp_path / "b.html").write_text("<!-- -->")
    (tmp_path / "c.html").write_bytes(b"\x00\x01\x02\x03" * 20)

    assert {getattr(item, "reason", "") for item in load()} == {"no text"}


def test_without_lxml_the_page_is_skipped_with_the_command(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user learns what to install, and the run goes on."""
    monkeypatch.setitem(sys.modules, "lxml", None)
    (tmp_path / "a.html").write_text("<p>x</p>")
    (tmp_path / "b.txt").write_text("words")

    first, second = load()

    assert isinstance(first, Skipped) and first.reason == "missing extra"
    assert "pip install 'weft-search[html]'" in first.detail
    assert isinstance(second, Document)
