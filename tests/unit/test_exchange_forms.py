"""Graph formats: supported fields, and tolerated errors."""

import json

import pytest

from weft.errors import InputError
from weft.exchange.lightrag import from_lightrag
from weft.exchange.memory import from_memory
from weft.exchange.openie import from_openie
from weft.exchange.triples import from_triples, from_triples_table


def lines(*records):
    return "\n".join(json.dumps(record) for record in records)


def names(graph):
    return [entity.name for entity in graph.entities]


def ends(graph):
    return [(relation.source, relation.type, relation.target) for relation in graph.relations]


@pytest.mark.parametrize(
    "record",
    [
        {"subject": "Atlas", "predicate": "runs on", "object": "Beacon"},
        {"head": "Atlas", "relation": "runsOn", "tail": "Beacon"},
        {"Source": "Atlas", "TYPE": "RUNS_ON", "Target": "Beacon"},
        {"from": "Atlas", "rel": "runs on", "to": "Beacon"},
        {"src": "Atlas", "label": "runs on", "dst": "Beacon"},
        {"subject": "Atlas", "relation": "runs on", "tail": "Beacon"},
        {"source": "page 3", "head": "Atlas", "relation": "runs on", "tail": "Beacon"},
        ["Atlas", "runs on", "Beacon"],
        ["Atlas", "runs on", "Beacon", 5],
    ],
)
def test_fields_of_a_triple_go_by_many_names(record):
    """In any case and with any joints; ends that belong together win over a mere `source`."""
    graph = from_triples(lines(record))

    assert ends(graph) == [("Atlas", "runs_on", "Beacon")]
    assert names(graph) == ["Atlas", "Beacon"]
    assert graph.relations[0].weight == 5.0
    assert graph.skipped == ()


def test_a_triple_may_say_more():
    """Weight, description, passages, and the types of its ends."""
    record = {
        **{"subject": "Atlas", "subjectType": "Service", "predicate": "runs on"},
        **{"object": "Beacon", "object_type": "Host", "weight": "8", "description": "Since\nspring.", "document": "d1"},
    }
    graph = from_triples(lines(record, {"head": "Beacon", "tail": "Oslo", "_id": 7, "id": "row 2"}))
    first, second = graph.relations

    assert (first.weight, first.description, first.passages) == (8.0, "Since\nspring.", ("d1",))
    assert (second.type, second.passages) == ("related_to", ("7",))
    assert [(entity.type, entity.passages) for entity in graph.entities] == [
        ("Service", ("d1",)),
        ("Host", ("d1", "7")),
        ("", ("7",)),
    ]


def test_a_broken_triple_never_loses_the_rest():
    """Each has a line that says what is wrong with it."""
    text = "\n".join(
        [
            '{"subject": "Atlas", "object": ',
            '["Atlas", "uses", "Beacon"]',
            "[" * 100_000,
            '{"subject": "Atlas", "predicate": "uses"}',
            '{"subject": " ", "object": "Beacon", "source": "page 3"}',
            "3",
            "",
            '["Beacon", "uses", "Beacon"]',
        ]
    )
    graph = from_triples(text)

    assert ends(graph) == [("Atlas", "uses", "Beacon"), ("Beacon", "uses", "Beacon")]
    assert [line.split(":")[0] for line in graph.skipped] == ["line 1", "line 3", "line 4", "line 5", "line 6"]
    assert graph.skipped[1:] == (
        "line 3: JSON: nested too deeply",
        "line 4: object is missing",
        "line 5: subject is missing",
        "line 6: expected an object or a list",
    )


def test_huge_numbers_and_lone_surrogates_are_borne():
    """A weight of 6,000 digits is beyond all numbers, a name of so many is no name."""
    digits = "9" * 6000
    graph = from_triples(
        f'["Atl\\ud800as", "uses", "Beacon", {digits}]\n[{digits}, "uses", "Beacon"]\n["A", "is", 1970]'
    )

    assert ends(graph) == [("Atlas", "uses", "Beacon"), ("A", "is", "1970")]
    assert graph.relations[0].weight == 5.0
    assert graph.skipped == ("line 2: subject is missing",)


def test_the_weights_of_one_file_are_judged_together():
    """If some are below 1 and none is above, they are shares."""
    shares = from_triples(lines(["Atlas", "uses", "Beacon", 1], ["Atlas", "uses", "Cairn", 0.2]))
    mixed = from_triples(lines(["Atlas", "uses", "Beacon", 1], ["Atlas", "uses", "Cairn", 2]))

    assert [relation.weight for relation in shares.relations] == [10, 2]
    assert [relation.weight for relation in mixed.relations] == [1, 2]


@pytest.mark.parametrize(
    "text",
    [
        "Target,Type,Id,Label,Weight,Source\nBeacon,Directed,0,runs on,0.7,Atlas\n",
        'subject, predicate, object, weight\n"Atlas", "runs on", "Beacon", 7',
        "subject;predicate;object;weight\nAtlas;runs on;Beacon;7",
        "Atlas\truns on\tBeacon\t7\n",
        "Atlas|runs on|Beacon|7|more|columns",
        "\n\nAtlas,runs on,Beacon,0.7\n",
    ],
)
def test_tables_come_in_many_dialects(text):
    """With a header in any order, or none; Gephi's `Type` says nothing of the relation."""
    graph = from_triples_table(text)

    assert ends(graph) == [("Atlas", "runs_on", "Beacon")]
    assert graph.relations[0].weight == pytest.approx(7)


def test_a_relation_may_be_called_directed():
    """Only beside the other columns of Gephi the word is a direction."""
    assert ends(from_triples_table("subject,type,object\nStudio,Directed,Film")) == [("Studio", "directed", "Film")]


def test_a_cell_may_hold_lines_quotes_and_several_passages():
    """The writer of Weft produces such cells."""
    header = "subject,predicate,object,description,passage"
    text = header + '\nAtlas,uses,"Big ""B"", north","one\n\ntwo, three","[""d1"", ""d2""]"'
    (relation,) = from_triples_table(text).relations

    assert relation.target == 'Big "B", north'
    assert relation.description == "one\n\ntwo, three"
    assert relation.passages == ("d1", "d2")


def test_a_quote_that_is_not_closed_costs_one_row():
    """With the csv module alone, all following rows would be lost."""
    rows = ["subject,predicate,object", '"Atlas,uses,Beacon', *["Cairn,uses,Delta"] * 1500, 'Disk 5",uses,Echo']
    graph = from_triples_table("\n".join(rows))

    assert graph.skipped == ("line 2: unclosed quote",)
    assert len(graph.relations) == 1501
    assert graph.relations[-1].source == 'Disk 5"'


def test_a_row_that_is_too_short_is_skipped():
    """A row with a cell above the size limit is skipped too."""
    graph = from_triples_table(f"subject,predicate,object\nAtlas,uses\n{'x' * 200_000},uses,Beacon\nCairn,uses,Delta")

    assert ends(graph) == [("Cairn", "uses", "Delta")]
    assert graph.skipped[0] == "line 2: object is missing"
    assert graph.skipped[1].startswith("line 3: CSV: field larger than field limit")


def test_openie_lines_name_their_passage():
    """Every entity and relation has the id of its line; an end that is not listed stays unlisted."""
    graph = from_openie(
        lines(
            {"_id": "d0", "entities": ["Tin Drum", "Oslo"], "triples": [["Tin Drum", "released in", "1970"]]},
            {
                "_id": "d1",
                "entities": ["Oslo", "", 7],
                "triples": [["Oslo", "is in"], "Oslo", ["Oslo", "is in", "North"]],
            },
            {"_id": "d2", "entities": "Oslo"},
        )
    )

    assert [(entity.name, entity.passages) for entity in graph.entities] == [
        ("Tin Drum", ("d0",)),
        ("Oslo", ("d0", "d1")),
        ("7", ("d1",)),
    ]
    assert ends(graph) == [("Tin Drum", "released_in", "1970"), ("Oslo", "is_in", "North")]
    assert [relation.passages for relation in graph.relations] == [("d0",), ("d1",)]
    assert graph.passages == ()
    assert graph.skipped == (
        "line 2, entities 2: name is missing",
        "line 2, triples 1: expected three or four values, got 2",
        "line 2, triples 2: expected a list",
        "line 3: entities: expected a list",
    )


def test_openie_documents_bring_their_text():
    """The shape of HippoRAG itself: one object, with the passages in it."""
    docs = [
        {
            "idx": "chunk-1",
            "passage": "Oslo\nOslo lies north.",
            "extracted_entities": ["Oslo"],
            "extracted_triples": [],
        },
        {"passage": "Nowhere.", "extracted_entities": ["Fog"], "extracted_triples": [["Fog", "hides", "Oslo"]]},
        "Oslo",
    ]
    graph = from_openie(json.dumps({"docs": docs, "avg_ent_chars": 4.0}, indent=2))

    assert [(passage.id, passage.text) for passage in graph.passages] == [("chunk-1", "Oslo\nOslo lies north.")]
    assert [(entity.name, entity.passages) for entity in graph.entities] == [("Oslo", ("chunk-1",)), ("Fog", ())]
    assert ends(graph) == [("Fog", "hides", "Oslo")]
    assert graph.skipped == ("doc 2: id of the passage is missing", "doc 3: expected an object")


ENTITY = {"type": "entity", "name": "Atlas", "entityType": "service", "observations": ["is slow", "runs\non Linux", 3]}
RELATION = {"type": "relation", "from": "Atlas", "to": "Beacon", "relationType": "dependsOn"}


@pytest.mark.parametrize(
    "text",
    [
        lines(ENTITY, RELATION),
        json.dumps({"entities": [ENTITY], "relations": [RELATION]}, indent=2),
        json.dumps([ENTITY, RELATION]),
        lines(ENTITY, {"from": "Atlas", "to": "Beacon", "relation_type": "depends on"}),
    ],
)
def test_observations_become_notes(text):
    """In the lines of the memory server and in one object."""
    graph = from_memory(text)
    (atlas,) = graph.entities

    assert (atlas.name, atlas.type, atlas.notes) == ("Atlas", "service", ("is slow", "runs\non Linux", "3"))
    assert ends(graph) == [("Atlas", "depends_on", "Beacon")]
    assert graph.relations[0].weight == 5.0
    assert graph.skipped == ()


def test_broken_memory_lines_are_skipped():
    """A cut line, an entity without a name, a relation without an end, something else."""
    text = lines(ENTITY, {"type": "entity"}, {"type": "relation", "from": "Atlas"}, "Atlas") + '\n{"type": "ent'
    graph = from_memory(text)

    assert names(graph) == ["Atlas"]
    assert graph.relations == ()
    assert graph.skipped[:3] == ("line 2: name is missing", "line 3: object is missing", "line 4: expected an object")
    assert graph.skipped[3].startswith("line 5: JSON: ")


def test_a_custom_knowledge_graph_is_read():
    """Chunks are passages, keywords the types, and `UNKNOWN` stands for nothing."""
    graph = from_lightrag(
        json.dumps(
            {
                "chunks": [{"content": "Atlas runs on Beacon.", "source_id": "d1", "file_path": "atlas.md"}],
                "entities": [
                    {"entity_name": "Atlas", "entity_type": "service", "description": "Maps.", "source_id": "d1"},
                    {"entity_name": "Beacon", "entity_type": "UNKNOWN", "source_id": "UNKNOWN"},
                    {"entity_name": "Cairn", "source_id": "d1<SEP>d9"},
                    {"entity_type": "service"},
                    "Atlas",
                ],
                "relationships": [
                    {
                        **{
                            "src_id": "Atlas",
                            "tgt_id": "Beacon",
                            "description": "Hosting",
                            "keywords": "runs on, host",
                        },
                        **{"weight": 2.0, "source_id": "d1"},
                    },
                    {"src_id": "Beacon", "tgt_id": "Delta", "keywords": "", "source_id": "UNKNOWN"},
                ],
            }
        )
    )
    atlas, beacon, cairn = graph.entities
    first, second = graph.relations

    assert [(passage.id, passage.text, passage.title) for passage in graph.passages] == [
        ("d1", "Atlas runs on Beacon.", "atlas.md")
    ]
    assert (atlas.type, atlas.description, atlas.passages) == ("service", "Maps.", ("d1",))
    assert (beacon.type, beacon.passages) == ("", ())
    assert cairn.passages == ("d1", "d9")
    assert (first.type, first.weight, first.description, first.passages) == ("runs_on", 2.0, "Hosting", ("d1",))
    assert (second.type, second.target, second.weight, second.passages) == ("related_to", "Delta", 5.0, ())
    assert graph.skipped == ("entity 4: name is missing", "entity 5: expected an object")


@pytest.mark.parametrize(
    "indexes, ids", [([4, 2], ["d1#4", "d1#2"]), ([0, 0], ["d1#0", "d1#1"]), ([None, 5], ["d1#0", "d1#1"])]
)
def test_chunks_of_one_source_are_told_apart(indexes, ids):
    """By their index, or counted where the indexes do not tell them apart; entities of the source name them all."""
    chunks = [
        {"content": f"Text {place}.", "source_id": "d1", "source_chunk_index": index}
        for place, index in enumerate(indexes)
    ]
    entities = [{"entity_name": "Atlas", "source_id": "d1"}, {"entity_name": "Beacon", "source_id": "d2"}]
    other = {"content": "Alone.", "source_id": "d2", "source_chunk_index": 3}
    nameless = {"content": "Whose?", "source_id": "UNKNOWN"}
    graph = from_lightrag(json.dumps({"chunks": [*chunks, other, nameless], "entities": entities}))

    assert [passage.id for passage in graph.passages] == [*ids, "d2"]
    assert [list(entity.passages) for entity in graph.entities] == [ids, ["d2"]]
    assert graph.skipped == ("chunk 4: source_id is missing",)


@pytest.mark.parametrize("text", ['{"chunks": [', '["Atlas"]', "[" * 100_000])
def test_a_custom_knowledge_graph_is_one_object(text):
    """Anything else is refused."""
    with pytest.raises(InputError) as caught:
        from_lightrag(text)

    assert "one JSON object" in caught.value.hint
