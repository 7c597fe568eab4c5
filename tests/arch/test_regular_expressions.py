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


def attack(*arguments):
    """Run the attack in a process of its own; return its findings."""
    command = [sys.executable, regex_attack.__file__, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.slow
def test_no_pattern_is_worse_than_linear():
    """Processor time at n and 4n of hostile inputs; the one place where time is asserted, tried three times."""
    found = attack(SRC)

    assert len(found) > 250
    assert [item for item in found if item["growth"] > regex_attack.MAX_RATIO] == []


def test_no_pattern_has_nested_repeats():
    """Static check: no part of an input can be matched in many ways."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it imports `sre_parse`
        from regexploit.ast.sre import SreOpParser
        from regexploit.redos import find
    wrong = {
        place: pattern
        for (pattern, flags), (place, _) in regex_attack.collect(SRC).items()
        if any(sequence.starriness > 2 for sequence in find(SreOpParser().parse_sre(pattern, flags)))
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
