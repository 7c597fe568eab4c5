"""
Triples, as JSON Lines or as a table: one relation on each line.

The form holds relations with weight, description and passages, and the types of their ends. It has no place for
entities without a relation, nor for descriptions, aliases and notes of entities, nor for texts.
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
from weft.exchange.graph_builder import Collector
from weft.exchange.json_values import iter_values, parse_json
from weft.exchange.weights import from_scale
from weft.records import GivenGraph, GivenRelation

ENDS = (("subject", "object"), ("head", "tail"), ("source", "target"), ("from", "to"), ("src", "dst"), ("subj", "obj"))
"""What the two ends are called. Pairs that belong together come first: beside a head, `source` is the document."""
COLUMNS = ("subject", "predicate", "object", "weight", "description", "passage", "subject_type", "object_type")

_PAIRS = tuple(dict.fromkeys([*ENDS, *product(*zip(*ENDS, strict=True))]))


def from_triples(text: str) -> GivenGraph:
    """
    Return the graph of JSON Lines, or of one JSON list, whose items are objects or lists of three or four values.

    The ends of the relations are its entities, and both have the passages of the line they stand on.
    """
    collector = Collector()
    for place, value in iter_values(text, skip=collector.skip):
        if isinstance(value, dict):
            add_record(value, place=place, collector=collector)
        elif isinstance(value, list):
            _add_ends(value, place=place, collector=collector)
        else:
            collector.skip(place, "neither an object nor a list")
    return collector.to_graph()


def from_triples_table(text: str, *, delimiter: str = "") -> GivenGraph:
    """
    Return the graph of a CSV or TSV table; without a delimiter it is found out.

    The first row may name the columns. If it does not, they are subject, predicate, object and perhaps weight.
    """
    collector = Collector()
    header: tuple[str, ...] | None = None
    delimiter = delimiter or find_delimiter(text, is_header=is_header)
    for row in iter_rows(text, delimiter=delimiter, skip=collector.skip):
        if header is None:
            header = row.cells if is_header(row.cells) else ()
            if header:
                continue
        place = f"line {row.line}"
        if header:
            add_record(_name_cells(header, row.cells), place=place, collector=collector)
        else:
            _add_ends(row.cells[:4], place=place, collector=collector)
    return collector.to_graph()


def to_triples(graph: GivenGraph) -> str:
    """Return the relations of a graph as JSON Lines, one object each; fields without a value are left out."""
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
    """Return the relations of a graph as CSV with a header; several passages are a JSON list in one cell."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for record, passages in _iter_records(graph):
        cell = passages[0] if _is_plain(passages) else json.dumps(passages, ensure_ascii=False)
        writer.writerow({**record, "passage": cell if passages else ""})
    return stream.getvalue()


def add_record(record: Mapping[Any, object], *, place: str, collector: Collector) -> None:
    """Add the relation a record of named fields stands for, and its ends."""
    fields = fold_fields(record)
    # Empty fields count here: beside an empty subject, `source` is still the document.
    source, target = find_ends({fold_name(str(name)) for name in record})
    passages = _find_passages(fields)
    is_added = collector.add_relation(
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
        collector.add_entity(fields[end], place=place, type=type, passages=passages)


def add_items(items: Sequence[object], *, place: str, collector: Collector, passages: Sequence[str] = ()) -> bool:
    """Add the relation of a list of subject, predicate, object and perhaps weight; tell whether it could be used."""
    if len(items) not in (3, 4):
        collector.skip(place, f"not three or four values but {len(items):,}")
        return False
    weight = items[3] if len(items) == 4 else None
    return collector.add_relation(
        items[0], items[2], place=place, type=to_text(items[1]), weight=weight, passages=list(passages)
    )


def find_ends(names: Collection[str]) -> tuple[str, str]:
    """Return which of the fields hold the two ends; one that is not there has the name `subject` or `object`."""
    for source, target in _PAIRS:
        if source in names and target in names:
            return source, target
    sources, targets = zip(*ENDS, strict=True)
    return (
        next((name for name in sources if name in names), sources[0]),
        next((name for name in targets if name in names), targets[0]),
    )


def is_header(cells: Sequence[str]) -> bool:
    """Tell whether a row names columns, of which two are the ends of a relation."""
    names = {fold_name(cell) for cell in cells}
    return any(source in names and target in names for source, target in _PAIRS)


def _add_ends(items: Sequence[object], *, place: str, collector: Collector) -> None:
    if add_items(items, place=place, collector=collector):
        collector.add_entity(items[0], place=place)
        collector.add_entity(items[2], place=place)


def _name_cells(header: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    """Return every column with its cell; of two with one name the first that holds something counts."""
    record = dict.fromkeys(header, "")
    for name, cell in zip(header, cells, strict=False):
        record[name] = record[name] or cell.strip()
    return record


def _find_passages(fields: Mapping[str, object]) -> tuple[str, ...]:
    """Return the ids of a list, of a JSON list of texts in a text, or the only one."""
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
    """Tell whether there is one id, and none that would be taken for a JSON list."""
    return len(passages) == 1 and not passages[0].startswith("[")


def _iter_records(graph: GivenGraph) -> Iterator[tuple[dict[str, object], list[str]]]:
    """Yield the fields of each relation but its passages, and these."""
    types = {entity.name: entity.type for entity in graph.entities}
    weights = from_scale([relation.weight for relation in graph.relations])
    for relation, weight in zip(graph.relations, weights, strict=True):
        yield _to_record(relation, weight=weight, types=types), list(relation.passages)


def _to_record(relation: GivenRelation, *, weight: float, types: Mapping[str, str]) -> dict[str, object]:
    return {
        "subject": relation.source,
        "predicate": relation.type,
        "object": relation.target,
        "weight": weight,
        "description": relation.description,
        "subject_type": types.get(relation.source, ""),
        "object_type": types.get(relation.target, ""),
    }
