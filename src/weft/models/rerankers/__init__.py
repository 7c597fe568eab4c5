"""Rerankers: HTTP endpoint, language model, cross-encoders."""
