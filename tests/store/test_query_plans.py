"""Query plans of SQLite: statements that may scan a table, and bounds of lookups for hubs."""

import re

import apsw
import pytest

from weft.store.sql_files import load_queries, load_schema
from weft.store.sqlite.packed_terms import add_packing_functions

BIG = {"chunk", "mention", "stated_relation", "relation", "entity", "name", "candidate", "posting"}
"""Tables that grow with the corpus."""

WHOLE = {
    "all_vectors": "every vector, where sqlite-vec is missing",
    "all_postings": "check",
    "count_unnumbered_terms": "check",
    "number_missing_terms": "repair",
    "draw_numbers": "the last row",
    "all_headings_and_terms": "check",
    "all_terms": "check",
    "all_keys": "check",
    "all_chunk_numbers": "check",
    "all_entities": "check",
    "all_pairs": "check",
    "all_relations": "check",
    "misplaced_candidates": "check",
    "candidate_kinds": "check",
    "delete_postings": "repair",
    "delete_all_unused_names": "repair",
    "delete_entities": "repair",
    "delete_all_mentions": "repair",
    "delete_resolved_stated_relations": "repair",
    "delete_resolved_aliases": "repair",
    "place_candidates": "repair",
    "set_kind": "repair",
    "count_entities": "stats",
    "count_relations": "stats",
    "count_stated": "stats",
    "count_types": "stats",
    "find_unembedded": "reembed",
    "unembedded_entities": "reembed",
    "has_entities": "up to the first",
    "top_entities": "by an index that has the best first, up to a limit",
    "sample_chunks": "calibrate",
    "import_names": "copy, by an index over what imports say",
}
"""Statements that may read a whole namespace, and what they are for. None is part of writing or asking."""

HUB = {
    ("candidate", "key"): {
        "all_keys": "the first",
        "delete_unused_names": "the first",
        "delete_all_unused_names": "the first",
        "pages_by_prefix": "one for each page, up to a limit",
        "entity_cards": "the first by rank, up to a limit",
        "entity_extractors": "the smallest, and the first by rank up to a limit",
        "key_votes": "the first strong one, and the first in its own right",
        "vague_names": "what says that it is another name, of one thing",
        "page_titles": "one for each page",
        "page_votes": "the first",
        "known_sections": "one for each chunk of a section",
        "titled_pages": "the smallest and the largest",
        "sample_types": "all, for the statistics of a large namespace, of a sample of the entities",
    },
    ("candidate", "key rank"): {"key_votes": "up to the first of a second document"},
    ("candidate", "key alias_of"): {"key_aliases": "the smallest"},
    ("stated_relation", "source"): {
        "all_pairs": "check",
        "delete_unused_names": "the first",
        "delete_all_unused_names": "the first",
        "stated_relations_of_keys": "when a name becomes an entity, or ceases to be one",
        "page_votes": "links of one page",
        "links_at": "when a page with this title appears or disappears; stated relations only",
        "sample_stated": "all, for the statistics of a large namespace, of a sample of the entities",
    },
    ("stated_relation", "target"): {
        "delete_unused_names": "the first",
        "delete_all_unused_names": "the first",
        "all_broken_links": "stats, and the check of links",
        "links_by_stem": "links to one path, when a page appears there or disappears",
        "stated_relations_of_keys": "when a name becomes an entity, or ceases to be one",
        "page_votes": "the first",
        "links_at": "when a page with this title appears or disappears",
    },
    ("stated_relation", "source target type"): {
        "pair_support": "the largest",
        "relation_stated_relations": "the heaviest, up to a limit",
    },
    ("mention", "key"): {
        "links_of": "the strongest, up to a limit",
        "co_occurrences": "the strongest, up to a limit",
        "co_occurrences_with": "the strongest, up to a limit",
        "shared_chunks": "the strongest, up to a limit",
        "count_new_entities": "when a name becomes an entity: its own rows, by the key of the table",
    },
    ("mention", "key about"): {
        "definitions": "the first",
        "known_entities": "up to a limit",
        "mentions_in": "the first",
        "written_names": "the first",
    },
    ("mention", "chunk"): dict.fromkeys(
        (
            "chunk_mentions",
            "all_mentions_in",
            "mentions_in",
            "candidate_texts",
            "co_occurrences",
            "delete_mentions",
            "delete_all_mentions",
        ),
        "as many as the chunk proposes",
    ),
    ("entity", "head"): dict.fromkeys(
        (
            "relations_between",
            "relations_with",
            "entity_cards",
            "known_entities",
            "links_of",
            "mentions_in",
            "relations_of_type",
            "definitions",
            "entity_extractors",
            "co_occurrences",
            "co_occurrences_with",
            "written_names",
            "relation_stated_relations",
            "shared_chunks",
            "sample_types",
            "sample_stated",
        ),
        "as many as it has names",
    ),
    ("entity", "namespace alias_of"): {"other_names": "as many as it has names"},
    ("relation", "source"): {"count_relations": "stats", "all_relations": "check"},
    ("relation", "source weight"): {"links_of": "the heaviest, up to a limit"},
    ("relation", "target weight"): {"links_of": "the heaviest, up to a limit"},
    ("relation", "source type weight"): {"relations_of_type": "the heaviest of a type, up to a limit"},
    ("relation", "target type weight"): {"relations_of_type": "the heaviest of a type, up to a limit"},
    ("posting", "namespace term"): {
        "term_postings": "what holds a term is what a search is for",
    },
}
"""Look-ups that find all there is of one thing, the statements that may use them, and why that is bounded."""


def plan(db, sql):
    """Yield (table, columns looked up by) of every access to a table of ours; no columns: all of it is read."""
    tables = re.findall(r"\b(?:FROM|JOIN|UPDATE|INTO) (\w+)(?: AS (\w+))?", sql)
    names = {alias or table: table for table, alias in tables}
    values = dict.fromkeys(re.findall(r":(\w+)", sql))
    for _, _, _, detail in db.execute(f"EXPLAIN QUERY PLAN {sql}", values):
        access = re.match(r"(?:SCAN|SEARCH) (\w+)(?:.*\((.*)\))?", detail)
        if access and "VIRTUAL TABLE" not in detail:
            columns = re.findall(r"([\w<>]+?)[<>=]+\?", access[2] or "")
            yield names.get(access[1], access[1]), " ".join(columns)


@pytest.fixture(scope="module")
def plans():
    """By statement, how SQLite looks things up, without statistics, as in every store of ours."""
    db = apsw.Connection(":memory:")
    add_packing_functions(db)
    for name in ("vec_distance_cosine", "vec_bit", "vec_distance_hamming", "vec_quantize_binary"):
        db.create_scalar_function(name, lambda *vectors: 0.0)
    db.execute(load_schema("sqlite"))
    return {name: list(plan(db, sql)) for name, sql in load_queries("sqlite").items()}


def test_only_checks_and_counts_read_a_whole_table(plans):
    """Every other statement finds its rows by an index that holds more than the namespace."""
    whole = {
        name
        for name, accesses in plans.items()
        for table, columns in accesses
        if table in BIG and columns in ("", "namespace")
    }

    assert whole - WHOLE.keys() == set()
    assert WHOLE.keys() - whole - {"all_vectors"} == set(), "no longer needed here"


def test_what_finds_all_there_is_of_one_thing_is_bounded(plans):
    """A look-up by a name alone may find fifty thousand rows, so each is listed with what bounds it."""
    found = {(access, name) for name, accesses in plans.items() for access in accesses}

    for access, allowed in HUB.items():
        assert {name for other, name in found if other == access} == allowed.keys(), access


SEARCHED = {
    "co_occurrences": ["mention key", "mention chunk"],
    "co_occurrences_with": ["mention key", "mention chunk key"],
    "shared_chunks": ["mention key", "mention chunk key"],
    "candidate_texts": ["mention chunk"],
    "links_of": ["mention key", "relation source weight", "relation target weight"],
    "written_names": ["mention key about"],
    "known_entities": ["mention key about"],
    "count_new_entities": ["mention key"],
    "relations_between": ["relation source target"],
    "relations_with": ["relation source target", "relation source target"],
    "pair_support": ["stated_relation source target type"],
}
"""Index columns by which a statement finds mentions, stated relations and relations, in the order of the joins."""


@pytest.mark.parametrize("name", SEARCHED)
def test_mentions_and_relations_are_found_by_an_index(plans, name):
    """Columns that are missing here would be compared row by row, once for each mention of a hub."""
    found = [
        f"{table} {columns}" for table, columns in plans[name] if table in {"mention", "stated_relation", "relation"}
    ]

    assert sorted(found) == sorted(SEARCHED[name])


def test_what_goes_with_a_row_is_found_by_an_index():
    """Deleting a chunk or an entity looks for its rows in every table that refers to it."""
    db = apsw.Connection(":memory:")
    add_packing_functions(db)
    db.execute(load_schema("sqlite"))
    for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        indexes = [row[1] for row in db.execute(f"PRAGMA index_list ({table})")]
        first = {db.execute(f"PRAGMA index_info ({index})").fetchone()[2] for index in indexes}
        first |= {row[1] for row in db.execute(f"PRAGMA table_info ({table})") if row[5] == 1}
        for reference in db.execute(f"PRAGMA foreign_key_list ({table})"):
            assert reference[3] in first, f"{table}.{reference[3]}"
