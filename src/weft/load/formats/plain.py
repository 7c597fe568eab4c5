"""Plain text to documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from weft.config import LoadOptions
from weft.load.file_reader import SAMPLE_BYTES, LoadError, read_text
from weft.load.file_types import file_title
from weft.load.formats.code import load_code, script_language
from weft.records import Document
from weft.text.decode import has_byte_order_mark

MAX_TITLE_CHARACTERS = 100
TITLE_SCAN_CHARACTERS = 4000
"""Number of leading characters searched for a title."""

_RULE = re.compile(r"([=\-~^*+#\"'`:.<>_])\1{2,}$")
_TITLE_MARK = re.compile(r"=\s+|#\+title:\s*", re.IGNORECASE)
_HASHES = re.compile(r"(?<!#)#+\s+(?=\S)|(?<=\S)\s+#+$")
_NO_TITLE = re.compile(r"[<\[{/*;%@$|\\#]|--|copyright\b|\(c\)", re.IGNORECASE)
"""Start of code, markup, a settings section or a copyright notice."""
_INLINE_MARKUP = re.compile(r"(?::[a-z:+-]{1,30}:)?`{1,2}[~!]?([^`<>]{1,100})`{1,2}")
"""Literals and roles of reStructuredText in a title."""
_SUBSTITUTION = re.compile(r"\|([^|\s](?:[^|\n]{0,60}[^|\s])?)\|")
_DEFINED_SUBSTITUTION = re.compile(r"^\.\. \|([^|\n]{1,62})\| replace:: (.{1,100})$", re.MULTILINE)
_RST_FIELD = re.compile(r":[\w-]+:")
_SENTENCE_ENDS = tuple(".,;:!?。，；：！？")


def load_plain(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the single document of a text file."""
    yield plain_document(read_text(path, options=options), source=source)


def plain_document(text: str, *, source: str) -> Document:
    """Return the document of a text."""
    return Document(source=source, title=find_title(text) or file_title(source, with_extension=True), text=text)


def load_unknown(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the single document of a file of unknown type; a script is code. Raises `LoadError` if it is binary."""
    with path.open("rb") as stream:
        sample = stream.read(SAMPLE_BYTES)
    if b"\0" in sample and not has_byte_order_mark(sample):
        raise LoadError("binary")
    if language := script_language(sample[:300].decode("utf-8", "replace")):
        yield from load_code(path, source=source, options=options, language=language)
        return
    yield from load_plain(path, source=source, options=options)


def find_title(text: str) -> str:
    """
    Return the title at the start of a plain text, or an empty text.

    A title is a short first line, followed by more text. It is underlined (reStructuredText), marked (AsciiDoc, Org),
    or a separate paragraph without final punctuation. Labels and comments of reStructuredText may precede it. Code,
    markup and copyright notices are not titles.
    """
    lines = [line.strip() for line in _skip_preamble(text[:TITLE_SCAN_CHARACTERS].lstrip()).lstrip().split("\n")]
    if _RULE.match(lines[0]) and len(lines) > 2 and lines[2] == lines[0]:
        lines = lines[1:]
    first = _replace_substitutions(_INLINE_MARKUP.sub(r"\1", lines[0]), text)
    second = lines[1] if len(lines) > 1 else None
    if not 0 < len(first) <= MAX_TITLE_CHARACTERS or _RULE.match(first):
        return ""
    if mark := _TITLE_MARK.match(first):
        return first[mark.end() :]
    first = _HASHES.sub("", first)
    if _NO_TITLE.match(first):
        return ""
    if second and _RULE.match(second):
        return first
    return first if second == "" and any(lines[2:]) and not first.endswith(_SENTENCE_ENDS) else ""


def _replace_substitutions(title: str, text: str) -> str:
    """Return a title of reStructuredText with `|name|` replaced by its text; by the name if the file defines none."""
    if title.count("|") < 2:
        return title
    texts: dict[str, str] = dict(_DEFINED_SUBSTITUTION.findall(text))
    return _SUBSTITUTION.sub(lambda match: texts.get(match[1]) or match[1], title)


def _skip_preamble(text: str) -> str:
    """Return reStructuredText from its title on, without the comments, labels and fields before it."""
    lines = text.split("\n")
    at, is_comment, is_field = 0, False, False
    while at < len(lines) - 1:
        line = lines[at].lstrip() if is_field else lines[at]
        if line == ".." or line.startswith(".. "):
            is_comment, is_field = True, False
        elif _RST_FIELD.match(line):
            is_comment, is_field = False, True
        elif not ((is_comment or is_field) and not line.strip()) and not (is_comment and line.startswith((" ", "\t"))):
            break
        at += 1
    return "\n".join(lines[at:])
