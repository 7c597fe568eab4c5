"""Retrieval quality on sets with known answers. Start at `weft.evaluate.retrieval`."""
