"""PostgreSQL adapter of the relational store."""
