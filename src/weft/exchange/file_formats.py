"""Names of the file formats for graphs and facts. Importing this module loads no reader or writer."""

from typing import Literal, TypeAlias

GraphForm: TypeAlias = Literal["triples", "openie", "memory", "lightrag", "graphml"]
"""Graph formats that can be read."""

WriteForm: TypeAlias = Literal["triples", "triples-csv", "memory", "lightrag", "graphml"]
"""Graph formats that can be written."""

FactForm: TypeAlias = Literal["facts", "memory"]
"""Fact formats, for reading and writing."""
