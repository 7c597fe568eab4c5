"""Every regular expression of the package takes linear time."""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import regex_attack

SRC = Path(__file__).parents[2] / "src" / "weft"
NOT_AMBIGUOUS = {"extract/names.py"}
"""Files with a pattern that the static check reports wrongly; the dynamic check covers it."""


KNOWN = Path(__file__).with_name("linear_patterns.txt")
"""Digests of the patterns that passed the attack, one per line; `make test-slow` attacks all and compares."""


def read_patterns(known):
    """Return all patterns of the package with their growth, measured in a process of its own that a limit can end."""
    command = [sys.executable, regex_attack.__file__, str(SRC), str(known)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=1200)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def attacked():
    """Give all patterns; those that passed the attack before are not attacked again."""
    return read_patterns(KNOWN)


def not_linear(patterns):
    """Return the patterns that are worse than linear."""
    return [item for item in patterns if item["growth"] > regex_attack.MAX_RATIO]


def test_no_new_pattern_is_worse_than_linear(attacked):
    """Time of n and 4n parts of hostile inputs; the one place where time is asserted."""
    assert len(attacked) > 250
    assert not_linear(attacked) == []


@pytest.mark.slow
def test_no_pattern_is_worse_than_linear(tmp_path):
    """All patterns, and each of them is in the list of those that passed."""
    (tmp_path / "none").touch()
    patterns = read_patterns(tmp_path / "none")

    assert not_linear(patterns) == []
    assert {item["digest"] for item in patterns} <= set(KNOWN.read_text("utf-8").split())


def test_no_pattern_has_nested_repeats(attacked):
    """Static check: no part of an input can be matched in many ways."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it imports `sre_parse`
        from regexploit.ast.sre import SreOpParser
        from regexploit.redos import find
    wrong = {
        item["place"]
        for item in attacked
        if any(sequence.starriness > 2 for sequence in find(SreOpParser().parse_sre(item["pattern"], item["flags"])))
    }

    assert {place for place in wrong if place.split(":")[0] not in NOT_AMBIGUOUS} == set()


@pytest.mark.parametrize(
    "pattern, method, is_linear",
    [
        (r"(?:\s*\[\[[^\[\]\n]+\]\]\s*[,;]?)+", "fullmatch", False),
        (r"[\W_]*(?:x{3,}|\*{3,}|\.{3,})[\W_]*", "fullmatch", False),
        (r"(a+)+$", "search", False),
        (r"\s+$", "sub", False),
        (r"[^\W_]+(?=:)", "findall", False),
        (r"\s+", "sub", True),
        (r"\bab+\b", "search", True),
        (r"[^,;]{1,60},", "search", True),
    ],
)
def test_the_attack_tells_linear_patterns_from_others(pattern, method, is_linear):
    """The two defects that were found in the field are among them."""
    growth, *_ = regex_attack.attack(pattern, 0, {method})

    assert (growth <= regex_attack.MAX_RATIO) == is_linear
