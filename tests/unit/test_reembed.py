"""Switching to another embedder."""

import pytest
from making import adopt, ask, fill, sources

from weft.errors import ModelUnavailable, SchemaMismatch
from weft.index.reembed import TEXTS_PER_TRANSACTION, reembed
from weft.testing import FakeEmbedder

TEXTS = {"cats": "cats purr and sleep", "dogs": "dogs bark and run", "owls": "owls hoot at night"}
MANY = {f"d{number:04}": f"passage number {number}" for number in range(2 * TEXTS_PER_TRANSACTION + 10)}
PROBE = 1
"""The first text, which tells the dimension."""


class Breaking(FakeEmbedder):
    """An embedder that breaks after some calls."""

    def __init__(self, *, calls):
        super().__init__(name="fake/new", dimension=16)
        self.calls = calls

    def embed(self, texts, *, kind="document"):
        self.calls -= 1
        if self.calls < 0:
            raise ModelUnavailable("unreachable")
        return super().embed(texts, kind=kind)


@pytest.fixture
def store(database, embedder):
    return adopt(database.store("default"), embedder)


def active(store):
    return [(model.name, model.dimension) for model in store.models() if model.active]


def test_every_chunk_gets_a_vector_of_the_new_embedder(store, embedder, database):
    """Then it is active, and the vectors of the old one are deleted."""
    fill(store, embedder, **TEXTS)
    new, steps = FakeEmbedder(name="fake/new", dimension=16), []

    assert reembed(store, embedder=new, on_step=steps.append) == sum(steps) == 3
    assert active(store) == [("fake/new", 16)]
    assert len(store.models()) == 1
    assert sources(ask(store, new, "owls hoot", method="vector"))[0] == "owls"
    assert database.check() == []
    with pytest.raises(SchemaMismatch):
        ask(store, embedder, "owls hoot", method="vector")


def test_what_is_embedded_is_what_indexing_embeds(store, embedder):
    """Title and headings included, so that re-embedding and re-indexing agree."""
    fill(store, embedder, **TEXTS)
    new = FakeEmbedder(name="fake/new")
    reembed(store, embedder=new)

    assert sorted(new.seen[PROBE:]) == sorted(embedder.seen)


def test_the_same_embedder_again_embeds_nothing(store, embedder):
    """It is already done."""
    fill(store, embedder, **TEXTS)
    before = len(embedder.seen)

    assert reembed(store, embedder=embedder) == 0
    assert len(embedder.seen) == before + PROBE
    assert active(store) == [("fake/words", 64)]


def test_an_interrupted_run_goes_on_where_it_stopped(store, embedder, database):
    """The old embedder answers meanwhile, and what was done is not done again."""
    fill(store, embedder, **MANY)
    broken = Breaking(calls=2)
    with pytest.raises(ModelUnavailable):
        reembed(store, embedder=broken)

    assert active(store) == [("fake/words", 64)]
    assert sources(ask(store, embedder, "passage number 7", method="vector", gate=False))
    assert len(broken.seen) == PROBE + TEXTS_PER_TRANSACTION
    resumed = Breaking(calls=99)
    assert reembed(store, embedder=resumed) == len(MANY) - TEXTS_PER_TRANSACTION
    assert not set(resumed.seen[PROBE:]) & set(broken.seen[PROBE:])
    assert active(store) == [("fake/new", 16)]
    assert store.stats().vectors == len(MANY)
    assert database.check() == []


def test_an_embedder_that_cannot_start_changes_nothing(store, embedder):
    """The list of models is unchanged."""
    fill(store, embedder, **TEXTS)
    generation = store.stats().generation
    with pytest.raises(ModelUnavailable):
        reembed(store, embedder=Breaking(calls=0))

    assert store.stats().generation == generation


def test_a_document_written_meanwhile_is_embedded_too(store, embedder):
    """Another writer uses the old embedder until the switch."""
    fill(store, embedder, **TEXTS)
    new = FakeEmbedder(name="fake/new", dimension=16)
    late = {"bats": "bats fly in the dusk"}

    def write_once(count):
        if late:
            fill(store, embedder, **{name: late.pop(name) for name in list(late)})

    assert reembed(store, embedder=new, on_step=write_once) == 4
    assert sources(ask(store, new, "bats fly dusk", method="vector"))[0] == "bats"
    with pytest.raises(SchemaMismatch):
        fill(store, embedder, wolves="wolves howl")
    fill(store, new, wolves="wolves howl")


def test_a_document_deleted_meanwhile_is_no_obstacle(store, embedder):
    """Its chunks are simply not there any more."""
    fill(store, embedder, **MANY)
    new = FakeEmbedder(name="fake/new", dimension=16)

    def delete(count):
        store.delete([document.id for document in store.find_documents(_everything(), limit=5)])

    reembed(store, embedder=new, on_step=delete)
    assert active(store) == [("fake/new", 16)]
    assert store.stats().vectors == store.stats().chunks


def _everything():
    from weft.records import Filter

    return Filter()


def test_a_namespace_without_vectors_gets_its_first(database, embedder):
    """From keywords only to both channels."""
    store = database.store("plain")
    fill(store, None, **TEXTS)

    assert reembed(store, embedder=embedder) == 3
    assert sources(ask(store, embedder, "owls hoot", method="vector"))[0] == "owls"


def test_a_third_embedder_replaces_a_half_finished_second(store, embedder):
    """The vectors of the second one are deleted."""
    fill(store, embedder, **MANY)
    with pytest.raises(ModelUnavailable):
        reembed(store, embedder=Breaking(calls=2))
    third = FakeEmbedder(name="fake/third", dimension=8)
    reembed(store, embedder=third)

    assert [model.name for model in store.models()] == ["fake/third"]


def test_an_empty_namespace_can_be_switched(store):
    """Nothing is embedded, and the embedder is recorded."""
    assert reembed(store, embedder=FakeEmbedder(name="fake/new", dimension=16)) == 0
    assert active(store) == [("fake/new", 16)]
