"""The content of every table of a SQLite store in terms of ids, so that two stores can be compared."""

import json

import apsw

ASIDE = {"namespace", "api_key"}  # its counters are compared by `check`, its generation differs by design; no content


def content(path):
    """Return {table: set of rows}, row numbers replaced by the ids they stand for."""
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    tables = {row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    described = {"document", "label", "chunk", "model", "chunk_vector", "posting"}
    described |= {"nomination", "claim", "entity", "mention", "relation", "entity_vector", "edit"}
    described |= {"fact", "fact_entity", "fact_word", "fact_vector", "fact_event", "fact_origin"}
    described |= {"calibration"}
    assert tables - ASIDE == described, "describe the new table here"
    spaces = dict(db.execute("SELECT number, name FROM namespace"))
    documents = dict(db.execute("SELECT number, id FROM document"))
    chunks = dict(db.execute("SELECT number, id FROM chunk"))
    models = dict(db.execute("SELECT number, fingerprint FROM model"))
    postings = set()
    for space, term, block, entries in db.execute("SELECT namespace, term, block, entries FROM posting"):
        for i in range(0, len(entries), 4):
            place, frequency = entries[i], entries[i + 1]
            length = int.from_bytes(entries[i + 2 : i + 4], "little")
            postings.add((spaces[space], term, chunks[block * 256 + place], frequency, length))
    return {
        "document": {
            (spaces[r[0]], *r[1:])
            for r in db.execute("SELECT namespace, id, source, title, metadata, content_hash, unit FROM document")
        },
        "label": {
            (spaces[r[0]], documents[r[1]], *r[2:])
            for r in db.execute("SELECT namespace, document, key, value FROM label")
        },
        "chunk": {
            (spaces[r[0]], documents[r[1]], *r[2:])
            for r in db.execute(
                "SELECT namespace, document, id, ordinal, heading, start_line, end_line, text, terms, length FROM chunk"
            )
        },
        "model": {
            (spaces[r[0]], *r[1:])
            for r in db.execute("SELECT namespace, name, fingerprint, dimension, active FROM model")
        },
        "chunk_vector": {
            (chunks[r[0]], models[r[1]], r[2]) for r in db.execute("SELECT chunk, model, vector FROM chunk_vector")
        },
        "posting": postings,
        "calibration": {
            (spaces[r[0]], models.get(r[1]), r[2])
            for r in db.execute("SELECT namespace, model, value FROM calibration")
        },
        **_graph(db, spaces, chunks, models),
        **_facts(db, spaces, models),
    }


def _graph(db, spaces, chunks, models):
    keys = dict(db.execute("SELECT number, key FROM entity"))
    return {
        "nomination": {
            (spaces[r[0]], chunks[r[1]], *r[2:])
            for r in db.execute(
                "SELECT namespace, chunk, origin, key, name, kind, vote, rank, type, description, about, alias_of,"
                " reason FROM nomination"
            )
        },
        "claim": {
            (spaces[r[0]], chunks[r[1]], *r[2:])
            for r in db.execute(
                "SELECT namespace, chunk, origin, source, target, type, weight, description, place FROM claim"
            )
        },
        "entity": {
            (spaces[r[0]], keys[r[1]], *r[2:])
            for r in db.execute(
                "SELECT namespace, head, id, key, strong, same_as, reason, mentions, chunks FROM entity"
            )
        },
        "mention": {
            (keys[r[0]], chunks[r[1]], *r[2:])
            for r in db.execute("SELECT entity, chunk, count, about, place FROM mention")
        },
        "relation": {
            (keys[r[0]], keys[r[1]], *r[2:])
            for r in db.execute("SELECT source, target, type, weight, support, place FROM relation")
        },
        "entity_vector": {
            (chunks[r[0]], r[1], models[r[2]], r[3])
            for r in db.execute("SELECT chunk, key, model, vector FROM entity_vector")
        },
        "edit": {(spaces[r[0]], *r[1:]) for r in db.execute("SELECT namespace, kind, key, value FROM edit")},
    }


def _facts(db, spaces, models):
    columns = {
        "fact": "id, subject, predicate, object, value, content, confidence, source, status, created, valid_from,"
        " valid_to, accessed, accesses, supersedes, note, spelling",
        "fact_entity": "key, name, description, type, declared",
        "fact_word": "word, key, size",
        "fact_origin": "fact, document",
        "fact_event": "fact, place, at, action, detail, other",
    }
    found = {
        table: {(spaces[r[0]], *r[1:]) for r in db.execute(f"SELECT namespace, {names} FROM {table}")}
        for table, names in columns.items()
    }
    vectors = {(models[r[0]], *r[1:]) for r in db.execute("SELECT model, key, sketch, vector FROM fact_vector")}
    return {**found, "fact_vector": vectors}


def summary(path):
    """Return how many rows each table has: what a failing comparison prints first."""
    return json.dumps({table: len(rows) for table, rows in content(path).items()})
