"""Verbs that read and edit the graph."""
