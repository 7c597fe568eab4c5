"""Entities and relations before the evidence, graph block after it."""

import re

import pytest
from graph_views import AUTH, SAMPLE, SAMPLE_TEXT, VIEWS, block, entity
from hypothesis import given
from hypothesis import strategies as st
from making import make_evidence

from weft.config import ContextOptions
from weft.context.build import GraphView, build_evidence
from weft.text.tokens import estimate_tokens


def evidence(*pieces, graph=None, behind=None, budget=4000, count=estimate_tokens, **options):
    def make_block(budget):
        return block(behind, count=count, budget=budget)

    return build_evidence(
        pieces,
        count=count,
        options=ContextOptions(budget=budget, **options),
        graph=graph,
        block=make_block if behind else None,
    )


def test_entities_stand_before_the_evidence_as_in_the_design():
    """Score, text and citation of each piece."""
    context = evidence(make_evidence("text", score=0.834), graph=GraphView(entities=(AUTH, entity("x", "Bare"))))

    assert context.text == (
        "## Related Entities\n\n"
        "**Auth Service** (concept)\n\n"
        "Core authentication service handling JWT issuance and validation...\n\n"
        "**Bare** (concept)\n\n"
        "\n---\n\n"
        "[Score: 0.83]\nTitle\ntext\nSource: notes.md:3-9\n"
    )
    assert context.sources == (
        {"type": "entity", "id": "auth", "name": "Auth Service"},
        {"type": "entity", "id": "x", "name": "Bare"},
        {"type": "chunk", "id": "c" + "0" * 24, "name": "Title", "citation": "notes.md:3-9"},
    )
    assert context.omitted == 0


def test_relationships_are_listed_below_the_entities():
    """Strongest first, unless they are not wanted."""
    context = evidence(graph=SAMPLE)
    without = evidence(graph=SAMPLE, include_relationships=False)

    assert without.text == evidence(graph=GraphView(entities=SAMPLE.entities)).text
    assert without.omitted == 0

    assert context.text.endswith(
        "\n\n### Relationships\n\n"
        '- Auth Service -> OAuth Provider: "depends_on"\n'
        '- Auth Service -> User Model: "implements"\n'
        '- Auth Service -> Login Flow: "part_of"\n'
        '- OAuth Provider -> Google OAuth: "implements"\n'
        '- Auth Service -> Session Store: "uses"\n'
        '- OAuth Provider -> GitHub OAuth: "implements"\n\n'
    )


def test_entities_take_at_most_a_quarter():
    """Omitted entities are counted with the omitted evidence."""
    many = tuple(entity(f"e{i:02}", description="It is described at some length. " * 20) for i in range(40))
    context = evidence(make_evidence("word " * 5000), graph=GraphView(entities=many), budget=1000)
    head, body = context.text.split("\n---\n\n", 1)
    shown = len(context.sources) - 1

    assert 100 < estimate_tokens(head) <= 250
    assert "It is described" in head
    assert estimate_tokens(body) > 650
    assert shown == head.count("**e")
    assert context.text.endswith(f"[omitted {40 - shown}]\n")


@pytest.mark.parametrize("graph", [None, GraphView()])
def test_an_empty_graph_changes_nothing(graph):
    """The evidence is what it was."""
    pieces = [make_evidence("text", number=0), make_evidence("more " * 100, number=1)]

    assert evidence(*pieces, graph=graph, budget=60) == evidence(*pieces, budget=60)


@given(st.lists(st.integers(0, 300), max_size=4), VIEWS, st.integers(0, 600), st.integers(1, 7))
def test_entities_never_break_the_budget_nor_displace_all_evidence(sizes, view, budget, odd):
    """Every entity and piece is shown and cited, or counted as left out."""

    def count(text):
        return estimate_tokens(text) + (odd if odd > 1 and text and len(text) % odd == 0 else 0)

    pieces = [make_evidence("word " * size, number=number) for number, size in enumerate(sizes)]
    context = evidence(*pieces, graph=view, budget=budget, count=count)
    listed = len(re.findall(r"^- .* -> ", context.text, re.MULTILINE))
    total = len(pieces) + len(view.entities) + len(view.named_relations())

    assert count(context.text) == context.tokens <= budget
    assert len(context.sources) + listed + context.omitted == total
    if evidence(*pieces, budget=budget // 2, count=count).sources:
        assert any(source["type"] == "chunk" for source in context.sources)


# ── the block behind the evidence ───────────────────────────────────────────────────────────────


def test_the_block_stands_behind_the_evidence_and_one_line_tells_of_both():
    """It is appended to the results; what the two leave out is counted together."""
    pieces = [make_evidence("text", number=0), make_evidence("word " * 900, number=1)]
    whole, tight = evidence(*pieces, behind=SAMPLE), evidence(*pieces, behind=SAMPLE, budget=700, graph_budget=80)

    assert whole.text.startswith("[Score: 0.50]\nTitle\ntext\n")
    assert whole.text.endswith("\n---\n\n" + SAMPLE_TEXT.replace("[Auth Service, OAuth Provider]", "[]"))
    assert [source["type"] for source in whole.sources] == ["chunk", "chunk", "entity", "entity"]
    assert tight.text.count("[omitted") == 1
    assert "### Auth Service (concept)" in tight.text
    assert tight.omitted == block(SAMPLE, budget=80).omitted + 1
    assert tight.text.endswith(f"\n---\n\n[omitted {tight.omitted}]\n")


@given(st.lists(st.integers(0, 300), max_size=4), VIEWS, VIEWS, st.integers(0, 900), st.integers(1, 7))
def test_a_block_never_breaks_the_budget_nor_displaces_all_evidence(sizes, view, behind, budget, odd):
    """This is true with entities before the evidence too; the last line counts omitted items."""

    def count(text):
        return estimate_tokens(text) + (odd if odd > 1 and text and len(text) % odd == 0 else 0)

    pieces = [make_evidence("word " * size, number=number) for number, size in enumerate(sizes)]
    context = evidence(*pieces, graph=view, behind=behind, budget=budget, count=count)

    assert count(context.text) == context.tokens <= budget
    assert context.text.count("[Score:") == sum(source["type"] == "chunk" for source in context.sources)
    if context.omitted and context.text:
        assert context.text.endswith(f"[omitted {context.omitted}]\n")
    if not context.text:
        total = len(pieces) + sum(len(each.entities) + len(each.named_relations()) for each in (view, behind))
        assert context.omitted == total
    if evidence(*pieces, budget=budget // 2, count=count).sources:
        assert any(source["type"] == "chunk" for source in context.sources)
