"""One definition of a code fence."""

import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "weft"
FENCE = re.compile(r"`\{3,\}|~\{3,\}|\(\"```\"|\"```\", \"~~~\"|'```'")
WRITERS = {"load/line_map.py", "load/formats/json_leaves.py"}
"""Modules that write Markdown."""
OTHER_MARKUP = {"extract/links/markup_links.py", "load/formats/asciidoc.py", "load/formats/outline.py"}
"""AsciiDoc has a delimiter of the same signs."""


def test_only_the_parser_knows_what_a_fence_is():
    """Eight definitions disagreed about a fence in a list item or quotation."""
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if FENCE.search(path.read_text(encoding="utf-8"))
    }
    assert found - WRITERS - OTHER_MARKUP == {"text/markdown/blocks.py", "text/markdown/flavours.py"}


def test_only_the_package_imports_the_parser():
    """All others take blocks."""
    users = {
        path.relative_to(SOURCE).parts[:2] for path in SOURCE.rglob("*.py") if "markdown_it" in path.read_text("utf-8")
    }
    assert users == {("text", "markdown")}
