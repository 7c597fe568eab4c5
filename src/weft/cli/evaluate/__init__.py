"""Verbs that measure retrieval and fit confidence."""
