"""What is shown of long work in a pipe."""

import pytest

from weft.cli import progress


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Print a line at every step."""
    monkeypatch.setattr(progress, "EVERY_SECONDS", 0.0)


def lines(capsys):
    return capsys.readouterr().err.splitlines()


def test_a_line_says_how_many_of_how_many(capsys):
    """With the rate of what was asked to be counted, and the time that remains."""
    with progress.CountBar("indexing", total=2, unit="chunks", quiet=False) as bar:
        bar.advance(extra=3)

    assert lines(capsys)[0].startswith("indexing: 1 of 2, ")


def test_a_total_that_was_too_small_is_forgotten(capsys):
    """One file can hold thousands of records; nothing is said that is known to be wrong."""
    with progress.CountBar("indexing", total=1, unit="chunks", quiet=False) as bar:
        for _ in range(3):
            bar.advance()

    assert lines(capsys) == ["indexing: 1 of 1, 0 s left", "indexing: 2", "indexing: 3"]


def test_the_first_steps_do_not_tell_how_long_it_takes(capsys):
    """The model is loaded in the first: seven hours for what takes four minutes."""
    with progress.CountBar("indexing", total=100, unit="chunks", quiet=False) as bar:
        for _ in range(10):
            bar.advance()

    said = lines(capsys)
    assert said[0] == "indexing: 1 of 100"
    assert "left" not in said[8] and said[9].endswith(" s left")


def test_quiet_says_nothing(capsys):
    """Not even at the end."""
    with progress.CountBar("indexing", total=1, unit="chunks", quiet=True) as bar:
        bar.advance()

    assert lines(capsys) == []
