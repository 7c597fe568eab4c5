"""Damaged tables of a server are reported and repaired as in a file."""

import re
import uuid

import postgres
import psycopg
import pytest
from logical import content
from test_fact_soundness import BREAKS, fill_facts
from test_graph_soundness import DAMAGE, LEDGER, PARIS, STRAY, fill

from weft.store.postgres.database import PostgresDatabase

ENFORCED = {
    "a mention twice",
    "stated relations of another namespace",
    "a relation into another namespace",
    "a vector of no embedder",
    "events of no namespace",
    "a fact of no namespace",
}
"""What keys and references keep a server from being told."""

OTHERWISE = {
    "an entity nobody named": (
        "INSERT INTO entity (namespace, id, key, strong, same_as, reason) VALUES (1, 'e0', 'ghost', TRUE, 'ghost', '')"
    ),
    "weak for strong": "UPDATE entity SET strong = NOT strong WHERE key = 'night shift'",
    "merged by nobody": "UPDATE entity SET same_as = 'paris' WHERE key = 'ledger'",
    "another id": "UPDATE entity SET id = 'e1' WHERE key = 'as'",
    "wrong place": "UPDATE relation SET place = 1 WHERE type = 'near'",
    "about nothing": "UPDATE mention SET about = FALSE",
    "a mention nobody made": (
        f"INSERT INTO mention (namespace, key, chunk, count, about, place, sentences)"
        f" VALUES (1, 'paris', {STRAY}, 1, FALSE, 0, 1)"
    ),
    "a relation nobody stated": f"INSERT INTO relation VALUES (1, {PARIS}, {LEDGER}, 'hates', 9.0, 0)",
    "a vector of a name that nobody describes": (
        "INSERT INTO entity_vector (namespace, model, chunk, key, vector)"
        f" SELECT namespace, number, {STRAY}, 'ghost', '[1,2,3]' FROM model WHERE namespace = 1"
    ),
    "a fact vector too short": "UPDATE fact_text_vector SET vector = '[1]'",
    "a vector too short": "UPDATE fact_vector SET vector = '[1]'",
}
"""The same said with the columns and types of a server."""


def cases(breaks):
    """Return what a server can be told, with what is said about it; all but one in four only in the slow run."""
    told = {name: break_ for name, break_ in breaks.items() if name not in ENFORCED and "sketch" not in break_[0]}
    return [
        pytest.param(OTHERWISE.get(name, statement), said, id=name, marks=[pytest.mark.slow] if place % 4 else [])
        for place, (name, (statement, said)) in enumerate(told.items())
    ]


def damage(dsn, statement):
    """Change the tables behind the store's back."""
    if {"stated_relation", "mention"} & set(statement.split()):  # which have keys, not their numbers
        statement = statement.replace(LEDGER, "'ledger'").replace(PARIS, "'paris'")
    statement = statement.replace("WHERE key = '", "WHERE namespace = 1 AND key = '")
    statement = statement.replace("FROM chunk WHERE", "FROM chunk WHERE namespace = 1 AND")
    statement = statement.replace("namespace = 1", "namespace = 'default'").replace("(1, ", "('default', ")
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute("SET search_path = weft, public")
        if statement.startswith("INSERT") and "VALUES" in statement:  # Citus takes no query among values
            for query in re.findall(r"\(SELECT [^()]*\)", statement):
                (value,) = db.execute(query).fetchone()
                statement = statement.replace(query, str(value))
        assert db.execute(statement).rowcount, f"changed nothing: {statement}"


@pytest.fixture(scope="module")
def graph(postgres_server):
    """Give a database with two graphs, its DSN and its content; each test leaves it as it was."""
    with postgres.new_database(postgres_server, f"weft_sound_{uuid.uuid4().hex[:8]}") as dsn:
        database = PostgresDatabase(dsn)
        fill(database)
        fill(database, "other")
        for name in ("default", "other"):
            database._connections.fold(name)
        yield database, dsn, content(dsn)
        database.close()


@pytest.mark.parametrize("statement, said", cases(DAMAGE))
def test_damage_of_the_graph_is_found_and_mended(graph, statement, said):
    """After repair everything is as it was before."""
    database, dsn, before = graph
    damage(dsn, statement)

    problems = database.check()
    assert any(said in problem.what for problem in problems), problems
    assert all(problem.repairable for problem in problems)
    assert database.repair()
    assert database.check() == []
    assert content(dsn) == before
    assert database.repair() == []


@pytest.mark.parametrize("statement, said", cases(BREAKS))
def test_broken_facts_are_found_and_mended(postgres_dsn, statement, said):
    """Each fault is named, can be repaired, and is gone afterwards."""
    database = PostgresDatabase(postgres_dsn)
    fill_facts(database)
    damage(postgres_dsn, statement)

    problems = database.check()
    assert any(said in problem.what for problem in problems), problems
    assert all(problem.repairable for problem in problems)
    assert any("facts" in line for line in database.repair())
    assert database.check() == []
    assert database.repair() == []
    database.close()


def test_the_index_of_words_is_found_wrong_and_built_again(graph):
    """Counts, terms and lengths are compared with the chunks."""
    database, dsn, before = graph
    for statement in (
        "DELETE FROM term WHERE namespace = 1 AND term = 'pari'",
        "UPDATE term SET chunks = chunks + 1 WHERE namespace = 1",
        "DELETE FROM posting WHERE namespace = 1",
        "UPDATE posting SET entries = set_byte(entries, 3, get_byte(entries, 3) + 1) WHERE namespace = 1",
        "UPDATE posting SET entries = entries || entries WHERE namespace = 1 AND term = 'pari'",
        "UPDATE namespace SET chunks = 17, length = 3 WHERE namespace = 1",
    ):
        damage(dsn, statement)
        assert len(database.check()) == 1, statement
        database.repair()
    assert database.check() == []
    assert content(dsn) == before


def test_lost_documents_are_not_repaired_away(postgres_dsn):
    """Moving a shard as a role that does not see its rows leaves the row of the namespace only."""
    database = PostgresDatabase(postgres_dsn)
    fill(database, "lost")
    fill(database, "kept")
    with psycopg.connect(postgres_dsn, autocommit=True) as db:
        for table in ("document", "fact", "entity", "term", "posting", "model"):
            db.execute(f"DELETE FROM weft.{table} WHERE namespace = 'lost'")
    for _ in range(2):
        (problem,) = database.check()
        assert problem.where == "namespace 'lost'" and "are lost: restore a backup" in problem.what
        assert not problem.repairable and not problem.command
        assert database.namespaces() == ["kept", "lost"]
        assert database.repair() == []
    assert database.drop("lost") and database.check() == []
    database.close()


@pytest.mark.skipif(not postgres.IS_CITUS, reason="moves shards of a cluster")
def test_the_owner_of_a_cluster_isolates_a_namespace_without_losing_it(postgres_server):
    """An ordinary owner: a superuser sees all rows anyway. Forced row security is reported first, and repaired."""
    name = f"weft_moved_{uuid.uuid4().hex[:8]}"
    grants = [f"CREATE ON DATABASE {name}"]
    with postgres.new_database(postgres_server, name, tables=False) as dsn:
        with psycopg.connect(dsn, autocommit=True) as db:
            for host, port in postgres.list_workers(postgres_server):
                db.execute("SELECT citus_add_node(%s::text, %s::int)", [host, port])
        with postgres.new_role(dsn, name=f"{postgres.ROLE}_mover", grants=grants) as owner:
            database = PostgresDatabase(owner)
            fill(database, "moved")
            before = content(dsn)
            with psycopg.connect(owner, autocommit=True) as db:
                db.execute("ALTER TABLE weft.chunk FORCE ROW LEVEL SECURITY")
                (problem,) = database.check()
                assert problem.where == "cluster" and "row security of 1 tables is forced" in problem.what
                assert database.repair() == ["row security is no longer forced on the owner of the tables"]
                db.execute("SELECT isolate_tenant_to_new_shard('weft.namespace', 'moved', 'CASCADE', 'block_writes')")
            assert database.check() == []
            assert content(dsn) == before
            database.close()
