"""Markdown: front matter, titles, wikilinks and line numbers."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loading import Load, only_document

from weft.load.file_reader import LoadError
from weft.load.formats.markdown import parse_markdown
from weft.records import Document
from weft.text.structure import markdown_sections


def parse(text: str) -> Document:
    """Return the document of a Markdown text called `note`."""
    return parse_markdown(text, source="note.md", name="note")


def test_front_matter_becomes_metadata(load: Load, tmp_path: Path) -> None:
    """Dates become text, nested values JSON, and the text begins beneath with its true line numbers."""
    (tmp_path / "a.md").write_text(
        "---\r\ntitle: Auth\r\ntags: [a, 2]\r\nday: 2024-05-06\r\nowner: {team: Identity}\r\n---\r\n\r\n# Other\r\n"
    )

    (document,) = load()

    assert isinstance(document, Document)
    assert document.title == "Auth"
    assert document.metadata == {"tags": ["a", 2], "day": "2024-05-06", "owner": '{"team": "Identity"}'}
    assert document.text == "\n# Other"
    assert list(document.lines or ()) == [7, 8]
    assert document.form == "markdown"


@pytest.mark.parametrize(
    "head",
    ["---\na: [\n---\n", "---\njust words\n---\n", "---\nday: 2024-99-99\n---\n", "---\na: b\n", "--- \na\n"],
)
def test_bad_front_matter_stays_in_the_text(head: str) -> None:
    """Invalid front matter is text, and no line is lost."""
    document = parse(head + "\nwords")

    assert document.text == head + "\nwords"
    assert document.metadata == {}
    assert document.lines is None


@pytest.mark.parametrize("end", ["\n", "---\n", "---\n\n"])
def test_front_matter_may_begin_with_the_title(end: str) -> None:
    """Hexo leaves the first `---` out, Pelican and MultiMarkdown both."""
    document = parse("Title: Install: the parts\ntype: guide\nTags: a,\n  b\n" + end + "Words of the guide.")

    assert (document.title, document.metadata) == ("Install: the parts", {"type": "guide", "tags": "a, b"})
    assert document.text.strip() == "Words of the guide."
    assert list(document.lines or ())[-1] == 5 + end.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "Title: the name of a page\nstands on its first line.\n\nMore.",
        "title: alone",
        "Note: not a title\nby: me\n\nMore.",
        "title:\nby: me\n\nMore.",
    ],
)
def test_prose_with_a_colon_is_no_front_matter(text: str) -> None:
    """Every line needs a field, and the first one is the title."""
    document = parse(text)

    assert (document.title, document.text, document.metadata) == ("note", text, {})


def test_a_bare_front_matter_alone_is_its_text() -> None:
    """Otherwise it could not be found."""
    assert parse("title: A\nowner: Ada\n\n").text == "title: A\nowner: Ada"


def test_a_colon_inside_a_value_needs_no_quotes() -> None:
    """YAML wants them, and people leave them out of titles."""
    document = parse('---\ntitle: Redis: the "good" parts\nby: A: B\ntags: [a]\n---\nwords')

    assert (document.title, document.text) == ('Redis: the "good" parts', "words")
    assert document.metadata == {"by": "A: B", "tags": ["a"]}


def test_front_matter_that_refers_to_itself_is_left_alone() -> None:
    """YAML aliases can double a value thirty times over in thirty lines."""
    bomb = "\n".join(["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))])

    assert parse(f"---\n{bomb}\n---\nwords").metadata == {}


def test_front_matter_nested_without_end_is_left_alone() -> None:
    """The YAML parser calls itself for every bracket."""

    assert parse("---\na: " + "[" * 20_000 + "\n---\nwords").metadata == {}


@pytest.mark.parametrize(
    "value",
    ['!!int ""', '!!float ""', "!!bool x", '!!timestamp "x"', "!!omap [1]", "!!set [1]", "!!binary é"],
)
def test_values_that_are_not_what_their_tag_says_are_left_alone(value: str) -> None:
    """The YAML parser lets through whatever its own converters stumble over."""
    head = f"---\na: {value}\n---\n"

    assert parse(head + "words").text == head + "words"


@pytest.mark.parametrize("field", ["title", "key", "? 0xHUGE"])
def test_a_number_too_long_to_print_is_borne(field: str) -> None:
    """Python refuses to print whole numbers of more than 4,300 digits."""
    huge = "f" * 5000

    assert parse(f"---\n{field}: 0x{huge}\n---\nwords".replace("HUGE", huge)).text.endswith("words")


def test_a_set_reads_the_same_in_every_process() -> None:
    """The order that Python gives its members changes, and with it the document would."""
    members = ", ".join(f"member {n}" for n in range(50))

    shown = parse(f"---\na: !!set {{{members}}}\n---\nwords").metadata["a"]

    assert shown == json.dumps(sorted(members.split(", ")))


def test_odd_values_in_front_matter_stay_storable() -> None:
    """Keys become text, and numbers that JSON cannot hold too."""
    document = parse("---\n1: one\nnull: two\nbig: 123456789012345678901234567890\nx: .nan\nb: !!binary aGk=\n---\nw")

    assert document.metadata == {
        "1": "one",
        "None": "two",
        "big": "123456789012345678901234567890",
        "x": "nan",
        "b": "\"b'hi'\"",
    }


@given(st.text(alphabet="ab:-[]{}&*!|>#'\"\n 01.~?,=<%@`\t", max_size=60))
def test_no_front_matter_makes_it_fail(head: str) -> None:
    """Any text between the marks leaves the body readable."""

    assert parse(f"---\n{head}\n---\nwords beneath").text.endswith("words beneath")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("intro\n\n# Real title #\n", "Real title"),
        ("Set\n===\n\ntext", "Set"),
        ("```\n# comment\n```\n\n# After", "After"),
        ("~~~~\n# one\n~~~\n# two\n~~~~\n# Three", "Three"),
        ("## Second only", "note"),
        ("#hashtag", "note"),
        ("---\ntitle: 2024\n---\n# x", "2024"),
        ("---\ntitle:\n---\n# x", "x"),
    ],
)
def test_the_title_is_the_first_heading(text: str, title: str) -> None:
    """Front matter wins over headings, and a comment in code is no heading."""

    assert parse(text).title == title


def test_a_title_holds_no_control_characters(load: Load, tmp_path: Path) -> None:
    """YAML can write them; not every store can keep them."""
    (tmp_path / "a.md").write_text('---\ntitle: "be\\0fore \\x07after"\ntag: "a\\0b"\n---\ntext\n')
    (document,) = load()

    assert document.title == "before after"
    assert document.metadata["tag"] == "ab"


def test_wikilinks_are_listed_once_in_order() -> None:
    """Labels and sections are cut off, code is not looked into, and the text keeps its links."""
    text = (
        "[[Billing|the billing]] [[Auth#Login]] [[Auth]] ![[Plan]] [[#here]] `[[no]]` `` a ` [[no]] ``\n"
        "```\n[[no]]\n```\n| [[Table\\|label]] |\n[[C#]] [[C++#Types]] `open [[Yes]]"
    )
    document = parse(text)

    assert document.metadata["links"] == ["Billing", "Auth", "Plan", "Table", "C#", "C++", "Yes"]
    assert document.text == text


def test_a_long_line_of_brackets_takes_no_time() -> None:
    """Looking for links is linear, even where nothing ever closes."""
    start = time.process_time()

    assert "links" not in parse("[[a `" * 50_000 + " ``" * 1000).metadata
    assert time.process_time() - start < 8


def test_a_note_of_front_matter_alone_is_its_text() -> None:
    """Otherwise the front matter could not be found."""
    document = parse("---\ntitle: Router\nserial: QX-4471\n---\n\n")

    assert (document.title, document.text) == ("Router", "title: Router\nserial: QX-4471")
    assert document.metadata == {"serial": "QX-4471"}
    assert list(document.lines or ()) == [2, 3]


def test_nothing_beneath_the_front_matter_is_empty() -> None:
    """A note with only a title is skipped as empty."""

    with pytest.raises(LoadError) as caught:
        parse("---\ntitle: x\n---\n")
    assert caught.value.reason == "empty"


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("Slots {#slots}", "Slots"),
        ("Slots {.wide #slots}", "Slots"),
        ("f {x}", "f {x}"),
        ("Slots { .wide #slots }", "Slots"),
    ],
)
def test_attribute_blocks_are_no_part_of_titles_and_headings(heading: str, title: str) -> None:
    """The lines of the text keep them."""
    document = parse_markdown(f"# {heading}\n\nText.\n\n## {heading}\n\nMore text.\n", source="a.md", name="a")
    sections = markdown_sections(document.text, title="")

    assert document.title == title
    assert sections[-1].heading[-1] == title
    assert heading in document.text


def test_components_of_mdx_are_removed_and_lines_stay(load: Load, tmp_path: Path) -> None:
    """Imports and tags are not text; titles of components and code are."""
    text = (
        "import Tabs from 'x'\nexport const a = {\n  b: 1,\n}\n\n# Install\n\n<Tabs groupId=\"os\">\n<Card\n"
        '  title="Linux"\n  icon={x}\n>\nRead <Link to="/x">this</Link>.{/* hidden */}\n'
        '</Card>\n```jsx\n<Tabs a="b">\n```'
    )
    (tmp_path / "a.mdx").write_text(text)
    document = only_document(load())

    lines = document.text.split("\n")
    assert [line for line in lines if line] == [
        "# Install", "Linux", "Read this.", "```jsx", '<Tabs a="b">', "```",
    ]  # fmt: skip
    assert lines[12] == "Read this." and text.split("\n")[12].startswith("Read")
