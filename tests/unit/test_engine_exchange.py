"""Import and export of graphs."""

import json

import pytest
from making import sources, stated

import weft.admin.exchange_graphs as exchange
from weft.admin.exchange_graphs import export_graph, import_graph, remove_import
from weft.errors import InputError, NotFound
from weft.records import Document

TRIPLES = [
    {"subject": "Auth Service", "predicate": "depends on", "object": "Session Store", "weight": 8},
    {"subject": "Login Flow", "predicate": "uses", "object": "Auth Service", "weight": 6, "description": "to sign in"},
]
MEMORY = [
    {"type": "entity", "name": "Auth Service", "entityType": "service", "observations": ["runs on port 8443"]},
    {"type": "entity", "name": "Session Store", "entityType": "store", "observations": []},
    {"type": "relation", "from": "Auth Service", "to": "Session Store", "relationType": "depends_on"},
]


@pytest.fixture
def engine(open_at):
    return open_at()


@pytest.fixture
def write(tmp_path):
    """Give a function that writes records as JSON Lines and returns the path."""

    def write(records, name="g.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path

    return write


def listed(engine):
    return [document.source for document in engine.documents()]


def relations(engine, name):
    return {(step.type, step.target): step.weight for step in engine.entities.show(name).relations}


# ── documents of its own ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("extractor", ["none", "rules"])
def test_a_graph_without_passages_becomes_documents_that_can_be_found(open_at, write, extractor):
    """By their words, through the graph, with the weights that were given, whether or not we read texts ourselves."""
    engine = open_at(extractor=extractor)
    receipt = import_graph(engine, write(TRIPLES))

    assert (receipt.name, receipt.form, receipt.entities, receipt.relations) == ("g.jsonl", "triples", 3, 2)
    assert (receipt.added, receipt.annotated, receipt.not_found, receipt.skipped) == (2, 0, 0, ())
    assert listed(engine) == ["g.jsonl#Auth Service", "g.jsonl#Login Flow"]
    assert relations(engine, "Auth Service")["depends_on", "Session Store"] == 8.0
    assert sources(engine.query("sign in", method="keyword"))[0] == "g.jsonl#Login Flow"
    assert "g.jsonl#Auth Service" in sources(engine.query("Session Store", method="graph"))
    assert engine.database.check() == []


def test_the_same_file_again_changes_nothing(engine, write):
    """No row is written and no text is embedded."""
    engine.add([Document(source="adr.md", title="Decision", text="The Auth Service moved.")])
    path = write(
        [*TRIPLES, {"subject": "Auth Service", "predicate": "moved", "object": "Berlin", "document": "adr.md"}]
    )
    import_graph(engine, path)
    generation, seen = engine.stats().generation, len(engine.embedder.seen)
    receipt = import_graph(engine, path)

    assert (receipt.added, receipt.changed, receipt.unchanged, receipt.pruned, receipt.embedded) == (0, 0, 2, 0, 0)
    assert receipt.annotated == 1
    assert (engine.stats().generation, len(engine.embedder.seen)) == (generation, seen)


def test_a_changed_file_replaces_what_it_said_before(engine, write):
    """Only statements that are no longer in the file are deleted."""
    import_graph(engine, write(TRIPLES))
    receipt = import_graph(engine, write([{**TRIPLES[0], "weight": 3}]))

    assert (receipt.changed, receipt.pruned) == (1, 1)
    assert relations(engine, "Auth Service") == {
        ("depends_on", "Session Store"): 3.0,
        ("co_occurs_with", "Session Store"): 1.0,
        ("mentions", "Session Store"): 2.0,
    }
    assert engine.store.graph.find_entities(["login flow"]) == {}


def test_observations_become_text(engine, write):
    """They can be asked for, and the entity has its type."""
    import_graph(engine, write(MEMORY, name="memory.jsonl"))
    result = engine.query("which port runs 8443", method="keyword")

    assert sources(result) == ["memory.jsonl#Auth Service"]
    assert engine.entities.get("auth service").type == "service"
    assert engine.entities.get("session store").type == "store"


def test_other_names_say_where_they_come_from(engine, tmp_path):
    """Each alias has a reason and leads to the entity."""
    graph = {"entities": [{"entity_name": "Auth Service", "entity_type": "service", "aliases": ["AuthN"]}]}
    (tmp_path / "kg.json").write_text(json.dumps(graph))
    import_graph(engine, tmp_path / "kg.json", form="lightrag")

    assert engine.entities.get("authn").aliases == ("AuthN",)
    assert engine.entities.get("authn").name == "Auth Service"


def test_two_imports_do_not_touch_each_other(engine, write):
    """The name of one may begin with the name of the other."""
    import_graph(engine, write(TRIPLES), name="a")
    import_graph(engine, write(MEMORY), name="a#b")
    import_graph(engine, write(TRIPLES[:1]), name="a")

    assert listed(engine) == ["a#Auth Service", "a#b#Auth Service"]


def test_a_document_of_somebody_else_is_not_overwritten(engine, write):
    """Nothing is written; the hint proposes another name."""
    engine.add([Document(source="g.jsonl#Auth Service", title="Mine", text="My own words.")])
    path = write(TRIPLES)
    with pytest.raises(InputError, match="already belongs to another document") as caught:
        import_graph(engine, path)

    assert "--name" in caught.value.hint
    assert listed(engine) == ["g.jsonl#Auth Service"]
    assert import_graph(engine, path, name="theirs").added == 2
    remove_import(engine, "theirs")
    assert listed(engine) == ["g.jsonl#Auth Service"]


def test_pruning_a_folder_leaves_what_was_imported_from_it(engine, write, tmp_path):
    """It is no file, and goes with the import."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# A\n\nText.\n")
    import_graph(engine, write(TRIPLES, name="notes/g.jsonl"))
    (tmp_path / "notes" / "g.jsonl").unlink()
    receipt = engine.index(tmp_path / "notes", prune=True)

    assert receipt.pruned == 0
    assert "notes/g.jsonl#Auth Service" in listed(engine)


# ── statements about documents that are here ────────────────────────────────────────────────────


def openie(id, *triples, entities=()):
    return {"_id": id, "entities": list(entities), "triples": [list(triple) for triple in triples]}


@pytest.fixture
def stored(engine):
    """Give an engine with two documents of two persons, one of them of several chunks."""
    long = " ".join(f"Line {number} says nothing of interest at all." for number in range(90))
    engine.add(
        [
            Document(source="c#1", title="Engines", text="Ada Lovelace met Mary Somerville.", metadata={"_id": "d1"}),
            Document(
                source="c#2", title="", text=f"{long}\n\nAda Lovelace and Mary Somerville.", metadata={"_id": "d2"}
            ),
        ]
    )
    return engine


def test_extractions_annotate_the_chunks_of_stored_documents(stored, write):
    """Found by `_id`. A guess counts when two documents agree."""
    lines = [
        openie("d1", ("Ada Lovelace", "met", "Mary Somerville"), entities=["Ada Lovelace", "Ada Byron"]),
        openie("d2", ("Ada Lovelace", "knew", "Mary Somerville"), entities=["Ada Lovelace"]),
    ]
    receipt = import_graph(stored, write(lines), name="openie")

    assert (receipt.form, receipt.added, receipt.annotated, receipt.not_found) == ("openie", 0, 2, 0)
    assert stored.store.graph.find_entities(["ada byron"]) == {}
    assert ("knew", "Mary Somerville") in relations(stored, "Ada Lovelace")
    (knew,) = [r for r in export_graph(stored).relations if r.type == "knew"]
    (chunk,) = stored.store.chunks(list(knew.passages))
    assert chunk.ordinal > 0
    assert "Mary Somerville" in chunk.text


@pytest.mark.parametrize("by", ["label", "source", "id", "chunk"])
def test_a_passage_is_found_by(stored, write, by):
    """Its `_id`, its source, the id of the document, or that of a chunk."""
    document, (chunk,) = stored.get("c#1")
    passage = {"label": "d1", "source": "c#1", "id": document.id, "chunk": chunk.id}[by]
    receipt = import_graph(stored, write([{**TRIPLES[0], "document": passage}]))

    assert (receipt.added, receipt.annotated, receipt.not_found) == (0, 1, 0)
    assert [r.passages for r in export_graph(stored).relations] == [(chunk.id,)]


def test_what_names_unknown_passages_becomes_documents(stored, write):
    """The receipt has the number of unknown passages."""
    receipt = import_graph(stored, write([{**TRIPLES[0], "document": "d1"}, {**TRIPLES[1], "document": "d7"}]))

    assert (receipt.added, receipt.annotated, receipt.not_found) == (1, 1, 1)
    assert listed(stored) == ["c#1", "c#2", "g.jsonl#Login Flow"]


def test_what_is_described_of_stored_chunks_is_embedded(stored, tmp_path):
    """Names that documents describe are embedded too."""
    graph = {"entities": [{"entity_name": "Ada Lovelace", "description": "wrote a program", "source_id": "d1"}]}
    (tmp_path / "kg.json").write_text(json.dumps(graph))
    receipt = import_graph(stored, tmp_path / "kg.json", form="lightrag")

    assert (receipt.annotated, receipt.embedded) == (1, 1)
    assert stored.embedder.seen[-1] == "Ada Lovelace: wrote a program"
    assert stored.store.graph.find_unembedded(stored.embedder.card.fingerprint, limit=9) == {}
    assert stored.entities.get("Ada Lovelace").description == "wrote a program"


def test_annotations_stay_when_the_documents_are_indexed_again(stored, write):
    """Unchanged or with other metadata; they go with the document."""
    import_graph(stored, write([{**TRIPLES[0], "document": "d1"}]))
    text = "Ada Lovelace met Mary Somerville."
    for metadata in ({"_id": "d1"}, {"_id": "d1", "year": 1834}):
        stored.add([Document(source="c#1", title="Engines", text=text, metadata=metadata)])
        assert stated(stored) == {("Auth Service", "depends_on", "Session Store"): 8.0}
    stored.delete("c#1")
    assert stated(stored) == {}


def test_texts_that_come_along_are_documents(engine, write):
    """They can be cited, and what is said in them is in the graph."""
    record = {
        "passage": "Ada Lovelace met Mary Somerville.",
        "title": "Engines",
        **openie("p1", ("Ada", "met", "Mary")),
    }
    receipt = import_graph(engine, write([record]), form="openie", name="hippo")

    assert (receipt.added, receipt.annotated, receipt.not_found) == (1, 0, 0)
    document, (chunk,) = engine.get("hippo#p1")
    assert (document.title, document.metadata["_id"]) == ("Engines", "p1")
    assert chunk.text == "Ada Lovelace met Mary Somerville."


# ── taking it back ──────────────────────────────────────────────────────────────────────────────


def test_an_import_can_be_taken_back_wholly(stored, write):
    """Documents, and what it said of others; nothing else is touched."""
    before = (listed(stored), stored.store.graph.count())
    import_graph(stored, write([{**TRIPLES[0], "document": "d1"}, TRIPLES[1]]))
    receipt = remove_import(stored, "g.jsonl")

    assert (receipt.pruned, receipt.annotated) == (1, 1)
    assert (listed(stored), stored.store.graph.count()) == before
    with pytest.raises(NotFound, match=r"no import 'g\.jsonl'"):
        remove_import(stored, "g.jsonl")


@pytest.mark.parametrize("name", ["*", " * ", "\x00"])
def test_some_names_are_refused(engine, write, name):
    """Reserved and empty names are refused."""
    with pytest.raises(InputError, match="invalid import name"):
        import_graph(engine, write(TRIPLES), name=name)


def test_an_unreadable_file_changes_nothing(engine, tmp_path):
    """The error names it."""
    (tmp_path / "x.jsonl").write_text("no graph")
    with pytest.raises(InputError, match=r"x\.jsonl"):
        import_graph(engine, tmp_path / "x.jsonl")
    assert engine.stats().documents == 0


# ── export ──────────────────────────────────────────────────────────────────────────────────────


def test_relations_that_follow_from_mentions_are_exported_on_request(engine, write):
    """With the chunks they come from; their texts too, or not."""
    import_graph(engine, write(TRIPLES))
    plain, full = export_graph(engine, passages=False), export_graph(engine, derived=True)

    assert {relation.type for relation in plain.relations} == {"depends_on", "uses"}
    assert {relation.type for relation in full.relations} == {"depends_on", "uses", "co_occurs_with", "mentions"}
    assert plain.passages == ()
    named = {id for statement in (*full.entities, *full.relations) for id in statement.passages}
    assert {passage.id for passage in full.passages} == named
    assert all(statement.passages for statement in (*full.entities, *full.relations))
    assert [passage.title for passage in full.passages] == ["Auth Service", "Login Flow"]


def test_a_renamed_entity_keeps_the_name_it_has_in_texts(engine, write):
    """The old name becomes an alias."""
    import_graph(engine, write(TRIPLES))
    engine.entities.rename("Login Flow", "Front Door")
    (entity,) = [entity for entity in export_graph(engine).entities if entity.name == "Front Door"]

    assert entity.aliases == ("login flow",)


def test_an_export_comes_in_pages_and_is_whole(engine, write, monkeypatch):
    """Every entity and every relation once."""
    import_graph(engine, write([*TRIPLES, *({**TRIPLES[0], "object": f"Store {n}"} for n in range(7))]))
    whole = export_graph(engine, derived=True)
    monkeypatch.setattr(exchange, "PAGE_ROWS", 2)
    counts = []

    assert export_graph(engine, derived=True, on_step=counts.append) == whole
    assert (sum(counts), max(counts)) == (len(whole.entities), 2)
    assert [entity.name for entity in whole.entities] == sorted(entity.name for entity in whole.entities)


def test_an_empty_namespace_has_an_empty_graph(engine):
    """This is not an error."""
    graph = export_graph(engine)

    assert (graph.entities, graph.relations, graph.passages) == ((), (), ())
