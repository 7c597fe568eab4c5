"""Verb that searches."""
