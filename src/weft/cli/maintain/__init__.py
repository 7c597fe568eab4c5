"""Verbs that maintain a store or an installation."""
