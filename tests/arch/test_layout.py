"""Layout rules: sizes of files, folders and functions, names of files, openings of module docstrings."""

import ast
from collections import Counter
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "weft"
MODULES = sorted(SRC.rglob("*.py"))
FOLDERS = sorted({path.parent for path in MODULES})
MAX_LINES = 600
MAX_FUNCTION_LINES = 50
MAX_MODULES = 20
MAX_SAME_BASENAME = 4
OPENINGS = ("What", "Which", "How", "Where", "Whether", "Who", "When")


def docstring(path):
    return ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SRC)))
def test_a_module_stays_readable(path):
    """It has a docstring that opens with a noun or a verb, at most 600 lines, and no function over 50."""
    source = path.read_text("utf-8")
    functions = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]

    assert docstring(path)
    assert not docstring(path).startswith(OPENINGS)
    assert source.count("\n") <= MAX_LINES
    assert [n.name for n in functions if (n.end_lineno or 0) - n.lineno + 1 > MAX_FUNCTION_LINES] == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda p: str(p.relative_to(SRC)))
def test_a_folder_stays_small(folder):
    """At most 20 modules, `__init__.py` not counted."""
    assert sum(path.parent == folder and path.name != "__init__.py" for path in MODULES) <= MAX_MODULES


def test_a_basename_is_rarely_repeated():
    """A file can be opened by its name."""
    count = Counter(path.name for path in MODULES if path.name != "__init__.py")
    assert {name: n for name, n in count.items() if n > MAX_SAME_BASENAME} == {}
