"""Source files of the package, each parsed once."""

import ast
import gc
from functools import cache
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "weft"
MODULES = sorted(SRC.rglob("*.py"))


@cache
def source(path):
    """Return the text of a file."""
    return path.read_text("utf-8")


@cache
def nodes(path):
    """Return all nodes of the syntax tree of a file; they are walked once, because that takes longer than parsing."""
    gc.disable()  # a million nodes that are all kept: looking for garbage among them takes as long as parsing
    try:
        return list(ast.walk(ast.parse(source(path))))
    finally:
        gc.enable()


def name_of(path):
    """Return the path of a module inside the package."""
    return path.relative_to(SRC).as_posix()
