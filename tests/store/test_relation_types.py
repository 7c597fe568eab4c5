"""Relations of some types are found by type, however many others there are; all stores agree."""

from dataclasses import replace

import pytest
from contract import MODEL, make_batch
from opening import EACH, open_empty

from weft.records import Candidate, Extraction, StatedRelation

TYPES = ["cites", "introduces", "links_to"]


def hub():
    """Return a document that relates a hub to thirty others, one in ten of them by a rare type, in both directions."""
    names = ["Hub", *(f"Node {number:02}" for number in range(30))]
    candidates = [Candidate(key=name.lower(), name=name, kind="given") for name in names]
    stated_relations = []
    for number, name in enumerate(names[1:]):
        ends = ("hub", name.lower()) if number % 2 else (name.lower(), "hub")
        kind = "cites" if number % 10 == 0 else "introduces" if number % 10 == 5 else "links_to"
        stated_relations.append(StatedRelation(source=ends[0], target=ends[1], type=kind, weight=float(1 + number % 9)))
    batch = make_batch("hub.md", ["Hub and Node 01 and Node 02 stand together."])
    extraction = Extraction(candidates=tuple(candidates), stated_relations=tuple(stated_relations))
    return replace(batch, chunks=tuple(replace(item, extraction=extraction) for item in batch.chunks))


@pytest.fixture(params=EACH)
def graph(request):
    database = open_empty(request.param, request)
    database.store("default").write_model(MODEL)
    database.store("default").write(hub())
    yield database.store("default").graph
    database.close()


def triples(graph, **options):
    (entity,) = graph.find_entities(["hub"]).values()
    found = graph.relations_of([entity.id], **options)
    assert [relation.weight for relation in found] == sorted((relation.weight for relation in found), reverse=True)
    assert all(isinstance(relation.weight, float) for relation in found)
    return {(relation.source_id, relation.target_id, relation.type, relation.weight) for relation in found}


@pytest.mark.parametrize("types", [["cites"], ["introduces"], ["cites", "introduces"], TYPES, ["cites", "owns"]])
@pytest.mark.parametrize("least", [0.0, 4.0])
def test_types_are_a_choice_among_all_relations(graph, types, least):
    """A search by type returns the matching part of all relations."""
    every = triples(graph, limit=99)

    assert triples(graph, limit=99, types=types, min_weight=least) == {
        row for row in every if row[2] in types and row[3] >= least
    }


def test_many_relations_of_other_types_hide_none(graph):
    """A limit counts those of the types asked for, in each direction."""
    rare = triples(graph, limit=99, types=["cites"])

    assert len(rare) == 3
    assert triples(graph, limit=3, types=["cites"]) == rare


def test_the_limit_holds_over_all_types_together(graph):
    """The strongest of them, in each direction."""
    (entity,) = graph.find_entities(["hub"]).values()
    every, some = triples(graph, limit=99, types=TYPES), triples(graph, limit=4, types=TYPES)
    for end in (0, 1):
        weights = sorted((row[3] for row in every if row[end] == entity.id), reverse=True)
        assert sorted((row[3] for row in some if row[end] == entity.id), reverse=True) == weights[:4]


@pytest.mark.parametrize("limit", [1, 4, 99])
def test_mentions_and_relations_at_once_are_those_of_each(graph, limit):
    """Unknown entities are left out."""
    ids = [*(entity.id for entity in graph.find_entities(["hub", "node 01", "node 02"]).values()), "e" + "0" * 24]
    mentions, relations, names, by_key, facts = graph.links_of(ids[1:], keys=["hub"], mentions=limit, relations=limit)

    assert len(ids) == 4
    assert sorted(mentions) == sorted(graph.mentions_of(ids, limit=limit))
    assert relations == graph.relations_of(ids, limit=limit)
    assert {mention.entity_id for mention in mentions} == set(ids[:3])
    assert names == graph.names(ids)
    assert by_key == {"hub": ids[0]} and facts is None, "no time was given"


def test_what_is_not_there_is_not_found(graph):
    """An unknown type, an unknown entity."""
    assert triples(graph, limit=9, types=["owns"]) == set()
    assert graph.relations_of(["e" + "0" * 24], limit=9, types=["cites"]) == []


def test_relations_between_two_lists_have_one_end_in_each(graph):
    """They are those of all entities together, without the relations inside one list; so are the derived ones."""
    names = ["hub", "node 01", "node 02", "node 03"]
    ids = [entity.id for entity in graph.find_entities(names).values()]
    stated, derived = graph.relations_between(ids), graph.co_occurrences(ids, limit=99)
    assert (len(stated), len(derived)) == (3, 3)
    for near, far in ((ids[:2], ids[1:]), (ids[:1], ids[1:]), (ids[2:], ids[:1]), (ids[:1], ids[:1]), (ids, [])):
        pairs = {(a, b) for a in near for b in far} | {(b, a) for a in near for b in far}

        assert graph.relations_between(near, others=far) == [r for r in stated if r[:2] in pairs]
        assert graph.co_occurrences(near, others=far, limit=99) == [r for r in derived if r[:2] in pairs]
