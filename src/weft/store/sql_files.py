"""
Loader of the SQL files: named statements in `<dialect>/sql/queries/` and `relational/sql/queries/`, and the schemas.

Statements in `relational/` run on both databases. They are PostgreSQL, which is translated for SQLite. Values that are
JSON lists have a notation of their own, which the files of PostgreSQL may use too:

| statement | PostgreSQL | SQLite |
| --- | --- | --- |
| `id IN texts(:ids)` | `id = ANY (ARRAY(SELECT …))` of the JSON list | `id IN (SELECT …)` of the JSON list |
| `number IN numbers(:chunks)` | the same as `bigint` | the same |
| `FROM texts(:keys) AS k` | `jsonb_array_elements_text(:keys::jsonb) AS k (value)` | `json_each(:keys) AS k` |
| `FROM rows(:pairs) AS p` | `jsonb_array_elements(:pairs::jsonb) AS p (value)` | `json_each(:pairs) AS p` |
| `starts_with(source, :prefix)` | as it is | `substr(source, 1, length(:prefix)) = :prefix` |
| `pack_text(:text)`, `unpack_terms(c.terms, c.text)` | `:text`, `c.terms::text` | as it is |
| `a JOIN b` | as it is | `a CROSS JOIN b`, which reads `a` first |
| `b.namespace = :namespace AND b.number = a.b` | as it is | `b.number = a.b`: a number is unique in a file |
| `weft.chunk`, `:at::bigint`, `COLLATE "POSIX"`, `FOR UPDATE …` | as it is | `chunk`, `:at`, nothing |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)

_POSTGRES = (
    (r"\bIN texts\((:\w+)\)", r"= ANY (ARRAY(SELECT value FROM jsonb_array_elements_text(\1::jsonb)))"),
    (r"\bIN numbers\((:\w+)\)", r"= ANY (ARRAY(SELECT value::bigint FROM jsonb_array_elements_text(\1::jsonb)))"),
    (r"\btexts\((:\w+)\) AS (\w+)", r"jsonb_array_elements_text(\1::jsonb) AS \2 (value)"),
    (r"\brows\((:\w+)\) AS (\w+)", r"jsonb_array_elements(\1::jsonb) AS \2 (value)"),
    (r"\b(?:un)?pack_text\(([:\w.]+)\)", r"\1"),
    (r"\bunpack_terms\(([\w.]+), [\w.]+\)", r"\1::text"),
)
_SQLITE = (
    (
        r"\b(\w+)\.namespace = :namespace\s+AND "
        r"(\1\.(?:(?:number|chunk|model) = |\w+ = \w+\.number\b|document = \w+\.document\b))",
        r"\2",
    ),
    (r"(\b\w+\.namespace = :namespace\s+AND \w+\.number IN )", r"+\1"),  # without an index of the namespace
    (r"\bIN (?:texts|numbers)\((:\w+)\)", r"IN (SELECT value FROM json_each(\1))"),
    (r"\b(?:texts|rows)\((:\w+)\)", r"json_each(\1)"),
    (r"\bstarts_with\(([\w.]+), (:\w+)\)", r"substr(\1, 1, length(\2)) = \2"),
    (r"(?<!LEFT )\bJOIN\b", "CROSS JOIN"),
    (r'\bweft\.|::\w+| COLLATE "POSIX"|\s+FOR UPDATE SKIP LOCKED', ""),
)


class Statements(Mapping[str, str]):
    """Statements of a database by name, each in the form of this database from its first use on."""

    def __init__(self, texts: dict[str, str], *, own: dict[str, str], notation: tuple[tuple[str, str], ...]) -> None:
        """Use `notation` to translate `texts`, not the database's `own` statements."""
        self._texts = texts
        self._ready = own
        self._notation = notation

    def __getitem__(self, name: str) -> str:
        if name not in self._ready:
            text = self._texts[name]
            for pattern, replacement in self._notation:
                text = re.sub(pattern, replacement, text)
            self._ready[name] = text
        return self._ready[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts | self._ready)

    def __len__(self) -> int:
        return len(self._texts | self._ready)


@cache
def load_queries(dialect: str) -> Statements:
    """Return the statements of a database. A statement starts at a `-- name: x` line."""
    shared, own = _read_folder("relational"), _read_folder(dialect)
    if dialect == "sqlite":
        return Statements(shared, own=own, notation=_SQLITE)
    return Statements(shared | own, own={}, notation=_POSTGRES)


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
