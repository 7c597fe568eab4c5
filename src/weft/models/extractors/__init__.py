"""Extractors that run a model: spaCy, LAC."""
