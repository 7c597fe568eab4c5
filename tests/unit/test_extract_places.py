"""Statements that count only at their place: fields, links, sections, types, and names of examples."""

import pytest
from extracting import extract, names, stated_relations

from weft.extract.attributes import read_values
from weft.extract.entity_types import entity_type
from weft.extract.links.anchor_text import read_label
from weft.extract.mentions import count_mentions, find_mentions
from weft.extract.properties import read_properties
from weft.extract.rules import RuleExtractor
from weft.records import Chunk, Document
from weft.text.markdown.inline import heading_text

# ── fields ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        "```python\nclass Repo(TypedDict):\n    owner: NotRequired[str | None]\n```",
        "    owner: NotRequired[str | None]",
        "owner: NotRequired[str | None]",
        "- owner: dict[Identity, Team]",
        "We make multiple REST calls (/users/42, /orders/7), see the Gateway.",
        "The text goes on and the wrapped line begins with\nowner: Jane Doe and others",
    ],
)
def test_code_and_running_text_have_no_fields(text):
    """A field begins a block or follows another field; its value is a name, not a type."""
    extraction = extract(text)
    assert stated_relations(extraction) == []
    assert names(extraction, "metadata", "field") == []


@pytest.mark.parametrize(
    "text, targets",
    [
        ("Related: [[p|HDK]] • [[tools|Tools]]", ["tool"]),
        ("Related: [[Fundamentals]] • [[index|Entries]]", ["fundamental", "index"]),
        (
            "- **Related:** [[Design/Fundamentals|basics]], [[Entries#Old]] · [[Redis]]",
            ["fundamental", "entry", "redis"],
        ),
        ("Owner: [Identity Team](../teams/identity.md)", ["identity team"]),
        ("Owner: Identity Team, since 2020", ["identity team"]),
    ],
)
def test_links_in_a_field_are_read_before_its_separators(text, targets):
    """The bar of a wikilink separates a label, not two names."""
    extraction = extract(text)
    assert [stated.target for stated in extraction.stated_relations if stated.weight == 10] == targets
    assert not [n.name for n in extraction.candidates if "[" in n.name or "]" in n.name or "|" in n.name]


@pytest.mark.parametrize("field", ["hide", "layout", "weight", "outline", "template", "icon", "sidebar_position"])
def test_settings_of_site_tools_are_neither_facts_nor_relations(field):
    """`hide: [navigation]` tells a generator what to show."""
    metadata = {field: ["Navigation Bar"] if field == "hide" else "Deep Page", "owner": "Identity Team"}
    document = Document(source="guide.md", title="Guide", text="Text.", form="markdown", metadata=metadata)
    assert {fact.predicate for fact in read_properties(document)} == {"owner"}
    assert stated_relations(extract("Text.", title="Guide", metadata=metadata)) == [
        ("guide", "owned_by", "identity team")
    ]


# ── links ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        "[[http.services]]\n  name = 'web'",
        "{{< tab >}}\n[[http.services]]\nname = 'web'\n{{< /tab >}}",
        '[["driver", "restaurant"], is a matrix.',
        'The value [["driver", "restaurant"]] is a matrix.',
        "The array [[1, 2]] and [[0.5, -1]] have one row.",
        "- a\n  ```toml\n  [[http.services]]\n  ```",
        "Use `[[http.services]]` there.",
    ],
)
def test_brackets_of_code_are_no_wikilinks(text):
    """TOML, matrices and code spans have double brackets, too."""
    extraction = extract(text)
    assert names(extraction, "link", "definition") == []


def test_a_daily_note_is_a_wikilink():
    """Names of digits are names of pages."""
    assert names(extract("See [[2024-01-05]] and [[202401051230 Note]]."), "link") == ["202401051230 Note"]


@pytest.mark.parametrize(
    "label, path, name",
    [
        ("put their pieces together", "guide/pieces", ""),
        ("faster queries", "perf/queries", ""),
        ("queries that run faster", "perf/queries", ""),
        ("event handlers", "guide/event-handlers", "event handlers"),
        ("Event Handlers", "guide/x", "Event Handlers"),
    ],
)
def test_a_label_in_lower_case_names_its_target_only_by_the_words_of_the_path(label, path, name):
    """Other phrases are a part of their sentence."""
    assert read_label(label, target=path.split("/")) == name


@pytest.mark.parametrize(
    "text, count",
    [
        ("See [the guide](../Redis/setup.md) and <https://host/Redis/a>.", 0),
        ("See [[Redis/Setup]], [[Redis/Setup|the guide]] and [[Redis|it]].", 0),
        ('<a href="/Redis/setup">guide</a>\n[a]: /Redis/setup\n[b]: https://host/Redis', 0),
        ("See [Redis](../x/setup.md), [[x/Redis]] and Redis.", 3),
    ],
)
def test_the_path_of_a_link_mentions_nothing(text, count):
    """A folder with the name of a thing is not that thing."""
    assert count_mentions(text, "redis") == count
    assert sum(mention.count for mention in find_mentions(text, names={"redis"}, about=())) == count


def test_a_name_with_a_slash_is_still_mentioned():
    """`[[TCP/IP]]` is no path."""
    assert count_mentions("See [[TCP/IP]].", "tcp ip") == 1


# ── sections, types, examples ───────────────────────────────────────────────────────────────────


def read_heading(source, heading, text="Text."):
    document = Document(source=source, title="Session Store", text=f"## {heading}\n\n{text}", form="markdown")
    chunk = Chunk(id="c", document_id="d", ordinal=0, heading=(heading,), start_line=1, end_line=3, text="Text.")
    return stated_relations(RuleExtractor().extract(document, [chunk])[0])


@pytest.mark.parametrize(
    "text, is_section",
    [("[Retry Queue](retry.md) stores calls.", True), ("See [Retry Queue](#retry-queue).", False), ("Text.", False)],
)
def test_a_heading_of_an_index_is_a_section_if_the_index_links_to_a_page_of_this_name(text, is_section):
    """Proposals in files called `README.md` have the headings of their template."""
    stated = ("retry queue", "section_of", "session store")
    assert (stated in read_heading("docs/README.md", "Retry Queue", text)) == is_section


@pytest.mark.parametrize(
    "source, heading, is_section",
    [
        ("docs/store.md", "Retry Queue", False),
        ("docs/store.md", "[Retry Queue](retry.md)", True),
        ("docs/store.md", "[[Retry Queue]]", True),
        ("docs/store.md", "retry_queue", True),
        ("docs/index.md", "Retry Queue", False),
        ("docs/README.md", "Sharp edges", False),
    ],
)
def test_a_heading_is_a_section_only_where_the_page_says_so(source, heading, is_section):
    """An ordinary heading may equal the title of an unrelated page."""
    assert ("retry queue", "section_of", "session store") in read_heading(source, heading) or not is_section
    assert is_section or not [c for c in read_heading(source, heading) if c[1] == "section_of"]


@pytest.mark.parametrize(
    "text, type",
    [
        ("Async Core is a concurrency model that scales.", "model"),
        ("Kafka Streams is a producer for topics.", ""),
        ("Graph Gateway is a driver for databases.", ""),
        ("Jane Roe is an English model and actress.", "person"),
        ("Jane Roe was a racing driver.", "person"),
        ("Jane Roe is a novelist.", "person"),
    ],
)
def test_a_model_is_a_person_only_beside_words_for_persons(text, type):
    """Programs produce, drive and model, too."""
    found = extract(text, title="Notes").candidates
    assert {n.type for n in found if n.kind == "definition"} == {type}
    assert entity_type("model") == "model"


def test_names_of_examples_are_no_entities_in_technical_texts():
    """Elsewhere Bob may be a person of the text; a defined or linked name counts everywhere."""
    text = "We saw Bob and Alice call `do_something` with `cityId`, and `storageClassName` of Redis Labs."
    assert names(extract(text), "phrase", "identifier") == ["storageClassName", "Redis Labs"]
    assert "Bob" in names(extract("We saw Bob at Redis Labs."), "phrase")
    assert names(extract("We use `x` with [[Bob]]."), "link") == ["Bob"]


# ── pages of a user interface, records ──────────────────────────────────────────────────────────


def test_bold_labels_of_an_instruction_are_controls():
    """Elsewhere a bold name is a name."""
    text = "1. Select **Done Button**, then **Site Options**.\n2. Click the **Change View** menu of Redis Labs."
    assert names(extract(text), "phrase") == ["Redis Labs"]
    assert names(extract("A **Change View** by Redis Labs."), "phrase") == ["Change View", "Redis Labs"]
    assert names(extract("点击 **Site Options** 保存。"), "phrase") == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Click Manage, then hit the Save button of Redis.", ["Redis"]),
        ("Use **Override config folder** of Redis.", ["Redis"]),
        ("See [Manage your sites](x.md) with Redis.", ["Redis"]),
        ("It is in **File → Open Vault** by Redis.", ["Redis"]),
        ("- **Git** integration - Leverage powerful tools of Redis", ["Redis"]),
        ("We press Ctrl+Click or F12 in Firefox.", ["Firefox"]),
        ("The Elegant Key/Value Cookies in Lib/test run on Linux/Windows.", ["Linux", "Windows"]),
        ("It runs on .NET now.", [".NET"]),
        ("An ABI-stable and C-side change of Wi-Fi.", ["Wi-Fi"]),
        ("The CI/CD of TCP/IP uses Sass/Less.", ["Sass", "Less"]),
        ("It has APIs for GPUs.", ["API", "GPU"]),
        ("The broker Kafka MUST NOT wait, and SHOULD stop.", ["Kafka"]),
        ("They stop. Similarly, Kafka stops.", ["Kafka"]),
    ],
)
def test_a_part_of_a_label_or_a_longer_name_is_no_name(text, found):
    """The first word of a label is capitalised as in a sentence; a path, a key combination and a slash end no name."""
    assert names(extract(text), "phrase") == found


def test_a_text_that_repeats_a_heading_of_its_page_is_no_name():
    """It refers to the section; a single word may be a thing."""
    text = (
        "# Notes\n\nWe list the Rejected Ideas by Redis Labs, and Django.\n\n## Rejected Ideas\n\nText.\n\n## Django\n"
    )
    assert names(extract(text), "phrase") == ["Redis Labs", "Django"]


def test_a_word_that_a_page_also_writes_in_lower_case_is_no_name():
    """Code and names of several words do not count, and neither do other forms of text."""
    text = "Enter a Password for Redis. Each password of Docker Hub counts.\n\n    docker redis hub\n\nUse `redis`."
    assert names(extract(text), "phrase") == ["Redis", "Docker Hub"]
    assert "Password" in names(extract(text.replace("`", ""), form="text"), "phrase")


@pytest.mark.parametrize(
    "text, defined",
    [
        ("- `acc` is the accumulated value so far.", []),
        ("- `precision` is the number of decimal places.", []),
        ("`kubectl` is a tool for clusters.", ["kubectl"]),
    ],
)
def test_a_lower_case_word_of_code_is_defined_only_with_a_known_type(text, defined):
    """Documentation describes parameters like things."""
    assert names(extract(text, title="Notes"), "definition") == defined


def test_embedded_files_are_no_names():
    """`![[shot.png]]` shows a picture."""
    assert names(extract("See ![[web-shot.png]], [[notes.pdf]] and [[Redis]]."), "link") == ["notes.pdf", "Redis"]


@pytest.mark.parametrize(
    "text, title, topic",
    [
        ("name: Ada Byron\ntitle: Lead Engineer\ncompany: Analytical Works\n", "Lead Engineer", "Ada Byron"),
        ("title: The Mill\nyear: 1901\n", "The Mill", "The Mill"),
        ("name: Mill\ntitle: Other\n", "The Mill", "The Mill"),
    ],
)
def test_a_record_is_named_by_its_name(text, title, topic):
    """The title of a person is an occupation."""
    document = Document(source="team.json#1", title=title, text=text, form="text")
    chunk = Chunk(id="c", document_id="d", ordinal=0, heading=(), start_line=1, end_line=3, text=text)
    assert names(RuleExtractor().extract(document, [chunk])[0], "title") == [topic]


@pytest.mark.parametrize(
    "title, text, type",
    [
        ("Async Support", "Async is a concurrency model that scales.", ""),
        ("CSS snippets", "CSS is a language for the appearance of pages.", ""),
        ("George Rodney", "Rodney was an admiral of the fleet.", "person"),
        ("George Rodney", "George was an admiral of the fleet.", "person"),
        ("Session Store", "Session Store is a service for sessions.", "service"),
        ("Redis", "Redis is a store in memory.", "store"),
    ],
)
def test_a_part_of_the_title_has_a_type_of_its_own(title, text, type):
    """The definition of CSS says nothing about CSS snippets."""
    found = extract(f"Some words come first.\n\n{text}", title=title).candidates
    assert {n.type for n in found if n.name == title} - {""} == ({type} - {""})
    first = extract(text, title=title).candidates
    assert {n.type for n in first if n.name == title} - {""} == ({type} - {""})


def test_values_and_clauses_are_no_terms():
    """`foldState is a boolean` describes a parameter; `应该` belongs to the verb."""
    assert names(extract("- `foldState` is a boolean to fold.", title="Notes"), "definition") == []
    assert names(extract("`useState` is a hook of React.", title="Notes"), "definition") == ["useState"]
    assert "返回值应该" not in names(extract("返回值应该是一个渲染函数。", title="接口"), "definition", "term")


def test_the_account_of_an_author_is_not_part_of_the_name():
    """`Jane Doe (@jane)` and `Jane Doe <jane@example.org>` are Jane Doe."""
    value = "Ada Byron (@ada), Jane Doe <jane@example.org>, Max Born (@born) <max@example.org>"
    assert list(read_values("author", value)) == ["Ada Byron", "Jane Doe", "Max Born"]
    assert list(read_values("service", "Disk (@disk)")) == ["Disk (@disk)"]


def test_a_verb_relates_neither_the_owner_nor_the_page_behind_a_description():
    """`uses Redis's format` does not use Redis; the label of the second link does not name its page."""
    text = "[[Orders]] uses {}."
    related = {
        target: [
            (relation.source, relation.target)
            for relation in extract(text.format(target)).stated_relations
            if relation.type == "uses"
        ]
        for target in ("[[Redis]]", "[[Redis]]'s format", "[[Privacy#Keys|strong encryption]]")
    }
    assert related == {
        "[[Redis]]": [("order", "redis")],
        "[[Redis]]'s format": [],
        "[[Privacy#Keys|strong encryption]]": [],
    }


def test_a_badge_is_not_part_of_a_title():
    """The text of an image counts only in a title without other text."""
    assert heading_text("Starter [![Open in Editor](a.svg)](https://example.org)") == "Starter"
    assert heading_text("![Disk Store](logo.svg)") == "Disk Store"


def test_a_sentence_of_another_document_does_not_define_a_record():
    """`EIP-1559 is the common fee header` would become an entity of its own beside the document of the number."""
    found = extract("EIP-1559 is the common fee header. Redis is a store in memory.").candidates
    kinds = {candidate.name: candidate.kind for candidate in found if candidate.kind in ("definition", "identifier")}
    assert kinds == {"EIP-1559": "identifier", "Redis": "definition"}
