"""
Allowed values of search options: methods, fusions, rules, algorithms, context formats.

They are separate from `weft.config` because `weft query --help` lists them without loading the settings.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

VECTOR, KEYWORD, GRAPH = "vector", "keyword", "graph"
"""Names of the channels (`search/channel_table.py`)."""

Method: TypeAlias = Literal["vector", "naive", "keyword", "hybrid", "graph", "mix", "auto", "agentic"]
Fusion: TypeAlias = Literal["weighted", "rrf"]
AutoRule: TypeAlias = Literal["citation", "exact", "comparison", "overview"]
Algorithm: TypeAlias = Literal["walk", "expand", "guided"]
GraphFusion: TypeAlias = Literal["boost", "weighted", "rrf"]
FactRank: TypeAlias = Literal["relevance", "score"]
ContextFormat: TypeAlias = Literal["evidence", "graph", "evidence+graph"]
