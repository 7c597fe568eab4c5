"""Imports point down. A module may import only from layers listed above its own."""

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "weft"
LAYERS = [
    {"records", "errors"},
    {"config"},
    {"text", "rank", "context", "graph", "facts"},
    {"extract"},
    {"models", "store", "load", "exchange"},
    {"index", "search"},
    {"evaluate", "testing"},
    {"engine"},
    {"mcp", "server", "integrations"},
    {"cli"},
    {"__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
MODULES = sorted(path for path in SRC.rglob("*.py") if path != SRC / "__init__.py")


def part(path):
    """Return which room of the house a file is in."""
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def imported(source):
    """Return the dotted names of ours that a module imports, also inside functions."""
    nodes = list(ast.walk(ast.parse(source)))
    assert not any(isinstance(n, ast.ImportFrom) and n.level for n in nodes), "write absolute imports"
    names = [n.module for n in nodes if isinstance(n, ast.ImportFrom)]
    names += [alias.name for n in nodes if isinstance(n, ast.Import) for alias in n.names]
    from_package = [f"{n.module}.{alias.name}" for n in nodes if isinstance(n, ast.ImportFrom) for alias in n.names]
    packages = {name for name in names if (SRC.parent / name.replace(".", "/")).is_dir()}
    names = [name for name in names if name not in packages or name == "weft"]
    names += [name for name in from_package if name.rpartition(".")[0] in packages - {"weft"}]
    return [name.split(".") for name in names if name.split(".")[0] == "weft"]


def objections(room, source):
    """Return what is wrong with the imports of a module in `room`."""
    for name in imported(source):
        if len(name) == 1:
            yield "import from the module, not from the package root"
            continue
        if LEVEL[name[1]] >= LEVEL[room] and name[1] != room:
            yield f"{room} may not import {name[1]}"
        if name[1] in ("store", "models") and name[2:] != ["base"] and room not in ("store", "models", "engine"):
            yield f"{room} must ask for the protocol in {name[1]}.base, not for {'.'.join(name)}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SRC)))
def test_imports_point_down(path):
    """Neighbours in one layer do not know each other; only the engine names adapters."""
    assert list(objections(part(path), path.read_text("utf-8"))) == []


@pytest.mark.parametrize(
    "room, source",
    [
        ("text", "from weft.store.base import Store"),
        ("search", "from weft.index.run import index_documents"),
        ("search", "def f():\n    from weft.store.relational.store import RelationalStore"),
        ("rank", "import weft.cli.main"),
        ("cli", "from weft import open_engine"),
        ("index", "from weft.models import local"),
    ],
)
def test_a_wrong_import_is_seen(room, source):
    """The rule itself is tested: upwards, sideways, to an adapter, to the root, inside a function."""
    assert list(objections(room, source))


def test_every_room_has_a_layer():
    """A new folder or module must be given its place."""
    assert {part(path) for path in MODULES} <= set(LEVEL)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SRC)))
def test_files_stay_readable(path):
    """No file over 400 lines; print only at doors."""
    source = path.read_text("utf-8")
    calls = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]

    assert source.count("\n") <= 400
    assert part(path) == "cli" or not any(call.func.id == "print" for call in calls)


def test_only_config_reads_the_environment():
    """Settings have one reader. The fetcher may pass the environment on to the programs it starts."""
    readers = {
        str(path.relative_to(SRC))
        for path in MODULES
        if any(
            isinstance(n, ast.Attribute) and n.attr in ("environ", "getenv") and getattr(n.value, "id", "") == "os"
            for n in ast.walk(ast.parse(path.read_text("utf-8")))
        )
    }

    assert readers <= {"config/read.py", "models/local/fetch.py", "models/local/download.py"}


@pytest.mark.parametrize("path", sorted((SRC / "cli").glob("*.py")), ids=lambda p: p.name)
def test_commands_print_through_one_place(path):
    """`cli/terminal.py` keeps control characters of names and values from the terminal."""
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    used = {ast.unparse(node) for node in nodes if isinstance(node, ast.Name | ast.Attribute)}
    assert path.name == "say.py" or not used & {"click.echo", "click.secho", "print", "sys.stdout.write"}
