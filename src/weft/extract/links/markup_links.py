"""
Links of reStructuredText, Org and AsciiDoc.

| syntax | text | address | label |
| --- | --- | --- | --- |
| reStructuredText | ``:doc:`Pods <../pods>` `` | `../pods` | `Pods` |
| | ``:ref:`limits` `` | label `limits` | |
| | entries of `.. toctree::` | the entry | |
| | `` `Pods <pods.html>`_ `` and `.. _Pods: pods.html` | `pods.html` | `Pods` |
| | `` `Pods <target_>`_ `` and `.. _target: pods.html` | `pods.html` | `Pods` |
| | ``:class:`.Pod` ``, `.. autoclass:: Pod` | code `Pod` | |
| Org | `[[file:pods.org::*Limits][Pods]]` | `pods.org#Limits` | `Pods` |
| | `[[id:4d2f][Pods]]` | label `4d2f` | `Pods` |
| AsciiDoc | `xref:pods.adoc#limits[Pods]`, `<<pods.adoc#limits,Pods>>` | `pods.adoc#limits` | `Pods` |
| | `link:pods.html[Pods]` | `pods.html` | `Pods` |

An address without extension in reStructuredText names a document, as in Sphinx.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from weft.extract.links.code_references import find_code_directives, find_code_roles
from weft.extract.links.markdown_links import MAX_LINKS, Link

_ROLE = re.compile(
    r":(?:\w{1,20}:)?(doc|ref|any|numref|term):`(?:([^`<>]{0,300}?)\s{0,9}<([^`<>]{1,500})>|([^`<>]{1,300}))`"
)
_NAMED = re.compile(r"`([^`<>]{1,300}?)\s{0,9}<([^`<>\s]{1,500})>`__?")
_REFERENCE = re.compile(r"(?<![\w`])(?:`([^`<>]{1,200})`|([A-Za-z][\w.-]{0,100}))_(?![\w_>])")
_TARGET = re.compile(r"\.\. _(?:`([^`]{1,200})`|([^:`]{1,200})):\s{1,9}(\S{1,500})\s*$")
_LITERAL = (
    "code-block|code|sourcecode|literalinclude|highlight|parsed-literal|raw|math|doctest|testcode|testsetup|ipython"
)
_DIRECTIVE = re.compile(rf"(\s{{0,40}})\.\. (?:[\w-]{{1,20}}:)?(toctree|{_LITERAL})::")
_ENTRY = re.compile(r"(?:([^<>]{1,300}?)\s{1,9}<([^<>]{1,500})>|(\S[^<>]{0,499}))$")
_ORG = re.compile(r"\[\[([^\[\]\n]{1,500})\](?:\[([^\[\]\n]{1,300})\])?\]")
_ORG_CODE = re.compile(r"\s{0,20}#\+(begin|end)_(src|example|export)", re.IGNORECASE)
_XREF = re.compile(r"(?:xref:|link:|(?=https?://))([^\s\[\]]{1,500})\[([^\[\]\n]{0,300})\]")
_CROSS = re.compile(r"<<([^<>,\n]{1,300})(?:,\s{0,9}([^<>\n]{1,300}))?>>")
_DELIMITER = re.compile(r"(-{4,}|\.{4,}|`{3,})\s*$")
_RST_CODE_INLINE = re.compile(r"``(?:[^`]|`(?!`)){1,300}``")


def find_rst_links(text: str) -> list[Link]:
    """Return the links of reStructuredText in order; literal blocks contain none."""
    lines = text.split("\n")
    targets = {_fold(match[1] or match[2]): match[3] for line in lines if (match := _TARGET.match(line))}
    found = list(find_code_directives(text))
    for index, block, is_entry in _rst_blocks(lines):
        if is_entry:
            found += _read_entry(block.strip(), index)
        elif "`" in block or ("_" in block and targets):
            shown = _RST_CODE_INLINE.sub(_spaces, block)
            found += _read_rst(shown, index, targets)
            found += find_code_roles(shown, index)
        if len(found) >= MAX_LINKS:
            break
    return sorted(found[:MAX_LINKS], key=lambda link: link.line)


def _rst_blocks(lines: Sequence[str]) -> Iterator[tuple[int, str, bool]]:
    """Yield (index of the first line, text, True for an entry of a table of contents); paragraphs are joined."""
    pending: list[str] = []
    start = 0
    for index, line, is_entry in _rst_lines(lines):
        if pending and (is_entry or index != start + len(pending)):
            yield start, "\n".join(pending), False
            pending = []
        if is_entry:
            yield index, line, True
            continue
        start = start if pending else index
        pending.append(line)
    if pending:
        yield start, "\n".join(pending), False


def _rst_lines(lines: Sequence[str]) -> Iterator[tuple[int, str, bool]]:
    """Yield (index, line, True for an entry of a table of contents) of lines that are not literal."""
    hidden = listing = -1  # indentation of the literal block or toctree, else -1
    for index, line in enumerate(lines):
        bare = line.lstrip(" \t")
        if not bare:
            continue
        width = len(line) - len(bare)
        hidden = hidden if width > hidden >= 0 else -1
        listing = listing if width > listing >= 0 else -1
        if hidden >= 0:
            continue
        if listing >= 0:
            if not bare.startswith(":"):
                yield index, bare, True
            continue
        if directive := _DIRECTIVE.match(line):
            if directive[2] == "toctree":
                listing = width
            else:
                hidden = width
            continue
        yield index, line, False
        if bare.rstrip().endswith("::") and not bare.startswith(".. "):
            hidden = width


def _read_entry(entry: str, index: int) -> Iterator[Link]:
    match = _ENTRY.match(entry)
    if match and entry != "self" and "*" not in entry:
        yield Link(index, _as_document(match[2] or match[3]), match[1] or "", block=entry)


def _read_rst(block: str, start: int, targets: dict[str, str]) -> Iterator[Link]:
    def link(match: re.Match[str], address: str, label: str, kind: str = "") -> Link:
        line = start + block.count("\n", 0, match.start())
        return Link(line, "".join(address.split()), " ".join(label.split()), False, kind, block, match.start())

    for match in _ROLE.finditer(block):
        address, label = match[3] or match[4], match[2] or ""
        if match[1] == "doc":
            yield link(match, _as_document(address.strip()), label)
        elif match[1] != "term":
            yield link(match, address, label, "label")
    for match in _NAMED.finditer(block):
        # `Mozilla <css_>`_ names a target: `.. _css: https://…`
        address = targets.get(_fold(match[2][:-1]), "") if match[2].endswith("_") else match[2]
        if address and block[match.start() - 1 : match.start()] != ":":
            yield link(match, address, match[1])
    for match in _REFERENCE.finditer(block) if targets else ():
        name = match[1] or match[2]
        if address := targets.get(_fold(name)):
            yield link(match, address, name)


def _as_document(address: str) -> str:
    """Return the address of a document of Sphinx, which has no extension: `guide.v2` is not a file type."""
    return (
        address
        if address.startswith(("http://", "https://")) or address.endswith((".md", ".rst"))
        else f"{address}.rst"
    )


def find_org_links(text: str) -> list[Link]:
    """Return the links of Org text in order; source blocks contain none."""
    found: list[Link] = []
    is_code = False
    for index, line in enumerate(text.split("\n")):
        if mark := _ORG_CODE.match(line):
            is_code = mark[1].lower() == "begin"
        elif not is_code and "[[" in line:
            for match in _ORG.finditer(line):
                if link := _read_org(match[1], match[2] or ""):
                    found.append(Link(index, link[0], match[2] or "", kind=link[1], block=line, offset=match.start()))
        if len(found) >= MAX_LINKS:
            break
    return found[:MAX_LINKS]


def _read_org(target: str, label: str) -> tuple[str, str] | None:
    if target.startswith("id:"):
        return target[3:], "label"
    if target.startswith("file:"):
        path, _, part = target[5:].partition("::")
        return (f"{path}#{part.lstrip('*#')}" if part else path), ""
    if target.startswith(("*", "#", "(")) or ("/" not in target and "." not in target and ":" not in target):
        return None  # a heading of the same file
    is_path = target.startswith(("./", "../", "/", "http://", "https://")) or target.endswith(".org")
    return (target, "") if is_path else None


def find_asciidoc_links(text: str) -> list[Link]:
    """Return the links of AsciiDoc in order; listing blocks contain none."""
    found: list[Link] = []
    delimiter = ""
    for index, line in enumerate(text.split("\n")):
        mark = _DELIMITER.match(line)
        if delimiter or mark:
            if mark and (not delimiter or line.strip() == delimiter):
                delimiter = "" if delimiter else line.strip()
            continue
        if "[" in line or "<<" in line:
            for match in _XREF.finditer(line):
                address = match[1] if not match[0].startswith("xref") else _as_asciidoc(match[1])
                found.append(Link(index, address, match[2].partition(",")[0], block=line, offset=match.start()))
            for match in _CROSS.finditer(line):
                link = match[1].strip()
                is_label = "#" not in link and not link.endswith((".adoc", ".asciidoc"))
                found.append(
                    Link(
                        index, link, match[2] or "", kind="label" if is_label else "", block=line, offset=match.start()
                    )
                )
        if len(found) >= MAX_LINKS:
            break
    return found[:MAX_LINKS]


def _as_asciidoc(address: str) -> str:
    """Return the address of a cross reference: Antora writes `component:module:page.adoc`, ids have no extension."""
    path, _, anchor = address.partition("#")
    path = path.rpartition(":")[2] if "://" not in path else path
    if not anchor and path and "." not in path.rpartition("/")[2] and "/" not in path:
        return f"#{path}"
    return f"{path}#{anchor}" if anchor else path


def _fold(name: str) -> str:
    return " ".join(name.casefold().split())


def _spaces(match: re.Match[str]) -> str:
    return " " * len(match[0])
