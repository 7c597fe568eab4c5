"""
Safe parse of reStructuredText with docutils.

Roles and directives of docutils never run, so that a text of a stranger can neither read files nor run code: each role
becomes a `Role`, each directive a `Directive` whose content is parsed as text. Unknown ones are no errors. Nothing is
written to stderr and no global registry is changed.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Sequence
from copy import copy
from typing import Any

from docutils import nodes, utils
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser, states

from weft.load.file_reader import LoadError

MAX_PARAGRAPH_CHARACTERS = 8000
"""Inline markup of longer paragraphs is not read, because unclosed markup takes quadratic time."""
MAX_LINE_CHARACTERS = 10_000
"""A file with a longer line is no reStructuredText written by people."""

CODE = frozenset(
    "code code-block sourcecode parsed-literal literalinclude doctest testcode testoutput testsetup testcleanup math "
    "ipython prompt console graphviz digraph graph mermaid uml productionlist jinja command-output asciinema".split()
)
"""Directives whose content is code."""
HIDDEN = frozenset(
    "raw meta highlight index role default-role rst-class sectnum contents header footer title "
    "tabularcolumns currentmodule py:currentmodule program codeauthor sectionauthor image".split()
)
"""Directives without text of the page."""
_ARGUMENT_IS_TEXT = frozenset(
    "note warning attention caution danger error hint important tip seealso todo centered "
    "versionadded versionchanged versionremoved deprecated replace epigraph highlights pull-quote "
    "line-block compound".split()
)
"""Directives whose text may begin on their first line."""
_OPTION = re.compile(r":([\w.-]{1,60}):(?:[ \t]+(.*))?$")
_LINE_ENDS = str.maketrans(dict.fromkeys("\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\x00", " "))


class Role(nodes.Inline, nodes.TextElement):
    """Interpreted text: `name`, and `content` as written between the backticks."""


class Directive(nodes.General, nodes.Element):
    """A directive: `name`, `argument`, `options`; `text` if it holds code, else its content as children."""


def parse_tree(text: str, *, seconds: float) -> nodes.document:
    """Return the tree of a text. Raises `LoadError` after `seconds` of CPU time, and for lines that are too long."""
    text = text.translate(_LINE_ENDS)
    if any(len(line) > MAX_LINE_CHARACTERS for line in text.split("\n")):
        raise LoadError("broken", "a line is too long")
    settings = get_default_settings(Parser)
    settings.report_level, settings.halt_level = 5, 6
    settings.warning_stream = io.StringIO()
    settings.file_insertion_enabled = settings.raw_enabled = False
    settings.pep_references = settings.rfc_references = False
    settings.line_length_limit = MAX_LINE_CHARACTERS
    document = utils.new_document("", settings)
    parser = Parser(inliner=_Inliner(time.thread_time() + seconds))
    parser.state_classes = _STATES
    parser.parse(text, document)
    return document


class _Inliner(states.Inliner):
    """Inline parser that keeps roles as they are written."""

    def __init__(self, deadline: float) -> None:
        super().__init__()
        self._deadline = deadline

    def parse(self, text: str, lineno: int, memo: Any, parent: Any) -> tuple[list[nodes.Node], list[nodes.Node]]:
        """Return the nodes of a text."""
        self.check_time()
        if len(text) > MAX_PARAGRAPH_CHARACTERS:
            return [nodes.Text(utils.unescape(text))], []
        found, _ = super().parse(text, lineno, memo, parent)
        return found, []

    def check_time(self) -> None:
        """Raise `LoadError` after the deadline."""
        if time.thread_time() > self._deadline:
            raise LoadError("too slow", "parsing took too long")

    def interpreted(
        self, rawsource: str, text: str, role: str | None, lineno: int
    ) -> tuple[list[nodes.Node], list[nodes.Node]]:
        """Return a role without running it."""
        return [Role(rawsource, name=(role or "").lower(), content=utils.unescape(text, restore_backslashes=False))], []


for _name, _value in vars(states.Inliner).items():
    if isinstance(_value, str) and not _name.startswith("__"):  # docutils reads its patterns from the class itself
        setattr(_Inliner, _name, _value)


class _AnyDirective:
    """Mixin of all block states: a directive is parsed the same way whatever its name."""

    def __init__(self, state_machine: Any, debug: bool = False) -> None:
        super().__init__(state_machine, debug)  # type: ignore[call-arg]
        self.nested_sm_kwargs = {"state_classes": _STATES, "initial_state": "Body"}

    def explicit_construct(self, match: re.Match[str]) -> Any:
        """Return the nodes of a directive, label, footnote or comment."""
        state: Any = self
        state.memo.inliner.check_time()
        return states.Body.explicit_construct(state, match)

    def directive(self, match: re.Match[str], **_presets: Any) -> tuple[list[nodes.Node], bool]:
        """Return the node of a directive, and whether a blank line follows."""
        state: Any = self
        machine = state.state_machine
        line = machine.abs_line_number()
        block, _, offset, is_finished = machine.get_first_known_indented(match.end(), strip_top=0)
        name = match[1].lower()
        argument, options, start = _split_block(list(block), is_text=name in _ARGUMENT_IS_TEXT)
        node = Directive(match[0], name=name, argument=argument, options=options)
        node.line = line
        if name in CODE or name in ("toctree", "glossary", "include", "csv-table"):
            node["text"], node["offset"] = "\n".join(block[start:]), offset + start + 1
        if name == "replace":
            found, _ = state.inline_text(" ".join(block[start:]), line)
            return found, is_finished
        if name not in CODE and name not in HIDDEN and name not in ("toctree", "include", "csv-table"):
            state.nested_parse(block[start:], offset + start, node)
        return [node], is_finished or machine.is_next_line_blank()


_EXPLICIT = copy(states.Body.explicit)
_EXPLICIT.constructs = [
    (_AnyDirective.directive if method is states.Body.directive else method, pattern)
    for method, pattern in states.Body.explicit.constructs
]


def _split_block(lines: Sequence[str], *, is_text: bool) -> tuple[str, dict[str, str], int]:
    """Return the argument and the options of a directive, and the index of the first line of its content."""
    at = 0 if lines and lines[0].strip() else 1
    argument: list[str] = []
    while at < len(lines) and not is_text and lines[at].strip() and not _OPTION.match(lines[at].strip()):
        argument.append(lines[at].strip())
        at += 1
    options: dict[str, str] = {}
    last = ""
    while at < len(lines) and lines[at].strip():
        option = _OPTION.match(lines[at].strip())
        if option is None and (not last or not lines[at][:1].isspace()):
            break
        if option:
            last = option[1]
        options[last] = f"{options.get(last, '')} {option[2] or '' if option else lines[at].strip()}".strip()
        at += 1
    return "\n".join(argument), options, at


_STATES = tuple(
    type(state.__name__, (_AnyDirective, state), {"nested_sm_cache": [], "explicit": _EXPLICIT})
    for state in states.state_classes
)
