"""Scoring: BM25, fusion, relevance gate, confidence calibration. Pure functions."""
