"""
Markdown of office files, with the code and links of their paragraphs.

    runs of a paragraph                              text
    "Set ", "max_size" in a font for code            Set `max_size`
    "see ", "Pods" with a link to pods.docx          see [Pods](pods.docx)
    "# comment" in a style for code, "start()"       both lines in one fenced block
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from weft.load.line_map import MarkdownWriter, collapse

MAX_ADDRESS_CHARACTERS = 1000

_CODE_STYLE = re.compile(
    r"source[ _]?(?:code|text)|preformatted|verbatim|(?:html )?code(?: char)?$|code block|listing", re.I
)
_CODE_FONT = re.compile(r"\b(?:courier|consolas|menlo|monaco|monospaced?|mono|fira code|cascadia code)\b", re.I)
_NO_LINK = ("#", "mailto:", "javascript:", "tel:", "file:")


class Run(NamedTuple):
    """Characters with the same code and link."""

    text: str
    is_code: bool = False
    address: str = ""


def is_code_style(name: str) -> bool:
    """Return True for the style of a paragraph or characters that common programs use for code."""
    return _CODE_STYLE.match(name.replace("_20_", " ")) is not None


def is_code_font(name: str) -> bool:
    """Return True for a font with characters of one width."""
    return _CODE_FONT.search(name) is not None


class OfficeWriter(MarkdownWriter):
    """Markdown writer for paragraphs of runs. Paragraphs of code alone that follow each other become one block."""

    def __init__(self, *, max_characters: int | None = None) -> None:
        super().__init__(max_characters=max_characters)
        self._code: list[str] = []
        self._code_line = 1

    def add_runs(self, runs: Sequence[Run], *, line: int) -> bool:
        """Add a paragraph if it is code alone, and return True; else return False."""
        text = "".join(run.text for run in runs)
        is_code = bool(text.strip()) and all(run.is_code for run in runs if run.text.strip())
        if is_code or (self._code and not text.strip()):
            self._code_line = self._code_line if self._code else line
            self._code += text.strip("\n").split("\n")
        return is_code

    def finish(self) -> tuple[str, list[int]]:
        """Return the Markdown and the source line of each line."""
        self._end_code()
        return super().finish()

    def _add(self, text: str, *, kind: Literal["block", "item", "row"], line: int) -> None:
        self._end_code()
        super()._add(text, kind=kind, line=line)

    def _end_code(self) -> None:
        code, self._code = self._code, []
        if code:
            self.add_code("\n".join(code), line=self._code_line, step=0)


def marked_text(runs: Sequence[Run]) -> str:
    """Return the text of a paragraph with its inline code and links."""
    found = ""
    for (is_code, address), group in groupby(runs, key=lambda run: (run.is_code, run.address)):
        text = "".join(run.text for run in group)
        inner = text.strip()
        if not inner or not (is_code or address):
            found += text
            continue
        before, _, after = text.partition(inner)
        shown = f"`{inner}`" if is_code and "`" not in inner and "\n" not in inner else inner
        found += before + (_link(shown, address) if address else shown) + after
    return found


def _link(label: str, address: str) -> str:
    address = collapse(address)
    if not address or len(address) > MAX_ADDRESS_CHARACTERS or address.lower().startswith(_NO_LINK):
        return label
    label = collapse(label).replace("[", "\\[").replace("]", "\\]")
    return f"[{label}](<{address}>)" if re.search(r"[\s()]", address) else f"[{label}]({address})"
