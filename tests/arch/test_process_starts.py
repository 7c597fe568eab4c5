"""One package starts processes and talks to them, so that all have the same protection and one protocol."""

import ast

import pytest
from source_files import MODULES, name_of, nodes

STARTERS = {
    "subprocess": {"Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"},
    "os": {
        *(f"exec{kind}" for kind in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
        *(f"spawn{kind}" for kind in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
        *("fork", "forkpty", "popen", "posix_spawn", "posix_spawnp", "startfile", "system"),
    },
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
    "concurrent.futures": {"ProcessPoolExecutor"},
}
METHODS = {"subprocess_exec", "subprocess_shell", "ProcessPoolExecutor"}
"""Names that start a process, whatever object they belong to."""
MODULES_OF_PROCESSES = {"multiprocessing", "pty", "popen2", "_posixsubprocess", "_winapi"}
STARTER = "processes/child.py"
GIT = {"load/git/git_process.py", "load/git/log.py"}


def starts(nodes):
    """Yield what a module, given by its syntax nodes, would start a process with."""
    for node in nodes:
        match node:
            case ast.Import(names=names):
                yield from (a.name for a in names if a.name.partition(".")[0] in MODULES_OF_PROCESSES)
                yield from (f"{a.name} as {a.asname}" for a in names if a.name in STARTERS and a.asname)
            case ast.ImportFrom(module=str(module), names=names):
                known = STARTERS.get(module, set()) | ({"*"} if module in STARTERS else set())
                is_other = module.partition(".")[0] in MODULES_OF_PROCESSES
                yield from (f"{module}.{alias.name}" for alias in names if is_other or alias.name in known)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name)):
                if name in STARTERS.get(module, set()) | METHODS:
                    yield f"{module}.{name}"
            case ast.Call(func=ast.Attribute(attr=name)) if name in METHODS:
                yield name


def test_no_other_module_starts_a_process():
    """`weft.processes.child.start_process` sets module path, working folder and environment."""
    found = {name_of(path): list(starts(nodes(path))) for path in MODULES}

    assert found[STARTER] == ["subprocess.Popen"]
    assert {name: words for name, words in found.items() if words and name != STARTER} == {}


def test_one_package_knows_the_module_subprocess():
    """Git is the exception: its output is no message, but a stream of its own format."""
    users = {
        name_of(path)
        for path in MODULES
        for node in nodes(path)
        if (isinstance(node, ast.Import) and any(alias.name == "subprocess" for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module == "subprocess")
    }

    assert {name for name in users if not name.startswith("processes/")} == GIT


def test_processes_talk_in_one_protocol():
    """`ChildProcess` and `ParentConnection` are its ends: no other module starts a process that it could talk to."""
    words = {
        word: {
            name_of(path)
            for path in MODULES
            for node in nodes(path)
            if isinstance(node, ast.ImportFrom | ast.Import) and word in {alias.name for alias in node.names}
        }
        for word in ("start_process", "read_frame")
    }

    assert {name for name in words["start_process"] if not name.startswith("processes/")} == {"load/git/git_process.py"}
    assert {name for name in words["read_frame"] if name.startswith("processes/")} == {
        "processes/child_process.py",
        "processes/parent_connection.py",
    }


def test_no_module_runs_python_by_module_name():
    """`python -m` imports from the current folder; `python_command` does not."""
    words = {"-m", "-c"}
    found = {
        name_of(path)
        for path in MODULES
        if any(isinstance(n, ast.List | ast.Tuple) and words & set(map(text_of, n.elts)) for n in nodes(path))
        and any(isinstance(n, ast.Attribute) and ast.unparse(n) == "sys.executable" for n in nodes(path))
    }

    assert found == {"processes/child.py"}


def text_of(node):
    """Return the text of a literal, else None."""
    return node.value if isinstance(node, ast.Constant) else None


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess\nsubprocess.run(['x'])",
        "import subprocess as s\ns.run(['x'])",
        "from subprocess import Popen",
        "from subprocess import *",
        "import multiprocessing.pool",
        "from multiprocessing import Process",
        "import os\nos.system('x')",
        "from os import execv",
        "import os\nos.posix_spawn('x', [], {})",
        "import asyncio\nasyncio.create_subprocess_exec('x')",
        "loop.subprocess_exec(protocol, 'x')",
        "import concurrent.futures\nconcurrent.futures.ProcessPoolExecutor()",
        "from concurrent.futures import ProcessPoolExecutor",
    ],
)
def test_a_start_is_seen(source):
    """The rule itself is tested."""
    assert list(starts(ast.walk(ast.parse(source))))
