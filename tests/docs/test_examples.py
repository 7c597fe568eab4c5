"""Every example of the readme, the tutorial and the guides runs and prints what stands below it."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from examples import examples, matches, run
from forking import Forks

HOME = Path(__file__).parents[2]
PAGES = [HOME / "README.md", HOME / "docs" / "quickstart.md", *sorted((HOME / "docs" / "guides").glob("*.md"))]


@pytest.fixture(scope="session")
def forks():
    """Commands are forked from one process."""
    forks = Forks()
    yield forks
    forks.close()


@pytest.fixture
def environment(chinese_model, monkeypatch, tmp_path):
    """Give commands the real models, this interpreter as `python` and `weft`, and the sample files."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(HOME / "src"))
    monkeypatch.setenv("PYTHONUTF8", "1")
    for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):  # the date and the hash of a commit are embedded
        monkeypatch.setenv(name, "2026-05-04T09:00:00Z")
    shutil.copytree(HOME / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("*.db*"))
    return tmp_path


@pytest.mark.skipif(not hasattr(os, "fork"), reason="commands are forked, and the pages show a POSIX shell")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_print_what_is_shown(page, environment, forks):
    """In order, in an empty folder, with the real model."""
    found = examples(page.read_text("utf-8"))

    assert len(found) >= 2
    for example in found:
        shown = run(example, folder=environment, forks=forks)
        assert example.expected is None or matches(example.expected, shown), f"{example.code}\n{shown}"
