"""The table of channels: a fourth channel needs a row and nothing else."""

import pytest
from making import adopt, ask, fill

from weft.cli.results import explain_evidence
from weft.context.serialise import result_to_dict
from weft.models.embedders.hashing import HashEmbedder
from weft.rank.fuse import order
from weft.records import Filter, Ranking
from weft.search import channel_table
from weft.search.channel_table import Channel, channels_of

TEXTS = {
    "redis": "Sessions were lost in the failover of redis.",
    "billing": "Invoices were sent twice in March.",
    "garden": "The gardener waters the roses.",
}


def rank_by_length(query, search):
    """Rank short texts first: a channel of a stranger."""
    ids = [document.id for document in search.store.find_documents(Filter(), limit=9)]
    chunks = [item.chunk for batch in search.store.batches(ids) for item in batch.chunks]
    return Ranking(hits=tuple(order({chunk.id: 1 / len(chunk.text) for chunk in chunks})))


@pytest.fixture
def filled(database):
    embedder = HashEmbedder()
    store = adopt(database.store("default"), embedder)
    fill(store, embedder, **TEXTS)
    return store, embedder


@pytest.fixture
def brevity(monkeypatch):
    """Register a fourth channel."""
    row = Channel(
        name="brevity",
        label="short text",
        measure="per character",
        methods=frozenset({"hybrid", "mix"}),
        search=rank_by_length,
        weigh=lambda rankings, query, search: 5.0,
    )
    monkeypatch.setattr(channel_table, "CHANNELS", (*channel_table.CHANNELS, row))


def test_a_fourth_channel_is_searched_fused_and_explained(filled, brevity):
    """One row: the method searches it, it changes the order, and every output names it."""
    store, embedder = filled

    result = ask(store, embedder, "What happened to the sessions?", method="hybrid", gate=False)

    assert channels_of("hybrid") == {"vector", "keyword", "brevity"}
    assert result.evidence[0].document.source == "garden"
    assert result.counts["brevity"] == 3 and "brevity" in result.timings
    assert "short text #1 (per character 0.0" in explain_evidence(result.evidence[0])
    assert result_to_dict(result)["results"][0]["channels"]["brevity"]["rank"] == 1


def test_a_fourth_channel_leaves_other_methods_alone(filled, brevity):
    """A method that is not in its row does not search it."""
    store, embedder = filled

    result = ask(store, embedder, "What happened to the sessions?", method="keyword", gate=False)

    assert set(result.counts) == {"keyword"}


@pytest.mark.parametrize(
    ("method", "names"),
    [
        ("vector", {"vector"}),
        ("keyword", {"keyword"}),
        ("hybrid", {"vector", "keyword"}),
        ("graph", {"graph"}),
        ("mix", {"vector", "keyword", "graph"}),
    ],
)
def test_methods_search_the_channels_of_the_table(method, names):
    """The three channels of a fresh installation."""
    assert channels_of(method) == names
