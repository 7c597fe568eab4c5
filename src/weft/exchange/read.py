"""A graph from a file, in whichever of the known forms it is."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from weft.config import MEBIBYTE
from weft.errors import InputError
from weft.exchange.fields import fold_fields
from weft.exchange.graphml import from_graphml
from weft.exchange.json_values import find_fault, iter_values
from weft.exchange.lightrag import from_lightrag
from weft.exchange.memory import from_memory
from weft.exchange.openie import from_openie
from weft.exchange.triples import find_ends, from_triples, from_triples_table
from weft.records import GivenGraph
from weft.text.decode import control_share, decode, has_byte_order_mark

GraphForm: TypeAlias = Literal["triples", "openie", "memory", "lightrag", "graphml"]

MAX_BYTES = 200 * MEBIBYTE
"""A larger file is refused, and so is one that unpacks to more."""
MAX_CONTROL_SHARE = 0.06
"""Above this share of control bytes a file is no text."""
SAMPLE_VALUES = 50
TABLE_SUFFIXES = {".csv": "", ".tsv": "\t", ".tab": "\t"}
"""Endings of tables with their delimiter, if the ending says which."""

_GZIP_MAGIC = b"\x1f\x8b"
_GRAPHML = re.compile(r"<(?:[\w.-]+:)?graphml[\s>]")
_HEAD_CHARACTERS = 10_000
_FORMS = ", ".join(get_args(GraphForm))
_HINT = f"give one of these, and say which if the name and beginning of the file do not: {_FORMS}"


def read_graph(path: Path, *, form: GraphForm | None = None) -> GivenGraph:
    """
    Return the graph in a file, which may be packed with gzip.

    Without a form, it is recognised by the name and beginning of the file. What cannot be read is listed in
    `skipped`. Raises `InputError` when the file is unreadable, larger than 200 MiB, in none of the forms, or when
    nothing at all could be read from it.
    """
    text = read_text(path)
    name = path.name.casefold().removesuffix(".gz")
    suffix = Path(name).suffix
    known = form or recognise_form(text, suffix=suffix)
    if known is None:
        raise InputError(f"{path} holds no graph in a form that is known{find_fault(text)}", hint=_HINT)
    try:
        graph = replace(_find_reader(text, form=known, suffix=suffix)(text), form=known)
    except InputError as error:
        raise InputError(f"{path}: {error}", hint=error.hint) from error
    if not (graph.entities or graph.relations or graph.passages):
        reason = f": {graph.skipped[0]}" if graph.skipped else ""
        raise InputError(f"nothing in {path} could be read as {known}{reason}", hint=_HINT)
    return graph


def find_form(path: Path) -> GraphForm | None:
    """Return the form of a file, or None. Raises `InputError` where it cannot be read."""
    return recognise_form(read_text(path), suffix=Path(path.name.casefold().removesuffix(".gz")).suffix)


def recognise_form(text: str, *, suffix: str = "") -> GraphForm | None:
    """Return the form a text is in, judged by the ending of its file's name and by its first values, or None."""
    if suffix in TABLE_SUFFIXES:
        return "triples"
    start = text.lstrip()[:_HEAD_CHARACTERS]
    if suffix == ".graphml" or (start.startswith("<") and _GRAPHML.search(start)):
        return "graphml"
    if not start.startswith(("{", "[")):
        return None
    values = (value for _, value in iter_values(text, skip=lambda place, reason: None))
    forms = map(_recognise_value, islice(values, SAMPLE_VALUES))
    return next(filter(None, forms), None)


def _find_reader(text: str, *, form: GraphForm, suffix: str) -> Callable[[str], GivenGraph]:
    if form == "triples":
        is_table = suffix in TABLE_SUFFIXES or not text.lstrip().startswith(("{", "["))
        delimiter = TABLE_SUFFIXES.get(suffix, "")
        return (lambda table: from_triples_table(table, delimiter=delimiter)) if is_table else from_triples
    readers: Mapping[str, Callable[[str], GivenGraph]] = {
        "openie": from_openie,
        "memory": from_memory,
        "lightrag": from_lightrag,
        "graphml": from_graphml,
    }
    return readers[form]


def _recognise_value(value: object) -> GraphForm | None:
    """Return the form in which a value like this stands, or None when it does not tell."""
    if isinstance(value, list):
        is_triple = len(value) in (3, 4) and not any(isinstance(item, dict | list) for item in value)
        return "triples" if is_triple else None
    return _recognise_record(value) if isinstance(value, dict) else None


def _recognise_record(record: Mapping[Any, object]) -> GraphForm | None:
    fields = fold_fields(record)
    if fields.get("type") in ("entity", "relation"):
        return "memory"
    if all(end in fields for end in find_ends(fields.keys())):
        return "triples"
    entities = fields.get("entities")
    first = entities[0] if isinstance(entities, list) and entities else None
    if fields.keys() & {"docs", "triples", "extractedtriples", "extractedentities"} or isinstance(first, str):
        return "openie"
    if fields.keys() & {"chunks", "relationships"} or (isinstance(first, dict) and "entity_name" in first):
        return "lightrag"
    return "memory" if fields.keys() & {"entities", "relations"} else None


def read_text(path: Path) -> str:
    """Return the text of a file, unpacked. Raises `InputError` where it is unreadable, too large or no text."""
    try:
        with path.open("rb") as stream:
            data = _unpack(stream)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise InputError(f"cannot read {path}: {error}", hint="check the name and that the file is whole") from error
    if len(data) > MAX_BYTES:
        raise InputError(f"{path} holds more than {MAX_BYTES // MEBIBYTE} MiB", hint="cut it into several files")
    if not has_byte_order_mark(data) and control_share(data) > MAX_CONTROL_SHARE:
        raise InputError(f"{path} is not text", hint=_HINT)
    return decode(data)


def _unpack(stream: BufferedReader) -> bytes:
    """Return the content, unpacked if it is gzip, up to one byte more than is allowed."""
    if not stream.peek(len(_GZIP_MAGIC)).startswith(_GZIP_MAGIC):
        return stream.read(MAX_BYTES + 1)
    with gzip.GzipFile(fileobj=stream) as packed:
        return packed.read(MAX_BYTES + 1)
