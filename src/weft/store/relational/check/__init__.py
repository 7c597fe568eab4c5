"""Consistency checks and repair of a namespace."""
