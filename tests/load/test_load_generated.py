"""Files that programs write, style sheets and drawings."""

from __future__ import annotations

from pathlib import Path

import pytest
from loading import Load, only_document, only_reason


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("package-lock.json", '{"a": 1}', "generated"),
        ("uv.lock", "version = 1", "generated"),
        ("app.min.js", "let a", "generated"),
        ("bundle.js", "let a=1;" * 500, "generated"),
        ("site.css", "a { color: red }", "style sheet"),
        ("plan.svg", "<svg><text>Auth Service</text></svg>", "binary"),
        ("plan.graffle", "<plist/>", "drawing"),
        ("empty.drawio", "<mxfile/>", "no text"),
    ],
)
def test_nobody_reads_them(load: Load, tmp_path: Path, name: str, text: str, reason: str) -> None:
    """They are skipped, and the receipt says why."""
    (tmp_path / name).write_text(text)

    assert only_reason(load()) == reason


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plan.drawio", '<mxCell value="&lt;b&gt;Auth&lt;/b&gt; Service" style="x"/>\n<mxCell value=""/>\n'
         '<mxCell value="OAuth &amp;amp; Co"/><mxCell value="Auth Service"/>'),
        ("plan.excalidraw", '{"elements": [\n{"text": "Auth\\nService"},\n {"x": 3},\n{"text": "OAuth & Co"}]}'),
    ],
)  # fmt: skip
def test_drawings_show_their_labels(load: Load, tmp_path: Path, name: str, text: str) -> None:
    """Each label once, on its line."""
    (tmp_path / name).write_text(text)
    document = only_document(load())

    assert (document.title, document.text) == ("plan", "Auth Service\nOAuth & Co")
    assert list(document.lines or ()) == ([1, 3] if name == "plan.drawio" else [2, 4])


def test_written_code_is_read(load: Load, tmp_path: Path) -> None:
    """A long line in a file of people is no reason to skip it."""
    (tmp_path / "a.js").write_text("let a = 1;\n" * 200 + f'let b = "{"x" * 5000}";\n')

    assert only_document(load()).form == "code"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("#!/usr/bin/env bash\necho Hello World\n", "shell"),
        ("#!/usr/bin/python3.11 -u\nprint('Hello World')\n", "python"),
        ("#!/bin/sh\necho Hello World\n", "shell"),
    ],
)
def test_a_script_without_extension_is_code(load: Load, tmp_path: Path, text: str, language: str) -> None:
    """Nothing from code is prose."""
    (tmp_path / "release").write_text(text)
    document = only_document(load())

    assert (document.form, document.metadata["language"]) == ("code", language)


def test_a_text_about_scripts_is_no_script(load: Load, tmp_path: Path) -> None:
    """The first line decides."""
    (tmp_path / "NOTES").write_text("#! is called a shebang.\n\nIt names the interpreter.\n")

    assert only_document(load()).form == "text"
