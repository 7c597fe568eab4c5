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
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from weft.config import LoadOptions
from weft.extract.links.anchors import find_anchors
from weft.extract.links.markup_links import AntoraModule, find_asciidoc_links, find_org_links
from weft.load.file_reader import read_text
from weft.load.file_types import file_title, user_file_name
from weft.load.formats.asciidoc import STRONG, read_asciidoc
from weft.load.formats.plain import find_title, plain_document
from weft.load.metadata import nested_to_json, to_metadata
from weft.records import Document, PageLink

MAX_MODULE_LEVELS = 12
"""Folders above a page in which the site of Antora is looked for."""
MAX_SITE_BYTES = 4096
_COMPONENT = re.compile(r"^name:\s{1,9}[\"']?([\w.-]{1,100})", re.MULTILINE)
_ORG_LINK = re.compile(r"\[\[([^\[\]\n]{1,500})\](?:\[([^\[\]\n]{1,300})\])?\]")
_ORG_CODE = re.compile(r"(?<![\w=~])([=~])([^\s=~](?:[^=~\n]{0,200}[^\s=~])?)\1(?![\w=~])")
_ORG_HEADING = re.compile(r"(\*{1,8})\s+(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED)\s+)?(?:\[#[A-Z]\]\s+)?(\S.*?)$")
_ORG_TAGS = re.compile(r"\s{1,40}:[\w@#%:]{1,100}:$")
_ORG_FIELD = re.compile(r"\s*#\+([A-Za-z_-]{1,40}):\s*(.*)$")
_ORG_BLOCK = re.compile(r"\s*#\+(begin|end)_(\w{1,20})(?:\s+(\w{1,30}))?", re.IGNORECASE)
_ORG_RULE = re.compile(r"\s*\|-[-+|]*\s*$")
_ORG_FIELDS = frozenset(
    {"author", "date", "email", "filetags", "keywords", "description", "title", "category", "language"}
)


def load_outline(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the single document of an Org or AsciiDoc file."""
    yield outline_document(read_text(path, options=options), source=source, module=_find_module(path))


def _find_module(path: Path) -> AntoraModule | None:
    """Return the module of Antora that contains a file: `docs/modules/install`, beside `docs/antora.yml`."""
    for below, folder in pairwise(list(path.parents)[:MAX_MODULE_LEVELS]):
        if folder.name == "modules" and (folder.parent / "antora.yml").is_file():
            with (folder.parent / "antora.yml").open("rb") as stream:
                name = _COMPONENT.search(stream.read(MAX_SITE_BYTES).decode("utf-8", "replace"))
            return AntoraModule(below.name, name[1] if name else "")
    return None


def outline_document(text: str, *, source: str, module: AntoraModule | None = None) -> Document:
    """Return the document of an Org or AsciiDoc text; `module` is the part of a site of Antora that it belongs to."""
    suffix = user_file_name(source).suffix.lower()
    is_org = suffix == ".org"
    lines, fields = (_org_lines if is_org else read_asciidoc)(text.split("\n"))
    if not any(map(str.strip, lines)):
        return plain_document(text, source=source)
    first = next((line.lstrip("# ") for line in lines if line.startswith("# ")), "")
    found = find_org_links(text) if is_org else find_asciidoc_links(text, module=module)
    links = [PageLink(link.line + 1, link.address, link.label, link.kind) for link in found]
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
    return STRONG.sub(r"**\1**", _ORG_CODE.sub(r"`\2`", line))


def _org_target(target: str) -> str:
    """Return the text of a link without label: the name of the file or heading."""
    return target if "://" in target else target.removeprefix("file:").partition("::")[0].lstrip("*#")
