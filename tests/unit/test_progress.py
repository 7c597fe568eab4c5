"""Progress of long work in a pipe."""

import pytest

from weft.cli import progress
from weft.engine.opening.open_engine import open_engine
from weft.index import batch_writer


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
    """One file can have thousands of records; a wrong total is not printed."""
    with progress.CountBar("indexing", total=1, unit="chunks", quiet=False) as bar:
        for _ in range(3):
            bar.advance()

    assert lines(capsys) == ["indexing: 1 of 1", "indexing: 2", "indexing: 3"]


def test_the_first_steps_do_not_tell_how_long_it_takes(capsys):
    """The model is loaded in the first: seven hours for what takes four minutes."""
    with progress.CountBar("indexing", total=100, unit="chunks", quiet=False) as bar:
        for _ in range(10):
            bar.advance()

    said = lines(capsys)
    assert said[0] == "indexing: 1 of 100"
    assert "left" not in said[8] and said[9].endswith(" s left")


def test_the_rate_is_that_of_the_last_seconds():
    """A minute of loading the model is forgotten after the window."""
    rate = progress.RecentRate(start=0.0)
    for now, count in ((60.0, 1), (75.0, 151), (90.0, 301)):
        rate.add(count, now)

    assert rate.per_second() == 10.0


def test_a_large_document_reports_progress_before_it_is_written(tmp_path, monkeypatch):
    """A file with many chunks is reported in several steps."""
    monkeypatch.setattr(batch_writer, "MAX_TEXTS_PER_CALL", 4)
    reports = []
    (tmp_path / "long.md").write_text("".join(f"# Part {n}\n\nKeeper {n} sings of lamp {n}.\n\n" for n in range(600)))
    with open_engine(tmp_path / "weft.db", embedder="hash", graph_extractor="none") as engine:
        receipt = engine.index(tmp_path / "long.md", on_texts=reports.append)

    done = [report.texts for report in reports]
    assert (done[0], done[-1]) == (0, receipt.chunks)
    assert len(done) > 2
    assert {(report.planned_texts, report.planned_documents) for report in reports} == {(receipt.chunks, 1)}


def test_quiet_says_nothing(capsys):
    """The end is not reported either."""
    with progress.CountBar("indexing", total=1, unit="chunks", quiet=True) as bar:
        bar.advance()

    assert lines(capsys) == []
