"""Schemathesis with all its checks against the OpenAPI document of the server."""

import re

import pytest
from fault_settings import SEED, count
from fuzz_http import SITUATIONS, fuzz

EXAMPLES = 40


@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning")  # a large body has a large repr
@pytest.mark.parametrize("situation", SITUATIONS)
def test_no_check_of_the_fuzzer_fails(situation, tmp_path, monkeypatch):
    """Coverage, random and stateful requests: without keys, with a key, and without the key that is needed."""
    monkeypatch.chdir(tmp_path)  # the fuzzer leaves notes where it runs
    done = fuzz(situation, examples=count(EXAMPLES), seed=SEED, phases="coverage,fuzzing,stateful")
    generated = int(re.search(r"(\d+) generated", done.output)[1])

    print(f"\n{situation}: {generated} requests")
    assert done.exit_code == 0, done.output[-5000:]
