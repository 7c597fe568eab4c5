"""Recall of facts: lookup, match with the question, cache, prefetch, audit."""
