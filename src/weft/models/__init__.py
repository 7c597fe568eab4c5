"""Embedders, rerankers, extractors and language models behind the roles in `weft.models.base`."""
