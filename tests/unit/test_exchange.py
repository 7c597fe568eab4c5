"""Rules shared by all graph formats: cleaning, and recognition of a file."""

import gzip
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from weft.errors import InputError
from weft.exchange import read
from weft.exchange.clean import MAX_TYPE_CHARACTERS, first_keyword, relation_type, to_name, to_text
from weft.exchange.graph_builder import GraphBuilder
from weft.exchange.read import read_graph, recognise_form
from weft.exchange.skipped_items import MAX_SKIPPED_MESSAGES
from weft.exchange.triples import from_triples
from weft.exchange.weights import parse_weight, to_scale


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def names(graph):
    return [entity.name for entity in graph.entities]


@pytest.mark.parametrize(
    "text, type",
    [
        ("was born in", "was_born_in"),
        ("  Depends-On: ", "depends_on"),
        ("dependsOn", "depends_on"),
        ("DEPENDS_ON", "depends_on"),
        ("HTTPServerOf", "http_server_of"),
        ("liegt in Übersee", "liegt_in_übersee"),
        ("依赖于", "依赖于"),
        ("का हिस्सा", "का_हिस्सा"),
        ("uses API v2", "uses_api_v2"),
        ("", "related_to"),
        ("->", "related_to"),
        ("❤️", "related_to"),
    ],
)
def test_a_relation_type_is_snake_case(text, type):
    """Words of any script joined by underscores; nothing is `related_to`."""
    assert relation_type(text) == type


@example("A𝐁")  # a capital that has no small letter
@given(st.text(max_size=200))
def test_a_relation_type_stays_as_it_is(text):
    """Cleaning is idempotent, and the result is neither empty nor long."""
    type = relation_type(text)

    assert relation_type(type) == type
    assert 0 < len(type) <= MAX_TYPE_CHARACTERS
    assert "__" not in type and type.strip("_") == type


@pytest.mark.parametrize(
    "value, name",
    [
        ("  Auth\t\r\n Service ", "Auth Service"),
        ("Auth\x00 Ser\x7fvice", "Auth Service"),
        ("Tower\ud800 \ufeffBridge\uffff", "Tower Bridge"),
        (1970, "1970"),
        (1.5, "1.5"),
        (float("nan"), ""),
        (True, ""),
        (None, ""),
        (["Auth"], ""),
        ({"name": "Auth"}, ""),
    ],
)
def test_a_name_is_one_clean_line(value, name):
    """White space is squeezed, control characters go, and only texts and numbers are names."""
    assert to_name(value) == name


@given(st.text())
def test_cleaning_twice_changes_nothing(text):
    """Written graphs can then be read back."""
    assert to_name(to_name(text)) == to_name(text)
    assert to_text(to_text(text)) == to_text(text)


@pytest.mark.parametrize(
    "keywords, first",
    [("runs on, host", "runs on"), (["", "hosts"], "hosts"), (" ；托管", "托管"), (None, ""), (",", "")],
)
def test_the_first_keyword_that_holds_something_counts(keywords, first):
    """Between commas of any script, or in a list."""
    assert first_keyword(keywords) == first


@pytest.mark.parametrize(
    "given_weights, weights",
    [
        ([1, 2.5, 10], [1, 2.5, 10]),
        ([0.35, 3], [3.5, 3]),
        ([0.5, 1], [5, 10]),
        ([1, 1], [1, 1]),
        ([1, None], [1, 5]),
        ([0.01, 0], [1, 1]),
        ([11, 1e300], [10, 10]),
        ([None, 7], [5, 7]),
        ([None], [5]),
        ([], []),
    ],
)
def test_weights_are_put_on_a_scale_from_1_to_10(given_weights, weights):
    """Shares, some of them below 1, are multiplied by ten, large ones are clipped, missing ones are five."""
    assert to_scale(given_weights) == pytest.approx(weights)


@pytest.mark.parametrize("value", ["heavy", "", None, True, [3], -1, float("nan"), float("inf"), "-inf", 10**400])
def test_what_is_no_weight_counts_as_none(value):
    """Negative, infinite and other values are as good as missing."""
    assert parse_weight(value) is None


def test_a_weight_may_be_written_as_text():
    """Tables have only text."""
    assert parse_weight(" 0.25 ") == 0.25


@given(st.lists(st.floats(1, 10)))
def test_written_weights_are_read_as_they_were(weights):
    """This is true even if all weights are 1."""
    assert to_scale(weights) == weights


def test_an_entity_given_twice_is_joined():
    """The first type and description stay; aliases, notes and passages come together in their order."""
    builder = GraphBuilder()
    builder.add_entity("Atlas", place="1", aliases=["A1", "Atlas"], notes="is slow", passages="d1")
    builder.add_entity("Beacon", place="2")
    builder.add_entity(" Atlas ", place="3", type="Service", description="Maps", aliases=["A2", "A1"], passages=["d2"])
    builder.add_entity("Atlas", place="4", type="Place", description="Hills", notes=["is slow", "is old"])
    atlas, beacon = builder.to_graph().entities

    assert (atlas.name, atlas.type, atlas.description) == ("Atlas", "Service", "Maps")
    assert atlas.aliases == ("A1", "A2")
    assert atlas.notes == ("is slow", "is old")
    assert atlas.passages == ("d1", "d2")
    assert beacon.name == "Beacon"


def test_two_passages_may_not_share_an_id():
    """The same one twice is one; another under its id is skipped."""
    builder = GraphBuilder()
    for number, text in enumerate(["Fog.", "Fog.", "Rain."]):
        builder.add_passage("d1", text=text, place=f"doc {number}")
    graph = builder.to_graph()

    assert [passage.text for passage in graph.passages] == ["Fog."]
    assert graph.skipped == ("doc 2: another passage has the id 'd1'",)


def test_skipped_lines_are_counted_beyond_a_hundred():
    """The last one says how many more there were."""
    graph = from_triples('["Atlas", "uses", "Beacon"]\n' + '["Atlas"]\n' * (MAX_SKIPPED_MESSAGES + 7))

    assert len(graph.relations) == 1
    assert len(graph.skipped) == MAX_SKIPPED_MESSAGES + 1
    assert graph.skipped[0] == "line 2: expected three or four values, got 1"
    assert graph.skipped[-1] == "and 7 more"


def test_a_name_of_301_characters_is_skipped():
    """A name of 300 characters is kept."""
    graph = from_triples(json.dumps(["a" * 300, "uses", "b"]) + "\n" + json.dumps(["b", "uses", "c" * 301]))

    assert names(graph) == ["a" * 300, "b"]
    assert graph.skipped == ("line 2: object is too long: 301 characters",)


TRIPLE = '{"head": "Atlas", "relation": "uses", "tail": "Beacon"}'


@pytest.mark.parametrize(
    "form, name, text",
    [
        ("triples", "graph.jsonl", TRIPLE),
        ("triples", "graph.json", f"[\n  {TRIPLE}\n]"),
        ("triples", "graph.jsonl", '["Atlas", "uses", "Beacon"]\n["Beacon", "uses", "Cairn", 3]'),
        ("triples", "graph.jsonl", "{broken\n" + TRIPLE),
        ("triples", "graph.jsonl", '{"subject": "Atlas", "object": "Beacon", "chunks": ["d1"]}'),
        ("triples", "graph.csv", "Atlas,uses,Beacon"),
        ("triples", "GRAPH.TSV", "Atlas\tuses\tBeacon"),
        ("openie", "set.jsonl", '{"_id": "d1", "entities": ["Atlas"], "triples": []}'),
        ("openie", "set.json", '{"docs": [{"idx": "d1", "passage": "Fog.", "extracted_triples": []}]}'),
        ("memory", "memory.jsonl", '{"type": "entity", "name": "Atlas", "entityType": "service", "observations": []}'),
        ("memory", "any.jsonl", '{"type": "relation", "from": "Atlas", "to": "Beacon", "relationType": "uses"}'),
        ("memory", "any.json", '{"entities": [{"name": "Atlas"}], "relations": []}'),
        ("lightrag", "kg.json", '{"chunks": [{"content": "Fog.", "source_id": "d1"}]}'),
        ("lightrag", "kg.json", '{"entities": [{"entity_name": "Atlas"}]}'),
        ("graphml", "graph.graphml", '<graphml><graph><node id="Atlas"/></graph></graphml>'),
        ("graphml", "graph.xml", '<?xml version="1.0"?>\n<g:graphml xmlns:g="x"><g:node id="Atlas"/></g:graphml>'),
    ],
)
def test_a_form_is_recognised(tmp_path, form, name, text):
    """By the ending or by the first values, and the file is read; packed files too."""
    path = write(tmp_path, name, text)
    packed = write(tmp_path, f"{name}.gz", gzip.compress(text.encode()))

    assert recognise_form(text, suffix=path.suffix.lower()) == form
    assert read_graph(path) == read_graph(path, form=form) == read_graph(packed)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_encodings_and_line_ends_do_not_matter(tmp_path, encoding):
    """Byte order marks and Windows line ends are removed from names."""
    path = write(tmp_path, "graph.csv", "subject,predicate,object\r\nZürich,liegt am,Zürichsee\r\n".encode(encoding))
    graph = read_graph(path)

    assert names(graph) == ["Zürich", "Zürichsee"]
    assert graph.relations[0].type == "liegt_am"


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("notes.txt", "Atlas uses Beacon.", "unknown graph format"),
        ("empty.jsonl", "", "unknown graph format"),
        ("page.html", "<!DOCTYPE html><html></html>", "unknown graph format"),
        ("kg.json", '{"chunks": [],\n "entities": [{"entity_na', "invalid JSON.*line 2"),
        ("deep.json", "[" * 100_000, "nested too deeply"),
        ("graph.csv", "only,two\n", "no valid triples item in .*: line 1: expected three or four values, got 2"),
        ("memory.json", '{"entities": [], "relations": []}', "no valid memory item"),
        ("graph.jsonl", b"\x00\x01\x02\x03" * 50, "is a binary file"),
        ("graph.jsonl.gz", gzip.compress(b'["Atlas", "uses", "Beacon"]' * 99, mtime=0)[:-20], "cannot read"),
        ("graph.graphml", "<graphml><graph>", "no valid graphml item in .*: line 1: XML"),
    ],
)
def test_a_file_without_a_graph_is_refused(tmp_path, name, content, message):
    """With what is wrong and what to do."""
    with pytest.raises(InputError, match=message) as caught:
        read_graph(write(tmp_path, name, content))

    assert caught.value.hint


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    """The error is an `InputError`."""
    for path in (tmp_path, tmp_path / "missing.jsonl"):
        with pytest.raises(InputError, match="cannot read"):
            read_graph(path)


@pytest.mark.parametrize("name", ["graph.jsonl", "graph.jsonl.gz"])
def test_a_file_that_is_too_large_is_refused(tmp_path, monkeypatch, name):
    """The decompressed size counts too."""
    content = b'["Atlas", "uses", "Beacon"]\n' * 1000
    path = write(tmp_path, name, gzip.compress(content) if name.endswith(".gz") else content)
    monkeypatch.setattr(read, "MAX_BYTES", len(content) - 1)

    with pytest.raises(InputError, match="is larger than"):
        read_graph(path)
    monkeypatch.setattr(read, "MAX_BYTES", len(content))
    assert len(read_graph(path).relations) == 1000


def test_a_table_under_another_name_needs_its_form(tmp_path):
    """With the format, the delimiter is detected."""
    path = write(tmp_path, "graph.txt", "Atlas; runs on; Beacon\nBeacon; stands in; Oslo, Norway\n")

    with pytest.raises(InputError):
        read_graph(path)
    assert names(read_graph(path, form="triples")) == ["Atlas", "Beacon", "Oslo, Norway"]
