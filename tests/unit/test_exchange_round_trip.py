"""Written graphs are read back unchanged, within the limits of the format."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.exchange.clean import relation_type, to_name, to_text
from weft.exchange.read import read_graph
from weft.exchange.write import WRITERS, write_graph
from weft.records import GivenEntity, GivenGraph, GivenPassage, GivenRelation

FILES = {
    "triples": "graph.jsonl",
    "triples-csv": "graph.csv",
    "memory": "memory.jsonl",
    "lightrag": "graph.json",
    "graphml": "graph.graphml",
}
CHARACTERS = st.one_of(
    st.sampled_from("\"',;|<>&[]{}\\#=_- \t\nabcXYZ019éß中文🚀\u200d\u202e\u2028"),
    st.characters(exclude_categories=["Cs"]),
)
TEXTS = st.text(CHARACTERS, max_size=30).map(to_text)
NAMES = st.text(CHARACTERS, min_size=1, max_size=20).map(to_name).filter(bool)
KINDS = st.text(CHARACTERS, max_size=8).map(to_name)
IDS = st.one_of(NAMES, st.sampled_from(['["d1"]', "d1<SEP>d2", "d#1"])).filter(lambda id: id != "UNKNOWN")
ID_LISTS = st.lists(IDS, unique=True, max_size=3).map(tuple)
TYPES = st.one_of(
    st.sampled_from(["directed", "related_to", "依赖"]), st.text(CHARACTERS, max_size=12).map(relation_type)
)
WEIGHTS = st.one_of(st.just(1.0), st.floats(1, 10))


def unique(texts):
    return st.lists(texts.filter(bool), unique=True, max_size=3).map(tuple)


@st.composite
def entities(draw, name):
    return GivenEntity(
        name=name,
        type=draw(KINDS),
        description=draw(TEXTS),
        aliases=tuple(alias for alias in draw(unique(NAMES)) if alias != name),
        notes=draw(unique(TEXTS)),
        passages=draw(ID_LISTS),
    )


@st.composite
def graphs(draw):
    """Give a graph of at least one relation, some of whose ends may not be listed."""
    names = draw(st.lists(NAMES, unique=True, min_size=1, max_size=5))
    listed = draw(st.integers(0, len(names)))
    relation = st.builds(
        GivenRelation,
        source=st.sampled_from(names),
        target=st.sampled_from(names),
        type=TYPES,
        weight=WEIGHTS,
        description=TEXTS,
        passages=ID_LISTS,
    )
    passage = st.builds(GivenPassage, id=IDS, text=TEXTS.filter(bool), title=KINDS)
    return GivenGraph(
        entities=tuple(draw(entities(name)) for name in names[:listed]),
        relations=tuple(draw(st.lists(relation, min_size=1, max_size=4))),
        passages=tuple(draw(st.lists(passage, unique_by=lambda given: given.id, max_size=3))),
    )


def ends(graph):
    return list(dict.fromkeys(end for relation in graph.relations for end in (relation.source, relation.target)))


def with_ends(graph):
    """Return the graph with an entity for each end of a relation."""
    listed = {entity.name for entity in graph.entities}
    more = tuple(GivenEntity(name=name) for name in ends(graph) if name not in listed)
    return replace(graph, entities=graph.entities + more)


def keep_triples(graph):
    """Return a graph with only the ends of relations, their types and the passages of their relations."""
    types = {entity.name: entity.type for entity in graph.entities}
    passages = {name: {} for name in ends(graph)}
    for relation in graph.relations:
        for end in (relation.source, relation.target):
            passages[end] |= dict.fromkeys(relation.passages)
    found = (GivenEntity(name=end, type=types.get(end, ""), passages=tuple(ids)) for end, ids in passages.items())
    return GivenGraph(entities=tuple(found), relations=graph.relations)


def keep_memory(graph):
    """No weights, aliases, passages and descriptions; that of an entity is a note."""
    return GivenGraph(
        entities=tuple(
            GivenEntity(name=e.name, type=e.type, notes=tuple(dict.fromkeys(filter(None, (e.description, *e.notes)))))
            for e in with_ends(graph).entities
        ),
        relations=tuple(GivenRelation(source=r.source, target=r.target, type=r.type) for r in graph.relations),
    )


KEPT = {
    "triples": keep_triples,
    "triples-csv": keep_triples,
    "memory": keep_memory,
    "lightrag": lambda graph: graph,
    "graphml": lambda graph: replace(with_ends(graph), passages=()),
}


def test_every_form_is_tried():
    """A new one needs its line above."""
    assert WRITERS.keys() == FILES.keys() == KEPT.keys()


@pytest.mark.parametrize("form", FILES)
@settings(max_examples=settings.default.max_examples // 2, deadline=None)
@given(graph=graphs())
def test_what_is_written_can_be_read(tmp_path_factory, form, graph):
    """Everything the form holds comes back, in the same order, and nothing is skipped; names are any text."""
    path = tmp_path_factory.getbasetemp() / FILES[form]
    path.write_text(write_graph(graph, form=form), encoding="utf-8", newline="")

    assert read_graph(path) == KEPT[form](graph)


@pytest.mark.parametrize("form", FILES)
def test_writing_drops_lone_surrogates(form):
    """The text can then be encoded."""
    graph = GivenGraph(relations=(GivenRelation(source="Atl\ud800as", target="Beacon", type="uses"),))
    text = write_graph(graph, form=form)

    assert text.encode("utf-8")
    assert "Atlas" in text


@pytest.mark.parametrize("form", FILES)
def test_an_empty_graph_can_be_written(form):
    """The file is empty, or has only the outer elements."""
    assert "Atlas" not in write_graph(GivenGraph(), form=form)
