"""Documentation is complete, and its examples are correct."""

import ast
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import click
import pytest

import weft.errors as errors
from weft.cli.main import COMMANDS, weft
from weft.config import ALIASES, GROUPS
from weft.engine.async_engine import AsyncEngine
from weft.engine.memory import Memory
from weft.extract.relation_types import INVERSE, WORDS, split_words

HOME = Path(__file__).parents[2]
DOCS = HOME / "docs"


def read(name):
    return (HOME / name).read_text("utf-8")


def commands():
    """Yield every verb with its path, groups included."""
    context = click.Context(weft)
    todo = [((name,), weft.get_command(context, name)) for name in COMMANDS]
    while todo:
        path, command = todo.pop()
        yield path, command
        todo += [((*path, name), inner) for name, inner in getattr(command, "commands", {}).items()]


@pytest.mark.parametrize("path, command", list(commands()), ids=lambda value: str(value))
def test_every_verb_and_option_is_documented(path, command):
    """docs/cli.md has a heading for each verb and names each of its options below it."""
    page = read("docs/cli.md")
    heading = re.search(rf"^### `weft {' '.join(path)}[ `]", page, re.MULTILINE)
    assert heading, f"docs/cli.md does not describe `weft {' '.join(path)}`"
    section = page[heading.end() :].split("\n### ")[0]
    shared = page[: page.index("### ")]
    for parameter in command.params:
        for option in parameter.opts if isinstance(parameter, click.Option) else ():
            assert f"`{option}`" in section or f"`{option}`" in shared, f"{option} of {' '.join(path)}"


def test_every_setting_is_documented_with_its_default():
    """docs/configuration.md names each setting, its default and the short environment names."""
    page = read("docs/configuration.md")
    for group, kind in GROUPS.items():
        for item in fields(kind):
            assert f"| `{group}.{item.name}` | `{getattr(kind(), item.name)!r}` |" in page
    for name in ALIASES:
        assert f"`{name}`" in page


def test_every_error_is_documented_and_drawn():
    """docs/errors.md has a row for each, and the tree in the module's docstring has it too."""
    page, tree = read("docs/errors.md"), errors.__doc__
    names = [name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)]
    assert len(names) > 8
    for name in names:
        assert f"| `{name}` |" in page
        assert name in tree


def test_every_local_link_leads_somewhere():
    """Links between pages, and from the README, are not broken."""
    for page in [HOME / "README.md", HOME / "CONTRIBUTING.md", *DOCS.rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.relative_to(HOME)} links to {target}"


def test_every_file_the_code_and_docs_name_exists():
    """A benchmark or decision that is named as evidence is really there."""
    for page in [*HOME.glob("*.md"), *DOCS.rglob("*.md"), *(HOME / "src").rglob("*.py"), HOME / "pyproject.toml"]:
        for name in re.findall(r"\b(?:benchmarks|docs/decisions)/[\w./-]+\.(?:py|md)", page.read_text("utf-8")):
            assert (HOME / name).exists(), f"{page.relative_to(HOME)} names {name}"


def test_the_architecture_fits_on_one_screen():
    """Before its pictures, which exist; the modules have a page of their own."""
    text, pictures = read("docs/architecture.md").split("## Pictures")
    assert text.count("\n") <= 60
    assert [name for name in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", pictures) if (DOCS / name).is_file()] == [
        f"architecture-{name}.svg" for name in ("layers", "processes", "data", "write", "question")
    ]


def test_pages_of_figures_are_short():
    """They say what a user needs today; journals are in `benchmarks/results`."""
    assert {
        name for name in ("performance.md", "scaling.md", "quality.md") if read(f"docs/{name}").count("\n") > 150
    } == set()


def test_every_benchmark_answers_a_question():
    """The page of the benchmarks names each script."""
    page = read("benchmarks/README.md")
    scripts = [path.name for path in (HOME / "benchmarks").glob("*.py")]

    assert [name for name in scripts if name not in page] == []


def test_the_readme_is_short():
    """At most 150 lines."""
    assert read("README.md").count("\n") <= 150


def test_the_python_example_of_the_readme_runs(tmp_path):
    """With the stand-in, which needs no model; `test_examples.py` compares what it prints with the real one."""
    (example,) = re.findall(r"```python\n(.*?)```", read("README.md"), re.DOTALL)
    (tmp_path / "examples").symlink_to(HOME / "examples")
    done = subprocess.run(
        [sys.executable, "-c", example],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "WEFT_EMBEDDER": "hash"},
        timeout=300,
    )

    assert done.returncode == 0, done.stderr
    assert re.search(r"^degraded [01]\.\d\d\n.*ADR-0012[\w.-]*\.md:\d+-\d+", done.stdout, re.DOTALL)


def test_every_call_of_the_memory_is_documented():
    """docs/memory.md shows each with its parentheses, and docs/python.md leads there."""
    page = read("docs/memory.md")

    missing = [name for name in vars(Memory) if not name.startswith("_") and f"`{name}(" not in page]
    assert missing == []
    assert "`engine.memory`" in read("docs/python.md")


def test_the_calls_for_asyncio_are_those_on_the_page():
    """The page lists exactly the existing calls."""
    told = re.search(r"`AsyncEngine`.*?It has (.*?);", read("docs/python.md"), re.DOTALL)
    calls = {name for name in vars(AsyncEngine) if not name.startswith("_")}

    assert told and set(re.findall(r"`(\w+)`", told[1])) == calls


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda p: p.name)
def test_python_in_the_docs_parses(page):
    """Every Python block is valid Python and imports names that exist."""
    for block in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("weft"):
                try:
                    module = __import__(node.module, fromlist=[alias.name for alias in node.names])
                except errors.MissingExtra as error:
                    pytest.skip(f"{error}: {error.hint}")
                assert all(hasattr(module, alias.name) for alias in node.names)


def test_the_page_of_relation_types_matches_the_vocabulary():
    """docs/relations.md has a row for each type, with its inverse, fields and words of questions."""
    rows = {line.split("`")[1]: line for line in read("docs/relations.md").splitlines() if line.startswith("| `")}
    assert sorted(rows) == sorted(set(INVERSE) - {"co_occurs_with"})
    for type, row in rows.items():
        words = WORDS[type]
        assert row.startswith(f"| `{type}` | `{INVERSE[type]}` |")
        for word in split_words(f"{words.verbs},{words.asked},{words.nouns},{words.where}"):
            assert re.search(rf"[|,] {re.escape(word.partition('/')[0])}(?:,| \|)", row), word
        for word in split_words(f"{words.zh_verbs},{words.zh_nouns},{words.zh_role}"):
            assert word in row
        assert re.findall("`([a-z_]+)`", row)[2:] == split_words(words.fields)
