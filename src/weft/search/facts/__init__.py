"""Recall of facts."""
