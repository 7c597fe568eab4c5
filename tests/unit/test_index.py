"""Write path: written rows, embedded texts, receipts."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from making import adopt, ask, sources
from memory_store.store import MemoryDatabase

from weft.config import SplitOptions
from weft.errors import InputError, ModelUnavailable
from weft.index import run as index_run
from weft.index.batch_writer import TEXTS_PER_GROUP
from weft.index.embedding_cost import EmbedPreview
from weft.index.plan import content_hash
from weft.index.run import index_documents, preview_documents
from weft.records import Candidate, Document, Extraction, Filter, Skipped, StatedRelation
from weft.testing import FakeEmbedder
from weft.text.searchable_metadata import metadata_text

SPLIT = SplitOptions(max_tokens=30, min_tokens=0)
ALPHA = "# A\n\nThe alpha passage speaks of apples and of autumn.\n\n"
BETA = "# B\n\nThe beta passage speaks of boats and of beaches.\n\n"
GAMMA = "# C\n\nThe gamma passage speaks of games and of gardens.\n\n"


def doc(source, text, **changes):
    return Document(source=source, title="Title", text=text, form="markdown", **changes)


@pytest.fixture
def store(database, embedder):
    return adopt(database.store("default"), embedder)


@pytest.fixture
def index(store, embedder):
    def index(*items, **changes):
        return index_documents(items, **{"store": store, "embedder": embedder, "options": SPLIT, **changes})

    return index


def test_an_unchanged_document_costs_nothing(index, store, embedder):
    """Nothing is written or embedded."""
    index(doc("a", ALPHA + BETA))
    generation, seen = store.stats().generation, len(embedder.seen)
    receipt = index(doc("a", ALPHA + BETA))

    assert (receipt.unchanged, receipt.added, receipt.changed, receipt.chunks, receipt.embedded) == (1, 0, 0, 0, 0)
    assert store.stats().generation == generation
    assert len(embedder.seen) == seen


def test_a_changed_document_embeds_only_its_changed_chunks(index, store, embedder):
    """Unchanged chunks keep their vectors at any position."""
    index(doc("a", ALPHA + BETA))
    embedder.seen.clear()
    receipt = index(doc("a", GAMMA + BETA + ALPHA))

    assert embedder.seen == ["Title › C\nThe gamma passage speaks of games and of gardens."]
    assert (receipt.changed, receipt.chunks, receipt.embedded) == (1, 3, 1)
    assert store.find_unembedded(embedder.card.fingerprint, limit=9) == []
    assert store.stats().vectors == 3
    assert [chunk.heading for chunk in store.find_chunks(store.find_documents(Filter())[0].id)] == [
        ("C",),
        ("B",),
        ("A",),
    ]


def test_a_change_of_metadata_alone_embeds_nothing(index, store, embedder):
    """The new metadata can be filtered and searched at once."""
    index(doc("a", ALPHA + BETA, metadata={"author": "Ada"}))
    embedder.seen.clear()
    receipt = index(doc("a", ALPHA + BETA, metadata={"author": "Grace"}))

    assert (receipt.changed, receipt.embedded, embedder.seen) == (1, 0, [])
    assert sources(ask(store, embedder, "grace", method="keyword")) == ["a"]
    assert ask(store, embedder, "ada", method="keyword").evidence == ()
    assert store.find_documents(Filter(metadata=(("author", "Grace"),)))
    assert not store.find_documents(Filter(metadata=(("author", "Ada"),)))


def test_a_change_of_title_embeds_everything(index, embedder):
    """The title is part of the embedded text."""
    index(doc("a", ALPHA + BETA))
    embedder.seen.clear()

    assert index(replace(doc("a", ALPHA + BETA), title="Other")).embedded == 2
    assert all(text.startswith("Other › ") for text in embedder.seen)


def test_equal_passages_of_a_document_are_all_kept(index, store):
    """Each has a place and a vector of its own."""
    receipt = index(doc("a", ALPHA + ALPHA + ALPHA))

    assert receipt.chunks == store.stats().chunks == store.stats().vectors == 3


@pytest.mark.parametrize(
    "change",
    [
        {"text": BETA},
        {"title": "Other"},
        {"form": "text"},
        {"unit": "page"},
        {"metadata": {"a": 1}},
        {"lines": [1] * 5},
        {"given": Extraction(candidates=(Candidate(key="a", name="A", kind="given"),))},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_shapes_what_is_stored_changes_the_hash(change):
    """An equal hash means no work. The order of metadata has no effect."""
    document = doc("a", ALPHA)

    assert content_hash(replace(document, **change), options=SPLIT) != content_hash(document, options=SPLIT)
    assert content_hash(document, options=SPLIT) != content_hash(document, options=SplitOptions())
    first, second = ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert content_hash(doc("a", "x", metadata=first), options=SPLIT) == content_hash(
        doc("b", "x", metadata=second), options=SPLIT
    )


def say(name, description="", stated_relations=()):
    candidate = Candidate(key=name.lower(), name=name, kind="given", description=description)
    return Extraction(candidates=(candidate,), stated_relations=tuple(stated_relations))


class Reading:
    """An extractor that reads the same relation out of every chunk."""

    name = "reading"

    def extract(self, document, chunks):
        stated = StatedRelation(source="atlas", target="beacon", type="uses", weight=7.0)
        return [say("Beacon", stated_relations=[stated]) for _ in chunks]


def test_what_comes_with_a_document_is_said_by_its_first_chunk(index, store, embedder):
    """With an extractor and without; its described names are embedded, and again when only they change."""
    index(doc("a", ALPHA + BETA, given=say("Atlas", "holds up the sky")))
    first, _ = store.find_chunks(store.find_documents(Filter())[0].id)

    assert store.graph.find_entities(["atlas"])["atlas"].description == "holds up the sky"
    assert list(store.graph.find_unembedded("another", limit=9)) == [(first.id, "atlas")]
    assert "Atlas: holds up the sky" in embedder.seen
    index(doc("a", ALPHA + BETA, given=say("Atlas", "a book of maps")))
    assert embedder.seen[-1] == "Atlas: a book of maps"
    assert store.graph.find_entities(["atlas"])["atlas"].description == "a book of maps"
    index(doc("a", ALPHA + BETA))
    assert store.graph.find_entities(["atlas"]) == {}


@pytest.mark.parametrize(
    "kind, expected", [("given", {"owns": 2.0}), ("phrase", {"owns": 2.0, "uses": 7.0})], ids=["given", "extracted"]
)
def test_how_two_given_entities_are_related_stands_as_it_was_given(index, store, kind, expected):
    """Extracted relations between them are dropped; derived ones are kept."""
    names = [Candidate(key=key, name=key.title(), kind=kind) for key in ("atlas", "beacon")]
    stated = StatedRelation(source="atlas", target="beacon", type="owns", weight=2.0)
    brought = Extraction(candidates=tuple(names), stated_relations=(stated,))
    for source in "ab":
        index(doc(source, ALPHA + BETA, given=brought), extractor=Reading())
    found = store.graph.find_entities(["atlas", "beacon"])
    relations = store.graph.relations_of([found["atlas"].id], limit=9)

    assert {relation.type: relation.weight for relation in relations} == expected


def test_what_comes_with_a_document_needs_a_chunk_to_stand_in(index, store):
    """A title is enough; nothing at all is refused rather than lost."""
    index(Document(source="a", title="Atlas", text="", given=say("Atlas")))
    assert store.graph.find_entities(["atlas"])
    with pytest.raises(InputError, match="neither title nor text"):
        index(Document(source="b", title="", text=" ", given=say("Beacon")))


def test_names_are_embedded_when_the_extractor_comes_later(index, store, embedder):
    """The chunks are there already, what they say of names is new."""

    class Describing(Reading):
        def extract(self, document, chunks):
            return [say("Beacon", f"of chunk {chunk.ordinal}") for chunk in chunks]

    index(doc("a", ALPHA + BETA))
    index(doc("a", ALPHA + BETA), extractor=Describing())

    assert store.graph.find_unembedded(embedder.card.fingerprint, limit=9) == {}


# ── failures ────────────────────────────────────────────────────────────────────────────────────


class Breaking(FakeEmbedder):
    """An embedder that breaks at its third call."""

    calls = 0

    def embed(self, texts, *, kind="document"):
        self.calls += 1
        if self.calls == 3:
            raise ModelUnavailable("unreachable")
        return super().embed(texts, kind=kind)


def test_a_failing_embedder_leaves_a_sound_store_and_the_next_run_completes_it(database, monkeypatch):
    """Written documents are kept, the failed group is unchanged, and no text is embedded twice."""
    monkeypatch.setattr(index_run, "FIRST_GROUPS_CHUNKS", ())
    embedder = Breaking()
    store = adopt(database.store("default"), embedder)
    documents = [doc(f"d{number:03}", f"Passage number {number} of many.") for number in range(3 * TEXTS_PER_GROUP)]
    steps = []
    with pytest.raises(ModelUnavailable, match="unreachable"):
        index_documents(documents, store=store, embedder=embedder, options=SPLIT, on_step=steps.append)

    assert store.stats().documents == len(steps) == 2 * TEXTS_PER_GROUP
    assert store.find_unembedded(embedder.card.fingerprint, limit=1) == []
    assert database.check() == []
    receipt = index_documents(documents, store=store, embedder=embedder, options=SPLIT)
    assert (receipt.unchanged, receipt.added, receipt.embedded) == (
        2 * TEXTS_PER_GROUP,
        TEXTS_PER_GROUP,
        TEXTS_PER_GROUP,
    )
    assert len(embedder.seen) == len(set(embedder.seen)) == 3 * TEXTS_PER_GROUP
    assert database.check() == []


def test_a_failing_embedder_leaves_a_changed_document_as_it_was(index, store, embedder):
    """The old text still answers."""
    index(doc("a", ALPHA))
    embedder.failing = "down"
    with pytest.raises(ModelUnavailable):
        index(doc("a", BETA))
    embedder.failing = ""

    assert sources(ask(store, embedder, "apples autumn")) == ["a"]
    assert index(doc("a", BETA)).changed == 1
    assert ask(store, embedder, "apples", method="keyword").evidence == ()


@pytest.mark.parametrize(
    "document",
    [
        Document(source="", title="t", text="x"),
        Document(source="a", title="t", text="half \ud800"),
        Document(source="a", title="\udfff", text="x"),
        Document(source="a\ud800", title="t", text="x"),
        Document(source="a", title="t", text="x", metadata={"when": object()}),
        Document(source="a", title="t", text="x", metadata={"much": float("nan")}),
    ],
    ids=["no source", "text", "title", "source", "object", "nan"],
)
def test_a_document_that_cannot_be_kept_is_refused(index, store, embedder, document):
    """Before anything is embedded or written."""
    with pytest.raises(InputError):
        index(document)
    assert (store.stats().documents, embedder.seen) == (0, [])


def test_a_document_without_a_word_is_kept_without_chunks(index, store, embedder):
    """The next run need not read it again."""
    empty = Document(source="a", title="", text="", metadata={"tag": "x"})

    assert (index(empty).added, store.stats().chunks, embedder.seen) == (1, 0, [])
    assert index(empty).unchanged == 1
    index(doc("a", ALPHA))
    assert index(empty).changed == 1
    assert (store.stats().chunks, store.stats().terms) == (0, 0)


def test_a_title_alone_can_be_found(index, store, embedder):
    """Records without text are found by their title."""
    index(Document(source="a", title="Attention is all you need", text=""))

    assert sources(ask(store, embedder, "attention need")) == ["a"]


# ── the receipt ─────────────────────────────────────────────────────────────────────────────────


def test_the_last_of_two_documents_with_one_source_wins(index, store, embedder):
    """It is planned after the first was written, so it is a change, and what both share is embedded once."""
    receipt = index(doc("a", ALPHA + BETA), doc("b", GAMMA), doc("a", BETA + GAMMA))

    assert (receipt.documents, receipt.added, receipt.changed) == (3, 2, 1)
    assert receipt.embedded == len(embedder.seen) == 4
    assert store.stats().documents == 2
    assert ask(store, embedder, "apples", method="keyword").evidence == ()
    assert index(doc("a", ALPHA), doc("a", ALPHA)).unchanged == 1


def test_what_was_skipped_is_reported(index):
    """In order, with the steps as they happen."""
    steps = []
    skipped = [Skipped(source="x.bin", reason="binary"), Skipped(source="y", reason="empty")]
    receipt = index(skipped[0], doc("a", ALPHA), skipped[1], doc("a", ALPHA), on_step=steps.append)

    assert receipt.skipped == tuple(skipped)
    assert sorted((step.source, step.outcome) for step in steps) == [
        ("a", "added"),
        ("a", "unchanged"),
        ("x.bin", "skipped"),
        ("y", "skipped"),
    ]


def test_without_an_embedder_nothing_is_embedded(database):
    """All documents are found by keywords."""
    store = database.store("plain")
    receipt = index_documents([doc("a", ALPHA)], store=store, embedder=None, options=SPLIT)

    assert (receipt.added, receipt.chunks, receipt.embedded) == (1, 1, 0)
    assert sources(ask(store, None, "apples autumn")) == ["a"]


def test_nothing_to_index_is_fine(index):
    """An empty folder is not an error."""
    receipt = index()

    assert (receipt.documents, receipt.chunks, receipt.skipped) == (0, 0, ())


def test_a_preview_says_what_would_happen_and_does_nothing(index, store, embedder):
    """The same counts as the run after it."""
    index(doc("a", ALPHA), doc("b", BETA))
    items = [doc("a", ALPHA), doc("b", BETA + GAMMA), doc("c", GAMMA), Skipped(source="x", reason="binary")]
    generation, seen = store.stats().generation, list(embedder.seen)
    preview = preview_documents(items, store=store, options=SPLIT, embedding=EmbedPreview(embedder))

    assert (store.stats().generation, embedder.seen) == (generation, seen)
    assert replace(preview, seconds=0.0) == replace(index(*items), seconds=0.0)
    assert (preview.added, preview.changed, preview.unchanged, preview.embedded) == (1, 1, 1, 2)


PASSAGES = st.lists(st.sampled_from([ALPHA, BETA, GAMMA]), max_size=4).map("".join)
RUNS = st.lists(st.lists(st.tuples(st.sampled_from("abc"), PASSAGES), max_size=5), min_size=1, max_size=4)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(RUNS)
def test_any_history_ends_like_one_run_of_its_last_documents(runs):
    """The counts of every receipt are consistent."""
    database, embedder = MemoryDatabase(), FakeEmbedder()
    store = adopt(database.store("default"), embedder)
    last = {}
    for run in runs:
        before = len(embedder.seen)
        receipt = index_documents(
            [doc(source, text) for source, text in run], store=store, embedder=embedder, options=SPLIT
        )
        last |= dict(run)
        assert receipt.documents == receipt.added + receipt.changed + receipt.unchanged == len(run)
        assert receipt.embedded == len(embedder.seen) - before
    fresh = adopt(MemoryDatabase().store("default"), embedder)
    index_documents([doc(s, t) for s, t in last.items()], store=fresh, embedder=embedder, options=SPLIT)

    assert replace(store.stats(), generation=0) == replace(fresh.stats(), generation=0)
    assert store.find_unembedded(embedder.card.fingerprint, limit=1) == []
    for document in fresh.find_documents(Filter()):
        assert store.documents([document.id]) == [document]
        assert store.find_chunks(document.id) == fresh.find_chunks(document.id)


def test_the_words_of_metadata_are_its_values():
    """Keys, ids, links and booleans are not searched."""
    metadata = {"a": "text", "b": [1, 2.5, None], "c": True, "d": False, "_id": "x", "links": ["y"], "e": 0}

    assert metadata_text(metadata).split("\n") == ["text", "1", "2.5", "0"]
