"""Live facts between entities of the graph are edges of the walk, in every store."""

import pytest
from harbour import ASKED, DAY, NOW, PAGES, Clock, add_pages, open_on, steps, walked
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_store.store import MemoryDatabase

import weft.store.shared.fact_rules as stating
from weft.index.remember import remember
from weft.records import Document, GivenFact
from weft.store.sqlite.database import SqliteDatabase
from weft.text.ids import fact_entity_id


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def engine(database, clock):
    return add_pages(open_on(database, clock))


def test_the_walk_follows_a_fact_and_shows_it(engine):
    """In both directions, with the predicate as its type and ten times the confidence as its weight."""
    assert "Harbour Office.md" not in walked(engine)
    engine.memory.add("Tide Gauge", "owned by", object="harbour office", confidence=0.8)
    there, back = walked(engine), walked(engine, "what about the Harbour Office")

    assert steps(there["Harbour Office.md"]) == [("Tide Gauge", "owned_by", 8.0, "Harbour Office")]
    assert steps(back["Tide Gauge.md"]) == [("Harbour Office", "owns", 8.0, "Tide Gauge")]
    assert there["Harbour Office.md"].hops == 1
    context = engine.query(ASKED, method="graph", gate=False).graph
    assert [(r.type, r.weight, r.description) for r in context.relations] == [("owned_by", 8.0, "")]


def test_the_walk_goes_on_over_several_facts(engine):
    """Two hops over facts alone."""
    engine.memory.add("Tide Gauge", "owned by", object="Harbour Office")
    engine.memory.add("Harbour Office", "keeps", object="Pilot Roster")

    assert [step[1] for step in steps(walked(engine)["Pilot Roster.md"])] == ["owned_by", "keeps"]


def test_only_facts_that_hold_now_are_followed(engine, clock):
    """Staged and confirmed facts are followed; future, ended, rejected and forgotten ones are not."""
    fact = engine.memory.add("Tide Gauge", "near", object="Harbour Office", valid_from=NOW + DAY).fact
    assert "Harbour Office.md" not in walked(engine)
    clock.now += DAY
    assert "Harbour Office.md" in walked(engine)
    engine.memory.confirm(fact.id)
    assert "Harbour Office.md" in walked(engine)
    engine.memory.expire(fact.id)
    assert "Harbour Office.md" not in walked(engine)
    other = engine.memory.add("Tide Gauge", "beside", object="Harbour Office").fact
    assert "Harbour Office.md" in walked(engine)
    engine.memory.reject(other.id)
    assert "Harbour Office.md" not in walked(engine)
    third = engine.memory.add("Tide Gauge", "by", object="Harbour Office").fact
    engine.memory.forget(third.id)
    assert "Harbour Office.md" not in walked(engine)


def test_literals_lead_nowhere(engine):
    """A value that reads like a name is no entity."""
    engine.memory.add("Tide Gauge", "owned by", "Harbour Office")

    assert "Harbour Office.md" not in walked(engine)


def test_another_name_of_an_entity_leads_to_it(engine):
    """The rule is the same everywhere in the graph."""
    engine.entities.alias("Harbour Office", "Quay House")
    engine.memory.add("Tide Gauge", "owned by", object="Quay House")

    assert steps(walked(engine)["Harbour Office.md"]) == [("Tide Gauge", "owned_by", 10.0, "Harbour Office")]


def test_the_least_weight_holds_for_facts_too(engine):
    """An unsure fact is followed down to the least graph score, and one below the scale never."""
    engine.memory.add("Tide Gauge", "near", object="Harbour Office", confidence=0.4)
    engine.memory.add("Tide Gauge", "near", object="Pilot Roster", confidence=0.05)

    assert "Harbour Office.md" in walked(engine)
    assert "Harbour Office.md" not in walked(engine, min_graph_score=0.5)
    assert "Pilot Roster.md" not in walked(engine, min_graph_score=0.0)


@pytest.mark.parametrize("algorithm", ["expand", "guided"])
def test_the_other_algorithms_follow_facts_too(engine, algorithm):
    """`expand` takes the neighbour, `guided` searches for the pair."""
    asked = {"algorithm": algorithm, "rel_types": ["owned_by"]}
    before = walked(engine, **asked)
    engine.memory.add("Tide Gauge", "owned by", object="Harbour Office")
    engine.memory.add("Tide Gauge", "near", object="Pilot Roster")
    after = walked(engine, **asked)

    searched = {source.expansion for source in after.values()}
    if algorithm == "guided":
        assert {source.expansion for source in before.values()} == {"Tide Gauge"}
        assert searched == {"Tide Gauge", "Tide Gauge Harbour Office"}
    else:
        assert "Harbour Office.md" not in before and "Pilot Roster.md" not in after
        assert steps(after["Harbour Office.md"]) == [("Tide Gauge", "owned_by", 10.0, "Harbour Office")]


def test_neighbours_paths_and_the_card_of_an_entity_have_facts(engine):
    """All calls for single entities include facts."""
    engine.memory.add("Tide Gauge", "owned by", object="Harbour Office", confidence=0.9)
    engine.memory.add("Harbour Office", "keeps", object="Pilot Roster")

    found = engine.entities.neighbours("Tide Gauge", hops=2)
    assert [(entity.name, way.hops, way.path[-1].type) for entity, way in found] == [
        ("Harbour Office", 1, "owned_by"),
        ("Pilot Roster", 2, "keeps"),
    ]
    assert [step.type for step in engine.entities.path("Pilot Roster", "Tide Gauge")] == ["keeps_of", "owns"]
    assert [(s.type, s.target) for s in engine.entities.show("Harbour Office").relations] == [
        ("keeps", "Pilot Roster"),
        ("owns", "Tide Gauge"),
    ]


def test_without_facts_none_are_read(engine, monkeypatch):
    """One cheap check suffices; without the graph there is no check."""
    engine.memory.add("Tide Gauge", "colour", "red")
    facts = type(engine.store.facts)

    def refuse(*args, **kwargs):
        raise AssertionError("facts were read")

    monkeypatch.setattr(facts, "links", refuse)
    walked(engine)
    engine.entities.neighbours("Tide Gauge")
    monkeypatch.setattr(facts, "has_links", refuse)
    engine.query(ASKED, method="hybrid")
    assert engine.query(ASKED, graph={"enabled": False}).graph is None


def test_facts_cost_one_statement_for_each_frontier(engine, monkeypatch):
    """However many entities stand in it."""
    for source in ("Tide Gauge", "Harbour Office", "Pilot Roster"):
        engine.memory.add_many(
            [GivenFact(subject=source, predicate="near", object=title) for title in PAGES if title != source]
        )
    frontiers = []
    for role, name in ((engine.store.facts, "links"), (engine.store.graph, "links_of")):
        read = getattr(type(role), name)

        def counted(self, entity_ids, read=read, **options):
            frontiers.append(entity_ids)
            return read(self, entity_ids, **options)

        monkeypatch.setattr(type(role), name, counted)
    rounds = engine.settings.graph.rounds
    walked(engine)

    assert max(map(len, frontiers)) > 1
    assert len(frontiers) <= 2 * rounds + 2  # the way of the answer and its graph context read once more each


def test_a_hub_is_read_in_part(engine, monkeypatch):
    """Only the facts of highest confidence are read, and only the strongest links are followed."""
    monkeypatch.setattr(stating, "MAX_LINK_CANDIDATES", 3)
    monkeypatch.setattr("weft.store.relational.graph.edge_rows.MAX_LINK_CANDIDATES", 3)
    monkeypatch.setattr("memory_store.fact_store.MAX_LINK_CANDIDATES", 3)
    engine.memory.add_many([GivenFact(subject="Tide Gauge", predicate="reads", value=f"{n} metres") for n in range(3)])
    engine.memory.add("Tide Gauge", "near", object="Harbour Office", confidence=0.9)
    assert "Harbour Office.md" not in walked(engine)
    engine.memory.add("Tide Gauge", "beside", object="Harbour Office")
    assert "Harbour Office.md" in walked(engine)


# ── both stores agree ───────────────────────────────────────────────────────────────────────────

NAMES = list(PAGES)
STATED = st.lists(
    st.builds(
        GivenFact,
        subject=st.sampled_from([*NAMES, "Unheard Of"]),
        predicate=st.sampled_from(["near", "owned by", "depends on"]),
        object=st.sampled_from([*NAMES, "Quay House", "Unheard Of"]),
        confidence=st.sampled_from([0.05, 0.3, 0.5, 0.8, 1.0]),
        valid_to=st.sampled_from([None, NOW + DAY, NOW + 3 * DAY]),
    ),
    max_size=12,
)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(stated=STATED, limit=st.integers(1, 4), looks=st.integers(1, 6), later=st.booleans())
def test_both_stores_give_the_same_links(stated, limit, looks, later):
    """The same relations in the same order, and the same walk."""
    at = NOW + 2 * DAY if later else NOW
    answers = []
    for database in (MemoryDatabase(), SqliteDatabase(":memory:")):
        clock = Clock()
        engine = add_pages(open_on(database, clock, graph_max_edges=limit))
        engine.entities.alias("Harbour Office", "Quay House")
        remember(stated, store=engine.store, options=engine.settings.memory, now=NOW)
        clock.now = at
        ids = [*(engine.entities.get(name).id for name in NAMES), fact_entity_id("unheard of")]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("weft.store.relational.graph.edge_rows.MAX_LINK_CANDIDATES", looks)
            patch.setattr("memory_store.fact_store.MAX_LINK_CANDIDATES", looks)
            links = engine.store.facts.links(ids, at=at, limit=limit, min_weight=3.0)
            typed = engine.store.facts.links(ids[:1], at=at, limit=limit, types=("near",))
            result = engine.query(ASKED, method="graph", gate=False)
            ways = [(p.chunk.id, round(p.score, 9), p.graph) for p in result.evidence]
            names = [(entity.id, entity.name) for entity in engine.entities.top()]
            asked = engine.query("what about Unheard Of", method="graph", gate=False)
            ways += [(p.chunk.id, round(p.score, 9), p.graph) for p in asked.evidence]
        answers.append((links, typed, ways, names, result.graph.relations))
        database.close()

    assert answers[0] == answers[1]


def test_what_a_document_states_is_not_there_again_as_a_fact(engine):
    """Field names and direction do not matter; the larger weight counts."""
    engine.memory.add("Tide Gauge", "owner", object="Harbour Office", confidence=0.5)
    engine.memory.add("Harbour Office", "owns", object="Tide Gauge", confidence=0.9)
    engine.memory.add("Harbour Office", "keeps", object="Tide Gauge")
    shown = [(step.type, step.weight) for step in engine.entities.show("Tide Gauge").relations]
    assert shown == [("keeps_of", 10.0), ("owned_by", 9.0)]
    engine.add([Document(source="Quay Office.md", title="Quay Office", text="An office.")])
    engine.add_text("# Tide Mark\n\nTide Mark is owned by Quay Office.", source="Tide Mark.md")
    engine.memory.add("Tide Mark", "owner", object="Quay Office")
    engine.memory.add("Quay Office", "owns", object="Tide Mark")
    shown = engine.entities.show("Tide Mark").relations

    assert [(s.type, s.weight, s.extractors) for s in shown if s.weight > 6] == [("owned_by", 10.0, ("rules",))]
