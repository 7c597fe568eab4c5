"""SQLite adapter of the relational store."""
