"""
Org and AsciiDoc as Markdown: headings, code, marks of text and links. Each line keeps its number.

| Org | AsciiDoc | Markdown |
| --- | --- | --- |
| `* Limits` | `== Limits` | `# Limits`, `## Limits` |
| `#+begin_src python` … `#+end_src` | `[source,python]`, `----` … `----` | fenced code |
| `[[file:pods.org][Pods]]` | `xref:pods.adoc[Pods]`, `<<max,Pods>>` | `Pods`, with a link |
| `=code=`, `~code~` | `` `code` `` | `` `code` `` |
| `*strong*` | `*strong*` | `**strong**` |
| `#+AUTHOR: Ada` | `:author: Ada` | metadata |
| `:PROPERTIES:` … `:END:`, `# comment` | `[#max]`, `// comment`, `include::a[]` | an empty line |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from weft.config import LoadOptions
from weft.extract.links.anchors import find_anchors
from weft.extract.links.markdown_links import Link
from weft.extract.links.markup_links import find_asciidoc_links, find_org_links
from weft.load.file_reader import read_text
from weft.load.file_types import file_title, user_file_name
from weft.load.formats.plain import find_title, plain_document
from weft.load.metadata import nested_to_json, to_metadata
from weft.records import Document, PageLink

_ORG_LINK = re.compile(r"\[\[([^\[\]\n]{1,500})\](?:\[([^\[\]\n]{1,300})\])?\]")
_ORG_CODE = re.compile(r"(?<![\w=~])([=~])([^\s=~](?:[^=~\n]{0,200}[^\s=~])?)\1(?![\w=~])")
_STRONG = re.compile(r"(?<![\w*])\*([^\s*](?:[^*\n]{0,200}[^\s*])?)\*(?![\w*])")
_ORG_HEADING = re.compile(r"(\*{1,8})\s+(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED)\s+)?(?:\[#[A-Z]\]\s+)?(\S.*?)$")
_ORG_TAGS = re.compile(r"\s{1,40}:[\w@#%:]{1,100}:$")
_ORG_FIELD = re.compile(r"\s*#\+([A-Za-z_-]{1,40}):\s*(.*)$")
_ORG_BLOCK = re.compile(r"\s*#\+(begin|end)_(\w{1,20})(?:\s+(\w{1,30}))?", re.IGNORECASE)
_ORG_RULE = re.compile(r"\s*\|-[-+|]*\s*$")
_ORG_FIELDS = frozenset(
    {"author", "date", "email", "filetags", "keywords", "description", "title", "category", "language"}
)
_ADOC_HEADING = re.compile(r"(={1,6})\s+(\S.*)$")
_ADOC_FIELD = re.compile(r":!?([\w-]{1,60})!?:(?:\s+(.*))?$")
_ADOC_FENCE = re.compile(r"(-{4,}|\.{4,}|`{3,})\s*$")
_ADOC_HIDDEN = re.compile(
    r"(?://|\[[^\[\]]{0,300}\]\s*$|\[\[[^\[\]]{0,200}\]\]\s*$|(?:image|include|video|toc|ifdef|ifndef|endif)::|[=*_+]{4,}\s*$)"
)
_ADOC_LINK = re.compile(r"(?:xref:|link:|(?=https?://))([^\s\[\]]{1,500})\[([^\[\]\n]{0,300})\]")
_ADOC_CROSS = re.compile(r"<<([^<>,\n]{1,300})(?:,\s{0,9}([^<>\n]{1,300}))?>>")
_ADOC_CELL = re.compile(r"(?:(?<=\s)|^)(?:\d{1,3}(?:\.\d{1,3})?[+*]|\.\d{1,3}\+)?[<^>.]{0,3}[adehlmsv]?(?<!\\)\|")
_ADOC_LIST = re.compile(r"(\*{2,5}|\.{1,5})\s+(?=\S)")


def load_outline(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the single document of an Org or AsciiDoc file."""
    yield outline_document(read_text(path, options=options), source=source)


def outline_document(text: str, *, source: str) -> Document:
    """Return the document of an Org or AsciiDoc text."""
    suffix = user_file_name(source).suffix.lower()
    is_org = suffix == ".org"
    lines, fields = (_org_lines if is_org else _asciidoc_lines)(text.split("\n"))
    if not any(map(str.strip, lines)):
        return plain_document(text, source=source)
    first = next((line.lstrip("# ") for line in lines if line.startswith("# ")), "")
    find_links: Callable[[str], list[Link]] = find_org_links if is_org else find_asciidoc_links
    links = [PageLink(link.line + 1, link.address, link.label, link.kind) for link in find_links(text)]
    targets = [
        PageLink(anchor.start + 1, f"label:{anchor.label}", lines[anchor.start].lstrip("# "), "target")
        for anchor in find_anchors(text, suffix=suffix)
        if anchor.label
    ]
    title = fields.pop("title", "") or (find_title(text) if not is_org else "") or first
    return Document(
        source=source,
        title=title or file_title(source, with_extension=True),
        text="\n".join(lines),
        form="markdown",
        metadata=to_metadata(nested_to_json({key: value for key, value in fields.items() if value})),
        links=(*links, *targets),
    )


# ── Org ─────────────────────────────────────────────────────────────────────────────────────────


def _org_lines(lines: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    shown: list[str] = []
    fields: dict[str, str] = {}
    block = ""
    is_drawer = False
    for line in lines:
        mark = _ORG_BLOCK.match(line)
        if mark and (not block or (mark[1].lower() == "end" and mark[2].lower() == block)):
            is_code = mark[2].lower() in ("src", "example", "export", "comment")
            block = "" if mark[1].lower() == "end" else mark[2].lower() if is_code else block
            shown.append((f"```{mark[3] or ''}" if mark[1].lower() == "begin" else "```") if is_code else "")
        elif block:
            shown.append(line)
        elif field := _ORG_FIELD.match(line):
            name = field[1].lower()
            if name in _ORG_FIELDS:
                fields.setdefault(name, field[2].strip())
            shown.append("")
        elif is_drawer or line.strip().upper() in (":PROPERTIES:", ":LOGBOOK:"):
            is_drawer = line.strip().upper() != ":END:"
            shown.append("")
        else:
            shown.append(_org_line(line))
    if block:
        shown.append("```")
    return shown, fields


def _org_line(line: str) -> str:
    if line.startswith("# ") or line.rstrip() == "#":
        return ""
    if heading := _ORG_HEADING.match(line):
        title = _ORG_TAGS.sub("", _org_text(heading[2].rstrip()))
        return f"{'#' * min(6, len(heading[1]))} {title}"
    if _ORG_RULE.match(line):
        return line.replace("+", "|")
    return _org_text(line)


def _org_text(line: str) -> str:
    line = _ORG_LINK.sub(lambda match: match[2] or _org_target(match[1]), line)
    return _STRONG.sub(r"**\1**", _ORG_CODE.sub(r"`\2`", line))


def _org_target(target: str) -> str:
    """Return the text of a link without label: the name of the file or heading."""
    return target if "://" in target else target.removeprefix("file:").partition("::")[0].lstrip("*#")


# ── AsciiDoc ────────────────────────────────────────────────────────────────────────────────────


def _asciidoc_lines(lines: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    shown: list[str] = []
    fields: dict[str, str] = {}
    fence = ""
    table: list[int] | None = None  # numbers of cells in the lines of the table so far
    is_head = True  # fields are metadata up to the first text
    for line in lines:
        mark = _ADOC_FENCE.match(line)
        if mark and (not fence or line.strip() == fence):
            fence = "" if fence else line.strip()
            shown.append("```")
        elif fence:
            shown.append(line)
        elif line.rstrip() == "|===":
            table = [] if table is None else None
            shown.append("")
        elif table is not None:
            shown.append(_asciidoc_row(line, table))
        elif heading := _ADOC_HEADING.match(line):
            shown.append(f"{'#' * len(heading[1])} {_asciidoc_text(heading[2].rstrip())}")
            is_head = is_head and len(heading[1]) == 1
        elif field := _ADOC_FIELD.match(line):
            if is_head and field[2]:
                fields.setdefault(field[1].lower(), field[2].strip())
            shown.append("")
        elif _ADOC_HIDDEN.match(line) or line.strip() == "+":
            shown.append("")
        else:
            is_head = is_head and not line.strip()
            shown.append(_asciidoc_line(line))
    if fence:
        shown.append("```")
    return shown, fields


def _asciidoc_row(line: str, table: list[int]) -> str:
    """Return a line of a table; a blank line below the first row marks this row as the header."""
    if not line.strip():
        is_below_header = len(table) == 1 and table[0] > 1
        table.append(0)
        return f"|{' --- |' * table[0]}" if is_below_header else ""
    cells = [_asciidoc_text(cell.strip()) for cell in _ADOC_CELL.split(line)]
    first, *others = cells
    table.append(len(others))
    return " ".join(filter(None, (first, f"| {' | '.join(others)} |" if others else "")))


def _asciidoc_line(line: str) -> str:
    if item := _ADOC_LIST.match(line):
        return f"{'  ' * (len(item[1]) - 1)}- {_asciidoc_text(line[item.end() :])}"
    if line.startswith(".") and line[1:2].isalnum():  # the title of a block
        line = line[1:]
    return _asciidoc_text(line)


def _asciidoc_text(line: str) -> str:
    line = _ADOC_LINK.sub(lambda match: match[2].partition(",")[0].rstrip("^") or _stem(match[1]), line)
    line = _ADOC_CROSS.sub(lambda match: match[2] or _stem(match[1]), line)
    mark, rest = ("- ", line[2:]) if line.startswith("* ") else ("", line)
    return mark + _STRONG.sub(r"**\1**", rest)


def _stem(address: str) -> str:
    """Return the text of a link without label: the name of the page or part."""
    if "://" in address:
        return address
    path, _, part = address.partition("#")
    return part or path.rpartition("/")[2].removesuffix(".adoc").removesuffix(".asciidoc")
