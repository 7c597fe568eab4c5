"""Logical content of a store as one flat dictionary, and its differences from what was acknowledged."""

from contextlib import closing

from weft.config import is_server
from weft.records import Filter
from weft.store.postgres.database import PostgresDatabase
from weft.store.sqlite.database import SqliteDatabase
from weft.store.sqlite.index import builder, reader

NAMESPACES = ("default", "side")
MIN_INDEXED_ROWS, MIN_EXTENSION_ROWS = 60, 10


def use_small_indexes():
    """Let small stores have read indexes, built at once."""
    reader.MIN_INDEXED_ROWS, reader.MIN_EXTENSION_ROWS = MIN_INDEXED_ROWS, MIN_EXTENSION_ROWS
    builder.MAX_TRANSACTION_ROWS, builder.MAX_BUFFERED_CHUNKS, builder.DEBOUNCE_SECONDS = 32, 64, 0.0


def open_store(db):
    """Open a file or a server."""
    return PostgresDatabase(db) if is_server(db) else SqliteDatabase(db)


def read_state(database):
    """Return {path: value} of all namespaces: documents, facts, edits, imports, embedders and keys."""
    state = {}
    for name in NAMESPACES:  # an empty namespace is not listed, but may have an embedder
        store = database.store(name)
        with store.reading():
            for item in store.find_documents(Filter(), limit=10_000):
                version = item.metadata.get("version", "")
                state[path("document", name, item.source)] = f"{version}/{item.chunk_count}"
            for fact in stated_facts(store):
                ended = " ended" if fact.valid_to else ""
                state[path("fact", name, fact.subject_name, fact.predicate, fact.value)] = fact.status + ended
            for kind, key, value in store.graph.edits():
                state[path("edit", name, kind, key, value)] = "written"
            for origin in store.annotations.origins():
                state[path("import", name, origin)] = "written"
            for model in store.models():
                if model.active:
                    state[path("embedder", name)] = model.name
    for key in database.keys.all():
        state[path("key", key.name)] = "revoked" if key.revoked else "valid"
    return state


def stated_facts(store):
    """Return the facts that were stated by calls; facts of document properties follow their documents."""
    return [fact for fact in store.facts.facts_after("", limit=10_000) if fact.predicate != "version"]


def path(*parts):
    return "\t".join(parts)


def changes(before, after):
    """Return {path: new value} of two states; None: deleted."""
    return {at: after.get(at) for at in before.keys() | after.keys() if before.get(at) != after.get(at)}


def apply(state, changed):
    """Return a state with changes."""
    return {at: value for at, value in {**state, **changed}.items() if value is not None}


def lost(acknowledged, actual, allowed):
    """
    Return the differences from the acknowledged state that no call in progress explains.

    `allowed` lists (prefix of paths, beginnings of values). A beginning of None allows a deletion; a list of None
    instead of beginnings allows every value.
    """
    return {
        at: [acknowledged.get(at), value]
        for at, value in changes(acknowledged, actual).items()
        if not any(at.startswith(prefix) and is_allowed(value, values) for prefix, values in allowed)
    }


def is_allowed(value, values):
    if values is None:
        return True
    return any(value is None if item is None else value is not None and value.startswith(item) for item in values)


def inspect(db, deep):
    """
    Return state and problems of a store; `deep` compares the read indexes with a scan too.

    Names of entities are embedded after the transaction that writes them, and by the next one after a crash.
    """
    use_small_indexes()
    with closing(open_store(db)) as database:
        problems = [item for item in database.check() if not is_unembedded_name(item)]
        if deep and not problems:
            problems = database.compare()
        return {"state": read_state(database), "problems": [f"{item.where}: {item.what}" for item in problems]}


def is_unembedded_name(problem):
    return problem.command == "weft reembed" and "chunk" not in problem.what
