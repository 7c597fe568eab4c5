"""Names of the file formats for graphs and facts; importing them loads no reader or writer."""

from typing import Literal, TypeAlias

GraphForm: TypeAlias = Literal["triples", "openie", "memory", "lightrag", "graphml"]
"""Graphs that can be read."""

WriteForm: TypeAlias = Literal["triples", "triples-csv", "memory", "lightrag", "graphml"]
"""Graphs that can be written."""

FactForm: TypeAlias = Literal["facts", "memory"]
"""Facts, in both directions."""
