"""Verbs that write and recall facts."""
