"""GraphML of other programs, and export for them."""

from xml.etree import ElementTree

import pytest

from weft.errors import InputError
from weft.exchange.graphml import from_graphml, to_graphml
from weft.records import GivenEntity, GivenGraph, GivenRelation

SPACE = "{http://graphml.graphdrawing.org/xmlns}"


def names(graph):
    return [entity.name for entity in graph.entities]


def ends(graph):
    return [(relation.source, relation.type, relation.target) for relation in graph.relations]


KEYS = """
<key id="d0" for="node" attr.name="{label}" attr.type="string"/>
<key id="d1" for="node" attr.name="{type}" attr.type="string"><default>host</default></key>
<key id="d2" for="all" attr.name="description" attr.type="string"/>
<key id="d3" for="edge" attr.name="weight" attr.type="double"/>
<key id="d4" for="edge" attr.name="{relation}" attr.type="string"/>
<key id="d5" for="node" attr.name="aliases" attr.type="string"/>
<key id="d6" for="node" attr.name="notes" attr.type="string"/>
"""
BODY = """
<node id="n1">
  <data key="d0">Atlas &amp; Sons</data><data key="d1">service</data><data key="d2">Maps
  and <![CDATA[<roads>]]></data><data key="d5">A1 | A2</data><data key="d6">is slow\nis old</data>
</node>
<node id="Beacon"/>
<edge source="n1" target="Beacon">
  <data key="d3">2.5</data><data key="d4">runsOn</data><data key="d2">since May</data>
</edge>
<edge source="Beacon" target="n9"/>
"""


@pytest.mark.parametrize("direction", ["directed", "undirected"])
@pytest.mark.parametrize(
    "label, type, relation",
    [("label", "type", "label"), ("Name", "entityType", "relation"), ("title", "kind", "keywords")],
)
@pytest.mark.parametrize("space", ["", ' xmlns="http://graphml.graphdrawing.org/xmlns"'])
def test_attributes_go_by_many_names(direction, label, type, relation, space):
    """Keys give them their names and defaults; without a label the id is the name; an edge is one relation."""
    keys = KEYS.format(label=label, type=type, relation=relation)
    graph = from_graphml(f'<graphml{space}>{keys}<graph edgedefault="{direction}">{BODY}</graph></graphml>')
    atlas, beacon = graph.entities
    first, second = graph.relations

    assert (atlas.name, atlas.type, atlas.description) == ("Atlas & Sons", "service", "Maps\n  and <roads>")
    assert (atlas.aliases, atlas.notes) == (("A1", "A2"), ("is slow", "is old"))
    assert (beacon.name, beacon.type) == ("Beacon", "host")
    assert ends(graph) == [("Atlas & Sons", "runs_on", "Beacon"), ("Beacon", "related_to", "n9")]
    assert (first.weight, first.description) == (2.5, "since May")
    assert second.weight == 5.0
    assert graph.skipped == ()


def test_tags_may_carry_a_prefix():
    """The namespace of the prefix is not checked."""
    graph = from_graphml(
        '<g:graphml xmlns:g="http://graphml.graphdrawing.org/xmlns"><g:graph><g:node id="a"><g:data key="label">Atlas'
        '</g:data></g:node><g:edge source="a" target="b"/></g:graph></g:graphml>'
    )

    assert ends(graph) == [("Atlas", "related_to", "b")]


def test_a_graph_inside_a_node_is_read_along():
    """Its data are its own, as are those of ports and of the graph."""
    graph = from_graphml(
        """<graphml><graph><data key="label">All</data><node id="a"><data key="label">Atlas</data>
        <port name="p"><data key="label">Port</data></port><graph><node id="b"><data key="label">Beacon</data></node>
        </graph><data key="type">service</data></node><edge source="a" target="b"/></graph></graphml>"""
    )

    assert [(entity.name, entity.type) for entity in graph.entities] == [("Atlas", "service"), ("Beacon", "")]
    assert ends(graph) == [("Atlas", "related_to", "Beacon")]


def test_labels_of_yed_are_found():
    """They stand inside the graphics."""
    graph = from_graphml(
        """<graphml xmlns:y="http://www.yworks.com/xml/graphml"><key for="node" id="d6" yfiles.type="nodegraphics"/>
        <graph><node id="n0"><data key="d6"><y:ShapeNode><y:Fill color="#FFCC00"/><y:NodeLabel>Atlas</y:NodeLabel>
        </y:ShapeNode></data></node></graph></graphml>"""
    )

    assert names(graph) == ["Atlas"]


def test_graphs_stored_by_lightrag_are_read():
    """Sources stand between `<SEP>`, the type of an edge is its first keyword."""
    graph = from_graphml(
        """<graphml><graph><node id="Atlas"><data key="entity_type">UNKNOWN</data>
        <data key="source_id">chunk-1&lt;SEP&gt;chunk-2</data></node><edge source="Atlas" target="Atlas">
        <data key="keywords">maps itself,loop</data><data key="weight">14.0</data></edge></graph></graphml>"""
    )

    assert (graph.entities[0].type, graph.entities[0].passages) == ("", ("chunk-1", "chunk-2"))
    assert (graph.relations[0].type, graph.relations[0].weight) == ("maps_itself", 10.0)


def test_a_default_label_names_nobody():
    """Otherwise all nodes would become one entity."""
    key = '<key id="d0" for="node" attr.name="label" attr.type="string"><default>Node</default></key>'

    assert names(from_graphml(f'<graphml>{key}<graph><node id="a"/><node id="b"/></graph></graphml>')) == ["a", "b"]


@pytest.mark.parametrize(
    "declaration",
    [
        "<!DOCTYPE graphml>",
        '<!DOCTYPE graphml SYSTEM "http://127.0.0.1:9/graphml.dtd">',
        '<!DOCTYPE graphml [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>',
        '<!DOCTYPE graphml [<!ENTITY a SYSTEM "file:///etc/hostname">]>',
    ],
)
def test_a_doctype_is_refused(declaration):
    """It could declare entities that expand without bound or read other files."""
    with pytest.raises(InputError, match="DOCTYPE") as caught:
        from_graphml(f'<?xml version="1.0"?>{declaration}<graphml><graph><node id="a"/></graph></graphml>')

    assert "DOCTYPE" in caught.value.hint


def test_the_word_doctype_in_a_text_is_no_declaration():
    """Pages have descriptions too."""
    data = '<data key="description"><![CDATA[<!DOCTYPE html>]]></data>'
    text = f'<graphml><graph><node id="a">{data}</node></graph></graphml>'

    assert from_graphml(text).entities[0].description == "<!DOCTYPE html>"


def test_what_stands_before_a_fault_is_kept():
    """The line of the error is reported."""
    graph = from_graphml(
        '<graphml><graph>\n<node id="a"/>\n<edge source="a" target="a"/>\n<node id="b" & /></graph></graphml>'
    )

    assert (names(graph), len(graph.relations)) == (["a"], 1)
    assert graph.skipped[0].startswith("line 4: XML: not well-formed")


def test_nodes_and_edges_without_names_are_skipped():
    """A relation with a nameless end goes with it."""
    long = "x" * 301
    graph = from_graphml(
        f'<graphml><graph>\n<node/>\n<node id="n"><data key="label">{long}</data></node>\n<node id="a"/>\n'
        '<edge source="a" target="n"/>\n<edge source="a"/></graph></graphml>'
    )

    assert names(graph) == ["a"]
    assert graph.relations == ()
    assert graph.skipped == (
        "line 2: name is missing",
        "line 3: name is too long: 301 characters",
        "line 5: object is too long: 301 characters",
        "line 6: object is missing",
    )


def test_depth_does_not_matter():
    """Neither tags nor lists in a text are parsed by recursion."""
    depth = 100_000
    deep = from_graphml("<graphml>" + "<graph>" * depth + '<node id="a"/>' + "</graph>" * depth + "</graphml>")
    lists = from_graphml(f'<graphml><node id="a"><data key="notes">{"[" * depth}</data></node></graphml>')

    assert names(deep) == names(lists) == ["a"]


def test_written_graphml_declares_what_it_uses():
    """Ids of nodes are unique and exist where edges name them; every key is declared with name and type."""
    graph = GivenGraph(
        entities=(
            GivenEntity(name='<A> & "B"', type="t", aliases=("x|y",)),
            GivenEntity(name="Twin"),
            GivenEntity(name="Twin"),
        ),
        relations=(GivenRelation(source="Twin", target="Unlisted\x00\ud800\uffff", type="uses", weight=3.5),),
    )
    root = ElementTree.fromstring(to_graphml(graph))
    keys = {key.get("id"): key for key in root.findall(f"{SPACE}key")}
    nodes = [node.get("id") for node in root.iter(f"{SPACE}node")]
    edge = next(root.iter(f"{SPACE}edge"))

    assert len(set(nodes)) == len(nodes) == 4
    assert {edge.get("source"), edge.get("target")} <= set(nodes)
    for owner in ("node", "edge"):
        for element in root.iter(SPACE + owner):
            for data in element:
                key = keys[data.get("key")]
                assert key.get("for") == owner
                assert key.get("attr.type") == ("double" if key.get("attr.name") == "weight" else "string")
    assert root.find(f"{SPACE}graph").get("edgedefault") == "directed"
    assert names(from_graphml(to_graphml(graph))) == ['<A> & "B"', "Twin", "Unlisted"]
