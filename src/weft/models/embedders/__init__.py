"""Embedders other than the local model, and the vector cache."""
