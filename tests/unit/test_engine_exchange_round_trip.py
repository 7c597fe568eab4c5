"""Graphs exported from one namespace and imported into another."""

from dataclasses import replace
from pathlib import Path

import pytest
from making import stated

from weft.admin.exchange_graphs import export_graph, import_graph
from weft.config import read_settings
from weft.engine.engine import Engine
from weft.exchange.write import WRITERS, write_graph
from weft.testing import FakeEmbedder

SAMPLE = Path(__file__).parents[2] / "examples" / "corpus"
FILES = {
    "triples": "g.jsonl",
    "triples-csv": "g.csv",
    "memory": "m.jsonl",
    "lightrag": "g.json",
    "graphml": "g.graphml",
}


def simple(graph, *, weights=True, types=True):
    """Return what two graphs are compared by."""
    return (
        {entity.name: entity.type if types else "" for entity in graph.entities},
        {(r.source, r.type, r.target): r.weight if weights else 5.0 for r in graph.relations},
    )


def keep_ends(graph):
    ends = {end for relation in graph.relations for end in (relation.source, relation.target)}
    return replace(graph, entities=tuple(entity for entity in graph.entities if entity.name in ends))


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Give the graph of half of the sample corpus."""
    folder = tmp_path_factory.mktemp("sample")
    settings = {"store.db": str(folder / "weft.db"), "graph.extractor": "rules"}
    with Engine(read_settings(settings, environment={}, folder=folder), embedder=FakeEmbedder()) as engine:
        engine.index(SAMPLE / "services", SAMPLE / "incidents", SAMPLE / "zh")
        return export_graph(engine)


@pytest.mark.parametrize("form", WRITERS)
def test_a_graph_survives_export_and_import(sample, open_at, tmp_path, form):
    """Names, types, relations and weights, as far as the form has a place for them."""
    path = tmp_path / FILES[form]
    path.write_text(write_graph(sample, form=form), encoding="utf-8")
    target = open_at("empty")
    receipt = import_graph(target, path)
    again = export_graph(target)
    expected = keep_ends(sample) if form.startswith("triples") else sample

    assert len(sample.relations) > 100
    assert receipt.skipped == ()
    assert receipt.relations == len(sample.relations)
    assert simple(again) == simple(expected, weights=form != "memory")
    if form in ("lightrag", "graphml"):
        assert {e.name: set(e.aliases) for e in again.entities} == {e.name: set(e.aliases) for e in sample.entities}
        described = {e.name: e.description for e in sample.entities}
        assert {e.name: e.description for e in again.entities} == described
    assert target.database.check() == []
    assert import_graph(target, path).unchanged == receipt.added


@pytest.mark.parametrize("form", ["triples", "lightrag", "graphml"])
def test_what_we_read_ourselves_changes_no_relation_that_was_given(sample, open_at, tmp_path, form):
    """The texts of an import are read by the rules too; they may find more, but move no weight."""
    path = tmp_path / FILES[form]
    path.write_text(write_graph(sample, form=form), encoding="utf-8")
    target = open_at("read", extractor="rules")
    import_graph(target, path)

    assert stated(target).items() >= simple(sample)[1].items()
