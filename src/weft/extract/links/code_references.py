"""
References to source code in documentation, as Sphinx and mkdocstrings read them.

| text | name |
| --- | --- |
| ``:class:`.HTTPServer` ``, ``:py:meth:`~web.Handler.get` `` | `HTTPServer`, `web.Handler.get` |
| ``:func:`run it <flask.run>` `` | `flask.run` |
| `` `.IOLoop.start` ``, `` `tornado.gen` `` | `IOLoop.start`, `tornado.gen`: no role, but a dot |
| `::: tornado.options.define` in Markdown | `tornado.options.define` |
| `.. automodule:: tornado.options`, then `.. autofunction:: define` | `tornado.options`, `tornado.options.define` |

A page gets a relation to the definition if the corpus contains the source code (`extract/code/reader.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from weft.extract.links.markdown_links import Link
from weft.text.markdown.blocks import Page
from weft.text.markdown.flavours import is_code_reference

CODE = "code"
"""Kind of a link whose address is a name of source code."""

_ROLES = "attr|attribute|class|const|data|enum|exc|func|function|macro|member|meth|method|mod|module|obj|struct|type"
_ROLE = re.compile(
    rf":(?:\w{{1,20}}:)?(?:{_ROLES}):`(?:[^`<>]{{0,300}}?\s{{0,9}}<([^`<>\s]{{1,300}})>|([^`<>\s]{{1,300}}))`"
)
_PLAIN = re.compile(r"(?<![\w`:])`([~!]?\.?[A-Za-z_][\w.]{0,200}(?:\(\))?)`(?![`_])")
_DIRECTIVE = re.compile(
    r"\s{0,40}\.\. (?:py:|c:|cpp:|js:)?(currentmodule|module|automodule|auto[a-z]{1,20}|class|method|function|exception"
    r"|attribute|data)::\s{1,9}([A-Za-z_][\w.]{0,300})"
)
_NAME = re.compile(r"[A-Za-z_]\w{0,100}(?:\.[A-Za-z_]\w{0,100}){0,8}")
_MODULES = ("module", "automodule")


def find_code_roles(block: str, start: int) -> Iterator[Link]:
    """Yield the references in a paragraph that begins on line `start`."""
    for pattern in (_ROLE, _PLAIN):
        for match in pattern.finditer(block):
            name = (match[1] or match[match.lastindex or 0]).lstrip("~!.").removesuffix("()")
            is_named = pattern is _ROLE or "." in match[1]
            if is_named and _NAME.fullmatch(name):
                line = start + block.count("\n", 0, match.start())
                yield Link(line, name, name, kind=CODE, block=block, offset=match.start())


def find_code_insertions(page: Page) -> Iterator[Link]:
    """Yield the definitions that mkdocstrings inserts into a Markdown page. Containers, `::: tip`, have no dot."""
    for block in page.blocks:
        if block.kind == "directive" and is_code_reference(block.info):
            name = block.info.lstrip(": \t")
            yield Link(block.start, name, name, kind=CODE, block=block.info)


def find_code_directives(text: str) -> Iterator[Link]:
    """Yield the definitions that directives document. A name below `currentmodule` is one of that module."""
    module = ""
    for index, line in enumerate(text.split("\n")):
        match = _DIRECTIVE.match(line) if ".. " in line else None
        if not match:
            continue
        kind, name = match[1], match[2].rstrip(".")
        if kind == "currentmodule" or kind in _MODULES:
            module = name
        elif module and name.split(".")[0] != module.split(".")[0]:
            name = f"{module}.{name}"
        if kind != "currentmodule":
            yield Link(index, name, match[2], kind=CODE, block=line.strip())
