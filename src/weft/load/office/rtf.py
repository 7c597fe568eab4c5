r"""
Rich Text Format to documents.

    token           examples                      effect
    control word    \par  \outlinelevel0  \u8364  ends a paragraph, marks a heading, one character
    control symbol  \'e9  \~  \*                  one byte of the code page, a space, an ignorable group
    group           { … }                         scopes settings; some groups are not text (fonts, pictures)
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from weft.config import LoadOptions
from weft.load.cpu_limit import cpu_limit
from weft.load.file_reader import LoadError, read_bytes
from weft.load.file_types import file_title
from weft.load.line_map import collapse
from weft.load.office.office_writer import OfficeWriter, Run, is_code_style, marked_text
from weft.load.table_rows import Row, to_row, write_table
from weft.records import Document
from weft.text.decode import clean

MAX_DEPTH = 1000
"""Maximum nesting of groups. Real documents have about 20."""

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]+|([^\\{}\r\n]+)"
)
_HIDDEN = frozenset(
    "fonttbl colortbl stylesheet info pict object header headerl headerr headerf footer footerl footerr footerf "
    "fldinst themedata datastore latentstyles listtable listoverridetable rsidtbl generator xmlnstbl revtbl nonshppict "
    "bkmkstart bkmkend listtext pntext pntxta pntxtb annotation atnid atnauthor filetbl".split()
)
"""Groups without text of the document."""
_NAMED = ("title", "author")
"""Groups of properties."""
_HYPERLINK = re.compile(r'\s*HYPERLINK\s+"([^"]{1,1000})"', re.I)
_SYMBOLS = {
    "tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“",
    "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ", "qmspace": " ",
}  # fmt: skip
_CHARSETS = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gb18030", 136: "cp950", 161: "cp1253", 162: "cp1254",
    163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250",
}  # fmt: skip
"""Code pages by the character set of a font."""


@dataclass(frozen=True, slots=True)
class _State:
    """Settings of a group; a nested group starts with a copy."""

    group: str = ""
    """Name of a hidden group; empty in text."""
    skipped: int = 1
    """Characters after a `\\u` that repeat it for old programs."""
    font: int = -1
    is_code: bool = False
    address: str = ""
    """Address of the field around the text."""


def load_rtf(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the single document of an RTF file."""
    data = read_bytes(path, options=options)
    if not data.lstrip().startswith(b"{\\rtf"):
        raise LoadError("broken", "RTF: the file does not begin with {\\rtf")
    with cpu_limit(options.max_cpu_seconds):
        reader = _Reader(options=options)
        reader.read(data)
    text, _ = reader.writer.finish()
    if not text:
        raise LoadError("no text", "the document has no paragraph with text")
    properties = {name: value for name, value in reader.properties.items() if value}
    yield Document(
        source=source,
        title=properties.get("title") or reader.first_heading or file_title(source),
        text=text,
        form="markdown",
        metadata=dict(properties),
    )


class _Reader:
    """Converts tokens to paragraphs, headings and tables."""

    def __init__(self, *, options: LoadOptions) -> None:
        self.writer = OfficeWriter(max_characters=options.max_file_bytes)
        self.first_heading = ""
        self.properties: dict[str, str] = {}
        self._state = _State()
        self._stack: list[_State] = []
        self._runs: list[Run] = []
        """Text of the current paragraph or cell."""
        self._hidden_text = bytearray()
        """Name of a style, or instruction of a field."""
        self._style = 0
        self._code_styles: set[int] = set()
        self._bytes = bytearray()
        """Bytes of the current code page that are not decoded yet; a character may have two."""
        self._surrogate = 0
        """First half of a character outside the basic plane."""
        self._to_skip = 0
        """Characters still to skip after a `\\u`."""
        self._page = "cp1252"
        self._fonts: dict[int, str] = {}
        self._is_ignorable = False
        """True after the symbol `*`: the group is hidden unless its name is known."""
        self._level = 0
        self._in_list = False
        self._in_table = False
        self._cells: list[str] = []
        self._rows: list[Row] = []

    def read(self, data: bytes) -> None:
        """Read all tokens. Raises `LoadError` if the groups are nested too deeply."""
        position = 0
        while position < len(data):
            token = _TOKEN.match(data, position)
            if token is None:  # a lone backslash at the end
                break
            position = token.end()
            word, number, code, symbol, brace, text = token.groups()
            if word:
                value = int(number) if number else None
                if word == b"bin":  # binary data follows
                    position += max(0, value or 0)
                else:
                    self._take_word(word.decode("ascii"), value)
            elif code:
                self._take_bytes(bytes([int(code, 16)]))
            elif symbol:
                self._take_symbol(symbol)
            elif brace:
                self._take_brace(brace)
            elif text:
                self._take_bytes(text)
        self._end_paragraph()
        self._end_table()

    def _take_brace(self, brace: bytes) -> None:
        self._flush_bytes()
        self._to_skip, self._is_ignorable = 0, False
        if brace == b"{":
            if len(self._stack) >= MAX_DEPTH:
                raise LoadError("broken", f"RTF: groups are nested more than {MAX_DEPTH:,} deep")
            self._stack.append(self._state)
        elif self._stack:
            group = self._state.group
            self._state = self._stack.pop()
            if group in _NAMED and self._state.group != group:
                self.properties[group] = collapse(clean("".join(run.text for run in self._runs)))
                self._runs = []
            elif group == "stylesheet":
                self._end_style()
            elif group == "fldinst" and self._state.group != group:
                self._end_instruction()

    def _take_symbol(self, symbol: bytes) -> None:
        match symbol:
            case b"*":
                self._is_ignorable = True
            case b"~" | b"{" | b"}" | b"\\" | b"_":
                self._take_bytes({b"~": b" ", b"_": b"-"}.get(symbol, symbol))
            case b"\n" | b"\r":
                self._end_paragraph()

    def _take_word(self, word: str, value: int | None) -> None:
        is_ignorable, self._is_ignorable = self._is_ignorable, False
        if word == "u" and value is not None:
            self._take_unicode(value % 65536)
            return
        self._flush_bytes()
        group = self._state.group
        if word in ("title", "author") and group == "info":
            self._state, self._runs = replace(self._state, group=word), []
        elif group == "stylesheet" and word in ("s", "cs"):
            self._style = value or 0
        elif word in _HIDDEN or (is_ignorable and word != "shppict"):
            self._state = replace(self._state, group=group or word)
            if word in ("pntext", "listtext"):
                self._in_list = True
        elif word == "uc":
            self._state = replace(self._state, skipped=min(max(0, value or 0), 16))
        elif word == "ansicpg":
            self._page = _code_page(value)
        elif word == "f":
            self._state = replace(self._state, font=value or 0)
        elif word == "fcharset" and group == "fonttbl" and value in _CHARSETS:
            self._fonts[self._state.font] = _CHARSETS[value]
        elif not group:
            self._take_format(word, value)

    def _take_format(self, word: str, value: int | None) -> None:
        match word:
            case "par" | "sect" | "page":
                self._end_paragraph()
            case "pard":
                self._level, self._in_list, self._in_table = 0, False, False
                self._state = replace(self._state, is_code=False)
            case "plain":
                self._state = replace(self._state, is_code=False)
            case "s" | "cs" if value in self._code_styles:
                self._state = replace(self._state, is_code=True)
            case "outlinelevel" if value is not None and 0 <= value < 9:
                self._level = value + 1
            case "ls":
                self._in_list = True
            case "intbl":
                self._in_table = True
            case "cell" | "nestcell":
                self._cells.append(marked_text(self._runs))
                self._runs = []
            case "row" | "nestrow":
                if row := to_row(self._cells, line=1):
                    self._rows.append(row)
                self._cells = []
            case _ if word in _SYMBOLS:
                self._add(_SYMBOLS[word])

    def _take_unicode(self, number: int) -> None:
        self._flush_bytes()
        self._to_skip = self._state.skipped
        if 0xD800 <= number < 0xDC00:
            self._surrogate = number
        elif 0xDC00 <= number < 0xE000:
            if self._surrogate:
                self._add(chr(0x10000 + ((self._surrogate - 0xD800) << 10) + number - 0xDC00))
            self._surrogate = 0
        else:
            self._add(chr(number))

    def _take_bytes(self, data: bytes) -> None:
        self._is_ignorable = False
        kept = data[self._to_skip :]
        self._to_skip -= len(data) - len(kept)
        if self._state.group in ("", *_NAMED):
            self._bytes += kept
        elif self._state.group in ("stylesheet", "fldinst"):
            self._hidden_text += kept

    def _flush_bytes(self) -> None:
        if self._bytes:
            page = self._fonts.get(self._state.font, self._page)
            self._add(self._bytes.decode(page, errors="replace"))
            self._bytes.clear()

    def _add(self, text: str) -> None:
        if self._state.group in ("", *_NAMED):
            self._runs.append(Run(text, self._state.is_code, self._state.address))

    def _end_style(self) -> None:
        """Note a style for code; its name is the text of its group."""
        name = bytes(self._hidden_text).decode("ascii", errors="replace").strip(" ;")
        if is_code_style(name):
            self._code_styles.add(self._style)
        self._hidden_text.clear()
        self._style = 0

    def _end_instruction(self) -> None:
        """Note the address of a link for the rest of its field."""
        found = _HYPERLINK.match(bytes(self._hidden_text).decode("ascii", errors="replace"))
        self._hidden_text.clear()
        if found:
            self._state = replace(self._state, address=found[1])

    def _end_paragraph(self) -> None:
        self._flush_bytes()
        if self._in_table:
            self._add("\n")
            return
        runs, self._runs = self._runs, []
        text = marked_text(runs)
        if not text.strip():
            return
        self._end_table()
        if self._level:
            self.first_heading = self.first_heading or (clean(collapse(text)) if self._level == 1 else "")
            self.writer.add_heading(text, level=self._level, line=1)
        elif self.writer.add_runs(runs, line=1):
            pass
        elif self._in_list:
            self.writer.add_item(text, depth=0, line=1)
        else:
            self.writer.add_paragraph(text, line=1)

    def _end_table(self) -> None:
        rows, self._rows = self._rows, []
        write_table(self.writer, rows)


def _code_page(number: int | None) -> str:
    """Return the Python name of a Windows code page; Windows-1252 if it is unknown."""
    name = {936: "gb18030", 10000: "mac_roman", 65001: "utf-8"}.get(number or 0, f"cp{number}")
    try:
        codecs.lookup(name)
    except LookupError:
        return "cp1252"
    return name
