"""
What `benchmarks/peers.py` measures beside each other: a module for each, with a class `Peer` of the same few calls.

    Peer(folder)                     opens what is in a folder, or begins it
    add(batches)                     takes all records, and makes them ready to be asked for, on disk
    vector keyword hybrid graph      the best of a question: ids with their texts; what is missing it does not have
    close()

`PACKAGES` are the distributions whose versions count, `NOTE` says what has to be known to read its figures.
"""

from __future__ import annotations

NAMES = {
    "weft_peer": "Weft",
    "lance": "LanceDB",
    "chroma": "Chroma",
    "qdrant": "Qdrant, local",
    "sqlite_plain": "sqlite-vec + FTS5",
    "txtai_peer": "txtai",
    "nano": "nano-vectordb + networkx",
    "pagerank": "igraph PageRank",
}
CHANNELS = ("vector", "keyword", "hybrid", "graph")
DIMENSION = 384
