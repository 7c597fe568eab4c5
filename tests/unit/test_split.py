"""Chunking of documents."""

import re
import time
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.config import SplitOptions
from weft.records import Document
from weft.text.split import indexed_text, split
from weft.text.tokens import EstimatingCounter, estimate_tokens

SMALL = SplitOptions(max_tokens=20, min_tokens=4)
APART = SplitOptions(min_tokens=0)
"""Sections are never joined."""


def chunks_of(text, *, form="markdown", title="", options=SMALL, lines=None):
    document = Document(source="s", title=title, text=text, form=form, lines=lines)
    return split(document, document_id="d1", options=options)


def headings(text, *, title=""):
    return {chunk.text: chunk.heading for chunk in chunks_of(text, title=title, options=APART)}


# ── strategies: headings in Greek, bodies in other scripts, so that they can be distinguished ───

WORDS = st.text(alphabet="abcxyz.!?,-'\"", min_size=1, max_size=12)
LONG = st.text(alphabet="abc", min_size=60, max_size=200)
DENSE = st.text(alphabet="密钥环境变量。！？カナ한글ไทย", min_size=1, max_size=60)
SPACE = st.sampled_from([" ", "  ", "\t", "\n", "\n    "])
PIECE = st.one_of(WORDS, WORDS, WORDS, DENSE, LONG)
PARAGRAPH = st.lists(st.tuples(PIECE, SPACE), min_size=1, max_size=30).map(
    lambda p: "".join(a + b for a, b in p).strip()
)
HEADING = st.builds(
    lambda level, name: "#" * level + " " + name, st.integers(1, 6), st.text("αβγ", min_size=1, max_size=9)
)
FENCE = st.builds(lambda body: f"```\n{body}\n```", PARAGRAPH)
GAP = st.sampled_from(["\n", "\n\n", "\n \n", "\n" * 120, "\n" + " " * 200 + "\n"])
BLOCKS = st.lists(st.tuples(st.one_of(HEADING, PARAGRAPH, PARAGRAPH, FENCE), GAP), max_size=12)
TEXT = BLOCKS.map(lambda blocks: "".join(block + gap for block, gap in blocks))
FORMS = st.sampled_from(["text", "markdown", "code", "table"])
OPTIONS = st.builds(SplitOptions, max_tokens=st.integers(1, 60), min_tokens=st.integers(0, 30))


def body(text):
    """Return what is neither heading nor white space."""
    return re.sub(r"\s+|[#αβγ]", "", text)


@given(TEXT, FORMS, OPTIONS)
def test_every_character_of_the_body_is_in_one_chunk_in_order(text, form, options):
    """No character is lost, repeated or moved."""
    found = chunks_of(text, form=form, options=options)

    assert "".join(body(chunk.text) for chunk in found) == body(text)
    assert [chunk.ordinal for chunk in found] == list(range(len(found)))


@given(TEXT, FORMS, OPTIONS)
def test_no_chunk_is_larger_than_allowed_or_empty(text, form, options):
    """The size is a promise to the embedder, whatever white space stands between."""
    for chunk in chunks_of(text, form=form, options=options):
        assert chunk.text.strip()
        assert estimate_tokens(chunk.text) <= options.max_tokens


@given(TEXT, FORMS, st.builds(SplitOptions, max_tokens=st.integers(3, 40), min_tokens=st.integers(0, 20)))
def test_a_word_is_cut_only_if_it_is_longer_than_a_chunk(text, form, options):
    """Words of spaced scripts stay whole."""
    words = set(text.split())
    cuttable = [word for word in words if estimate_tokens(word) > options.max_tokens or not word.isascii()]
    for chunk in chunks_of(text, form=form, options=options):
        for word in chunk.text.split():
            assert word in words or any(word in longer for longer in cuttable)


@given(TEXT, FORMS, OPTIONS)
def test_the_lines_of_a_chunk_hold_its_text(text, form, options):
    """A citation leads to where the words stand, from the first to the last."""
    lines = text.split("\n")
    for chunk in chunks_of(text, form=form, options=options):
        cited = lines[chunk.start_line - 1 : chunk.end_line]
        written = chunk.text.split("\n")
        assert chunk.text in "\n".join(cited)
        assert len(written) == len(cited)
        assert written[0] in cited[0]
        assert written[-1] in cited[-1]


@given(TEXT, FORMS, OPTIONS)
def test_ids_are_unique_and_stable(text, form, options):
    """Equal passages of one document have ids of their own, and two runs agree."""
    ids = [chunk.id for chunk in chunks_of(text, form=form, options=options)]

    assert len(set(ids)) == len(ids)
    assert ids == [chunk.id for chunk in chunks_of(text, form=form, options=options)]


@given(TEXT, OPTIONS)
def test_chunks_come_in_the_order_of_their_lines(text, options):
    """No chunk begins before the one before it."""
    found = chunks_of(text, options=options)

    assert all(a.start_line <= a.end_line <= b.end_line and a.start_line <= b.start_line for a, b in pairwise(found))


# ── headings ────────────────────────────────────────────────────────────────────────────────────


def test_a_chunk_knows_the_headings_above_it():
    """Levels nest, are skipped and come back; the title is not repeated."""
    text = "intro\n# T\nzero\n## A\none\n#### C\ntwo\n## B\nthree\n# D\nfour"

    assert headings("# T\nzero\n## A\none\n#### C\ntwo\n## B\nthree\n# D\nfour", title="T") == {
        "zero": (),
        "one": ("A",),
        "two": ("A", "C"),
        "three": ("B",),
        "four": ("D",),
    }
    assert headings(text, title="Other")["two"] == ("T", "A", "C")
    assert headings(text, title="Other")["intro"] == ()


@pytest.mark.parametrize(
    "line, heading",
    [
        ("# C#", "C#"),
        ("# F# and C# ##", "F# and C#"),
        ("## closed ##", "closed"),
        ("   ### indented", "indented"),
        ("#\ttab", "tab"),
        ("# 标题", "标题"),
        ("# a" + " " * 50 + "b", "a b"),
    ],
)
def test_closing_marks_are_no_part_of_a_heading(line, heading):
    """Unless they belong to its last word."""
    assert headings(f"{line}\nbody") == {"body": (heading,)}


@pytest.mark.parametrize("line", ["#hash", "####### seven", "    # code", "#", "\\# escaped", "# " + "long " * 100])
def test_what_only_looks_like_a_heading_is_text(line):
    """It stays where it is and can be found."""
    assert [chunk.heading for chunk in chunks_of(f"{line}\nbody", options=APART)] == [()]
    assert body(line) in body(chunks_of(f"{line}\nbody", options=APART)[0].text)


def test_marks_inside_fenced_code_are_no_headings():
    """Fences of either kind, longer ones around shorter ones, and code spans that look like a fence."""
    text = "# A\n````\n# no\n```\n# no\n````\n# B\n~~~\n# no\n~~~\nafter\n# C\n```js``` is inline\n# D\nend"

    assert list(headings(text).values()) == [("A",), ("B",), ("C",), ("D",)]


def test_a_heading_with_nothing_below_is_still_found():
    """In the path of those below it, else as text of its own."""
    text = "# T\n## Empty parent\n### Child\nbody\n## Leaf\n## Last"
    found = chunks_of(text, title="T", options=APART)

    assert [(c.heading, c.text) for c in found] == [
        (("Empty parent", "Child"), "body"),
        ((), "## Leaf"),
        ((), "## Last"),
    ]


def test_joined_sections_keep_every_heading_readable():
    """Headings outside the common path are in the text, including empty parents."""
    options = SplitOptions(max_tokens=400, min_tokens=48)
    across = chunks_of("# T\n## A\n### B\none\n## C\ntwo", title="T", options=options)
    within = chunks_of("# T\n## A\n### B\none\n### C\ntwo", title="T", options=options)
    thrice = chunks_of("# T\n## A\n### B\none\n### C\ntwo\n## D\nthree", title="T", options=options)

    assert [(c.heading, c.text) for c in across] == [((), "## A\n### B\none\n## C\ntwo")]
    assert [(c.heading, c.text) for c in within] == [(("A",), "### B\none\n### C\ntwo")]
    assert [(c.heading, c.text) for c in thrice] == [((), "## A\n### B\none\n### C\ntwo\n## D\nthree")]


def test_only_the_first_heading_can_be_the_title():
    """A later section of the same name is a section."""
    assert headings("# T\none\n# T\ntwo", title="T") == {"one": (), "two": ("T",)}


def test_code_is_cut_before_definitions_with_their_comments():
    """The definition and what is written right above it stay together."""
    text = "import os\n\n# adds\n@cache\ndef add(a, b):\n    return a + b\n\nclass Thing:\n    x = 1\n"
    found = chunks_of(text, form="code", options=APART)

    assert [(c.heading, c.text.split("\n")[0], c.start_line) for c in found] == [
        ((), "import os", 1),
        (("def add",), "# adds", 3),
        (("class Thing",), "class Thing:", 8),
    ]


# ── places ──────────────────────────────────────────────────────────────────────────────────────


def test_lines_are_those_of_the_source():
    """A loader says which line, or page, each line of its text came from."""
    found = chunks_of(
        "one two\n\nthree four\n\nfive", form="text", options=SplitOptions(max_tokens=3), lines=[4, 4, 9, 9, 12]
    )

    assert [(c.text, c.start_line, c.end_line) for c in found] == [
        ("one two", 4, 4),
        ("three four", 9, 9),
        ("five", 12, 12),
    ]


def test_too_few_lines_do_no_harm():
    """A loader's mistake must not end a run."""
    assert [(c.start_line, c.end_line) for c in chunks_of("a\nb\nc", lines=[7])] == [(7, 7)]
    assert [(c.start_line, c.end_line) for c in chunks_of("a\nb\nc", lines=[])] == [(1, 1)]


def test_the_indentation_of_a_line_is_part_of_it():
    """Code and lists would be unreadable without."""
    found = chunks_of("\n\n    indented first\n    second\n", form="text")

    assert found[0].text == "    indented first\n    second"
    assert (found[0].start_line, found[0].end_line) == (3, 4)


# ── ids ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_paragraph_that_moves_keeps_its_id():
    """Its vector is reused."""
    one, two = "first passage of words here now okay", "second passage of other words as well"
    before = {c.text: c.id for c in chunks_of(f"{one}\n\n{two}", form="text", options=SplitOptions(max_tokens=10))}
    after = {c.text: c.id for c in chunks_of(f"{two}\n\n{one}", form="text", options=SplitOptions(max_tokens=10))}

    assert before == after


def test_equal_passages_have_different_ids_and_another_title_changes_all():
    """An id stands for one place in one document as it is indexed."""
    text = "the very same passage of many words\n\n" * 3
    found = chunks_of(text, form="text", options=SplitOptions(max_tokens=10))
    named = chunks_of(text, form="text", title="Named", options=SplitOptions(max_tokens=10))

    assert len({c.text for c in found}) == 1
    assert len({c.id for c in found}) == 3
    assert not {c.id for c in found} & {c.id for c in named}


# ── nothing, and very much ──────────────────────────────────────────────────────────────────────


def test_an_empty_text_is_one_chunk_if_it_has_a_title():
    """A record with a title alone can be found by it."""
    for text in ("", " \n \n", "# T"):
        found = chunks_of(text, title="T")
        assert [(c.text, c.heading, c.start_line, c.end_line) for c in found] == [("", (), 1, 1)]
        assert indexed_text("T", (), "") == "T"
    assert chunks_of("") == []
    assert chunks_of(" \n ", form="text") == []


def test_what_is_indexed_begins_with_title_and_headings():
    """A passage is then found by its headings."""
    assert indexed_text("T", ("A", "B"), "text") == "T › A › B\ntext"
    assert indexed_text("", (), "text") == "text"
    assert indexed_text("", ("A",), "") == "A"


MEGABYTE = 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "text, form",
    [
        ("x" * MEGABYTE, "text"),
        ("x " * (MEGABYTE // 2), "text"),
        ("x. " * (MEGABYTE // 3), "text"),
        ("密" * MEGABYTE, "text"),
        ("密a" * (MEGABYTE // 2), "markdown"),
        ("ไ" * MEGABYTE, "text"),
        ("!" * MEGABYTE, "text"),
        ("。" * MEGABYTE, "text"),
        ('."' + '"' * MEGABYTE, "text"),
        ("a" + "\n" * MEGABYTE + "b", "text"),
        ("a." + " " * MEGABYTE + "b", "text"),
        ("# a" + " " * MEGABYTE + "b\ntext", "markdown"),
        ("# " + "# " * (MEGABYTE // 2) + "x\ntext", "markdown"),
        ("# h\n" * 100_000, "markdown"),
        ("# h\ntext\n" * 100_000, "markdown"),
        ("".join("#" * (n % 6 + 1) + f" h{n}\n" for n in range(100_000)) + "text", "markdown"),
        ("`" * MEGABYTE, "markdown"),
        ("def f():\n" * 100_000, "code"),
        ("type " + "x" * MEGABYTE, "code"),
        ("export " * (MEGABYTE // 7), "code"),
        ("a,b,c\n" * (MEGABYTE // 6), "table"),
    ],
    ids=lambda value: repr(value[:6]),
)
def test_a_megabyte_of_anything_takes_seconds(text, form):
    """No input makes splitting try again and again, or repeat a heading into a mountain."""
    start = time.process_time()
    found = chunks_of(text, form=form, title="T", options=SplitOptions())

    assert time.process_time() - start < 15
    assert sum(len(chunk.text) + sum(map(len, chunk.heading)) for chunk in found) < 3 * MEGABYTE


# ── sizes ───────────────────────────────────────────────────────────────────────────────────────


def test_sections_are_joined_only_while_one_is_small():
    """Both must fit into one chunk."""
    large = "word " * 60
    text = f"# A\n{large}\n# B\n{large}\n# C\nsmall"
    found = chunks_of(text, options=SplitOptions(max_tokens=100, min_tokens=20))

    assert [c.heading for c in found] == [("A",), ()]
    assert found[1].text.startswith("# B")
    assert found[1].text.endswith("small")


def test_a_long_section_is_cut_into_about_equal_chunks():
    """No crumb is left at the end."""
    sizes = [
        estimate_tokens(c.text) for c in chunks_of("word " * 500, form="text", options=SplitOptions(max_tokens=400))
    ]

    assert len(sizes) == 2
    assert max(sizes) - min(sizes) <= 5


def test_a_sentence_is_not_cut_where_it_fits():
    """A URL with a question mark is not cut either."""
    text = "One two three four. See http://example.com/find?q=words&n=10 for more. Five six seven eight nine."
    found = chunks_of(text, form="text", options=SplitOptions(max_tokens=14))

    assert [c.text for c in found] == [
        "One two three four.",
        "See http://example.com/find?q=words&n=10 for more.",
        "Five six seven eight nine.",
    ]


def test_chinese_is_cut_after_its_sentences():
    """Full stops need no space behind them, and ASCII marks after Chinese count too."""
    found = chunks_of("今天天气很好。我们去公园吗?当然可以!", form="text", options=SplitOptions(max_tokens=8))

    assert [c.text for c in found] == ["今天天气很好。", "我们去公园吗?", "当然可以!"]


def test_ascii_inside_an_unspaced_run_stays_whole():
    """A run of Chinese is cut between characters, not inside the identifiers in it."""
    found = chunks_of("重跑gen-itgc后" * 30, form="text", options=SplitOptions(max_tokens=12))

    assert sum(c.text.count("gen-itgc") for c in found) == 30


def test_the_estimate_counts_dense_scripts_by_character():
    """One token per character of these scripts, one per four others, rounded up."""
    assert [estimate_tokens(text) for text in ("", "a", "abcd", "abcde", "密钥", "密钥abcde", "ไทย")] == [
        0,
        1,
        1,
        2,
        2,
        4,
        3,
    ]
    assert EstimatingCounter().count("abcde") == 2


@given(st.text(), st.text())
def test_the_estimate_of_a_whole_is_at_most_that_of_its_parts(first, second):
    """Pieces that fit by their sizes then fit together."""
    assert estimate_tokens(first + second) <= estimate_tokens(first) + estimate_tokens(second)
    assert estimate_tokens(first) <= estimate_tokens(first + second)


def test_splitting_changes_nothing_it_was_given():
    """A document is a value."""
    document = Document(source="s", title="t", text="# t\nbody", form="markdown")
    split(document, document_id="d", options=SMALL)

    assert document == replace(document)
