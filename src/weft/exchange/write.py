"""A graph as the text of a file, in one of the forms others read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from weft.exchange.graphml import to_graphml
from weft.exchange.lightrag import to_lightrag
from weft.exchange.memory import to_memory
from weft.exchange.triples import to_triples, to_triples_table
from weft.records import GivenGraph

WriteForm: TypeAlias = Literal["triples", "triples-csv", "memory", "lightrag", "graphml"]

WRITERS: Mapping[WriteForm, Callable[[GivenGraph], str]] = {
    "triples": to_triples,
    "triples-csv": to_triples_table,
    "memory": to_memory,
    "lightrag": to_lightrag,
    "graphml": to_graphml,
}


def write_graph(graph: GivenGraph, *, form: WriteForm) -> str:
    """
    Return a graph as text that UTF-8 can hold: lone surrogates are dropped.

    What a form has no place for is left out; the module of each form says what that is.
    """
    return WRITERS[form](graph).encode("utf-8", errors="ignore").decode("utf-8")
