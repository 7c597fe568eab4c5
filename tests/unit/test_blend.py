"""Facts and passages in one answer: one text in one budget, one status, facts with their scores."""

from datetime import datetime, timedelta, timezone

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from making import make_evidence
from memory_store.store import MemoryDatabase

from weft.config import ContextOptions, MemoryOptions, read_settings
from weft.context.blend import build_blend
from weft.context.build import build_evidence
from weft.engine.engine import Engine
from weft.facts.score import score_fact
from weft.records import Document, Fact, GivenFact, Recall, Result
from weft.search.facts.blend import blend
from weft.testing import FakeEmbedder
from weft.text.tokens import EstimatingCounter
from weft.tools.memory_search import MEMORY_SEARCH

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
FACTS = [
    GivenFact(subject="user", predicate="prefers", value="dark mode"),
    GivenFact(subject="user", predicate="works_on", object="JACQ Project"),
    GivenFact(subject="JACQ Project", predicate="uses", object="DuckDB", confidence=0.8, source="file"),
    GivenFact(subject="DuckDB", predicate="type", value="embedded OLAP database"),
]
NARRATIVE = """\
### 💡 CONTEXT: JACQ Project
- uses: DuckDB

### 💡 CONTEXT: DuckDB
- type: embedded OLAP database

### 👤 USER CONTEXT
- works_on: JACQ Project
- prefers: dark mode
"""
ASKED = "What is the JACQ Project?"
PAGES = {"JACQ Project": "JACQ Project charts the tides of the north coast.", "Menu": "Soup on Mondays."}
count = EstimatingCounter().count


def open_on(pages=PAGES, facts=FACTS, embedder=None, **overrides):
    values = {name.replace("_", ".", 1): value for name, value in overrides.items()}
    embedder = embedder or FakeEmbedder()
    made = read_settings({"graph.extractor": "rules", **values}, environment={})
    engine = Engine(made, database=MemoryDatabase(), embedder=embedder, clock=lambda: NOW)
    engine.add([Document(source=f"{title}.md", title=title, text=text) for title, text in pages.items()])
    engine.memory.add_many(facts)
    return engine


def pieces(number, *, size=3):
    facts = [
        Fact(
            id=f"f{n}",
            subject=f"thing {n % 3}",
            subject_name=f"Thing {n % 3}",
            predicate="says",
            value=f"word {n} " * size,
            created=NOW - timedelta(seconds=n),
        )
        for n in range(number)
    ]
    return [score_fact(fact, hop=1, at=NOW, options=MemoryOptions()) for fact in facts]


# ── the answer ──────────────────────────────────────────────────────────────────────────────────


def test_the_narrative_stands_before_the_evidence():
    """Both in one text; the passages are those of the query, and the facts come with scores and factors."""
    engine = open_on()
    result = engine.query(ASKED)
    values = engine.memory_search(ASKED)

    assert values["context"].startswith(NARRATIVE + "\n---\n\n")
    assert values["context"].removeprefix(NARRATIVE + "\n---\n\n") == engine.context(result).text
    assert [piece["chunk"]["id"] for piece in values["results"]] == [piece.chunk.id for piece in result.evidence]
    assert values["facts"]["status"] == "ok"
    assert values["facts"]["anchors"][0] == {"name": "JACQ Project", "how": "named"}
    used = next(fact for fact in values["facts"]["facts"] if fact["predicate"] == "uses")
    relevance = used["factors"].pop("relevance")
    assert used["factors"] == {"confidence": 0.8, "source": 1.5, "decay": 1.0, "usage": 1.0, "status": 1.0}
    assert (used["object"], used["hop"], used["score"]) == ("DuckDB", 1, pytest.approx(0.8 * 1.5 * relevance))
    jsonschema.validate(values, MEMORY_SEARCH["outputSchema"])


def test_without_the_graph_there_are_no_facts():
    """It is plain hybrid, and nothing counts as recalled."""
    engine = open_on()
    values = engine.memory_search(ASKED, use_graph=False)

    assert values["facts"] is None
    assert "CONTEXT" not in values["context"]
    assert values["context"] == engine.context(engine.query(ASKED, method="hybrid")).text
    assert all(fact.access_count == 0 for fact in engine.memory.list())
    jsonschema.validate(values, MEMORY_SEARCH["outputSchema"])


def test_facts_alone_are_an_answer_that_says_so():
    """No passage is relevant enough, so the status is that of the facts, and the confidence that of the passages."""
    engine = open_on({"Menu": "Soup on Mondays."})
    alone = engine.query(ASKED)
    values = engine.memory_search(ASKED)

    assert alone.status == "no_match"
    assert (values["status"], values["results"], values["context"]) == ("ok", [], NARRATIVE)
    assert values["notes"][0] == "the answer is 4 remembered facts; no passage is relevant enough"
    assert values["confidence"] == pytest.approx(alone.confidence, abs=1e-4)
    jsonschema.validate(values, MEMORY_SEARCH["outputSchema"])


def test_neither_facts_nor_passages_is_no_match():
    """With empty hands on both sides."""
    values = open_on().memory_search("how do volcanoes erupt?")

    assert (values["status"], values["results"], values["context"]) == ("no_match", [], "")
    assert (values["facts"]["status"], values["facts"]["facts"]) == ("no_match", [])
    jsonschema.validate(values, MEMORY_SEARCH["outputSchema"])


def test_facts_found_without_an_embedder_are_degraded():
    """The reason comes from whichever side has one."""
    embedder = FakeEmbedder()
    engine = open_on({"Menu": "Soup on Mondays."}, embedder=embedder)
    embedder.failing = "out of memory"
    values = engine.memory_search(ASKED)

    assert (values["status"], values["facts"]["status"]) == ("degraded", "degraded")
    assert "out of memory" in values["degraded"]
    assert values["context"] == NARRATIVE


def made(status, *, passages=0, degraded=""):
    found = tuple(make_evidence(f"p{n}") for n in range(passages))
    return Result(query="q", method="mix", reason="", status=status, confidence=0.3, evidence=found, degraded=degraded)


def remembered(status, *, facts=1, degraded=""):
    return Recall(text="q", status=status, facts=tuple(pieces(facts)), at=NOW, degraded=degraded)


@pytest.mark.parametrize(
    "result, recall, status, note",
    [
        (made("ok", passages=1), remembered("ok"), "ok", ""),
        (made("ok", passages=1), remembered("no_match", facts=0), "ok", ""),
        (made("low_confidence", passages=1), remembered("ok", facts=2), "ok", "based on 2 remembered facts"),
        (made("low_confidence", passages=1), remembered("no_match", facts=0), "low_confidence", ""),
        (made("no_match"), remembered("ok"), "ok", "is 1 remembered fact;"),
        (made("no_match"), remembered("no_match", facts=0), "no_match", ""),
        (made("no_match"), remembered("degraded", degraded="why"), "degraded", "is 1 remembered fact;"),
        (made("degraded", passages=1, degraded="x"), remembered("degraded", degraded="x"), "degraded", ""),
    ],
)
def test_the_status_is_that_of_both_together(result, recall, status, note):
    """A note marks an answer that is based on facts."""
    found = blend(result, recall)

    assert found.status == status
    assert note in " ".join(found.notes) and bool(note) == bool(found.notes)
    assert bool(found.degraded) == (status == "degraded")


# ── the budget ──────────────────────────────────────────────────────────────────────────────────


def passages(number, *, size=20):
    found = [make_evidence(f"passage {n} " * size) for n in range(number)]
    return lambda budget: build_evidence(found, count=count, options=ContextOptions(budget=budget))


@settings(max_examples=150, deadline=None)
@given(
    facts=st.integers(0, 12),
    chunks=st.integers(0, 6),
    budget=st.integers(0, 700),
    size=st.integers(1, 30),
)
def test_one_budget_holds_both_and_the_last_line_says_what_is_missing(facts, chunks, budget, size):
    """Never a token more; what is shown and what is left out add up."""
    context = build_blend(pieces(facts), rest=passages(chunks, size=size), count=count, budget=budget)

    assert context.tokens == count(context.text) <= budget
    shown = {kind: sum(source["type"] == kind for source in context.sources) for kind in ("fact", "chunk")}
    assert sum(shown.values()) + context.omitted == facts + chunks
    assert context.text.count("[omitted") == (1 if context.omitted and context.text else 0)
    if context.omitted and context.text:
        assert context.text.endswith(f"[omitted {context.omitted}]\n")
    lines = context.text.splitlines()
    assert sum(line.startswith("- says: ") for line in lines) == shown["fact"]
    assert sum(line.startswith("[Score: ") for line in lines) == shown["chunk"]


def test_neither_side_crowds_out_the_other():
    """Facts get half, and all that the passages leave; passages get what the facts leave."""
    both = build_blend(pieces(60), rest=passages(20), count=count, budget=400)
    few = build_blend(pieces(60), rest=passages(1, size=2), count=count, budget=400)
    told = sum(source["type"] == "fact" for source in both.sources)

    assert 0 < told < 60 and any(source["type"] == "chunk" for source in both.sources)
    assert sum(source["type"] == "fact" for source in few.sources) > told
    assert any(source["type"] == "chunk" for source in few.sources)


@pytest.mark.parametrize("format", ["evidence", "graph", "evidence+graph"])
def test_every_format_has_the_facts_first_in_the_same_budget(format):
    """The graph block keeps its own budget beside them."""
    engine = open_on(context_format=format, context_budget=120)
    values = engine.memory_search(ASKED)

    assert values["context"].startswith("### 💡 CONTEXT: JACQ Project\n")
    assert engine._token_counter.get().count(values["context"]) <= 120
