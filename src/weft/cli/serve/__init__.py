"""Verbs that start servers and manage their keys."""
