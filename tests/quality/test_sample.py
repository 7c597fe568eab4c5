"""Small fixed corpus and its questions with the real model, as a regression test of quality."""

from itertools import pairwise
from pathlib import Path

import pytest

from weft.engine.opening.open_engine import open_engine

CORPUS = Path(__file__).parents[2] / "examples" / "corpus"

ANSWERS = {
    "Why were sessions moved out of Redis?": "decisions/ADR-0012",
    "What caused the double charges in March?": "incidents/INC-2077",
    "Who owns the rate limiter and what is its limit per client?": "services/rate-limiter",
    "What is ERR_CONN_RESET in the notification hub about?": ("incidents/INC-2058", "services/notification-hub"),
    "how long are seats held in a cart": "services/checkout-service",
    "which identity vendor do we rent": "services/oauth-provider",
    "what did we lose in the festival drop of September 2025": "incidents/INC-2041",
    "how do I fail over the session database": "runbooks/session-store-failover",
    "what do we use gpt-4o for": "decisions/ADR-0016",
    "why is the seat map still written in C++": ("decisions/ADR-0009", "services/seat-map-renderer"),
    "session.ttl_seconds": "services/session-store",
    "支付网关超时怎么处理？": "zh/payment-gateway-timeout",
    "重跑gen-itgc后要核对哪些数字": "zh/gen-itgc-rerun",
    "为什么中文标题搜不到": ("zh/INC-2066", "zh/ADR-0019"),
}
CONNECTED = {
    "Which team owns the service that Login Flow is part of?": (
        "services/login-flow", "services/auth-service", "teams/identity-team",
    ),
    "what happens if we change the OAuth provider?": (
        "services/oauth-provider", "services/auth-service", "services/login-flow",
    ),
    "Which services depend on the Session Store?": (
        "services/session-store", "services/auth-service", "services/login-flow",
    ),
    "What does the service that Payment Gateway depends on do with held seats?": (
        "services/payment-gateway", "services/checkout-service",
    ),
    "Which incident led to the decision ADR-0012, and which runbook covers the store it introduced?": (
        "decisions/ADR-0012", "incidents/INC-1987", "runbooks/session-store-failover",
    ),
    "Who owns the services affected by INC-2041?": (
        "incidents/INC-2041", "services/checkout-service", "teams/payments-team",
    ),
    "What is affected when the Rate Limiter goes down?": (
        "services/rate-limiter", "services/auth-service", "services/checkout-service",
    ),
    "Which decision supersedes the way Notification Hub sends ticket SMS?": (
        "services/notification-hub", "decisions/ADR-0018",
    ),
}  # fmt: skip
"""Questions whose answer needs several documents."""
FOREIGN = [
    "how do I bake sourdough bread at home",
    "who won the world chess championship in 1972",
    "best way to prune apple trees in winter",
    "symptoms of vitamin D deficiency in adults",
    "怎么做红烧肉",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give the folder of one store for all tests."""
    return tmp_path_factory.mktemp("sample")


@pytest.fixture
def engine(real_model, folder):
    """Give the indexed corpus; after the first test, nothing in it has changed."""
    with open_engine(folder / "sample.db") as engine:
        engine.index(CORPUS)
        yield engine


def rank(engine, question, expected, **options):
    """Return the rank of the first expected document among the documents found, 99 for none."""
    result = engine.query(question, gate=False, top_k=50, **options)
    sources = list(dict.fromkeys(piece.document.source for piece in result.evidence))
    wanted = (expected,) if isinstance(expected, str) else expected
    ranks = [place for place, source in enumerate(sources, start=1) if any(f"/{name}" in source for name in wanted)]
    return min(ranks, default=99)


@pytest.mark.model
def test_the_sample_is_answered(engine):
    """13 of 14 at rank 1 and all in the first three were measured; one question is the margin."""
    ranks = {question: rank(engine, question, expected) for question, expected in ANSWERS.items()}

    assert sum(place == 1 for place in ranks.values()) >= len(ANSWERS) - 2, ranks
    assert sum(place <= 3 for place in ranks.values()) >= len(ANSWERS) - 1, ranks


@pytest.mark.model
def test_hybrid_is_not_worse_than_its_parts(engine):
    """Mean reciprocal rank of hybrid against vector alone and keyword alone."""
    means = {
        method: sum(1 / rank(engine, q, expected, method=method) for q, expected in ANSWERS.items()) / len(ANSWERS)
        for method in ("vector", "keyword", "hybrid")
    }

    assert means["hybrid"] >= max(means["vector"], means["keyword"]) - 0.04, means


@pytest.mark.model
def test_the_graph_is_not_worse_than_hybrid(engine):
    """Mean reciprocal rank of the default against hybrid, on questions about single documents."""
    means = {
        method: sum(1 / rank(engine, q, expected, method=method) for q, expected in ANSWERS.items()) / len(ANSWERS)
        for method in ("auto", "hybrid")
    }

    assert means["auto"] >= means["hybrid"] - 0.04, means


@pytest.mark.model
@pytest.mark.parametrize("method", ["graph", "mix"])
def test_a_stricter_minimum_graph_score_returns_a_subset(engine, method):
    """Also with `guided`, where a dropped passage would leave its place to a connected one."""
    for question in ("Auth Service", "OAuth Provider", "Who owns Auth Service?"):
        found = []
        for limit in (0.0, 0.3, 0.8, 0.9, 1.0):
            result = engine.query(question, method=method, graph={"algorithm": "guided", "min_graph_score": limit})
            found.append({piece.chunk.id for piece in (*result.evidence, *result.connected)})
        assert all(stricter <= looser for looser, stricter in pairwise(found)), question


def recall(engine, method):
    """Return the mean share of the needed documents among the first five."""
    shares = []
    for question, needed in CONNECTED.items():
        result = engine.query(question, gate=False, top_k=50, method=method)
        found = list(dict.fromkeys(piece.document.source for piece in result.evidence))[:5]
        shares.append(sum(any(f"/{name}" in source for source in found) for name in needed) / len(needed))
    return sum(shares) / len(shares)


@pytest.mark.model
def test_connected_documents_are_found(engine):
    """Every document was found by default where hybrid finds 0.71; one of them is the margin."""
    assert recall(engine, "auto") >= 0.95
    assert recall(engine, "auto") >= recall(engine, "hybrid") + 0.15


@pytest.mark.model
def test_a_chain_is_traced_beyond_words(engine):
    """Checkout depends on the provider over three services; no word and no vector of the question leads there."""
    question = "what happens if we change the OAuth provider?"
    by_graph, by_vector = engine.query(question), engine.query(question, method="vector")

    paths = {piece.document.title: piece.graph for piece in by_graph.evidence if piece.graph}
    steps = [(step.source, step.type) for step in paths["Checkout Service"].path]
    assert steps == [
        ("OAuth Provider", "depended_on_by"),
        ("Auth Service", "depended_on_by"),
        ("Login Flow", "depended_on_by"),
        ("Checkout Service", "described in"),
    ]
    assert "Checkout Service" not in {piece.document.title for piece in by_vector.evidence}
    assert {"OAuth Provider", "Auth Service", "Login Flow"} <= paths.keys()


@pytest.mark.model
def test_foreign_questions_find_nothing(engine):
    """Nothing is returned as relevant that is not; five of five were measured, one is the margin."""
    results = {question: engine.query(question) for question in FOREIGN}
    found = {question: (r.status, round(r.confidence, 2)) for question, r in results.items()}

    assert sum(r.status == "no_match" for r in results.values()) >= len(FOREIGN) - 1, found
    assert all(r.status != "ok" for r in results.values()), found
    assert all(not r.evidence for r in results.values() if r.status == "no_match")


@pytest.mark.model
def test_own_questions_are_answered_with_confidence(engine):
    """None of the questions the corpus answers is turned away."""
    statuses = {question: engine.query(question).status for question in ANSWERS}

    assert all(status != "no_match" for status in statuses.values()), statuses
