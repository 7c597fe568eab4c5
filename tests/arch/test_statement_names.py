"""No module of a store decides anything by the name of a statement; only the files of statements know it."""

import ast

import pytest
from source_files import MODULES, name_of, nodes

from weft.store.sql_files import load_queries

STATEMENTS = load_queries("sqlite").keys() | load_queries("postgres").keys()
COLLECTIONS = {"dict", "frozenset", "list", "set", "tuple"}
STORE = [path for path in MODULES if name_of(path).startswith("store/")]


def names_in(node):
    """Yield the names of statements in an expression, but not those that it passes to a call."""
    if isinstance(node, ast.Constant) and node.value in STATEMENTS:
        yield node.value
    is_call = isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in COLLECTIONS)
    if not is_call:
        for part in ast.iter_child_nodes(node):
            yield from names_in(part)


def decisions(found):
    """Yield the lines that compare a value with the name of a statement or look one up in a collection of names."""
    collections = {}
    for node in found:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=target)], value=value)
                | ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value)
            ) if any(names_in(value)):
                collections[target] = value
    for node in found:
        match node:
            case ast.Compare(left=left, comparators=others):
                sides = [left, *others]
                sides += [
                    collections[side.id] for side in sides if isinstance(side, ast.Name) and side.id in collections
                ]
                if any(any(names_in(side)) for side in sides):
                    yield node.lineno
            case ast.MatchValue(value=value) if any(names_in(value)):
                yield value.lineno


def test_no_store_decides_by_the_name_of_a_statement():
    """A caller that needs a row twice keeps it."""
    assert len(STORE) > 80 and "find_namespace" in STATEMENTS
    assert [f"{name_of(path)}:{line}" for path in STORE for line in decisions(nodes(path))] == []


@pytest.mark.parametrize(
    "text",
    [
        "if name == 'find_namespace': pass",
        "if name in ('find_namespace', 'x'): pass",
        "KEPT = frozenset({'find_namespace'})\nif name in KEPT: pass",
        "KEPT: set = {'find_namespace'}\nif name not in KEPT: pass",
        "KEPT = {'find_namespace': 1}\nx = 1 if name in KEPT else 2",
        "match name:\n    case 'find_namespace': pass",
    ],
)
def test_decisions_are_found(text):
    """The rule itself is tested."""
    assert len(list(decisions(list(ast.walk(ast.parse(text)))))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "rows = db.run('find_namespace')\nif rows == []: pass",
        "db.one('find_namespace') is None",
        "if kind == 'vectors': pass",
        "for x in NAMES: db.run(x)",
    ],
)
def test_running_a_statement_is_no_decision(text):
    """Other comparisons and calls are left alone."""
    assert list(decisions(list(ast.walk(ast.parse(text))))) == []
