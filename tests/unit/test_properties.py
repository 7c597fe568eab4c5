"""Facts that a note states about its subject."""

import pytest

from weft.extract.properties import MAX_FACTS, MAX_VALUE_CHARACTERS, read_properties
from weft.load.formats.markdown import parse_markdown
from weft.records import Document


def read(text, **fields):
    """Return (predicate, value or [[object]]) of what a Markdown file states."""
    document = parse_markdown(text, source="a.md", name="Auth Service")
    found = read_properties(document)
    assert {(fact.subject, fact.source) for fact in found} <= {(document.title, "file")}
    return [(fact.predicate, f"[[{fact.object}]]" if fact.object else fact.value) for fact in found]


def front(*lines, body="Issues tokens."):
    return "---\n" + "".join(f"{line}\n" for line in lines) + f"---\n\n{body}\n"


def test_front_matter_states_facts():
    """Numbers and dates as they are written; lists are several facts."""
    text = front("status: live", "tier: 1", "since: 2024-05-01", "ports: [8443, 9443]", "Runs On: Linux")

    assert read(text) == [
        ("status", "live"),
        ("tier", "1"),
        ("since", "2024-05-01"),
        ("ports", "8443"),
        ("ports", "9443"),
        ("Runs On", "Linux"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "tags: [a, b]",
        "date: 2024-05-01",
        "aliases: [Auth]",
        "layout: post",
        "Updated-At: 2024-05-01",
        "_internal: x",
        "draft: true",
        "public: true",
        "owner:",
        "nested: {a: 1}",
        "description: what it is",
        "links: [B]",
    ],
)
def test_what_is_about_the_page_is_no_fact(line):
    """Layout, dates of the file, other names, switches, nested values, our own marks."""
    assert read(front(line)) == []


def test_links_and_fields_that_hold_names_lead_to_entities():
    """Several of them are several facts; a value that is no name stays literal."""
    text = front(
        'lead: "[[Grace Hopper|Grace]]"',
        'uses: "[[Redis]], [[DuckDB#Types]]"',
        "depends_on: Session Store, User Model",
        "owner: none of us so far",
        'see: "the page [[Redis]] of the docs"',
    )

    assert read(text) == [
        ("lead", "[[Grace Hopper]]"),
        ("uses", "[[Redis]]"),
        ("uses", "[[DuckDB]]"),
        ("depends_on", "[[Session Store]]"),
        ("depends_on", "[[User Model]]"),
        ("owner", "none of us so far"),
        ("see", "the page [[Redis]] of the docs"),
    ]


LISTS = {
    "items": "# Auth Service\n\n- Status: live\n- Owner: Identity Team\n\nIssues tokens.\n",
    "bold": "# Auth Service\n\n* **Status**: live\n* **Owner:** Identity Team\n",
    "lines": "# Auth Service\nStatus: live\nOwner: Identity Team\n\nIssues tokens.\n",
    "underlined": "Auth Service\n============\n\nStatus: live\nOwner: Identity Team\n",
    "definitions": "# Auth Service\n\nStatus\n: live\nOwner\n: Identity Team\n",
    "no title": "Status: live\nOwner: [Identity Team](team.md)\n",
    "code": "# Auth Service\n\n- Status: `live`\n- Owner: **Identity Team**\n",
}


@pytest.mark.parametrize("name", LISTS)
def test_lines_right_under_the_title_state_facts(name):
    """List items, lines and definition lists are read."""
    assert read(LISTS[name]) == [("Status", "live"), ("Owner", "[[Identity Team]]")]


@pytest.mark.parametrize(
    "text",
    [
        "# Auth Service\n\nNote: this is prose.\n",
        "# Auth Service\n\nRemember: this is one line.\n",
        "# Auth Service\n\nIssues tokens.\n\n- Status: live\n",
        "# Auth Service\n\n- Status: live\n- and more of it\n",
        "# Auth Service\n\nStatus: live\nand the line goes on\n",
        "# Auth Service\n\n- https://example.org: a page\n- 12:30 lunch\n",
        "# Auth Service\n\n```\nStatus: live\nOwner: x\n```\n",
        "# Auth Service\n\n: live\n",
        "# Auth Service\n\n- A whole sentence that has: a colon\n",
        "# Auth Service\n\n- Status: " + "x" * (MAX_VALUE_CHARACTERS + 1) + "\n",
    ],
)
def test_prose_states_nothing(text):
    """A single line, a list of other things, code, text further down, sentences, long values."""
    assert read(text) == []


def test_chinese_lines_are_read():
    """With the wide colon, which needs no space."""
    text = "# 支付网关\n\n- 状态：运行中\n- 负责人：[[平台组]]\n"

    assert read(text) == [("状态", "运行中"), ("负责人", "[[平台组]]")]


@pytest.mark.parametrize(
    "fields",
    [
        {"source": "a.jsonl#7"},
        {"source": "refs.bib#turing1950"},
        {"source": "a.json#x.md"},
        {"source": "a.html"},
        {"source": "a.PDF"},
        {"metadata": {"status": "live", "_id": "7"}},
        {"metadata": {"status": "live", "_import": "g.jsonl"}},
        {"form": "code"},
        {"form": "table"},
        {"title": "***"},
    ],
    ids=str,
)
def test_only_notes_state_facts(fields):
    """No records, pages, properties of files, code, tables, imports, nor what has no name."""
    made = {"source": "a.md", "title": "A", "text": "text", "form": "markdown", "metadata": {"status": "live"}}

    assert len(read_properties(Document(**made))) == 1
    assert read_properties(Document(**{**made, **fields})) == []


def test_a_document_states_a_bounded_number_of_facts():
    """Each once."""
    text = "# A\n\n" + "- Part: one\n" * 5 + "".join(f"- Part: {n}\n" for n in range(2 * MAX_FACTS))

    found = read(text)
    assert len(found) == MAX_FACTS == len(set(found))


def test_long_lines_cost_no_time():
    """Patterns are linear in what they read."""
    hostile = "# A\n\n" + "- " + "a " * 50_000 + "\n" + "- " + "[[" * 25_000 + "\n" + "- a: " + "[[x]] " * 12_000

    assert read(hostile) == []
    assert read("# A\n\n- a" + " " * 50_000 + ": b\n- " + "*" * 50_000) == []


@pytest.mark.parametrize(
    "key",
    [
        "reviewers",
        "content_type",
        "outline",
        "weight",
        "layout",
        "sidebar_label",
        "sidebarDepth",
        "hide_toc",
        "no_list",
    ],
)
def test_fields_of_the_page_are_no_facts(key):
    """They say how the page is shown and who keeps it."""
    document = Document(source="a.md", title="Pods", text="# Pods\n", form="markdown", metadata={key: "Jane Doe"})
    assert read_properties(document) == []
