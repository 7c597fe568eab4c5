"""Verbs that index documents and list or delete them."""
