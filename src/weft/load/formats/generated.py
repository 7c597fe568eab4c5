"""
Files that programs write, and drawings: skipped with a reason, or read for their labels.

| file | result |
| --- | --- |
| `package-lock.json`, `uv.lock`, `go.sum` | skipped: `generated` |
| `app.min.js`, `app.js.map`, minified code | skipped: `generated` |
| `site.css`, `theme.scss` | skipped: `style sheet` |
| `plan.drawio`, `plan.excalidraw` | its labels, one on each line |
| `plan.graffle` | skipped: `drawing` |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from weft.config import LoadOptions
from weft.load.file_reader import LoadError, read_text
from weft.load.file_types import file_title
from weft.records import Document, Skipped

MIN_MINIFIED_CHARACTERS = 2000
MAX_LINE_CHARACTERS = 500
"""Average length of the lines of code above which nobody wrote it."""
MAX_LABELS = 2000
MAX_LABEL_CHARACTERS = 300

_LOCK_NAMES = frozenset(
    "bun.lockb cargo.lock composer.lock deno.lock flake.lock gemfile.lock go.sum gradle.lockfile mix.lock "
    "npm-shrinkwrap.json package-lock.json packages.lock.json pdm.lock pipfile.lock pnpm-lock.yaml podfile.lock "
    "poetry.lock pubspec.lock uv.lock yarn.lock".split()
)
_MINIFIED = (".min.js", ".min.css", ".min.mjs", ".js.map", ".css.map", ".mjs.map", ".bundle.js", ".chunk.js")
_STYLES = frozenset({".css", ".less", ".sass", ".scss", ".styl"})
DRAWINGS = frozenset({".dio", ".drawio", ".excalidraw"})
_CLOSED = frozenset({".graffle", ".vsdx", ".fig", ".sketch", ".xd"})
_VALUE = re.compile(
    r"\b(?:value|label|name)=\"([^\"]{1,2000})\"|\"(?:text|originalText|name)\"\s{0,4}:\s{0,4}\"((?:[^\"\\\n]|\\.){1,2000})\""
)
_TAG = re.compile(r"<[^<>]{0,1000}>")
_ESCAPES = {r"\n": " ", r"\"": '"', r"\/": "/", r"\\": "\\"}
_ESCAPE = re.compile(r"\\[n\"/\\]")


def skip_reason(path: Path) -> str:
    """Return why a file is not read, by its name; empty for other files."""
    name = path.name.lower()
    if name in _LOCK_NAMES or name.endswith(_MINIFIED):
        return "generated"
    if path.suffix.lower() in _STYLES:
        return "style sheet"
    return "drawing" if path.suffix.lower() in _CLOSED else ""


def skip_file(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    """Yield the reason why a file is not read."""
    yield Skipped(source=source, reason=skip_reason(Path(source)))


def is_minified(text: str) -> bool:
    """Return True for code on few very long lines."""
    return len(text) > MIN_MINIFIED_CHARACTERS and len(text) > MAX_LINE_CHARACTERS * (1 + text.count("\n"))


def load_drawing(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the labels of a drawing, one on each line, with the lines of the file."""
    labels: dict[str, int] = {}
    for number, line in enumerate(read_text(path, options=options).split("\n"), start=1):
        for match in _VALUE.finditer(line):
            label = _label(match[1], match[2])
            if label and len(labels) < MAX_LABELS:
                labels.setdefault(label, number)
    if not labels:
        raise LoadError("no text", "the drawing has no labels, or they are compressed")
    lines = list(labels.values())
    yield Document(source=source, title=file_title(source), text="\n".join(labels), lines=lines)


def _label(attribute: str | None, string: str | None) -> str:
    text = unescape(unescape(attribute)) if attribute else _ESCAPE.sub(lambda found: _ESCAPES[found[0]], string or "")
    text = " ".join(_TAG.sub(" ", text).split())[:MAX_LABEL_CHARACTERS]
    return text if any(map(str.isalpha, text)) else ""
