"""Plain text, source code and files of unknown kind."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from loading import Load

from weft.errors import InputError
from weft.load.run import load_text
from weft.records import Document, Skipped


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Release plan\n============\n\nWe ship.", "Release plan"),
        ("=====\nPlan\n=====\n\nWe ship.", "Plan"),
        ("\n\nRelease plan\n\nWe ship.", "Release plan"),
        ("= Guide\nAuthor\n\nText", "Guide"),
        ("#+TITLE: Notes\n* one", "Notes"),
        ("发布计划\n\n我们发布。", "发布计划"),
        ("This is a sentence.\n\nSo is this.", "a.txt"),
        ("first of\ntwo lines\n\nmore", "a.txt"),
        ("only line", "a.txt"),
        ("-----\n\nmore", "a.txt"),
        ("x" * 101 + "\n\nmore", "a.txt"),
        (".. comment\n   of two lines\n\n:orphan:\n\nPlan\n----\n\nWe ship.", "Plan"),
        ("..\n\nPlan\n\nWe ship.", "Plan"),
        ("Plan of |version|\n=================\n\n.. |version| replace:: 3.2\n", "Plan of 3.2"),
        ("Plan of |release|\n=================\n\nWe ship.", "Plan of release"),
        ("# Plan #\n\nWe ship.", "Plan"),
        ("#!/bin/sh\n\nexit 0", "a.txt"),
        ("<!doctype refentry [\n\n]>", "a.txt"),
        ("[section]\n\nkey = value", "a.txt"),
        ("// A comment\n\nint a;", "a.txt"),
        ("Copyright (c) 2014 Somebody\n\nPermission is granted.", "a.txt"),
    ],
)
def test_the_title_is_a_first_line_that_looks_like_one(load: Load, tmp_path: Path, text: str, title: str) -> None:
    """A line that is underlined or stands alone is a title; anything else leaves the file name."""
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")

    (document,) = load()

    assert isinstance(document, Document)
    assert (document.title, document.form, document.source) == (title, "text", "a.txt")


def test_invalid_utf_8_is_loaded_with_what_can_be_read(load: Load, tmp_path: Path) -> None:
    """A stray byte costs a character, not the file."""
    (tmp_path / "a.txt").write_bytes(b"before \xff\xfe after\xe9\r\nsecond\x00 line")

    (document,) = load()

    assert isinstance(document, Document)
    assert document.text.startswith("before ") and document.text.endswith("\nsecond line")


def test_utf_16_and_gb18030_files_are_text(load: Load, tmp_path: Path) -> None:
    """NUL bytes of UTF-16 and high bytes do not make a file binary."""
    (tmp_path / "a.txt").write_text("windows notes", encoding="utf-16")
    (tmp_path / "b.txt").write_text("数据库由平台团队负责。", encoding="gb18030")

    texts = [document.text for document in load() if isinstance(document, Document)]

    assert texts == ["windows notes", "数据库由平台团队负责。"]


def test_a_line_of_a_megabyte_is_loaded_whole(load: Load, tmp_path: Path) -> None:
    """Length alone is no reason to cut or to skip."""
    (tmp_path / "a.txt").write_text("word " * 200_000)

    (document,) = load()

    assert isinstance(document, Document)
    assert len(document.text) == 999_999


def test_a_file_of_unknown_kind_is_text_unless_it_holds_nul(load: Load, tmp_path: Path) -> None:
    """Without a known ending the content decides."""
    (tmp_path / "LICENSE").write_text("You may.")
    (tmp_path / "notes.xyz").write_text("Some words.")
    (tmp_path / "program").write_bytes(b"\x7fELF\x02\x01\x01\x00\x00words")

    license_file, notes, program = load()

    assert isinstance(license_file, Document) and isinstance(notes, Document)
    assert program == Skipped(source="program", reason="binary")


def test_a_text_file_full_of_control_bytes_is_binary(load: Load, tmp_path: Path) -> None:
    """The ending does not make text of it."""
    (tmp_path / "a.txt").write_bytes(bytes(range(32)) * 100)

    assert load() == [Skipped(source="a.txt", reason="binary")]


def test_archives_and_pictures_are_binary_by_name(load: Load, tmp_path: Path) -> None:
    """They are not even opened, so their content does not matter."""
    for name in ("a.zip", "b.PNG", "c.exe"):
        (tmp_path / name).write_text("words")

    assert [getattr(item, "reason", "") for item in load()] == ["binary"] * 3


def test_blank_files_are_empty(load: Load, tmp_path: Path) -> None:
    """White space is as good as nothing."""
    (tmp_path / "a.txt").touch()
    (tmp_path / "b.txt").write_text(" \n\t\n")

    assert [getattr(item, "reason", "") for item in load()] == ["empty", "empty"]


def test_source_code_knows_its_language(load: Load, tmp_path: Path) -> None:
    """By ending in any case, or by the whole name."""
    for name in ("a.py", "b.TSX", "c.yml", "Dockerfile", "Makefile"):
        (tmp_path / name).write_text("x = 1")

    documents = [item for item in load() if isinstance(item, Document)]

    assert {document.form for document in documents} == {"code"}
    assert {document.title: document.metadata["language"] for document in documents} == {
        "a.py": "python",
        "b.TSX": "typescript",
        "c.yml": "yaml",
        "Dockerfile": "dockerfile",
        "Makefile": "makefile",
    }


def test_text_from_a_caller_becomes_a_document() -> None:
    """The title is the one given, the text's own, or the source."""

    assert load_text("Plan\n\nWe ship.\r\n", source="-").title == "Plan"
    assert load_text("words", source="stdin").title == "stdin"
    assert load_text("words", source="stdin", title="Mine").title == "Mine"
    assert load_text("words\r\n", source="stdin", form="code").text == "words"


def test_markdown_from_a_caller_keeps_its_front_matter() -> None:
    """A title given beats the one in the front matter."""
    text = "---\ntitle: Theirs\ntags: [a]\n---\nSee [[Other]]."

    assert load_text(text, source="-", form="markdown").title == "Theirs"
    assert load_text(text, source="-", form="markdown", title="Mine").title == "Mine"
    assert load_text(text, source="-", form="markdown").metadata == {"tags": ["a"], "links": ["Other"]}


def test_no_text_from_a_caller_is_an_error() -> None:
    """An empty pipe is a mistake of the caller."""

    with pytest.raises(InputError):
        load_text(" \n\x00", source="-")


@pytest.mark.parametrize("name", ["junk.md", "junk.txt", "junk.py", "junk.csv", "junk"])
def test_random_bytes_are_binary_whatever_the_file_is_called(load: Load, tmp_path: Path, name: str) -> None:
    """A tenth of random bytes are control characters; no text has so many."""
    (tmp_path / name).write_bytes(random.Random(3).randbytes(20_000))

    (result,) = load()
    assert isinstance(result, Skipped)
    assert (result.source, result.reason) == (name, "binary")
