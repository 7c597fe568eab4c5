"""Sentence segmentation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.extract.sentences import MAX_SENTENCE_CHARACTERS, Mark, read_sentences, shorten, strip_markup


def texts(text, form="markdown"):
    return [sentence.text for sentence in read_sentences(text, form=form)]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("It works. So does that! Really? Yes.", ["It works.", "So does that!", "Really?", "Yes."]),
        ("By J. F. Lawton and Dr. Curie, e.g. Marie. Then.", ["By J. F. Lawton and Dr. Curie, e.g. Marie.", "Then."]),
        ("See No. 5. No. It broke.", ["See No. 5.", "No.", "It broke."]),
        ("Where Are You? is a film.", ["Where Are You? is a film."]),
        ("v1.2 is out. 20 more.", ["v1.2 is out.", "20 more."]),
        ("第一句。第二句！“第三句。”第四句", ["第一句。", "第二句！", "“第三句。”", "第四句"]),
        ("他问“好吗？”她说好。", ["他问“好吗？”", "她说好。"]),
    ],
)
def test_sentences_end_where_they_should(text, expected):
    """Initials, titles and abbreviations do not end a sentence."""
    assert texts(text) == expected


def test_markup_is_removed_and_remembered():
    """Wikilinks keep their target, code, bold text and labels their text, each with its place."""
    (sentence,) = read_sentences(
        "**Hot**: see [[Ledger#x|the books]] and `a.b`, *or* [this](t.md) <br> https://x.y", form="markdown"
    )
    assert sentence.text == "Hot: see the books and a.b, or this"
    assert sentence.marks == (
        Mark("strong", "Hot", 0, 3), Mark("link", "Ledger", 9, 18), Mark("code", "a.b", 23, 26),
        Mark("label", "this", 31, 35),
    )  # fmt: skip


def test_blocks_are_told_apart():
    """A paragraph goes over several lines, an item, heading or cell does not."""
    text = "one\ntwo\n\n# Head #\n- item\n  goes on\n- [x] done\n\n"
    text += "| a | b |\n|---|---|\n| c | `d` |\n\n> quote\n\n```\ncode\n```"
    found = read_sentences(text, form="markdown")
    assert [(sentence.text, sentence.role) for sentence in found] == [
        ("one two", "prose"), ("Head", "heading"), ("item goes on", "item"), ("done", "item"),
        ("a", "cell"), ("b", "cell"), ("c", "cell"), ("d", "cell"), ("quote", "prose"),
    ]  # fmt: skip


def test_lines_of_plain_text_are_joined_only_where_they_wrap():
    """Notes stand on lines of their own; a long line goes on in the next."""
    text = (
        f"08:02 Failed\n08:05 Retried\nDate: today   Owner: Ops Team\n{'long ' * 14}\nNext words\nplace.name: Its value"
    )
    assert texts(text, form="text") == [
        "08:02 Failed", "08:05 Retried", "Date: today", "Owner: Ops Team", f"{'long ' * 14}Next words", "Its value",
    ]  # fmt: skip


def test_comments_and_docstrings_are_the_prose_of_code():
    """In all the usual languages."""
    text = '#!/bin/sh\n# One.\nx = 1\n// Two.\n-- Three.\n/* Four. */\n"""Five.\nSix."""\n#include <x>\ny()\n'
    assert texts(text, form="code") == ["One.", "Two.", "Three.", "Four.", "Five.", "Six."]


@pytest.mark.parametrize("form", ["text", "markdown", "code"])
@given(text=st.text(max_size=300))
def test_marks_lie_inside_their_sentence(text, form):
    """No sentence exceeds the maximum length."""
    for sentence in read_sentences(text * 9, form=form):
        assert 0 < len(sentence.text) <= MAX_SENTENCE_CHARACTERS or sentence.role == "heading"
        assert all(0 <= mark.start < mark.end <= len(sentence.text) for mark in sentence.marks)


def test_texts_are_cut_between_words():
    """With a sign that they were."""
    assert shorten("short") == "short"
    assert shorten("one two three four", limit=12) == "one two…"
    assert len(shorten("x" * 500)) <= 300


def test_one_line_without_markdown():
    """Titles and descriptions use this."""
    assert strip_markup("A **bold**\n[link](x) to [[Page|it]]") == "A bold link to it"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("``web`` --- ``Handler`` and `get`", "web --- Handler and get"),
        ("Set `.HTTPServer`, `~gen.coroutine`, `.env` and `.NET`.", "Set HTTPServer, coroutine, .env and .NET."),
        ("`` a ` b ``", "a ` b"),
    ],
)
def test_code_in_backticks_is_shown_without_them(text, shown):
    """Two backticks are one mark; names that Sphinx shortens have no sign."""
    assert strip_markup(text) == shown
