"""Scripts that nobody runs for weeks still find what they import."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[2] / "benchmarks").rglob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_what_a_benchmark_imports_from_the_package_exists(script):
    for node in ast.walk(ast.parse(script.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "weft":
            module = import_module(node.module)
            names = {name.name for name in node.names}
            missing = [name for name in names if not (hasattr(module, name) or _is_module(node.module, name))]
            assert not missing, f"{node.module} has no {missing}"


def _is_module(package: str, name: str) -> bool:
    try:
        import_module(f"{package}.{name}")
    except ModuleNotFoundError:
        return False
    return True
