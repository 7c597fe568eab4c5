"""Stores that implement the roles in `weft.store.base`: memory, SQLite, PostgreSQL."""
