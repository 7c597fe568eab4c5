"""Repeated queries give the same answer, in any process."""

import pytest

from conftest import write_notes

QUESTIONS = (
    "What does the Auth Service do when the clock drifts?",
    "重跑gen-itgc后做什么？",
    "gpt-4o, arXiv:2501.03236",
)


def answer(weft, db, question, seed):
    """Return what a process with its own order of hashes prints, without its times."""
    found = weft("--db", db, "query", question, "--json", PYTHONHASHSEED=seed).json
    del found["timings_ms"]
    return found


@pytest.mark.parametrize("question", QUESTIONS)
def test_processes_agree_on_one_file(weft, tmp_path, question):
    """Order of hashes, which Python draws anew for each process, is nowhere in the answer."""
    write_notes(tmp_path / "notes")
    weft("--db", "one.db", "index", "notes")
    first, *others = (answer(weft, "one.db", question, seed) for seed in ("0", "1", "1"))

    assert first["results"]
    assert others == [first, first]


def test_processes_agree_on_what_they_index(weft, tmp_path):
    """Two files made by two processes answer alike, ids and graph included."""
    write_notes(tmp_path / "notes")
    for db, seed in (("one.db", "0"), ("other.db", "1")):
        weft("--db", db, "index", "notes", PYTHONHASHSEED=seed)

    one, other = (answer(weft, db, QUESTIONS[0], seed) for db, seed in (("one.db", "2"), ("other.db", "3")))

    assert one["graph_context"]["recognised"]
    assert one == other
