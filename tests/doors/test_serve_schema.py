"""A fuzzer reads the schema and asks everything it allows, and more: no 5xx, nothing undocumented."""

import re
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from fuzz_http import fuzz

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "situation, phases, at_least",
    [("key", "coverage,fuzzing", 500), ("open", "fuzzing", 50), ("locked", "fuzzing", 20)],
)
def test_no_request_brings_the_server_down(situation, phases, at_least):
    """With a key, without one where none is needed, and without one where it is; the seed is fixed."""
    done = fuzz(situation, examples=3, seed=7, phases=phases)

    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert int(re.search(r"(\d+) generated", done.stdout)[1]) >= at_least


def test_the_fuzzer_sees_what_is_wrong(monkeypatch):
    """A route that fails, and one that answers with a status the schema does not have, are found."""
    from weft.engine.engine import Engine

    def fail(self, *arguments, **options):
        raise ZeroDivisionError

    monkeypatch.setattr(Engine, "stats", fail)
    done = fuzz("open", examples=1, seed=7, phases="fuzzing")

    assert done.returncode == 1
    assert "Server error" in done.stdout
    assert "/stats" in done.stdout
