"""Writer of graphs in all file formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weft.exchange.file_formats import WriteForm
from weft.exchange.graphml import to_graphml
from weft.exchange.lightrag import to_lightrag
from weft.exchange.memory import to_memory
from weft.exchange.triples import to_triples, to_triples_table
from weft.records import GivenGraph

WRITERS: Mapping[WriteForm, Callable[[GivenGraph], str]] = {
    "triples": to_triples,
    "triples-csv": to_triples_table,
    "memory": to_memory,
    "lightrag": to_lightrag,
    "graphml": to_graphml,
}


def write_graph(graph: GivenGraph, *, form: WriteForm) -> str:
    """
    Return a graph as text; unpaired surrogates are removed.

    Fields that the format does not support are left out. The docstring of each format's module lists them.
    """
    return WRITERS[form](graph).encode("utf-8", errors="ignore").decode("utf-8")
