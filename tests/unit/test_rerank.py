"""Re-ranking: blending of scores, and results without a reranker."""

import json
import threading
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import adopt, fill, sources

from weft.config import RerankOptions, SearchOptions
from weft.context.serialise import result_to_dict
from weft.engine.engine import Engine
from weft.errors import BadModelOutput, ModelUnavailable
from weft.models.rerankers.deadline import MAX_CONCURRENT_CALLS, DeadlineReranker, check_scores
from weft.rank.rerank import blend_rerank
from weft.records import Document, Filter, Hit
from weft.search.rerank import NOTHING, OVERTAKEN
from weft.search.run import find
from weft.search.search_context import SearchContext
from weft.testing import FakeEmbedder, FakeReranker

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "result.schema.json").read_text("utf-8"))
QUESTION = "which cache lost the sessions"
TEXTS = {
    "cache": "The cache lost the sessions of all users in March.",
    "sessions": "Sessions are kept for a day. Sessions of guests for an hour, the cache holds them.",
    "users": "Users of the cache complained about lost sessions for a week.",
    "gateway": "The gateway retries a request three times; the cache is not asked.",
    "密钥": "密钥存放在环境变量里 cache sessions，每月轮换一次。",
}


class Scripted:
    """A reranker that says of each text what a function does."""

    name = "test/scripted"

    def __init__(self, judge):
        self._judge = judge

    def rerank(self, query, texts):
        return [self._judge(text) for text in texts]


def last_first(texts):
    return Scripted(lambda text: -[text.endswith(end) for end in texts].index(True))


@pytest.fixture
def store(database, embedder):
    store = adopt(database.store("default"), embedder)
    fill(store, embedder, **TEXTS)
    return store


def ask(store, embedder, reranker, *, text=QUESTION, rerank=None, **options):
    search = SearchContext(
        store=store,
        embedder=embedder,
        options=SearchOptions(**options),
        reranker=reranker,
        rerank=rerank or RerankOptions(),
    )
    return find(text, search)


# ── the formula ─────────────────────────────────────────────────────────────────────────────────


def hits(**scores):
    return [Hit(id, rank, score) for rank, (id, score) in enumerate(scores.items(), start=1)]


def test_the_blend_is_a_weighted_sum_of_stretched_scores():
    """Logits from -8 to 8 and text from -0.2 to 0.6 both reach from 0 to 1."""
    blended = blend_rerank(hits(a=0.6, b=0.2, c=-0.2), scores={"a": -8.0, "b": 0.0, "c": 8.0}, weight=0.25)

    assert [(hit.chunk_id, hit.rank) for hit in blended] == [("c", 1), ("b", 2), ("a", 3)]
    assert [hit.score for hit in blended] == pytest.approx([0.75, 0.5, 0.25])


def test_what_one_of_them_does_not_know_is_its_worst():
    """A chunk behind the pool, and one that only the graph found."""
    blended = {hit.chunk_id: hit.score for hit in blend_rerank(hits(a=2, b=1), scores={"a": 0.5, "g": 0.9}, weight=0.5)}

    assert blended == pytest.approx({"a": 0.5, "b": 0.0, "g": 0.5})


def test_a_reranker_without_an_opinion_leaves_the_order():
    """All scores alike, none, or no weight for it."""
    text = hits(a=0.9, b=0.5, c=0.1)
    for scores, weight in (({"a": 3, "b": 3, "c": 3}, 0.3), ({}, 0.3), ({"a": 1, "b": 2, "c": 3}, 1.0)):
        assert [hit.chunk_id for hit in blend_rerank(text, scores=scores, weight=weight)] == ["a", "b", "c"]
    assert blend_rerank([], scores={}, weight=0.5) == []


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.floats(allow_nan=False, allow_infinity=False)),
    st.dictionaries(st.sampled_from("abcdefg"), st.floats(allow_nan=False, allow_infinity=False)),
    st.floats(0, 1),
)
def test_no_chunk_is_lost_and_no_score_leaves_its_range(text, scores, weight):
    blended = blend_rerank(hits(**text), scores=scores, weight=weight)

    assert {hit.chunk_id for hit in blended} == text.keys() | scores.keys()
    assert all(-1e-9 <= hit.score <= 1 + 1e-9 for hit in blended)


# ── a question ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", ["hybrid", "vector", "keyword", "auto"])
def test_the_reranker_decides_the_order(store, embedder, method):
    """Each result says where it stood before and what the reranker said; the confidence stays that of the search."""
    plain = ask(store, embedder, None, method=method, gate=False)
    order = [piece.chunk.text for piece in plain.evidence]
    options = RerankOptions(weight=0.0)
    result = ask(store, embedder, last_first(order[::-1]), method=method, gate=False, rerank=options)

    assert len(order) > 3
    assert [piece.chunk.text for piece in result.evidence] == order[::-1]
    assert [piece.rerank.former_rank for piece in result.evidence] == list(range(len(order), 0, -1))
    assert [piece.rerank.score for piece in result.evidence] == [-n for n in range(len(order))]
    assert (result.rerank.model, result.rerank.count, result.rerank.skipped) == ("test/scripted", len(order), "")
    assert (result.confidence, result.status, result.notes) == (plain.confidence, plain.status, plain.notes)
    assert "rerank" in result.timings
    jsonschema.validate(result_to_dict(result), SCHEMA)
    assert result_to_dict(result)["reranked"] is True


def test_it_reads_title_headings_and_text(store, embedder):
    """The question is passed unchanged, in any script."""
    fake = FakeReranker()
    ask(store, embedder, fake, text="cache 密钥 sessions", gate=False)

    ((question, texts),) = fake.seen
    assert question == "cache 密钥 sessions"
    assert "密钥\n" + TEXTS["密钥"] in texts


def test_a_chunk_from_behind_may_come_into_the_answer(store, embedder):
    """The pool is larger than the answer; what it overtakes is counted."""
    plain = ask(store, embedder, None, gate=False)
    last = plain.evidence[-1].chunk.text
    result = ask(store, embedder, Scripted(lambda text: text.endswith(last)), gate=False, top_k=2)

    assert result.evidence[0].chunk.text == last
    assert len(result.evidence) == 2
    assert result.dropped == {OVERTAKEN: 1}


def test_what_is_behind_the_pool_is_not_read_and_not_lost(store, embedder):
    """It has no score of the reranker, and keeps its place behind."""
    order = [piece.chunk.text for piece in ask(store, embedder, None, gate=False).evidence]
    result = ask(store, embedder, last_first(order[1::-1]), gate=False, rerank=RerankOptions(pool=2, weight=0.1))

    assert result.rerank.count == 2
    assert [piece.chunk.text for piece in result.evidence][:2] == order[1::-1]
    assert {piece.chunk.text for piece in result.evidence} == set(order)
    assert [piece.rerank.score for piece in result.evidence] == [0, -1] + [None] * (len(order) - 2)


def test_the_gate_stands_before_the_reranker(store, embedder):
    """Rejected chunks are not sent, and no score restores them."""
    fake = FakeReranker()
    result = ask(store, embedder, fake, text="zebra migration patterns in Kenya")

    assert (result.status, result.evidence, fake.seen) == ("no_match", (), [])
    assert (result.rerank.skipped, result.notes) == (NOTHING, ask(store, embedder, None, text=result.query).notes)
    assert result_to_dict(result)["reranked"] is False


def test_an_empty_store_and_a_single_result_need_no_reranker(database, embedder):
    """One result has only one order."""
    store, fake = adopt(database.store("default"), embedder), FakeReranker()
    assert ask(store, embedder, fake).rerank.skipped == NOTHING
    fill(store, embedder, cache=TEXTS["cache"])
    result = ask(store, embedder, fake)

    assert sources(result) == ["cache"]
    assert (result.rerank.skipped, fake.seen) == (NOTHING, [])


def test_a_failure_leaves_the_order_of_the_search_and_says_so(store, embedder):
    """A warning and the reason; everything else is as without it."""
    fake = FakeReranker()
    fake.failing = "no network"
    plain, result = ask(store, embedder, None), ask(store, embedder, fake)

    assert result.rerank.skipped == "no network"
    assert "not re-ranked" in result.notes[-1]
    assert "no network" in result.notes[-1]
    assert replace(result, rerank=None, notes=plain.notes, timings=plain.timings) == plain
    jsonschema.validate(result_to_dict(result), SCHEMA)
    assert result_to_dict(result)["reranked"] is False


def test_a_chunk_deleted_meanwhile_is_left_out(store, embedder):
    """The store is not held while the reranker is waited for."""
    gone = next(d for d in store.find_documents(Filter()) if d.source == "cache")

    class Deleting(FakeReranker):
        def rerank(self, query, texts):
            store.delete([gone.id])
            return super().rerank(query, texts)

    result = ask(store, embedder, Deleting(), gate=False)
    assert "cache" not in sources(result)
    assert len(result.evidence) == len(TEXTS) - 1


# ── the graph ───────────────────────────────────────────────────────────────────────────────────

CHAIN = {
    "Lilli's Marriage": "Lilli's Marriage is a film of 1919 directed by Jaap Speyer.",
    "Jaap Speyer": "Jaap Speyer came from Amsterdam and lies in Purmerend.",
    "Weddings": "A director was born in winter, says the film about marriage.",
    "Birth": "The director of the museum was born in spring.",
    "Ports": "Ships sail from Hamburg.",
}
HOP = "Where was the director of Lilli's Marriage born?"


@pytest.fixture
def chained(open_at):
    engine = open_at(extractor="rules")
    engine.add([Document(source=name, title=name, text=text) for name, text in CHAIN.items()])
    return engine


def test_what_the_graph_put_first_is_not_pushed_out_by_a_reader_of_words(chained):
    """The second hop shares hardly a word with the question; a reranker that counts words puts it last."""
    reranker = FakeReranker()
    reranked = Engine(chained.settings, database=chained.database, embedder=FakeEmbedder(), reranker=reranker)
    plain, result = chained.query(HOP, top_k=3), reranked.query(HOP, top_k=3)
    said = {piece.document.title: piece.rerank.score for piece in result.evidence}

    assert plain.graph.trust > 0.5
    assert min(said, key=said.__getitem__) == "Jaap Speyer"
    assert said["Weddings"] > said["Lilli's Marriage"]
    for answer in (plain, result):
        assert [piece.document.title for piece in answer.evidence[:2]] == ["Lilli's Marriage", "Jaap Speyer"]


def test_the_graph_alone_may_be_reranked_too(chained):
    """The set of results is unchanged."""
    plain = chained.query(HOP, method="graph")
    reranked = Engine(chained.settings, database=chained.database, embedder=FakeEmbedder(), reranker=FakeReranker())
    result = reranked.query(HOP, method="graph")

    assert result.rerank.count == len(plain.evidence) > 1
    assert set(sources(result)) == set(sources(plain))


# ── the deadline ────────────────────────────────────────────────────────────────────────────────


class Blocked:
    """A reranker that answers when it is let go."""

    name = "test/blocked"

    def __init__(self):
        self.go = threading.Event()
        self.done = threading.Semaphore(0)

    def rerank(self, query, texts):
        self.go.wait(60)
        self.done.release()
        return [float(len(text)) for text in texts]


def test_a_late_answer_is_dropped():
    """The deadline holds, however long the reranker takes; the next call is a new one."""
    blocked = Blocked()
    timed = DeadlineReranker(blocked, seconds=0.05)
    with pytest.raises(ModelUnavailable, match="deadline of 50 ms"):
        timed.rerank("q", ["late"])
    blocked.go.set()
    assert blocked.done.acquire(timeout=60)

    assert DeadlineReranker(blocked, seconds=60).rerank("q", ["ab", "c"]) == [2.0, 1.0]


def test_late_calls_do_not_pile_up():
    """A model that hangs is asked so many times at once, and no more until it lets go."""
    blocked = Blocked()
    timed = DeadlineReranker(blocked, seconds=0.001)
    for _ in range(MAX_CONCURRENT_CALLS):
        with pytest.raises(ModelUnavailable, match="deadline"):
            timed.rerank("q", ["a"])
    with pytest.raises(ModelUnavailable, match="still being re-ranked"):
        timed.rerank("q", ["a"])
    blocked.go.set()
    for _ in range(MAX_CONCURRENT_CALLS):
        assert blocked.done.acquire(timeout=60)


def test_a_system_without_a_thread_left_is_a_model_error(monkeypatch):
    """The slot is released for the next call."""

    def fail(thread):
        raise RuntimeError("can't start new thread")

    timed = DeadlineReranker(FakeReranker(), seconds=60)
    with monkeypatch.context() as broken:
        broken.setattr(threading.Thread, "start", fail)
        for _ in range(MAX_CONCURRENT_CALLS + 1):
            with pytest.raises(ModelUnavailable, match="can't start new thread"):
                timed.rerank("q", ["a"])

    assert timed.rerank("q", ["q"]) == [1.0]


@pytest.mark.parametrize("error", [KeyError("x"), RuntimeError("CUDA out of memory"), ModelUnavailable("no network")])
def test_whatever_goes_wrong_inside_is_a_model_error(error):
    def fail(text):
        raise error

    with pytest.raises(ModelUnavailable, match=str(error).strip("'")):
        DeadlineReranker(Scripted(fail), seconds=60).rerank("q", ["a"])


@pytest.mark.parametrize("scores", [[], [1.0], [1.0, 2.0, 3.0], [1.0, float("nan")], [float("inf"), 0], ["a", 1], None])
def test_scores_are_one_finite_number_per_text(scores):
    with pytest.raises(BadModelOutput):
        check_scores(scores, count=2)
