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

Text that several statements have in common is a part with parameters:

    -- part: best_name(key)                      -- name: entity_names
    coalesce(…, {key})                           SELECT h.id, {best_name(h.key)} FROM …
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

_TITLE = re.compile(r"^-- (name|part): (\w+)(?:\(([\w, ]*)\))?\n", re.MULTILINE)
_PART = re.compile(r"\{(\w+)\(((?:[^()]|\(\))*)\)\}")

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
        r"\w+\.namespace = :namespace\s+AND "
        r"(?=\w+\.(?:(?:number|chunk|model) = |\w+ = \w+\.number\b|document = \w+\.document\b))",
        "",
    ),
    (r"(?=\b\w+\.namespace = :namespace\s+AND \w+\.number IN )", "+"),  # without an index of the namespace
    (r"\bIN (?:texts|numbers)\((:\w+)\)", r"IN (SELECT value FROM json_each(\1))"),
    (r"\b(?:texts|rows)\((:\w+)\)", r"json_each(\1)"),
    (r"::\w+", ""),
)
_SQLITE_WORDS = (
    ("weft.", ""),
    (' COLLATE "POSIX"', ""),
    ("FOR UPDATE SKIP LOCKED", ""),
    ("starts_with(d.source, :prefix)", "substr(d.source, 1, length(:prefix)) = :prefix"),
    ("JOIN ", "CROSS JOIN "),
    ("LEFT CROSS JOIN", "LEFT JOIN"),
)


class Notation(NamedTuple):
    """Translation of texts into the form of a database."""

    patterns: tuple[tuple[str, str], ...] = ()
    words: tuple[tuple[str, str], ...] = ()
    """Texts that are replaced as they are, after the patterns: compiling one more pattern takes longer."""


class _Text(NamedTuple):
    """Statement or part as its file has it."""

    sql: str
    parameters: Sequence[str]
    notation: Notation


class Statements(Mapping[str, str]):
    """Statements of a database by name, each in the form of this database from its first use on."""

    def __init__(self, texts: Mapping[str, _Text], *, parts: Mapping[str, _Text]) -> None:
        self._texts = texts
        self._parts = parts
        self._ready: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._ready:
            self._ready[name] = self._read(self._texts[name])
        return self._ready[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def _read(self, text: _Text, arguments: Sequence[str] = ()) -> str:
        """Return a text for the database, with arguments and parts filled in."""
        sql = text.sql
        for pattern, replacement in text.notation.patterns:
            sql = re.sub(pattern, replacement, sql)
        for word, replacement in text.notation.words:
            sql = sql.replace(word, replacement)
        for parameter, value in zip(text.parameters, arguments, strict=True):
            sql = sql.replace(f"{{{parameter}}}", value)
        return _PART.sub(lambda found: self._read(self._parts[found[1]], _split(found[2])), sql)


@cache
def load_queries(dialect: str) -> Statements:
    """Return the statements of a database. A statement starts at a `-- name: x` line, a part at `-- part: x()`."""
    is_sqlite = dialect == "sqlite"
    texts, parts = _read_folder("relational", Notation(_SQLITE, _SQLITE_WORDS) if is_sqlite else Notation(_POSTGRES))
    own, own_parts = _read_folder(dialect, Notation() if is_sqlite else Notation(_POSTGRES))
    return Statements(texts | own, parts=parts | own_parts)


def _read_folder(dialect: str, notation: Notation) -> tuple[dict[str, _Text], dict[str, _Text]]:
    """Return the statements and the parts in the files of a folder, by name."""
    folder = resources.files("weft.store") / dialect / "sql" / "queries"
    found: dict[str, dict[str, _Text]] = {"name": {}, "part": {}}
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        _, *blocks = _TITLE.split(entry.read_text("utf-8"))
        for kind, name, parameters, sql in zip(*(blocks[place::4] for place in range(4)), strict=True):
            found[kind][name] = _Text(sql.strip(), _split(parameters), notation)
    return found["name"], found["part"]


def _split(values: str) -> tuple[str, ...]:
    return tuple(values.split(", ")) if values else ()


@cache
def load_schema(dialect: str) -> str:
    """Return the statements that create an empty database of the newest version."""
    return load_script(dialect, "schema")


@cache
def load_script(dialect: str, name: str) -> str:
    """Return a file of statements without names."""
    return (resources.files("weft.store") / dialect / "sql" / f"{name}.sql").read_text("utf-8")
