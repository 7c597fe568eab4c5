"""Missing vectors are reported by every store and created by `weft reembed`."""

from dataclasses import replace
from datetime import datetime, timezone

import apsw
import pytest
from contract import MODEL, unit
from graph_making import batch_of

from weft.admin.doctor import diagnose
from weft.engine.opening.open_engine import open_engine
from weft.index.embedding_cost import EmbedPreview
from weft.index.reembed import preview_reembed, reembed
from weft.records import Document, Fact, FactEntity
from weft.testing import FakeEmbedder

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
FACT = Fact(id="f", subject="user", subject_name="user", predicate="in", object="rome", value="Rome", created=NOW)
ENTITIES = [FactEntity(key="user", name="user"), FactEntity(key="rome", name="Rome")]


def missing(database):
    return [(p.what, p.command) for p in database.check() if "vector" in p.what]


def bare(source, texts):
    """Return a batch without vectors of names."""
    batch = batch_of(source, texts)
    return replace(batch, chunks=tuple(replace(item, entity_vectors={}) for item in batch.chunks))


def test_names_without_vectors_are_counted_until_they_have_some(database, store):
    """Only the active embedder counts; one that is being prepared may lack vectors."""
    store.write_model(replace(MODEL, fingerprint="later", active=False))
    store.write(bare("Paris", ["A city.", "On a river."]))

    assert missing(database) == [(f"2 names of the graph have no vector of {MODEL.name!r}", "weft reembed")]
    assert database.repair() == []
    lacking = store.graph.find_unembedded(MODEL.fingerprint, limit=9)
    store.graph.write_vectors(MODEL.fingerprint, {at: unit(1, 2, 3) for at in lacking})
    assert database.check() == []


def test_entities_of_facts_without_vectors_are_counted_too(database, store):
    """However they came to lack them."""
    store.facts.write([FACT], entities=ENTITIES)

    assert missing(database) == [(f"2 entities of facts have no vector of {MODEL.name!r}", "weft reembed")]
    store.facts.write_vectors(MODEL.fingerprint, {"user": unit(1, 0, 0)})
    assert missing(database) == [(f"1 entity of facts has no vector of {MODEL.name!r}", "weft reembed")]
    store.facts.write_vectors(MODEL.fingerprint, {"rome": unit(0, 1, 0)})
    assert missing(database) == []


def test_facts_of_a_document_come_with_vectors_of_what_they_name(database, store):
    """In its transaction; one that is there already stays."""
    store.facts.write([], entities=[replace(ENTITIES[0], declared=True)])
    store.facts.write_vectors(MODEL.fingerprint, {"user": unit(1, 0, 0)})
    said = {"user": unit(0, 0, 1), "rome": unit(0, 1, 0)}
    store.write(replace(batch_of("Paris", ["A city."]), facts=(FACT,), fact_vectors=said))

    assert missing(database) == []
    kept = store.facts.vectors(["rome", "user"])
    assert {key: vector.tolist() for key, vector in kept.items()} == {"rome": [0, 1, 0], "user": [1, 0, 0]}


@pytest.mark.parametrize("kind", ["weft.db", ":memory:"])
def test_an_interrupted_run_leaves_nothing_without_a_vector(tmp_path, kind):
    """Written documents are complete; entities shared by several documents are embedded once."""
    notes = [
        Document(source=f"{n}.md", title=f"Note {n}", text=f"Number {n}.", metadata={"owner": "Ann Lee", "n": n})
        for n in range(200)
    ]

    def interrupt(step):
        raise KeyboardInterrupt

    embedder = FakeEmbedder()
    with open_engine(kind if kind == ":memory:" else tmp_path / kind, embedder=embedder) as engine:
        with pytest.raises(KeyboardInterrupt):
            engine.add(notes, on_step=interrupt)
        assert 0 < engine.stats().documents < 200
        assert engine.store.facts.count()[0] > 0
        assert engine.database.check() == []
        engine.add(notes)
        assert engine.database.check() == []
        assert embedder.seen.count("Ann Lee") == 1


def test_what_reembedding_would_embed_is_counted_before(store):
    """Chunks, names and entities of facts, by every store; nothing is written."""
    store.write(bare("Paris", ["A city.", "On a river."]))
    store.facts.write([FACT], entities=ENTITIES)
    generation, new = store.stats().generation, FakeEmbedder(name="fake/new")
    preview = EmbedPreview(new)

    assert preview_reembed(store, embedder=new, embedding=preview) == 2
    assert (store.stats().generation, new.seen) == (generation, [])
    assert reembed(store, embedder=new) == 2
    assert preview.embedded == len(new.seen) - 1 == 7  # the first text tells the dimension
    after = EmbedPreview(new)
    assert (preview_reembed(store, embedder=new, embedding=after), after.embedded) == (0, 0)


def test_without_an_embedder_nothing_is_missing(database):
    """No model answers, so none has to know anything."""
    store = database.store("default")
    batch = bare("Paris", ["A city."])
    store.write(replace(batch, model="", chunks=tuple(replace(item, vector=None) for item in batch.chunks)))
    store.facts.write([FACT], entities=ENTITIES)

    assert missing(database) == []


@pytest.mark.parametrize("table", ["entity_vector", "fact_vector"])
def test_reembedding_brings_lost_vectors_back(tmp_path, table):
    """Until then check and doctor say what is missing, and name the command; repair leaves it to that."""
    path = tmp_path / "weft.db"
    page = Document(source="a.md", title="Auth Service", text="Issues tokens to all who sign in.", form="markdown")
    with open_engine(path, embedder=FakeEmbedder()) as engine:
        engine.add([page])
        engine.memory.add("user", "lives_in", "Rome")
        assert engine.database.check() == []
    with apsw.Connection(str(path)) as db:
        db.execute(f"DELETE FROM {table}")
    with open_engine(path, embedder=FakeEmbedder()) as engine:
        assert [command for _, command in missing(engine.database)] == ["weft reembed"]
        engine.database.repair()
        assert [command for _, command in missing(engine.database)] == ["weft reembed"]
        (finding,) = [found for found in diagnose(engine.settings) if "no vector" in found.detail]
        assert finding.hint == "run weft reembed"
        engine.reembed()
        assert engine.database.check() == []
