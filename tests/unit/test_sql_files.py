"""Notation and parts of the statements of stores."""

import re
from pathlib import Path

import pytest

from weft.store import sql_files
from weft.store.sql_files import load_queries

ROOT = Path(sql_files.__file__).parent
SHARED = [
    ("document_chunks", "terms::text", "unpack_terms(terms, text)"),
    ("documents_by_id", "c.namespace = :namespace AND c.document = d.number", "WHERE c.document = d.number"),
    (
        "documents_by_id",
        "d.id = ANY (ARRAY(SELECT value FROM jsonb_array_elements_text(:ids::jsonb)))",
        "d.id IN (SELECT value FROM json_each(:ids))",
    ),
    ("chunk_ids", "SELECT value::bigint FROM", "WHERE +c.namespace = :namespace AND c.number IN (SELECT value FROM"),
    ("find_documents", "starts_with(d.source, :prefix)", "substr(d.source, 1, length(:prefix)) = :prefix"),
    ("find_documents", "jsonb_array_elements(:labels::jsonb) AS wanted (value)", "json_each(:labels) AS wanted"),
    ("unneeded_fact_keys", "jsonb_array_elements_text(:keys::jsonb) AS k (value)", "json_each(:keys) AS k"),
    ("unneeded_fact_keys", 'f.subject = k.value COLLATE "POSIX"', "f.subject = k.value\n"),
    ("fact_keys", "FROM weft.fact AS f\nJOIN weft.fact_entity", "FROM fact AS f\nCROSS JOIN fact_entity"),
    ("facts_by_id", "LEFT JOIN weft.fact_entity AS o", "LEFT JOIN fact_entity AS o"),
    ("write_chunk", ":end_line, :text,", ":end_line, pack_text(:text),"),
    ("pick_jobs", "LIMIT :limit\nFOR UPDATE SKIP LOCKED;", "LIMIT :limit\n;"),
]
"""Statement of both databases, what it has in PostgreSQL, and what in SQLite."""


@pytest.mark.parametrize(("name", "postgres", "sqlite"), SHARED)
def test_a_statement_of_both_databases_has_the_form_of_each(name, postgres, sqlite):
    assert postgres in load_queries("postgres")[name]
    assert sqlite in load_queries("sqlite")[name] and postgres not in load_queries("sqlite")[name]


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_nothing_of_the_notation_is_left(dialect):
    left = re.compile(r"\b(?:texts|numbers|rows)\(:|\{(?!dimension\}|\})")
    assert {name: found[0] for name, sql in load_queries(dialect).items() if (found := left.search(sql))} == {}


def test_parts_are_filled_in_with_their_arguments():
    for dialect in ("sqlite", "postgres"):
        about, leading = (load_queries(dialect)[name] for name in ("facts_about", "facts_leading_to"))
        assert "subject = k.value" in about and "subject = k.value" not in leading
        assert "object = k.value" in leading and "object = k.value" not in about


def test_every_part_is_used():
    texts = {path: path.read_text("utf-8") for path in ROOT.glob("*/sql/queries/*.sql")}
    for path, text in texts.items():
        for part in re.findall(r"^-- part: (\w+)\(", text, re.MULTILINE):
            assert sum(other.count(f"{{{part}(") for other in texts.values()), f"{path.name}: {part}"
