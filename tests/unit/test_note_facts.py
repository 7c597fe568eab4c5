"""Facts of notes, through the engine."""

from pathlib import Path

from memory_store.store import MemoryDatabase

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.testing import FakeEmbedder

SAMPLE = Path(__file__).parents[2] / "examples" / "corpus" / "services"


def open_with(tmp_path, from_files):
    given = {"store.db": str(tmp_path / "weft.db"), "memory.from_files": from_files}
    settings = read_settings(given, environment={}, folder=tmp_path)
    return Engine(settings, database=MemoryDatabase(), embedder=FakeEmbedder())


def test_facts_of_notes_change_no_answer(tmp_path):
    """With and without them a question finds the same chunks with the same scores."""
    found = []
    for from_files in (True, False):
        with open_with(tmp_path, from_files) as engine:
            receipt = engine.index(SAMPLE)
            assert bool(receipt.facts) is from_files
            answers = [engine.query(text, gate=False) for text in ("Who owns the Auth Service?", "live", "Ledger")]
            found.append([[(p.chunk.id, p.score) for p in answer.evidence] for answer in answers])

    assert found[0] == found[1] and all(found[0])


def test_the_sample_states_who_owns_what(tmp_path):
    """Front matter of real notes: names lead to entities, and each has a vector to be found by."""
    with open_with(tmp_path, True) as engine:
        engine.index(SAMPLE)
        facts = list(engine.memory.list("Auth Service"))
        dry = engine.preview(SAMPLE)

        assert ("owner", "identity team") in {(fact.predicate, fact.object) for fact in facts}
        assert not {fact.predicate for fact in facts} & {"title", "tags", "aliases"}
        assert engine.store.facts.find_unembedded(engine.embedder.card.fingerprint, limit=9) == {}
        assert (dry.unchanged, dry.facts) == (dry.documents, 0)
        engine.delete(*[document.source for document in engine.documents()])
        assert engine.store.facts.count() == (0, 0)
