"""Store logic shared by SQLite and PostgreSQL: named SQL over one session interface."""
