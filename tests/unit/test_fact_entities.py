"""Entities known only from facts are entities of the graph, in every store."""

import pytest
from harbour import ASKED, DAY, NOW, Clock, add_pages, open_on, steps, walked

from weft.errors import InputError, NotFound
from weft.records import Document, FactEntity, GivenFact
from weft.search.graph.relations import relations_in
from weft.search.question.entities import recognise_names
from weft.search.question.read import read_question
from weft.tools.calls import call_tool
from weft.tools.resources import list_resources

NAMED = "what about Kestrel Works"


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def engine(database, clock):
    return add_pages(open_on(database, clock))


@pytest.fixture
def chain(engine):
    """Tide Gauge —made_by→ Kestrel Works —rents_from→ Harbour Office; no document names the one in the middle."""
    engine.memory.add("Tide Gauge", "made by", object="Kestrel Works", confidence=0.9)
    engine.memory.add("Kestrel Works", "rents from", object="Harbour Office", confidence=0.8)
    return engine


def state(engine):
    """Return the visible content of the graph."""
    answers = [engine.query(text, gate=False) for text in (ASKED, NAMED, '"Kestrel Works"')]
    found = [[(p.chunk.id, p.score, p.graph) for p in a.evidence] for a in answers]
    around = engine.entities.neighbours("Tide Gauge", hops=3)
    return found, [a.choice.features.entities for a in answers], around, engine.entities.top()


def is_known(engine, name="Kestrel Works"):
    try:
        return bool(engine.entities.get(name))
    except NotFound:
        return False


def test_a_chain_of_facts_is_followed_and_shown(chain):
    """From one document to another, over what no document names, in both directions."""
    there, back = walked(chain), walked(chain, "what about the Harbour Office")

    assert steps(there["Harbour Office.md"]) == [
        ("Tide Gauge", "made_by", 9.0, "Kestrel Works"),
        ("Kestrel Works", "rents_from", 8.0, "Harbour Office"),
    ]
    assert [step[1] for step in steps(back["Tide Gauge.md"])] == ["rents_from_of", "made_by_of"]


def test_a_longer_chain_is_followed(chain):
    """Over two entities that facts alone know."""
    chain.memory.add("Kestrel Works", "belongs to", object="Zolt Holding")
    chain.memory.add("Zolt Holding", "feeds", object="Canteen Menu")

    assert [step[3] for step in steps(walked(chain)["Canteen Menu.md"])] == [
        "Kestrel Works",
        "Zolt Holding",
        "Canteen Menu",
    ]


@pytest.mark.parametrize("algorithm", ["expand", "guided"])
def test_the_other_algorithms_pass_over_it(chain, algorithm):
    """Two hops away; what no chunk mentions is no answer by itself, and no pair to search for."""
    near, far = (walked(chain, algorithm=algorithm, max_hops=hops) for hops in (1, 2))
    if algorithm == "guided":
        assert {source.expansion for source in near.values()} == {"Tide Gauge"}
        assert "Tide Gauge Harbour Office" in {source.expansion for source in far.values()}
    else:
        assert not near
        assert [step[3] for step in steps(far["Harbour Office.md"])] == ["Kestrel Works", "Harbour Office"]


def test_a_question_may_start_there(chain):
    """By any method that asks the graph; the default trusts it, for no text spells the name."""
    assert steps(walked(chain, NAMED)["Harbour Office.md"]) == [("Kestrel Works", "rents_from", 8.0, "Harbour Office")]
    found = chain.query("who rents to kestrel works?", gate=False)
    assert found.graph.recognised == ("Kestrel Works",) and found.graph.trust > 0.5
    assert {p.document.source for p in found.evidence[:2]} == {"Tide Gauge.md", "Harbour Office.md"}
    assert {(e.name, e.chunks) for e in found.graph.entities} >= {("Kestrel Works", 0), ("Harbour Office", 1)}
    assert {r.type for r in found.graph.relations} == {"made_by", "rents_from"}


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("Old Kestrel Works of Oslo", "is Old Kestrel Works of Oslo large"),
        ("SR-052", "SR-052"),
        ("Harbour Office Annex", "where is the Harbour Office Annex"),
        ("kestrel", "what about kestrel"),
        ("红隼工厂", "红隼工厂在哪里"),
    ],
)
def test_names_are_recognised_as_those_of_documents_are(engine, name, asked):
    """Long ones, ids, the longest where one holds another, words typed small, and Chinese ones."""
    engine.memory.add(name, "keeps", object="Pilot Roster")
    found = engine.query(asked, gate=False)

    assert found.method == "mix" and found.graph.recognised == (name,)
    assert "Pilot Roster.md" in {p.document.source for p in found.evidence if p.graph}


@pytest.mark.parametrize("name", ["Old Tide", "Gauge", "What is"])
def test_a_name_of_a_document_keeps_its_words(engine, name):
    """Unless facts know a longer name that holds all of it; and what is asked with is no name."""
    engine.memory.add(name, "keeps", object="Pilot Roster")

    assert engine.query("What is the Old Tide Gauge?").graph.recognised == ("Tide Gauge",)


def test_a_word_typed_small_is_a_name_where_there_is_no_other(engine):
    """`user`, the subject of most facts, is not a name."""
    engine.memory.add("water", "fills", object="Canteen Menu")
    engine.memory.add("user", "likes", object="Canteen Menu")

    assert engine.query("does the tide gauge stand in water").graph.recognised == ("Tide Gauge",)
    assert engine.query("how is water").graph.recognised == ("water",)
    assert engine.query("what can the user see").graph.recognised == ()


def test_a_name_counts_less_the_more_facts_join_it_with(chain):
    """The rule is the same as for names in many chunks."""

    def seed():
        relations = relations_in(chain.store, at=NOW)
        found = recognise_names(read_question(NAMED), graph=chain.store.graph, relations=relations)
        return found[0]

    before = seed()
    chain.memory.add_many([GivenFact(subject="Kestrel Works", predicate="made", object=f"Part {n}") for n in range(9)])

    assert (before.defining_chunks, seed().defining_chunks) == (2, 11)
    assert before.weight > 3 * seed().weight > 0


def test_a_name_that_documents_hardly_know_starts_a_walk_too(engine):
    """Two documents that use a phrase do not take away what facts say of it."""
    engine.memory.add("Kestrel Works", "rents from", object="Pilot Roster")
    texts = {name: f"We had a letter from Kestrel Works about {name}." for name in ("rent", "repairs")}
    engine.add([Document(source=f"{name}.md", title=name, text=text) for name, text in texts.items()])
    assert not engine.entities.get("Kestrel Works").strong

    assert steps(walked(engine, NAMED)["Pilot Roster.md"]) == [("Kestrel Works", "rents_from", 10.0, "Pilot Roster")]


def test_single_entities_are_shown_with_their_facts(chain):
    """Neighbours, paths, the card, the list."""
    entities = chain.entities
    assert [(e.name, way.hops, way.path[-1].type) for e, way in entities.neighbours("kestrel works", hops=2)] == [
        ("Tide Gauge", 1, "made_by_of"),
        ("Harbour Office", 1, "rents_from"),
    ]
    assert [(e.name, e.mentions) for e, _ in entities.neighbours("Tide Gauge")] == [("Kestrel Works", 0)]
    path = entities.path("Tide Gauge", "Harbour Office")
    assert [(s.source, s.type, s.target) for s in path] == [
        ("Tide Gauge", "made_by", "Kestrel Works"),
        ("Kestrel Works", "rents_from", "Harbour Office"),
    ]
    assert [s.type for s in entities.path("Kestrel Works", "Tide Gauge")] == ["made_by_of"]
    view = entities.show("Kestrel Works")
    assert [(s.type, s.weight, s.target) for s in view.relations] == [
        ("made_by_of", 9.0, "Tide Gauge"),
        ("rents_from", 8.0, "Harbour Office"),
    ]
    assert not view.mentions and not view.extractors
    assert [s.target for s in entities.show("Tide Gauge").relations] == ["Kestrel Works"]
    assert [entity.name for entity in entities.top()][-1] == "Kestrel Works"
    assert len(entities.top(limit=4)) == 4 and "Kestrel Works" not in {e.name for e in entities.top(limit=4)}
    assert entities.get(view.entity.id) == view.entity


def test_what_has_values_or_was_declared_is_known_too(engine):
    """It has no links, so no question starts there."""
    engine.memory.add("Kestrel Works", "founded in", "1931")
    engine.store.facts.write([], entities=[FactEntity(key="zolt", name="Zolt", declared=True)])

    assert [entity.name for entity in engine.entities.top()][-2:] == ["Kestrel Works", "Zolt"]
    assert not engine.entities.show("Kestrel Works").relations and not engine.entities.neighbours("Zolt")
    assert not engine.query(NAMED).graph.recognised
    with pytest.raises(NotFound):
        engine.entities.get("Nobody")


@pytest.mark.parametrize("end", ["reject", "expire", "forget"])
def test_without_its_facts_it_is_gone(engine, end):
    """Answers, choices, neighbours and the list are as if the facts had never been stated."""
    before = state(engine)
    made = [
        engine.memory.add("Tide Gauge", "made by", object="Kestrel Works").fact,
        engine.memory.add("Kestrel Works", "rents from", object="Harbour Office").fact,
    ]
    during = state(engine)
    for fact in made:
        getattr(engine.memory, end)(fact.id)

    assert is_known(engine) is False
    assert state(engine) == before != during


def test_only_facts_of_the_time_and_of_the_namespace_count(database, clock, engine):
    """Future facts, superseded facts and facts of other namespaces are ignored."""
    other = open_on(database, clock, store_namespace="other")
    other.memory.add("Tide Gauge", "made by", object="Kestrel Works")
    other.memory.add("Kestrel Works", "rents from", object="Harbour Office")
    assert not is_known(engine) and is_known(other)
    assert walked(engine).keys() == {"Tide Gauge.md"} and not walked(engine, NAMED)

    engine.memory.add("Tide Gauge", "made by", object="Kestrel Works", valid_from=NOW + DAY)
    engine.memory.add("Kestrel Works", "rents from", object="Harbour Office", valid_to=NOW + 2 * DAY)
    assert is_known(engine) and "Harbour Office.md" not in walked(engine)
    clock.now += DAY
    assert "Harbour Office.md" in walked(engine)
    clock.now += DAY
    assert is_known(engine) and "Harbour Office.md" not in walked(engine)


def test_a_superseded_fact_leads_nowhere(database, clock):
    """Its successor does."""
    engine = add_pages(open_on(database, clock, memory_single_valued=["made by"]))
    engine.memory.add("Kestrel Works", "rents from", object="Harbour Office")
    engine.memory.confirm(engine.memory.add("Tide Gauge", "made by", object="Kestrel Works").fact.id)
    assert "Harbour Office.md" in walked(engine)
    clock.now += DAY
    engine.memory.confirm(engine.memory.add("Tide Gauge", "made by", object="Zolt").fact.id)
    clock.now += DAY

    assert "Harbour Office.md" not in walked(engine)
    assert [e.name for e, _ in engine.entities.neighbours("Tide Gauge")] == ["Zolt"]


def test_what_leads_nowhere_else_takes_nothing(engine):
    """A value that happens to be an entity does not weaken what is followed."""
    engine.memory.add("Tide Gauge", "owned by", object="Harbour Office")
    before = [(p.chunk.id, p.score) for p in engine.query(ASKED, method="graph", gate=False).evidence]
    for name in ("Brass", "Glass", "Red Paint"):
        engine.memory.add("Tide Gauge", "made of", object=name)

    assert [(p.chunk.id, p.score) for p in engine.query(ASKED, method="graph", gate=False).evidence] == before


def test_it_keeps_out_no_entity_of_documents(chain):
    """With a small limit, the same number of both kinds is followed."""
    chain.memory.add("Tide Gauge", "near", object="Pilot Roster", confidence=0.5)

    assert {"Pilot Roster.md", "Harbour Office.md"} <= walked(chain, max_edges=1).keys()


def test_its_links_are_bounded(chain):
    """The surest ones, as of every entity."""
    chain.memory.add("Kestrel Works", "paints", object="Canteen Menu", confidence=0.7)

    assert "Canteen Menu.md" in walked(chain)
    assert "Canteen Menu.md" not in walked(chain, max_edges=1)


def test_a_merge_makes_it_another_name(chain):
    """Until it is taken back. Names of its own it cannot have."""
    entities = chain.entities
    assert entities.merge("Kestrel Works", "Pilot Roster").aliases == ("kestrel work",)
    assert steps(walked(chain)["Pilot Roster.md"]) == [("Tide Gauge", "made_by", 9.0, "Pilot Roster")]
    assert entities.unmerge("Kestrel Works").name == "Kestrel Works"
    assert [step[3] for step in steps(walked(chain)["Harbour Office.md"])] == ["Kestrel Works", "Harbour Office"]
    for change in (entities.alias, entities.rename, lambda one, other: entities.merge("Pilot Roster", one)):
        with pytest.raises(InputError, match="'Kestrel Works' occurs in facts only"):
            change("Kestrel Works", "Works")
    assert not chain.store.graph.edits()


def test_a_document_about_it_makes_it_an_entity_of_documents(chain):
    """Under an id that digits follow; the one it had finds it still."""
    id = chain.entities.get("Kestrel Works").id
    chain.add([Document(source="works.md", title="Kestrel Works", text="Makes gauges.")])
    found = chain.entities.get(id)
    assert found.chunks == 1 and found.id != id
    assert "works.md" in walked(chain)
    chain.delete("works.md")

    assert chain.entities.get("Kestrel Works").id == id


def test_the_block_for_a_model_has_its_facts(chain):
    """The entity is named in the question, or is a neighbour of one that is."""
    named, beside = (
        chain.context(chain.query(asked, method="graph", gate=False), format="graph").text for asked in (NAMED, ASKED)
    )

    assert (
        "### Kestrel Works (concept)\nRelated: Tide Gauge (made_by_of), Harbour Office (rents_from, weight: 8)" in named
    )
    assert "### Tide Gauge (concept)\nRelated: Kestrel Works (made_by, weight: 9)" in beside


def test_tools_and_resources_have_it(chain):
    """Look-up, neighbours, path and the list of resources."""
    seen = call_tool(chain, "entity_lookup", {"name": "kestrel works"}).values
    assert [(r["type"], r["target"]) for r in seen["relations"]] == [
        ("made_by_of", "Tide Gauge"),
        ("rents_from", "Harbour Office"),
    ]
    assert [fact["predicate"] for fact in seen["facts"]] == ["rents_from"]
    around = call_tool(chain, "graph_neighbours", {"name": "Kestrel Works"}).values
    assert [item["name"] for item in around["neighbours"]] == ["Tide Gauge", "Harbour Office"]
    way = call_tool(chain, "graph_path", {"source": "Kestrel Works", "target": "Harbour Office"}).values
    assert way["connected"]
    names = [resource.name for resource in list_resources(chain)[0]]
    assert names[-1] == "Kestrel Works" and len(names) == len(set(names))


def test_a_fact_of_another_time_is_still_looked_up(engine):
    """The graph does not know it now, and says where it is."""
    engine.memory.add("Kestrel Works", "rents from", object="Harbour Office", valid_from=NOW + DAY)

    assert call_tool(engine, "entity_lookup", {"name": "Kestrel Works"}).values["facts"]
    with pytest.raises(NotFound) as error:
        call_tool(engine, "graph_neighbours", {"name": "Kestrel Works"})
    assert "entity_lookup" in error.value.hint


def test_without_facts_nothing_of_them_is_read(engine, monkeypatch):
    """Lookup and walk read no facts; ids and quoted names do not check for facts."""
    facts = type(engine.store.facts)

    def refuse(*args, **kwargs):
        raise AssertionError("facts were read")

    for name in ("links", "find_entities", "about", "entities_after"):
        monkeypatch.setattr(facts, name, refuse)
    for asked in (ASKED, NAMED, "soup"):
        engine.query(asked)
    monkeypatch.setattr(facts, "has_links", refuse)
    assert engine.query("SR-052").choice.rule == "exact"
