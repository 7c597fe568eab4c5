"""Help texts: grouped, short, the same everywhere, and printed without loading the engine."""

import subprocess
import sys

import click
import pytest

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
import sys
from weft.cli.main import weft
try:
    weft()
except SystemExit as end:
    code = end.code
print(code, len(sys.modules), [name for name in {SLOW} if name in sys.modules], file=sys.stderr)
"""


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


@pytest.mark.parametrize("path", [(), *((name,) for name in COMMANDS), ("fact", "add")], ids=" ".join)
def test_help_loads_no_slow_module(path):
    """In a new process; the number of modules bounds the start time without a clock."""
    done = subprocess.run(
        [sys.executable, "-c", COUNT, *path, "--help"], capture_output=True, text=True, check=True, timeout=60
    )
    code, count, loaded = done.stderr.split(maxsplit=2)

    assert done.stdout.startswith("Usage: ")
    assert (code, loaded.strip()) == ("0", "[]")
    assert int(count) <= MAX_MODULES


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
