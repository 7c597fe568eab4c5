"""Storage behind the roles in `weft.store.base`: memory, SQLite, PostgreSQL."""
