"""
GraphML of networkx, Gephi, yEd and LightRAG.

The format stores all fields of entities and relations; lists are written as JSON. An end of a relation that is not a
node becomes an entity. Texts of passages are not written.
"""

from __future__ import annotations

import json
import re
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.parsers import expat
from xml.sax.saxutils import escape

from weft.errors import InputError
from weft.exchange.clean import to_name
from weft.exchange.fields import find_field, find_relation_type, fold_fields
from weft.exchange.graph_builder import GraphBuilder, list_entities
from weft.exchange.json_values import parse_json
from weft.exchange.lightrag import UNKNOWN, split_sources
from weft.records import GivenEntity, GivenGraph, GivenRelation

LABEL_FIELDS = ("label", "name", "title")
EDGE_TYPE_FIELDS = ("label", "type", "relation", "relationtype", "relationship", "predicate", "edgelabel")
PARSED_CHARACTERS = 64 * 1024
HEAD = """\
<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
"""
KEYS_BY_OWNER = {
    "node": ("label", "type", "description", "aliases", "notes", "passages", "extractors"),
    "edge": ("label", "weight", "description", "passages", "extractors"),
}

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters not allowed in XML 1.0, not even escaped."""
_ALIAS_SEPARATORS = re.compile(r"[|;\n]")


@dataclass(slots=True, kw_only=True)
class _Key:
    """Declaration of an attribute of nodes, edges or both."""

    name: str
    owner: str
    default: str = ""


@dataclass(slots=True, kw_only=True)
class _Element:
    """A node or edge with its data by key id."""

    kind: str
    line: int
    attributes: Mapping[str, str]
    data: dict[str, str] = field(default_factory=dict)


def from_graphml(text: str) -> GivenGraph:
    """
    Return the graph of a GraphML text.

    A node without a label is named by its id. A directed or undirected edge is one relation. If the XML is broken, the
    part before the error is used. Raises `InputError` at a DOCTYPE, before any XML entity is expanded.
    """
    builder = GraphBuilder()
    parser = _Parser()
    try:
        parser.read(text)
    except expat.ExpatError as error:
        builder.skip(f"line {error.lineno}", f"XML: {expat.ErrorString(error.code)}; the rest was not read")
    names: dict[str, object] = {}
    for node, fields in parser.iter_elements("node"):
        id = node.attributes.get("id", "")
        names[id] = find_field(fields, *LABEL_FIELDS) or id
        _add_node(names[id], fields=fields, place=f"line {node.line}", builder=builder)
    for edge, fields in parser.iter_elements("edge"):
        ids = (edge.attributes.get(end, "") for end in ("source", "target"))
        ends = [names.get(id, id) for id in ids]
        _add_edge(ends, fields=fields, place=f"line {edge.line}", builder=builder)
    return builder.to_graph()


def to_graphml(graph: GivenGraph) -> str:
    """Return a graph as directed GraphML; names are labels, node ids are `n0`, `n1`, …"""
    entities = list_entities(graph)
    ids: dict[str, str] = {}
    for number, entity in enumerate(entities):
        ids.setdefault(entity.name, f"n{number}")
    lines = [HEAD]
    for owner, names in KEYS_BY_OWNER.items():
        for name in names:
            kind = "double" if name == "weight" else "string"
            lines.append(f'  <key id="{owner}_{name}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>\n')
    lines.append('  <graph edgedefault="directed">\n')
    for number, entity in enumerate(entities):
        data = _to_data("node", _describe_entity(entity))
        lines.append(f'    <node id="n{number}">{data}</node>\n')
    for number, relation in enumerate(graph.relations):
        data = _to_data("edge", _describe_relation(relation))
        ends = f'source="{ids[relation.source]}" target="{ids[relation.target]}"'
        lines.append(f'    <edge id="e{number}" {ends}>{data}</edge>\n')
    return "".join([*lines, "  </graph>\n</graphml>\n"])


class _Parser:
    """Streaming parser of nodes, edges and their data. It builds no tree, so the nesting depth is unlimited."""

    def __init__(self) -> None:
        self._keys: dict[str, _Key] = {}
        self._elements: list[_Element] = []
        self._open: list[_Element | _Key | None] = []
        """Open tags that may own data, innermost last; None for graphs, ports and others."""
        self._data_key = ""
        self._depth = 0
        """Number of open tags inside the current `data` or `default`, whose text is collected."""
        self._pieces: list[str] = []
        self._expat = expat.ParserCreate()
        self._expat.buffer_text = True
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._add_text
        self._expat.StartDoctypeDeclHandler = _refuse_doctype
        self._expat.EntityDeclHandler = _refuse_doctype

    def read(self, text: str) -> None:
        """Parse a text. Raises `ExpatError` for broken XML and `InputError` at a DOCTYPE."""
        for start in range(0, len(text), PARSED_CHARACTERS):
            self._expat.Parse(text[start : start + PARSED_CHARACTERS], False)
        self._expat.Parse("", True)

    def iter_elements(self, kind: str) -> Iterator[tuple[_Element, Mapping[str, object]]]:
        """Yield nodes or edges in the order of the file, with their data by attribute name."""
        declared = {id: key.default for id, key in self._keys.items() if key.owner in (kind, "all")}
        defaults = fold_fields(_rename(declared, keys=self._keys))
        if kind == "node":  # a default label would merge all unlabelled nodes
            defaults = {name: value for name, value in defaults.items() if name not in LABEL_FIELDS}
        for element in self._elements:
            if element.kind == kind:
                yield element, ChainMap(fold_fields(_rename(element.data, keys=self._keys)), defaults)

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        kind = tag.rpartition(":")[2]
        if self._depth or kind in ("data", "default"):
            self._depth += 1
            self._data_key = self._data_key or attributes.get("key", "")
            return
        target: _Element | _Key | None = None
        if kind in ("node", "edge"):
            target = _Element(kind=kind, line=self._expat.CurrentLineNumber, attributes=attributes)
            self._elements.append(target)
        elif kind == "key":
            target = _to_key(attributes)
            self._keys[attributes.get("id", "")] = target
        self._open.append(target)

    def _add_text(self, text: str) -> None:
        if self._depth:
            self._pieces.append(text)

    def _end(self, tag: str) -> None:
        if not self._depth:
            self._open.pop()
            return
        self._depth -= 1
        if self._depth:
            return
        owner, text = self._open[-1] if self._open else None, "".join(self._pieces).strip()
        if isinstance(owner, _Key):
            owner.default = text
        elif owner is not None:
            owner.data[self._data_key] = text
        self._data_key, self._pieces = "", []


def _refuse_doctype(*_: object) -> None:
    raise InputError("the XML declares a DOCTYPE", hint="remove the DOCTYPE; GraphML does not need it")


def _to_key(attributes: Mapping[str, str]) -> _Key:
    # yEd stores the label in the graphics of a node, whose key has no name.
    fallback = "label" if attributes.get("yfiles.type", "").endswith("graphics") else attributes.get("id", "")
    return _Key(name=attributes.get("attr.name", fallback), owner=attributes.get("for", "all"))


def _rename(data: Mapping[str, str], *, keys: Mapping[str, _Key]) -> dict[str, str]:
    """Return the data by attribute name. Of two values, the first one that is not empty is used."""
    fields: dict[str, str] = {}
    for id, text in data.items():
        name = keys[id].name if id in keys else id
        fields[name] = fields.get(name) or text
    return fields


def _add_node(name: object, *, fields: Mapping[str, object], place: str, builder: GraphBuilder) -> None:
    type = to_name(find_field(fields, "type", "entitytype", "kind"))
    builder.add_entity(
        name,
        place=place,
        type="" if type == UNKNOWN else type,
        description=fields.get("description"),
        aliases=_split(fields.get("aliases"), separators=_ALIAS_SEPARATORS),
        notes=_split(fields.get("notes"), separators=re.compile("\n")),
        passages=_find_passages(fields),
    )


def _add_edge(ends: Sequence[object], *, fields: Mapping[str, object], place: str, builder: GraphBuilder) -> None:
    builder.add_relation(
        *ends,
        place=place,
        type=find_relation_type(fields, *EDGE_TYPE_FIELDS),
        weight=fields.get("weight"),
        description=fields.get("description"),
        passages=_find_passages(fields),
    )


def _find_passages(fields: Mapping[str, object]) -> Sequence[object]:
    if "passages" in fields:
        return _split(fields["passages"], separators=re.compile("\n"))
    return split_sources(fields.get("sourceid"))


def _split(value: object, *, separators: re.Pattern[str]) -> list[object]:
    """Return the items of a JSON list, or of a text split at the separators."""
    text = value if isinstance(value, str) else ""
    if not text.startswith("["):
        return list(separators.split(text)) if text else []
    try:
        items = parse_json(text)
    except ValueError:
        items = None
    return items if isinstance(items, list) else list(separators.split(text))


def _describe_entity(entity: GivenEntity) -> dict[str, str]:
    return {
        "label": entity.name,
        "type": entity.type,
        "description": entity.description,
        "aliases": _to_list(entity.aliases),
        "notes": _to_list(entity.notes),
        "passages": _to_list(entity.passages),
        "extractors": _to_list(entity.extractors),
    }


def _describe_relation(relation: GivenRelation) -> dict[str, str]:
    return {
        "label": relation.type,
        "weight": repr(relation.weight),
        "description": relation.description,
        "passages": _to_list(relation.passages),
        "extractors": _to_list(relation.extractors),
    }


def _to_list(items: Sequence[str]) -> str:
    return json.dumps(list(items), ensure_ascii=False) if items else ""


def _to_data(owner: str, fields: Mapping[str, str]) -> str:
    """Return the `data` tags of a node or edge, without empty fields."""
    tags = (
        f'<data key="{owner}_{name}">{escape(_FORBIDDEN.sub("", text))}</data>' for name, text in fields.items() if text
    )
    return "".join(tags)
