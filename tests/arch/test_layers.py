"""Import rules: layers, cycles, adapters, environment, printing."""

import ast

import pytest
import source_files
from source_files import SRC, name_of, nodes

LAYERS = [
    {"records", "errors", "choices", "processes", "system"},
    {"config"},
    {"masking"},
    {"text", "rank", "context", "graph", "facts"},
    {"extract"},
    {"models", "store", "load", "exchange"},
    {"index", "search"},
    {"engine", "testing"},
    {"evaluate", "admin"},
    {"tools"},
    {"connection_limits"},
    {"mcp", "server", "daemon", "integrations"},
    {"cli"},
    {"__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
MODULES = [path for path in source_files.MODULES if path != SRC / "__init__.py"]
READS_ENTRY_POINTS = {"load/entry_points.py"}
"""Modules that may look for code of other packages."""
UPWARD = {("engine/engine.py", "tools.memory_search")}
"""The imports that may point up: `Engine.memory_search` calls the tool of that name."""
NAMES_ADAPTERS = {
    "engine/adapters.py",
    "engine/opening/databases.py",
    "admin/tables.py",
    "admin/local_models.py",
    "admin/doctor.py",
}
"""Modules outside `store` and `models` that may import an adapter."""


def layer_of(path):
    """Return the top-level package a file belongs to."""
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def imported(nodes):
    """Return the dotted names of Weft's modules that a source imports, inside functions too; given its syntax nodes."""
    nodes = [n for n in nodes if isinstance(n, ast.Import | ast.ImportFrom)]
    assert not any(isinstance(n, ast.ImportFrom) and n.level for n in nodes), "write absolute imports"
    names = [n.module for n in nodes if isinstance(n, ast.ImportFrom)]
    names += [alias.name for n in nodes if isinstance(n, ast.Import) for alias in n.names]
    from_package = [f"{n.module}.{alias.name}" for n in nodes if isinstance(n, ast.ImportFrom) for alias in n.names]
    packages = {name for name in names if (SRC.parent / name.replace(".", "/")).is_dir()}
    names = [name for name in names if name not in packages or name == "weft"]
    names += [name for name in from_package if name.rpartition(".")[0] in packages - {"weft"}]
    return [name.split(".") for name in names if name.split(".")[0] == "weft"]


def objections(layer, nodes, *, path=""):
    """Yield what is wrong with the imports of a module in `layer`."""
    for name in imported(nodes):
        if len(name) == 1:
            yield "import from the module, not from the package root"
            continue
        if LEVEL[name[1]] >= LEVEL[layer] and name[1] != layer and (path, ".".join(name[1:3])) not in UPWARD:
            yield f"{layer} may not import {name[1]}"
        is_role = name[2:3] == ["base"]
        is_adapter = name[1] in ("store", "models") and not is_role and layer not in ("store", "models")
        if is_adapter and path not in NAMES_ADAPTERS:
            yield f"{path or layer} must import the protocol in {name[1]}.base, not {'.'.join(name)}"


def test_imports_point_down():
    """Packages of one layer do not import each other; few modules name adapters."""
    assert len(MODULES) > 500
    found = {name_of(path): list(objections(layer_of(path), nodes(path), path=name_of(path))) for path in MODULES}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "layer, source",
    [
        ("text", "from weft.store.base import Store"),
        ("search", "from weft.index.run import index_documents"),
        ("search", "def f():\n    from weft.store.relational.store import RelationalStore"),
        ("rank", "import weft.cli.main"),
        ("cli", "from weft import open_engine"),
        ("index", "from weft.models.local import embedder"),
        ("engine", "from weft.tools.calls import call"),
        ("admin", "from weft.store.sqlite.database import SqliteDatabase"),
    ],
)
def test_a_wrong_import_is_seen(layer, source):
    """The rule itself is tested: upwards, sideways, to an adapter, to the root, inside a function."""
    assert list(objections(layer, ast.walk(ast.parse(source))))


def test_search_imports_only_the_reading_half_of_the_store_roles():
    """A search cannot write: it takes `StoreReader`, `GraphReader` and `FactReader`."""
    roles = {
        (name_of(path), alias.name)
        for path in MODULES
        if layer_of(path) == "search"
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and node.module == "weft.store.base"
        for alias in node.names
    }

    assert len(roles) > 10
    assert {(path, name) for path, name in roles if not name.endswith("Reader")} == set()


def test_every_package_has_a_layer():
    """A new top-level package or module must be added to a layer."""
    assert {layer_of(path) for path in MODULES} <= set(LEVEL)


def test_no_import_cycle():
    """No module imports itself through others, whether at run time, in a function or for type checking only."""
    names = {".".join(("weft", *path.relative_to(SRC).with_suffix("").parts)): path for path in MODULES}
    names = {name.removesuffix(".__init__"): path for name, path in names.items()}
    edges = {}
    for name, path in names.items():
        found = {".".join(parts) for parts in imported(nodes(path))}
        found |= {target.rpartition(".")[0] for target in found if target not in names}
        upward = {f"weft.{target}" for source, target in UPWARD if path == SRC / source}
        edges[name] = {target for target in found if target in names and target != name} - upward
    assert find_cycle(edges) == []


def find_cycle(edges):
    """Return the modules of one cycle, or an empty list."""
    done, active = set(), []

    def visit(name):
        if name in active:
            return active[active.index(name) :]
        if name in done:
            return []
        active.append(name)
        for target in sorted(edges[name]):
            if cycle := visit(target):
                return cycle
        done.add(active.pop())
        return []

    return next((cycle for name in sorted(edges) if (cycle := visit(name))), [])


def test_a_cycle_is_seen():
    """A cycle of three is found, a diamond is none."""
    assert find_cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == ["a", "b", "c"]
    assert find_cycle({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": set()}) == []


def test_only_config_reads_the_environment():
    """Settings have one reader. Others may pass the environment on to the programs they start."""
    readers = {
        str(path.relative_to(SRC))
        for path in MODULES
        if any(
            isinstance(n, ast.Attribute) and n.attr in ("environ", "getenv") and getattr(n.value, "id", "") == "os"
            for n in nodes(path)
        )
    }

    starter = "processes/child.py"
    # folders of the user, which are no settings, and a switch of one session
    folders = {"daemon/address.py", "daemon/spool.py", "daemon/switches.py"}
    assert readers <= {"config/read.py", starter, *folders}


def test_one_module_looks_for_code_of_other_packages():
    """Entry points of installed packages are read where the loaders are named."""
    readers = {
        name_of(path)
        for path in MODULES
        if any(isinstance(node, ast.Name) and node.id == "entry_points" for node in nodes(path))
    }
    assert readers == READS_ENTRY_POINTS


def prints(node):
    """Return whether a node names a function that prints."""
    if isinstance(node, ast.Name):
        return node.id == "print"
    is_named = isinstance(node, ast.Attribute) and node.attr in ("echo", "secho", "write")
    return is_named and ast.unparse(node) in ("click.echo", "click.secho", "sys.stdout.write")


def test_only_the_terminal_module_prints():
    """`cli/terminal.py` keeps control characters of names and values from the terminal."""
    printing = {name_of(path) for path in MODULES if any(map(prints, nodes(path)))}
    assert "cli/terminal.py" in printing
    assert printing <= {"cli/terminal.py", "engine/worker_process.py"}  # the latter writes to a pipe
