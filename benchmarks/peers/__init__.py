"""
Engines that `benchmarks/peers.py` compares: one module per engine, each with a class `Peer` of the same interface.

    Peer(folder)                     open the store in a folder, or create it
    add(batches)                     index all records and write them to disk
    vector keyword hybrid graph      best results of a question: ids with texts; a missing method is not supported
    close()

`PACKAGES` are the distributions whose versions are printed; `NOTE` explains the figures.
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
