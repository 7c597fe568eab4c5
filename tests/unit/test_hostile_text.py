"""Short hostile texts that once blocked a process for minutes."""

import subprocess
import sys

import pytest

NOTE = """
from weft.load.formats.markdown import parse_markdown
from weft.extract.properties import read_properties
text = "# Auth Service\\n\\n- Related: " + "[[a]] " * 40 + "and others\\n- Owner: [[b]]"
found = read_properties(parse_markdown(text, source="a.md", name="a"))
assert [fact.object for fact in found] == ["", "b"], found
"""
FACT = """
from weft.masking.values import is_placeholder
assert is_placeholder("*" * 100_000 + "a")
assert not is_placeholder("_" * 50_000 + "a" + "-" * 50_000)
assert is_placeholder("_" * 50_000 + "a" + "." * 50_000)
assert all(map(is_placeholder, ["***", "*" * 2000, "[redacted]", "xxxx", "...", "<NONE>", "a***"]))
assert not any(map(is_placeholder, ["", "hunter2", "**", "none of it"]))
"""


@pytest.mark.parametrize("program", [NOTE, FACT], ids=["many wikilinks and a word", "a value of asterisks"])
def test_a_hostile_text_is_read_in_linear_time(program):
    """In a process of its own, which can be killed; backtracking would take longer than the age of the universe."""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
