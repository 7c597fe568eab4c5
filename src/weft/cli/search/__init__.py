"""Verb that searches: `weft query`."""
