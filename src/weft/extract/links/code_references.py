"""
References to source code in Markdown, as mkdocstrings reads them; loaders find those of Sphinx.

| text | name |
| --- | --- |
| `::: tornado.options.define` in Markdown | `tornado.options.define` |

A page gets a relation to the definition if the corpus contains the source code (`extract/code/reader.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

from weft.extract.links.markdown_links import Link
from weft.text.markdown.blocks import Page
from weft.text.markdown.flavours import is_code_reference

CODE = "code"
"""Kind of a link whose address is a name of source code."""


def find_code_insertions(page: Page) -> Iterator[Link]:
    """Yield the definitions that mkdocstrings inserts into a Markdown page. Containers, `::: tip`, have no dot."""
    for block in page.blocks:
        if block.kind == "directive" and is_code_reference(block.info):
            name = block.info.lstrip(": \t")
            yield Link(block.start, name, name, kind=CODE, block=block.info)
