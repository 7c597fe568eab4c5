"""Read path: results of a question."""

import json
from dataclasses import replace

import pytest
from making import adopt, ask, fill, sources

from weft.config import SearchOptions, SplitOptions
from weft.context.serialise import result_to_dict
from weft.index.run import index_documents
from weft.models.embedders.hashing import HashEmbedder
from weft.records import Document, Filter
from weft.search import channel_table
from weft.search.chunks import Chunks
from weft.search.question.embed import embed_question
from weft.search.question.read import MAX_TERMS, read_question
from weft.search.writing_systems import embedder_weight
from weft.testing import FakeEmbedder

TEXTS = {
    "redis": "Sessions were moved out of Redis because failover lost them.",
    "postgres": "Payments are kept in Postgres with a replica in Frankfurt.",
    "gateway": "The gateway retries a request three times before it gives up.",
    "密钥": "密钥存放在环境变量里，每月轮换一次。",
}
LOST = "redis failover lost sessions"


@pytest.fixture
def store(database, embedder):
    store = adopt(database.store("default"), embedder)
    fill(store, embedder, **TEXTS)
    return store


# ── methods ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", ["vector", "keyword", "hybrid", "auto", "naive", "agentic"])
def test_every_method_finds_the_answer(store, embedder, method):
    """The result names the channels."""
    result = ask(store, embedder, LOST, method=method)
    ran = {"naive": "vector", "auto": "mix", "agentic": "mix"}.get(method, method)

    assert sources(result)[0] == "redis"
    assert (result.status, result.degraded, result.method) == ("ok", "", ran)
    assert bool(result.reason) == (method in ("auto", "agentic"))
    both = {"vector", "keyword"}  # there is no graph in this namespace
    expected = {"vector": {"vector"}, "keyword": {"keyword"}, "hybrid": both, "mix": both}[ran]
    assert set(result.evidence[0].channels) == expected
    assert set(result.counts) == expected | ({"graph"} if ran == "mix" else set())


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
def test_a_chunk_comes_once_however_many_channels_found_it(store, embedder, fusion):
    """Best first, at most as many as asked for."""
    result = ask(store, embedder, LOST, fusion=fusion, gate=False)
    ids = [piece.chunk.id for piece in result.evidence]

    assert len(set(ids)) == len(ids) == 4
    assert [p.score for p in result.evidence] == sorted((p.score for p in result.evidence), reverse=True)
    assert len(ask(store, embedder, LOST, fusion=fusion, gate=False, top_k=2).evidence) == 2
    assert len(ask(store, embedder, LOST, fusion=fusion, gate=False, top_k=3, pool=1).evidence) >= 1


def test_a_channel_asked_for_alone_keeps_its_own_scores(store, embedder):
    """A cosine is a cosine, a BM25 score is one."""
    for method in ("vector", "keyword"):
        piece = ask(store, embedder, LOST, method=method).evidence[0]
        assert piece.score == piece.channels[method].score


def test_keyword_search_embeds_nothing(store, embedder):
    """It is there for when that is too slow."""
    before = len(embedder.seen)
    ask(store, embedder, LOST, method="keyword")

    assert len(embedder.seen) == before


def test_the_same_question_twice_gives_the_same_result(store, embedder):
    """Apart from the time it took."""
    for method in ("vector", "keyword", "hybrid"):
        first, second = (ask(store, embedder, LOST, method=method, gate=False) for _ in range(2))
        assert replace(first, timings={}) == replace(second, timings={})
        assert set(first.timings) == set(second.timings)


def test_evidence_says_where_it_stands(store, embedder):
    """Citation, document and chunk belong together."""
    piece = ask(store, embedder, LOST).evidence[0]

    assert piece.citation == "redis:1"
    assert piece.chunk.document_id == piece.document.id
    assert piece.document.chunk_count == 1
    assert piece.chunk.text == TEXTS["redis"]


@pytest.mark.parametrize(
    ("options", "score"),
    [
        ({"fusion": "rrf"}, 0.5 / 61 + 0.5 / 61),
        ({"fusion": "rrf", "vector_weight": 0.9, "text_weight": 0.1}, 0.9 / 61 + 0.1 / 61),
        ({"fusion": "rrf", "vector_weight": 0.9}, 0.9 / 61 + 0.5 / 61),
        ({"fusion": "rrf", "text_weight": 0.0}, 0.5 / 61),
    ],
)
def test_ranks_count_alike_unless_weights_are_set(store, embedder, options, score):
    """The first of both channels, with k = 60."""
    assert ask(store, embedder, LOST, method="hybrid", **options).evidence[0].score == pytest.approx(score)


def test_weights_that_are_set_count_for_both_kinds_of_fusion(store, embedder):
    """The defaults of `weighted` are 0.7 and 0.3."""
    usual = ask(store, embedder, LOST, method="hybrid").evidence[0].score
    same = ask(store, embedder, LOST, method="hybrid", vector_weight=0.7, text_weight=0.3).evidence[0].score

    assert same == usual
    assert ask(store, embedder, LOST, method="hybrid", vector_weight=0.5, text_weight=0.5).evidence[0].score != usual


@pytest.mark.parametrize(("paragraphs", "weights"), [(1, (0.7, 0.3)), (12, (0.35, 0.65))])
def test_keywords_count_more_among_chunks_of_long_documents(database, embedder, paragraphs, weights, monkeypatch):
    """Chunks of one conversation have similar vectors. Documents of one chunk keep the usual weights."""
    monkeypatch.setattr(channel_table, "MIN_COMPARED_CHUNKS", 1)
    store = adopt(database.store("default"), embedder)
    lines = [f"Turn {number}: failover number {number} lost the sessions of redis." for number in range(12)]
    texts = ["\n\n".join(lines[at : at + paragraphs]) for at in range(0, len(lines), paragraphs)]
    documents = [Document(source=f"{at}", title="", text=text) for at, text in enumerate(texts)]
    index_documents(documents, store=store, embedder=embedder, options=SplitOptions(max_tokens=20, min_tokens=1))

    usual = ask(store, embedder, LOST, method="hybrid")
    same = ask(store, embedder, LOST, method="hybrid", vector_weight=weights[0], text_weight=weights[1])

    assert len(usual.evidence) > 5
    assert [piece.score for piece in usual.evidence] == pytest.approx([piece.score for piece in same.evidence])


# ── what can be wrong with an embedder ──────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", ["vector", "hybrid"])
def test_a_failing_embedder_leaves_the_keyword_result(store, embedder, method, caplog):
    """The reason is in the result, and the answer is marked as degraded."""
    embedder.failing = "the endpoint is down"
    result = ask(store, embedder, LOST, method=method)

    assert sources(result) == ["redis"]
    assert result.status == "degraded"
    assert "the endpoint is down" in result.degraded
    assert set(result.counts) == {"keyword"}
    assert "the endpoint is down" in caplog.text


def test_what_is_left_to_search_counts_whatever_its_weight(store, embedder, caplog):
    """A text weight of 0 must not silence the only channel that works."""
    embedder.failing = "down"

    assert sources(ask(store, embedder, LOST, text_weight=0.0)) == ["redis"]
    assert sources(ask(store, embedder, LOST, text_weight=0.0, fusion="rrf")) == ["redis"]


def test_without_an_embedder_keywords_are_searched(store):
    """The result is marked."""
    result = ask(store, None, LOST)

    assert (sources(result), result.status) == (["redis"], "degraded")
    assert "no embedder" in result.degraded
    assert ask(store, None, LOST, method="keyword").status == "ok"


def test_no_match_stays_no_match_when_degraded(store, embedder, caplog):
    """The status is not replaced."""
    embedder.failing = "down"
    result = ask(store, embedder, "zebra umbrella")

    assert (result.status, result.evidence) == ("no_match", ())
    assert result.degraded


@pytest.fixture
def latin(database):
    embedder = FakeEmbedder(scripts=frozenset({"latin"}))
    fill(adopt(database.store("default"), embedder), embedder, **TEXTS)
    return embedder


def test_an_embedder_that_does_not_know_the_script_has_no_say(database, latin):
    """A Chinese question is answered by its words, with a note, and nothing is embedded for it."""
    store, before = database.store("default"), len(latin.seen)
    result = ask(store, latin, "密钥存放在环境变量")

    assert sources(result) == ["密钥"]
    assert "was not trained on han text" in result.notes[0]
    assert {name for name, count in result.counts.items() if count} == {"keyword"}
    assert (result.status, result.degraded) == ("ok", "")
    assert len(latin.seen) == before


def test_whoever_asks_for_vectors_alone_gets_them_with_a_warning(database, latin):
    """Without other channels, no result is rejected."""
    result = ask(database.store("default"), latin, "密钥存放在环境变量", method="vector")

    assert sources(result)[0] == "密钥"
    assert result.status == "low_confidence"
    assert any("was not trained on han text" in note for note in result.notes)


def test_the_emergency_embedder_answers_a_vector_question(database):
    """Its cosines are not calibrated, so its answers are degraded, but they are there."""
    embedder = HashEmbedder()
    store = adopt(database.store("default"), embedder)
    fill(store, embedder, **TEXTS)

    for method in ("vector", "hybrid"):
        result = ask(store, embedder, LOST, method=method)
        assert sources(result)[0] == "redis"
        assert result.status == "degraded"


@pytest.mark.parametrize(
    "text, weight",
    [
        ("plain words", 1.0),
        ("密钥", 0.0),
        ("密钥 key rotation", 1.0),
        ("密钥轮换 key", 0.0),
        ("123 !?", 1.0),
        ("", 1.0),
    ],
)
def test_trust_goes_by_the_share_of_letters(text, weight):
    """Half or more in scripts the embedder never saw is too much."""
    card = FakeEmbedder(scripts=frozenset({"latin"})).card

    shares = read_question(text).scripts

    assert embedder_weight(shares, card=card)[0] == weight
    assert bool(embedder_weight(shares, card=card)[1]) == (weight == 0.0)
    assert embedder_weight(shares, card=FakeEmbedder().card) == (1.0, "")


# ── odd questions ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", ["vector", "keyword", "hybrid"])
@pytest.mark.parametrize("text", ["", "   ", "*", '"', "%_", "...", "\x00", "\ud800", "''; --"], ids=repr)
def test_a_question_without_words_is_no_match_and_says_why(store, embedder, text, method):
    """It is not an error, and nothing is embedded for it."""
    before = len(embedder.seen)
    result = ask(store, embedder, text, method=method)

    assert (result.status, result.evidence, result.rejected) == ("no_match", (), None)
    assert "nothing to search for" in result.notes[0]
    assert len(embedder.seen) == before


def test_an_emoji_is_a_question(store, embedder):
    """It is found where it stands, and nowhere else."""
    assert ask(store, embedder, "🦩", method="keyword").status == "no_match"
    fill(store, embedder, zoo="The flamingo 🦩 stands on one leg.")

    assert sources(ask(store, embedder, "🦩", method="keyword")) == ["zoo"]


def test_a_pasted_book_is_cut_and_the_result_says_so(store, embedder):
    """Ten thousand words are a question too."""
    words = " ".join(f"word{number}" for number in range(10_000))
    result = ask(store, embedder, f"redis sessions failover {words}")
    query = embed_question(read_question(words), embedder=embedder, wants_vector=True, wants_keyword=True)

    assert f"the first {MAX_TERMS}" in result.notes[0]
    assert len(query.terms) == MAX_TERMS


def test_white_space_does_not_matter(store, embedder):
    """The question is kept as one line."""
    result = ask(store, embedder, "  why\n\nredis\t failover ")

    assert result.query == "why redis failover"
    assert sources(result)[0] == "redis"


# ── the gate, the floor, filters ────────────────────────────────────────────────────────────────


def test_a_foreign_question_is_no_match_with_the_best_rejected(store, embedder):
    """The caller sees what came closest and why it was not enough."""
    result = ask(store, embedder, "zebra migration in the serengeti")

    assert (result.status, result.evidence) == ("no_match", ())
    assert result.rejected is not None
    assert result.rejected.citation.partition(":")[0] in TEXTS
    assert result.rejected.reason
    assert result.notes == (result.rejected.reason,)


def test_the_gate_can_be_opened(store, embedder):
    """The whole ranking is shown with the same confidence."""
    held, sure = ask(store, embedder, "zebra migration in the serengeti"), ask(store, embedder, LOST)
    result = ask(store, embedder, "zebra migration in the serengeti", gate=False)

    assert (result.status, len(result.evidence)) == ("low_confidence", 4)
    assert (result.confidence, result.notes) == (held.confidence, held.notes)
    assert result.rejected is None
    assert (ask(store, embedder, LOST, gate=False).status, sure.status) == ("ok", "ok")
    assert ask(store, embedder, LOST, gate=False).confidence == sure.confidence > 0.5
    assert ask(store, embedder, "zebra", gate=False, method="keyword").status == "no_match"


def test_a_least_cosine_leaves_out_what_is_below(store, embedder):
    """Only the vector channel is affected."""
    everything = ask(store, embedder, LOST, gate=False)
    least = everything.evidence[0].channels["vector"].score - 1e-6
    alone = ask(store, embedder, LOST, gate=False, method="vector", min_score=least)
    words = ask(store, embedder, LOST, gate=False, min_score=2.0)

    assert sources(alone) == ["redis"]
    assert ask(store, embedder, LOST, method="vector", min_score=2.0).status == "no_match"
    assert words.counts["vector"] == 0
    assert sources(words)[0] == "redis"


def test_filters_narrow_every_method(store, embedder):
    """By document, by source, by metadata; one that lets nothing through finds nothing and says so."""
    document = store.find_documents(Filter(source_prefix="post"))[0]
    for method in ("vector", "keyword", "hybrid"):
        for where in (Filter(source_prefix="post"), Filter(documents=(document.id,))):
            result = ask(store, embedder, "redis postgres payments replica", where=where, method=method, gate=False)
            assert sources(result) == ["postgres"]
        result = ask(store, embedder, LOST, where=Filter(source_prefix="nowhere"), method=method)
        assert (result.status, result.evidence) == ("no_match", ())
        assert result.notes


def test_an_empty_namespace_says_that_it_is_empty(database, embedder):
    """The commonest mistake has its own note."""
    result = ask(adopt(database.store("new"), embedder), embedder, "anything")

    assert result.status == "no_match"
    assert result.notes == ("namespace 'new' is empty: nothing has been indexed",)


def test_metadata_is_found_by_its_words(store, embedder):
    """In every kind of value but truth, which says nothing on its own."""
    from weft.config import SplitOptions
    from weft.index.run import index_documents

    metadata = {
        "author": "Ada Lovelace",
        "tags": ["engine", 1843],
        "draft": False,
        "final": True,
        "none": None,
        "_id": "zz9",
    }
    document = Document(source="note", title="note", text="a text", metadata=metadata)
    index_documents([document], store=store, embedder=embedder, options=SplitOptions())

    for question in ("lovelace", "engine", "1843"):
        assert sources(ask(store, embedder, question, method="keyword")) == ["note"]
    for question in ("false", "true", "none", "zz9"):
        assert ask(store, embedder, question, method="keyword").evidence == ()


def test_a_result_can_be_printed(store, embedder, caplog):
    """Every kind of result is JSON."""
    results = [ask(store, embedder, LOST), ask(store, embedder, ""), ask(store, embedder, "zebra serengeti")]
    embedder.failing = "down"
    for result in [*results, ask(store, embedder, LOST)]:
        assert json.loads(json.dumps(result_to_dict(result)))["status"] == result.status


def test_a_question_reads_a_chunk_once(store, embedder):
    """It sees one state of the store, whatever happens to it meanwhile."""
    piece = ask(store, embedder, LOST).evidence[0]
    chunks, wanted = Chunks(store), ["nowhere", piece.chunk.id]

    assert chunks.read(wanted) == {piece.chunk.id: piece.chunk}
    store.delete([piece.document.id])
    assert chunks.read(wanted) == {piece.chunk.id: piece.chunk}
    assert Chunks(store).read(wanted) == {}


def test_a_document_deleted_meanwhile_is_left_out(store, embedder):
    """Two reads are not one: what is gone by the second is not shown."""
    from weft.records import Hit
    from weft.search.result import read_evidence

    piece = ask(store, embedder, LOST).evidence[0]
    store.delete([piece.document.id])

    assert read_evidence([Hit(piece.chunk.id, 1, 1.0)], {}, store=store) == []
    assert SearchOptions().gate
