"""
Triples as JSON Lines or as a table, one relation per line.

The format stores relations with weight, description and passages, and the types of their ends. Entities without a
relation, descriptions, aliases and notes of entities, and texts of passages are not written.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from weft.exchange.clean import to_ids, to_text
from weft.exchange.csv_rows import find_delimiter, iter_rows
from weft.exchange.fields import PASSAGE_FIELDS, find_field, find_relation_type, fold_fields, fold_name
from weft.exchange.graph_builder import GraphBuilder
from weft.exchange.json_values import iter_values, parse_json
from weft.records import GivenGraph, GivenRelation

END_FIELDS = (
    ("subject", "object"),
    ("head", "tail"),
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("subj", "obj"),
)
"""Field names of the two ends. Matching pairs come first: in a record with `head`, `source` is the document."""
COLUMNS = ("subject", "predicate", "object", "weight", "description", "passage", "subject_type", "object_type")

_END_PAIRS = tuple(dict.fromkeys([*END_FIELDS, *product(*zip(*END_FIELDS, strict=True))]))


def from_triples(text: str) -> GivenGraph:
    """
    Return the graph of JSON Lines or a JSON list. Items are objects, or lists of three or four values.

    The ends of the relations become entities with the passages of their line.

    """
    builder = GraphBuilder()
    for place, value in iter_values(text, skip=builder.skip):
        if isinstance(value, dict):
            add_record(value, place=place, builder=builder)
        elif isinstance(value, list):
            _add_ends(value, place=place, builder=builder)
        else:
            builder.skip(place, "expected an object or a list")
    return builder.to_graph()


def from_triples_table(text: str, *, delimiter: str = "") -> GivenGraph:
    """
    Return the graph of a CSV or TSV table; an empty delimiter is detected.

    Without a header row the columns are subject, predicate, object and optionally weight.
    """
    builder = GraphBuilder()
    header: tuple[str, ...] | None = None
    delimiter = delimiter or find_delimiter(text, is_header=is_header)
    for row in iter_rows(text, delimiter=delimiter, skip=builder.skip):
        if header is None:
            header = row.cells if is_header(row.cells) else ()
            if header:
                continue
        place = f"line {row.line}"
        if header:
            add_record(_name_cells(header, row.cells), place=place, builder=builder)
        else:
            _add_ends(row.cells[:4], place=place, builder=builder)
    return builder.to_graph()


def to_triples(graph: GivenGraph) -> str:
    """Return the relations of a graph as JSON Lines; empty fields are left out."""
    lines = []
    for relation, (record, passages) in zip(graph.relations, _iter_records(graph), strict=True):
        filled = {name: value for name, value in record.items() if value != ""}
        if passages:
            filled["passage"] = passages[0] if _is_plain(passages) else passages
        if relation.extractors:
            filled["extractors"] = list(relation.extractors)
        lines.append(json.dumps(filled, ensure_ascii=False) + "\n")
    return "".join(lines)


def to_triples_table(graph: GivenGraph) -> str:
    """Return the relations of a graph as CSV with a header; several passages are a JSON list in a cell."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for record, passages in _iter_records(graph):
        cell = passages[0] if _is_plain(passages) else json.dumps(passages, ensure_ascii=False)
        writer.writerow({**record, "passage": cell if passages else ""})
    return stream.getvalue()


def add_record(record: Mapping[Any, object], *, place: str, builder: GraphBuilder) -> None:
    """Add the relation of a record with named fields, and its ends as entities."""
    fields = fold_fields(record)
    # Use the names of empty fields too: in a record with an empty `subject`, `source` is still the document.
    source, target = find_ends({fold_name(str(name)) for name in record})
    passages = _find_passages(fields)
    is_added = builder.add_relation(
        fields.get(source),
        fields.get(target),
        place=place,
        type=find_relation_type(fields),
        weight=fields.get("weight"),
        description=fields.get("description"),
        passages=passages,
    )
    for end in (source, target) if is_added else ():
        type = fields.get(f"{end}type")
        builder.add_entity(fields[end], place=place, type=type, passages=passages)


def add_items(items: Sequence[object], *, place: str, builder: GraphBuilder, passages: Sequence[str] = ()) -> bool:
    """Add the relation of a list of subject, predicate, object and optionally weight; return True if it was valid."""
    if len(items) not in (3, 4):
        builder.skip(place, f"expected three or four values, got {len(items):,}")
        return False
    weight = items[3] if len(items) == 4 else None
    return builder.add_relation(
        items[0], items[2], place=place, type=to_text(items[1]), weight=weight, passages=list(passages)
    )


def find_ends(names: Collection[str]) -> tuple[str, str]:
    """Return the names of the two end fields; `subject` or `object` for a missing one."""
    for source, target in _END_PAIRS:
        if source in names and target in names:
            return source, target
    sources, targets = zip(*END_FIELDS, strict=True)
    return (
        next((name for name in sources if name in names), sources[0]),
        next((name for name in targets if name in names), targets[0]),
    )


def is_header(cells: Sequence[str]) -> bool:
    """Return True if a row is a header with two columns for the ends of a relation."""
    names = {fold_name(cell) for cell in cells}
    return any(source in names and target in names for source, target in _END_PAIRS)


def _add_ends(items: Sequence[object], *, place: str, builder: GraphBuilder) -> None:
    if add_items(items, place=place, builder=builder):
        builder.add_entity(items[0], place=place)
        builder.add_entity(items[2], place=place)


def _name_cells(header: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    """Return the cells by column name. Of two columns with the same name, the first non-empty cell is used."""
    record = dict.fromkeys(header, "")
    for name, cell in zip(header, cells, strict=False):
        record[name] = record[name] or cell.strip()
    return record


def _find_passages(fields: Mapping[str, object]) -> tuple[str, ...]:
    """Return the passage ids of a list, of a text with a JSON list, or of a single value."""
    value = find_field(fields, *PASSAGE_FIELDS)
    if not isinstance(value, str) or not value.startswith("["):
        return to_ids(value)
    try:
        items = parse_json(value)
    except ValueError:
        items = None
    is_list = isinstance(items, list) and all(isinstance(item, str) for item in items)
    return to_ids(items if is_list else value)


def _is_plain(passages: Sequence[str]) -> bool:
    """Return True if there is exactly one id that cannot be mistaken for a JSON list."""
    return len(passages) == 1 and not passages[0].startswith("[")


def _iter_records(graph: GivenGraph) -> Iterator[tuple[dict[str, object], list[str]]]:
    """Yield the fields of each relation without passages, and its passages."""
    types = {entity.name: entity.type for entity in graph.entities}
    for relation in graph.relations:
        yield _to_record(relation, types=types), list(relation.passages)


def _to_record(relation: GivenRelation, *, types: Mapping[str, str]) -> dict[str, object]:
    return {
        "subject": relation.source,
        "predicate": relation.type,
        "object": relation.target,
        "weight": relation.weight,
        "description": relation.description,
        "subject_type": types.get(relation.source, ""),
        "object_type": types.get(relation.target, ""),
    }
