"""Scripts that nobody runs for weeks still find what they import."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[2] / "benchmarks").rglob("*.py"))
COMMANDS = [path for path in SCRIPTS if 'if __name__ == "__main__":' in path.read_text("utf-8")]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_what_a_benchmark_imports_from_the_package_exists(script):
    for node in ast.walk(ast.parse(script.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "weft":
            module = import_module(node.module)
            names = {name.name for name in node.names}
            missing = [name for name in names if not (hasattr(module, name) or _is_module(node.module, name))]
            assert not missing, f"{node.module} has no {missing}"


@pytest.mark.slow
@pytest.mark.parametrize("script", COMMANDS, ids=lambda script: script.stem)
def test_a_benchmark_starts(script):
    """Each imports its neighbours and reads its arguments; those of peers need their own environment."""
    if script.stem == "one":
        pytest.skip("runs in the environment of peers.py")
    done = subprocess.run([sys.executable, script, "--help"], capture_output=True, text=True)

    assert (done.returncode, done.stdout[:6]) == (0, "usage:"), done.stderr


def test_no_two_benchmarks_have_one_name():
    """They import each other by name, from several folders."""
    names = [script.stem for script in SCRIPTS if script.parent.name != "peers"]

    assert len(set(names)) == len(names)


def _is_module(package: str, name: str) -> bool:
    try:
        import_module(f"{package}.{name}")
    except ModuleNotFoundError:
        return False
    return True
