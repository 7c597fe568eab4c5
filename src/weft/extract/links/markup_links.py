"""
Links of Org and AsciiDoc.

| syntax | text | address | label |
| --- | --- | --- | --- |
| Org | `[[file:pods.org::*Limits][Pods]]` | `pods.org#Limits` | `Pods` |
| | `[[id:4d2f][Pods]]` | label `4d2f` | `Pods` |
| AsciiDoc | `xref:pods.adoc#limits[Pods]`, `<<pods.adoc#limits,Pods>>` | `pods.adoc#limits` | `Pods` |
| | `link:pods.html[Pods]` | `pods.html` | `Pods` |
"""

from __future__ import annotations

import re
from typing import NamedTuple

from weft.extract.links.markdown_links import MAX_LINKS, Link

_ORG = re.compile(r"\[\[([^\[\]\n]{1,500})\](?:\[([^\[\]\n]{1,300})\])?\]")
_ORG_CODE = re.compile(r"\s{0,20}#\+(begin|end)_(src|example|export)", re.IGNORECASE)
_XREF = re.compile(r"(?:xref:|link:|(?=https?://))([^\s\[\]]{1,500})\[([^\[\]\n]{0,300})\]")
_CROSS = re.compile(r"<<([^<>,\n]{1,300})(?:,\s{0,9}([^<>\n]{1,300}))?>>")
_DELIMITER = re.compile(r"(-{4,}|\.{4,}|`{3,}|/{4,}|\+{4,})\s*$")


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


class AntoraModule(NamedTuple):
    """The part of a site of Antora that a page belongs to: `docs/modules/install/pages/linux.adoc`."""

    name: str
    """`install`."""
    component: str = ""
    """Name in the `antora.yml` of the site; empty if unknown."""


def find_asciidoc_links(text: str, *, module: AntoraModule | None = None) -> list[Link]:
    """Return the links of AsciiDoc in order; listing blocks and comments contain none."""
    found: list[Link] = []
    delimiter = ""
    for index, line in enumerate(text.split("\n")):
        mark = _DELIMITER.match(line)
        if delimiter or mark:
            if mark and (not delimiter or line.strip() == delimiter):
                delimiter = "" if delimiter else line.strip()
            continue
        if ("[" in line or "<<" in line) and not line.startswith("//"):
            for match in _XREF.finditer(line):
                address = match[1] if not match[0].startswith("xref") else _as_asciidoc(match[1], module)
                if not address:
                    continue
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


def _as_asciidoc(address: str, module: AntoraModule | None) -> str:
    """
    Return the address of a cross reference; ids have no extension. Empty for a page of another site of Antora.

    | in `docs/modules/install` of the site `tool` | address |
    | --- | --- |
    | `linux.adoc` | `/modules/install/pages/linux.adoc` |
    | `api:index.adoc`, `tool:api:index.adoc` | `/modules/api/pages/index.adoc` |
    | `./linux.adoc` | the same |
    """
    path, _, anchor = address.partition("#")
    if "://" not in path:
        *site, name, path = ["", *path.split(":")]
        if module and (name or site[1:] or (path.endswith(".adoc") and not path.startswith("."))):
            component = site[-1].rpartition("@")[2] if len(site) > 1 else ""
            if component and component != module.component:
                return ""
            path = f"/modules/{name or (module.name if not site[1:] else 'ROOT')}/pages/{path}"
    if not anchor and path and "." not in path.rpartition("/")[2] and "/" not in path:
        return f"#{path}"
    return f"{path}#{anchor}" if anchor else path
