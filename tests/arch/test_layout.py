"""Layout rules: sizes of files, folders and functions, names of files, openings of module docstrings."""

import ast
from collections import Counter

import pytest
from source_files import MODULES, name_of, nodes, source

MAX_LINES = 600
MAX_FUNCTION_LINES = 50
MAX_MODULES = 20
MAX_SAME_BASENAME = 4
OPENINGS = ("What", "Which", "How", "Where", "Whether", "Who", "When")


def unreadable(text, found):
    """Yield what makes a module hard to read, given its text and the nodes of its syntax tree."""
    docstring = ast.get_docstring(found[0]) or ""
    if not docstring or docstring.startswith(OPENINGS):
        yield f"docstring: {docstring[:40]!r}"
    if text.count("\n") > MAX_LINES:
        yield f"{text.count(chr(10))} lines"
    for node in found:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or 0) - node.lineno + 1
            if lines > MAX_FUNCTION_LINES:
                yield f"{node.name}: {lines} lines"


def test_every_module_is_readable():
    """It has a docstring that opens with a noun or a verb, at most 600 lines, and no function over 50."""
    assert len(MODULES) > 500
    assert [f"{name_of(path)}: {line}" for path in MODULES for line in unreadable(source(path), nodes(path))] == []


@pytest.mark.parametrize(
    "text",
    ["x = 1\n", '"""What it does."""\n', '"""Noun."""\n' + "\n" * 600, '"""Noun."""\ndef f():\n' + "    x = 1\n" * 50],
    ids=["no docstring", "opening", "long file", "long function"],
)
def test_what_is_unreadable_is_seen(text):
    """The rule itself is tested."""
    assert len(list(unreadable(text, list(ast.walk(ast.parse(text)))))) == 1


def test_folders_stay_small():
    """At most 20 modules, `__init__.py` not counted."""
    count = Counter(name_of(path.parent) for path in MODULES if path.name != "__init__.py")
    assert {folder: n for folder, n in count.items() if n > MAX_MODULES} == {}


def test_a_basename_is_rarely_repeated():
    """A file can be opened by its name."""
    count = Counter(path.name for path in MODULES if path.name != "__init__.py")
    assert {name: n for name, n in count.items() if n > MAX_SAME_BASENAME} == {}
