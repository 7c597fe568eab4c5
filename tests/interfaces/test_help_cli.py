"""Help texts: grouped, short, the same everywhere, and printed without loading the engine."""

import ast
import json
import os
import subprocess
import sys

import click
import pytest

from weft import open_engine
from weft.admin import calibrate as fitting
from weft.cli.evaluate import calibrate
from weft.cli.index import index, worker
from weft.cli.main import COMMANDS, GROUPS, weft
from weft.engine.worker_pool import MAX_WORKERS
from weft.index.job_worker import LEASE_S

SLOW = ("apsw", "numpy", "onnxruntime", "rich", "weft.config", "yaml")
MAX_MODULES = 160
"""Modules loaded by `--help`: measured 124 to 137, of which click takes about 90."""
MAX_OPTION_HELP = 70

COUNT = f"""
import io, os, sys
from weft.cli.main import weft
for line in sys.stdin.readlines():
    if os.fork():
        os.wait()
        continue
    sys.argv = ["weft", *line.split(), "--help"]
    out, sys.stdout = sys.stdout, io.StringIO()
    try:
        weft()
    except SystemExit as end:
        code = end.code
    loaded = [name for name in {SLOW} if name in sys.modules]
    print([line.strip(), code, len(sys.modules), loaded, sys.stdout.getvalue()[:7]], file=out, flush=True)
    os._exit(0)
"""
"""Prints what the help of each verb does, in a fork of a process that has loaded what all of them share."""


def commands():
    """Yield every verb and subverb with its path."""
    context = click.Context(weft)
    todo = [((name,), weft.get_command(context, name)) for name in COMMANDS]
    while todo:
        path, command = todo.pop()
        yield path, command
        todo += [((*path, name), inner) for name, inner in getattr(command, "commands", {}).items()]


VERBS = dict(commands())


def sentence(command):
    """Return the first sentence of the help of a command."""
    return command.help.strip().split("\n\n")[0].replace("\n", " ").split(". ")[0].rstrip(".") + "."


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_help_loads_no_slow_module():
    """In a process of its own; the number of modules bounds the start time without a clock."""
    verbs = ["", *COMMANDS, "fact add"]
    given = "".join(f"{verb}\n" for verb in verbs)
    done = subprocess.run(
        [sys.executable, "-c", COUNT], input=given, capture_output=True, text=True, check=True, timeout=600
    )
    found = [ast.literal_eval(line) for line in done.stdout.splitlines()]

    assert [verb for verb, *_ in found] == verbs
    assert [row for row in found if row[1] != 0 or row[2] > MAX_MODULES or row[3:] != [[], "Usage: "]] == []


def test_statistics_load_no_reader_of_pages(tmp_path):
    """Opening a store and reading from it needs neither Markdown nor the rules that find links, nor the checks."""
    db = str(tmp_path / "weft.db")
    slow = ("markdown_it", "weft.extract.links.page_reader", "weft.extract.phrases", "weft.store.relational.check")
    code = (
        "import atexit, sys; from weft.cli.main import main\n"
        f"atexit.register(lambda: print([name for name in {slow} if name in sys.modules]))\n"
        f"sys.argv = ['weft', '--db', {db!r}, 'stats']; main()"
    )
    open_engine(db, embedder="hash").close()

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)

    assert done.stdout.splitlines()[0] == "documents: 0"
    assert done.stdout.splitlines()[-1] == "[]"


def test_statistics_open_no_engine(weft, notes):
    """They read the store alone: importing engine, search and models takes longer than reading."""
    weft("index", "notes", "-q")
    command = [sys.executable, "-X", "importtime", "-m", "weft", "stats", "--json"]
    done = subprocess.run(command, cwd=notes.parent, capture_output=True, text=True, check=True, timeout=600)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}

    assert json.loads(done.stdout)["documents"] == 3
    assert "weft.store.sqlite.database" in imported
    assert imported.isdisjoint({"weft.engine.engine", "weft.engine.adapters", "weft.search.run", "onnxruntime"})


def test_the_overview_groups_the_verbs(weft):
    """Under seven headings, named like the folders of the package."""
    printed = weft("--help").out
    headings = [line.rstrip(":") for line in printed.splitlines() if line.endswith(":") and not line.startswith(" ")]

    assert headings == ["Options", *GROUPS]
    for heading, verbs in GROUPS.items():
        for location, _ in verbs.values():
            assert location.split(".")[2] == heading.lower()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_overview_says_the_same_as_the_verb(name):
    """The summary is the first sentence of the verb's own help."""
    assert COMMANDS[name][1] == sentence(VERBS[name,])


@pytest.mark.parametrize("path", VERBS, ids=" ".join)
def test_help_texts_are_short(path):
    """Each option has one of at most 70 characters, ending with a full stop."""
    for option in VERBS[path].params:
        if isinstance(option, click.Option) and not option.hidden:
            assert option.help and len(option.help) <= MAX_OPTION_HELP, option.opts
            assert option.help.endswith((".", "…")), option.opts
    assert len(sentence(VERBS[path])) <= MAX_OPTION_HELP + 10


def test_the_limits_in_the_help_are_those_of_the_engine():
    """They are repeated, because importing them would load numpy."""
    (lease,) = [option for option in worker.worker.params if option.name == "lease"]

    assert lease.default == LEASE_S
    assert index.MAX_WORKERS == MAX_WORKERS
    assert (calibrate.MIN_PROBES, calibrate.DEFAULT_PROBES) == (fitting.MIN_PROBES, fitting.DEFAULT_PROBES)
