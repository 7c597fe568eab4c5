"""
Runner of the examples of a page, in order and in one folder.

    ```sh       commands; `weft …` is forked from a process with the package imported, anything else runs in bash
    ```python   a program
    ```text     directly below: the expected output of the block; `…` stands for any text

A block below the comment `<!-- not run: reason -->` is left out.
"""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass

BLOCK = re.compile(r"(<!-- not run: [^\n]+ -->\n+)?^```(sh|python)\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.M | re.S)
HEREDOC = re.compile(r"<<'(\w+)'")
DECIMAL = re.compile(r"\d+\\\.\d+")
"""A score in an escaped pattern."""
TOLERANCE = 0.02
"""Maximum difference between a decimal of a page and the printed one."""
PROGRESS = re.compile(r"^indexing: .*\n", re.M)
"""Lines that a slow machine prints while it works."""
CHANGE_OF_FOLDER = re.compile(r"(.*&& *)?cd ")
"""A statement after which a reader is in another folder, where the test is not."""
SHELL = set("|&;<>$`*")
"""Characters that only a shell understands."""


@dataclass
class Example:
    """A block with the output that stands below it; None if there is none."""

    language: str
    code: str
    expected: str | None


def examples(page):
    """Return the examples of a page that can be run."""
    return [Example(*match.groups()[1:]) for match in BLOCK.finditer(page) if not match[1]]


def statements(code):
    """Yield the commands of a shell block; a here-document belongs to its command."""
    lines = iter(code.splitlines())
    for line in lines:
        if end := HEREDOC.search(line):
            body = [line]
            while body[-1] != end[1]:
                body.append(next(lines))
            line = "\n".join(body)
        if line.strip():
            yield line


def run(example, *, folder, forks):
    """Run an example; return what a terminal would show. Exit code 3 is `no match`."""
    if example.language == "python":
        return _start([sys.executable, "-c", example.code], folder)
    return "".join(_run_statement(statement, folder, forks) for statement in statements(example.code))


def _run_statement(statement, folder, forks):
    assert not CHANGE_OF_FOLDER.match(statement), (
        f"{statement}\nlater commands of the page would run elsewhere: use (cd …)"
    )
    words = shlex.split(statement, comments=True) if "\n" not in statement else []
    if words[:1] != ["weft"] or SHELL & set(statement.partition(" #")[0]):
        return _start(["bash", "-e", "-c", statement], folder)
    code, out, err = forks.run(words[1:], stdin="", cwd=folder, env=dict(os.environ))
    assert code in (0, 3), f"{statement}\nexit code {code}\n{out}{err}"
    return out + PROGRESS.sub("", err)


def _start(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=600)
    assert done.returncode in (0, 3), f"{command[-1]}\nexit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def matches(expected, actual):
    """Whether the output is the expected one; decimals may differ by `TOLERANCE`, because processors do."""
    pattern = DECIMAL.sub(r"(\\d+\\.\\d+)", re.escape(expected.strip())).replace("…", ".*?")
    found = re.fullmatch(pattern, actual.strip(), re.S)
    if found is None:
        return False
    wanted = re.findall(r"\d+\.\d+", expected)
    return all(abs(float(a) - float(b)) <= TOLERANCE for a, b in zip(wanted, found.groups(), strict=True))
