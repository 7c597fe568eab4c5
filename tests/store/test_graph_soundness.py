"""Differences between graph and documents are reported by `check` and fixed by `repair`."""

from dataclasses import replace

import apsw
import pytest
from contract import MODEL, make_batch, unit
from logical import content

from weft.extract.names import name_key
from weft.graph.entity_resolution import KIND_RANKS, OWN_KINDS
from weft.records import Candidate, Extraction, StatedRelation
from weft.store.relational.check.graph import Tally
from weft.store.sql_files import load_queries, load_schema
from weft.store.sqlite.database import SqliteDatabase
from weft.store.sqlite.name_candidates import KINDS
from weft.text.ids import document_id

DERIVED = ("entity", "mention", "stated_relation", "relation", "entity_vector")


def named(name, kind, **fields):
    return Candidate(key=name_key(name), name=name, kind=kind, **fields)


def document(source, texts, *candidates, stated_relations=(), namespace="default"):
    """Return a document about its source, whose chunks all propose and stated relation the same."""
    own = named(source, "title", about=True, description=f"What {source} is.")
    extraction = Extraction(candidates=(own, *candidates), stated_relations=tuple(stated_relations))
    batch = make_batch(source, texts, namespace=namespace)
    vectors = {n.key: unit(1, len(n.key), 2) for n in extraction.candidates if n.description}
    items = [replace(item, extraction=extraction, entity_vectors=vectors) for item in batch.chunks]
    return replace(batch, chunks=tuple(items))


def fill(database, namespace="default"):
    """Write a graph with weak names, abbreviations, spellings, merges, chains of names and an import."""
    store = database.store(namespace)
    store.write_model(MODEL)
    short = named("AS", "abbreviation", alias_of="auth service", reason="in parentheses")
    uses = StatedRelation(
        source="auth service", target="ledger", type="uses", weight=8.0, description="It writes there."
    )
    weak = named("Night Shift", "phrase")
    for source, texts, candidates in (
        ("Auth Service", ["The Auth Service (AS) asks the Ledger.", "AS. Data Base."], [short]),
        ("Ledger", ["The Ledger keeps books. Paris and the Auth Service read it."], [weak]),
        ("Paris", ["Paris is where the Night Shift works. The Ledger is in Paris."], [weak]),
        ("Database", ["A Database, or Data Base, by the Ledger."], [named("Data Base", "link")]),
        ("密钥", ["密钥 opens the Ledger in Paris."], []),
    ):
        stated_relations = [uses] if short in candidates else []
        store.write(document(source, texts, *candidates, stated_relations=stated_relations, namespace=namespace))
    chunks = [chunk.id for id in ("Paris", "Ledger") for chunk in store.find_chunks(document_id(namespace, id))]
    given = Extraction(
        candidates=(
            named("Grand Book", "given", about=True, alias_of="ledger", reason="the import says so"),
            named("Rome", "given", type="city", description="Another city."),
        ),
        stated_relations=(
            StatedRelation(source="rome", target="paris", type="near", weight=3.0),
            StatedRelation(source="ledger", target="paris", type="co_occurs_with", weight=9.0),
        ),
    )
    store.annotations.write("triples", {chunks[0]: given, chunks[1]: replace(given, stated_relations=())})
    missing = store.graph.find_unembedded(MODEL.fingerprint, limit=99)
    store.graph.write_vectors(MODEL.fingerprint, {at: unit(1, 1, 2) for at in missing})
    for kind, key, value in (
        ("merge", "rome", "paris"),
        ("alias", "lutetia", "paris"),
        ("alias", "lutece", "lutetia"),
        ("unmerge", "data base", "database"),
        ("rename", "ledger", "The Ledger"),
    ):
        store.graph.write_edit(kind, key, value)
    return store


@pytest.fixture
def path(tmp_path):
    return tmp_path / "weft.db"


@pytest.fixture
def database(path):
    database = SqliteDatabase(str(path))
    yield database
    database.close()


def damage(path, *statements):
    """Change the file behind the store's back, without its foreign keys."""
    with apsw.Connection(str(path)) as db:
        for statement in statements:
            db.execute(statement)
            assert db.changes(), f"changed nothing: {statement}"


def test_a_graph_with_merges_aliases_and_imports_is_sound(database, path):
    """Every kind of entity is there, the check has nothing to say, and deleting keeps it so."""
    store = fill(database)
    other = fill(database, "other")

    tables = content(path)
    assert {"", "triples"} == {row[2] for row in tables["stated_relation"]}
    assert {row[6] for row in tables["entity"]} >= {"", "in parentheses", "merged by you", "named by you"}
    assert len({row[1] for row in tables["entity"]}) < len(tables["entity"])
    assert database.check() == []
    store.delete([document_id("default", "Paris")])
    other.annotations.write("triples", {})
    assert database.check() == []


STRAY = "(SELECT number FROM chunk WHERE text LIKE 'AS.%')"
LEDGER, PARIS = (f"(SELECT number FROM entity WHERE key = '{key}')" for key in ("ledger", "paris"))
DAMAGE = {
    "entities lost": ("DELETE FROM entity WHERE key = 'ledger'", "1 entity is missing"),
    "an entity nobody named": (
        "INSERT INTO entity (namespace, hash, key, strong, reason) VALUES (1, x'e0', 'ghost', 1, '')",
        "1 entity should not exist",
    ),
    "weak for strong": ("UPDATE entity SET strong = 1 - strong WHERE key = 'night shift'", "1 entity is wrong"),
    "merged by nobody": ("UPDATE entity SET alias_of = 'paris' WHERE key = 'ledger'", "1 entity is wrong"),
    "another reason": ("UPDATE entity SET reason = 'because' WHERE key = 'as'", "1 entity is wrong"),
    "another id": ("UPDATE entity SET hash = x'e1' WHERE key = 'as'", "1 entity is wrong"),
    "counts": (
        "UPDATE entity SET mentions = mentions + 1, chunks = 99 WHERE key IN ('ledger', 'paris')",
        "2 entities have a wrong number of mentions",
    ),
    "heads": ("UPDATE entity SET head = number WHERE key = 'lutece'", "1 name resolves to the wrong entity"),
    "heads to nowhere": ("UPDATE entity SET head = 0", "names resolve to the wrong entity"),
    "counts of a name that nobody mentions": (
        "UPDATE entity SET chunks = 1 WHERE key = 'lutece'",
        "1 entity has a wrong number of mentions",
    ),
    "mentions lost": (f"DELETE FROM mention WHERE key = {LEDGER}", "1 mention is missing"),
    "all mentions lost": ("DELETE FROM mention", "mentions are missing"),
    "a mention nobody made": (
        f"INSERT INTO mention (key, chunk, count, about, place, sentences) VALUES ({PARIS}, {STRAY}, 1, 0, 0, 1)",
        "1 mention should not exist",
    ),
    "a mention twice": (
        "INSERT INTO mention SELECT key, chunk, count + 1, about, place, sentences FROM mention LIMIT 1",
        "1 should not exist",
    ),
    "counted wrong": (f"UPDATE mention SET count = count + 1 WHERE key = {PARIS}", "1 mention is wrong"),
    "about nothing": ("UPDATE mention SET about = 0", "mentions are wrong"),
    "another order": ("UPDATE mention SET place = 7", "mentions are wrong"),
    "other sentences": (f"UPDATE mention SET sentences = sentences | 64 WHERE key = {PARIS}", "1 mention is wrong"),
    "stated relations in another order": (
        "UPDATE stated_relation SET place = 7 WHERE origin = ''",
        "do not match chunk or kind",
    ),
    "stated relations of another namespace": (
        "UPDATE stated_relation SET namespace = 2 WHERE namespace = 1 AND origin = 'triples'",
        "not match chunk or kind",
    ),
    "relations lost": (f"DELETE FROM relation WHERE target = {PARIS}", "relations are missing"),
    "a relation nobody stated": (
        f"INSERT INTO relation VALUES ({PARIS}, {LEDGER}, 'hates', 9.0, 0)",
        "1 relation should not exist",
    ),
    "a relation into another namespace": (
        "UPDATE relation SET target = (SELECT number FROM entity WHERE namespace = 2 AND key = 'paris')"
        f" WHERE target = {PARIS} AND type = 'near'",
        "1 relation is missing, 1 should not exist",
    ),
    "wrong weight": ("UPDATE relation SET weight = weight + 1 WHERE type = 'uses'", "1 relation is wrong"),
    "wrong place": ("UPDATE relation SET place = 1 WHERE type = 'near'", "1 relation is wrong"),
    "votes": ("UPDATE candidate SET vote = 0 WHERE kind = 'title'", "do not match chunk or kind"),
    "ranks": ("UPDATE candidate SET rank = 9 WHERE kind = 'link'", "1 statement does not match chunk or kind"),
    "another document": (
        "UPDATE candidate SET document = 99 WHERE kind = 'phrase' AND namespace = 1",
        "2 statements do not match chunk or kind",
    ),
    "a vector of a name that nobody describes": (
        f"INSERT INTO entity_vector VALUES ({STRAY}, 'ghost', 1, x'000000000000000000000000')",
        "1 vector of a name matches no description",
    ),
    "all of it": ("DELETE FROM entity", "entities are missing"),
}


@pytest.mark.parametrize("statement, said", DAMAGE.values(), ids=DAMAGE)
def test_damage_is_found_and_mended(database, path, statement, said):
    """Each derived table is compared with what the documents say; after repair it is as before the damage."""
    fill(database)
    fill(database, "other")
    before = content(path)
    statement = statement.replace("WHERE key = '", "WHERE namespace = 1 AND key = '")
    statement = statement.replace("FROM chunk WHERE", "FROM chunk WHERE namespace = 1 AND")
    damage(path, statement)

    problems = database.check()
    assert any(said in problem.what for problem in problems), problems
    assert all(problem.repairable for problem in problems)
    assert database.repair()
    assert database.check() == []
    assert content(path) == before
    assert database.repair() == []


def test_a_vector_of_another_length_is_dropped(database, path):
    """Comparing with it would fail; without it the name is embedded again by the next `weft reembed`."""
    store = fill(database)
    damage(path, "UPDATE entity_vector SET vector = x'00' WHERE key = 'rome'")

    assert [problem.what for problem in database.check()] == ["2 vectors of names match no description"]
    database.repair()
    (problem,) = database.check()
    assert (problem.what, problem.command) == (f"2 names of the graph have no vector of {MODEL.name!r}", "weft reembed")
    assert {key for _, key in store.graph.find_unembedded(MODEL.fingerprint, limit=9)} == {"rome"}


def test_rows_that_belong_to_nothing_are_dropped(database, path):
    """A chunk that vanished without its rows: they are counted per table, and go."""
    fill(database)
    damage(path, "DELETE FROM chunk WHERE text LIKE 'AS.%'")

    problems = database.check()
    lost = {problem.where: problem.what for problem in problems if "refer" in problem.what}
    assert lost["table candidate"] == "2 rows refer to a missing row"
    assert {"table mention", "table stated_relation", "table entity_vector", "table chunk_vector"} <= set(lost)
    assert any("deleted" in line for line in database.repair())
    assert not any("refer" in problem.what for problem in database.check())


def test_a_namespace_without_a_graph_is_sound_and_stray_rows_in_it_are_not(database, path):
    """Without candidates, no row may be derived."""
    store = database.store("default")
    store.write_model(MODEL)
    store.write(make_batch("a", ["Paris is a city."]))
    assert database.check() == []
    damage(path, "INSERT INTO name VALUES (1, 1, 'a', NULL), (2, 1, 'b', NULL)")
    damage(
        path,
        "INSERT INTO entity (number, namespace, hash, key, strong, reason)"
        " VALUES (1, 1, x'e1', 'a', 1, ''), (2, 1, x'e2', 'b', 1, '')",
    )
    damage(path, "INSERT INTO relation VALUES (1, 2, 'near', 2.0, 0)", "INSERT INTO mention VALUES (1, 1, 1, 0, 0, 1)")

    assert [problem.what for problem in database.check()] == [
        "2 entities should not exist",
        "1 mention should not exist",
        "1 relation should not exist",
    ]
    database.repair()
    assert database.check() == []
    assert content(path)["relation"] == content(path)["mention"] == set()


@pytest.mark.parametrize("name", ["O'Brien", "Schindler's List", "The Lady's Maids", "Rock'n'Roll", "D’Artagnan"])
def test_a_name_with_an_apostrophe_is_found_before_and_after(tmp_path, name):
    """The order of the mentioning text and the defining document has no effect."""
    documents = [
        make_batch("x", [f"They met {name} there, and {name}'s friends. {name.upper()}"]),
        document(name, ["It."]),
    ]
    contents = []
    for file, order in (("first.db", documents), ("last.db", documents[::-1])):
        database = SqliteDatabase(str(tmp_path / file))
        store = database.store("default")
        store.write_model(MODEL)
        for batch in order:
            store.write(batch)
        found = store.graph.find_entities([name_key(name)])[name_key(name)]
        assert found.chunks == 1
        assert {m.count for m in store.graph.mentions_of([found.id], limit=9)} == {1, 3}
        assert database.check() == []
        contents.append(content(tmp_path / file))
        database.close()

    assert contents[0] == contents[1]


def test_many_chunks_are_compared_in_batches(database, path):
    """More chunks and keys than one batch holds: counts add up over all of them."""
    store = database.store("default")
    store.write_model(MODEL)
    store.write(
        *(document(f"Item {n}", [f"Item {n} of Great Hub.", "More of Great Hub."]) for n in range(300)),
        document("Great Hub", ["It holds all."]),
    )
    before = content(path)
    assert database.check() == []
    hub = "(SELECT number FROM name WHERE key = 'great hub')"
    damage(
        path, "UPDATE entity SET chunks = chunks - 1 WHERE key = 'great hub'", f"DELETE FROM mention WHERE key <> {hub}"
    )

    assert [problem.what for problem in database.check()] == [
        "1 entity has a wrong number of mentions",
        "600 mentions are missing",
    ]
    database.repair()
    assert content(path) == before


def test_a_tally_is_described_in_plain_words():
    """Singular and plural; counts of 0 are left out."""
    assert Tally().describe("mention", "mentions") == ""
    assert Tally(missing=12, wrong=3).describe("mention", "mentions") == "12 mentions are missing, 3 are wrong"
    assert Tally(wrong=1, extra=2000).describe("entity", "entities") == "1 entity is wrong, 2,000 should not exist"


def test_the_kinds_written_in_sql_are_those_of_the_code():
    """An index is used only for constants, so the numbers of the kinds of main names stand in the statements."""
    codes = sorted(KINDS.index(kind) for kind in OWN_KINDS)
    written = f"code IN ({', '.join(map(str, codes))})"

    assert all(f"WHEN {code} THEN '{kind}'" in load_schema("sqlite") for code, kind in enumerate(KINDS))
    assert written in load_queries("sqlite")["key_votes"]
    assert written in load_queries("sqlite")["vague_names"]
    assert set(KINDS) == KIND_RANKS.keys()
