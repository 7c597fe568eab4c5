"""Fuzzing by the OpenAPI schema: no 5xx, no undocumented response."""

import re
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from fuzz_http import fuzz


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    """The fuzzer leaves notes where it runs."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "situation, phases, examples, at_least",
    [
        ("key", "fuzzing", 1, 25),
        pytest.param("key", "coverage", 2, 1000, marks=pytest.mark.slow),
        *(pytest.param(name, "fuzzing", 2, 50, marks=pytest.mark.slow) for name in ("key", "open", "locked")),
    ],
)
def test_no_request_brings_the_server_down(situation, phases, examples, at_least):
    """With a key, without one where none is needed, and without one where it is; the seed is fixed."""
    done = fuzz(situation, examples=examples, seed=7, phases=phases)

    assert done.exit_code == 0, done.output[-5000:]
    assert int(re.search(r"(\d+) generated", done.output)[1]) >= at_least


def test_the_fuzzer_sees_what_is_wrong(monkeypatch):
    """A route that fails is found."""
    from weft.engine.engine import Engine

    def fail(self, *arguments, **options):
        raise ZeroDivisionError

    monkeypatch.setattr(Engine, "stats", fail)
    done = fuzz("open", examples=1, seed=7, phases="fuzzing", only="/stats")

    assert done.exit_code == 1
    assert "Server error" in done.output
    assert "/stats" in done.output


def test_the_fuzzer_sees_what_is_not_documented(monkeypatch):
    """A status that the schema does not have is found."""
    from weft.engine.engine import Engine
    from weft.server.errors import Refused

    def fail(self, *arguments, **options):
        raise Refused(418, "teapot", "short and stout", hint="pour")

    monkeypatch.setattr(Engine, "stats", fail)
    done = fuzz("open", examples=1, seed=7, phases="fuzzing", only="/stats")

    assert done.exit_code == 1
    assert "Undocumented status code" in done.output
