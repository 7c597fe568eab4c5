"""Reading of a graph from a file, and recognition of its format."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Any, get_args

from weft.config import MEBIBYTE
from weft.errors import InputError
from weft.exchange.fields import fold_fields
from weft.exchange.file_formats import GraphForm
from weft.exchange.graphml import from_graphml
from weft.exchange.json_values import find_fault, iter_values
from weft.exchange.lightrag import from_lightrag
from weft.exchange.memory import from_memory
from weft.exchange.openie import from_openie
from weft.exchange.triples import find_ends, from_triples, from_triples_table
from weft.records import GivenGraph
from weft.text.decode import control_share, decode, has_byte_order_mark

MAX_BYTES = 200 * MEBIBYTE
"""Maximum size of a file, also after decompression."""
MAX_CONTROL_SHARE = 0.06
"""A file with a larger share of control bytes is binary."""
SAMPLE_VALUES = 50
TABLE_SUFFIXES = {".csv": "", ".tsv": "\t", ".tab": "\t"}
"""Extensions of tables with their delimiter; empty if it must be detected."""

_GZIP_MAGIC = b"\x1f\x8b"
_GRAPHML = re.compile(r"<(?:[\w.-]+:)?graphml[\s>]")
_HEAD_CHARACTERS = 10_000
_FORMS = ", ".join(get_args(GraphForm))
_HINT = f"pass --format with one of {_FORMS}"


def read_graph(path: Path, *, form: GraphForm | None = None) -> GivenGraph:
    """
    Return the graph of a file, which may be compressed with gzip.

    Without a `form`, the format is recognised by the name and start of the file. Invalid items are listed in `skipped`.
    Raises `InputError` if the file is unreadable, larger than 200 MiB, of an unknown format, or has no valid item.
    """
    text = read_text(path)
    name = path.name.casefold().removesuffix(".gz")
    suffix = Path(name).suffix
    known = form or recognise_form(text, suffix=suffix)
    if known is None:
        raise InputError(f"unknown graph format: {path}{find_fault(text)}", hint=_HINT)
    try:
        graph = replace(_find_reader(text, form=known, suffix=suffix)(text), form=known)
    except InputError as error:
        raise InputError(f"{path}: {error}", hint=error.hint) from error
    if not (graph.entities or graph.relations or graph.passages):
        reason = f": {graph.skipped[0]}" if graph.skipped else ""
        raise InputError(f"no valid {known} item in {path}{reason}", hint=_HINT)
    return graph


def find_form(path: Path) -> GraphForm | None:
    """Return the format of a file, or None if unknown. Raises `InputError` if it cannot be read."""
    return recognise_form(read_text(path), suffix=Path(path.name.casefold().removesuffix(".gz")).suffix)


def recognise_form(text: str, *, suffix: str = "") -> GraphForm | None:
    """Return the format of a text by the extension of its file and its first values; None if unknown."""
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
    """Return the format of a value; None if several formats are possible."""
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
    """Return the decompressed text of a file. Raises `InputError` if it is unreadable, too large or binary."""
    try:
        with path.open("rb") as stream:
            data = _decompress(stream)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise InputError(f"cannot read {path}: {error}", hint="pass the path of a complete, readable file") from error
    if len(data) > MAX_BYTES:
        raise InputError(f"{path} is larger than {MAX_BYTES // MEBIBYTE} MiB", hint="split the file into several files")
    if not has_byte_order_mark(data) and control_share(data) > MAX_CONTROL_SHARE:
        raise InputError(f"{path} is a binary file", hint=f"pass a text file in one of the formats {_FORMS}")
    return decode(data)


def _decompress(stream: BufferedReader) -> bytes:
    """Return the decompressed content, up to one byte over the limit."""
    if not stream.peek(len(_GZIP_MAGIC)).startswith(_GZIP_MAGIC):
        return stream.read(MAX_BYTES + 1)
    with gzip.GzipFile(fileobj=stream) as expanded:
        return expanded.read(MAX_BYTES + 1)
