"""Loader of the SQL files: named statements in `<dialect>/sql/queries/` and `relational/sql/`, and the schema."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


@cache
def load_queries(dialect: str) -> dict[str, str]:
    """Return {name: statement} of a database. A statement starts at a `-- name: x` line."""
    common = _read_folder("relational")
    if dialect == "sqlite":
        common = {name: sql.replace("weft.", "") for name, sql in common.items()}
    return common | _read_folder(dialect)


def _read_folder(dialect: str) -> dict[str, str]:
    folder = resources.files("weft.store") / dialect / "sql" / "queries"
    found: dict[str, str] = {}
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        _, *parts = _NAME.split(entry.read_text("utf-8"))
        found |= {name: sql.strip() for name, sql in zip(parts[::2], parts[1::2], strict=True)}
    return found


@cache
def load_schema(dialect: str) -> str:
    """Return the statements that create an empty database of the newest version."""
    return load_script(dialect, "schema")


@cache
def load_script(dialect: str, name: str) -> str:
    """Return a file of statements without names."""
    return (resources.files("weft.store") / dialect / "sql" / f"{name}.sql").read_text("utf-8")
