"""The content of every table of a store in terms of ids, so that two stores of any kind can be compared."""

import json
from collections import Counter

import apsw
import numpy as np
import psycopg
from postgres import bind

from weft.store.postgres.blocks import CHUNKS_PER_BLOCK, ENTRY
from weft.store.shared.twelve_bits import unpack_twelve
from weft.store.sqlite.packed_terms import add_packing_functions

ASIDE = {"namespace", "api_key", "schema_version", "job", "sqlite_sequence"}
"""Counters are compared by `check`, generations differ by design; the others are no content."""

DELTAS = {"write_delta", "mention_delta"}
"""Added to the tables they belong to."""

KEYWORD_INDEX = {"posting", "chunk_terms", "term"}
"""Kept differently, compared as one."""

COLUMNS = {
    "document": "id source title metadata content_hash unit",
    "label": "document key value",
    "chunk": "document id ordinal heading start_line end_line text terms length",
    "model": "name fingerprint dimension active",
    "chunk_vector": "chunk model vector",
    "calibration": "model value",
    "candidate": "chunk origin key name kind vote rank type description about alias_of reason extractor",
    "stated_relation": "chunk origin source target type weight description place extractor",
    "entity": "head id key strong same_as reason mentions chunks",
    "mention": "key chunk count about place sentences",
    "relation": "source target type weight place",
    "entity_vector": "chunk key model vector",
    "edit": "kind key value",
    "llm_run": "id at model usage",
    "fact": "id subject predicate object value content confidence source status created valid_from valid_to accessed"
    " accesses supersedes note spelling",
    "fact_entity": "key name description type declared",
    "fact_word": "word key size",
    "fact_origin": "fact document",
    "fact_event": "fact place at action detail other",
    "fact_vector": "model key vector",
    "fact_text_vector": "model fact vector",
}
NUMBERED = {"document": "id", "chunk": "id", "model": "fingerprint", "entity": "id", "fact": "id"}
SPACELESS = {"chunk_vector", "mention", "relation", "entity_vector", "fact_vector", "fact_text_vector"}
"""What they refer to says which namespace they belong to."""
KEYS = {"candidate": ["key"], "stated_relation": ["source", "target"], "mention": ["key"]}
"""Columns in which a SQLite file has the number of a key."""
REFERENCES = {"head": "entity", "source": "entity", "target": "entity"}


def content(where, namespaces=None):
    """
    Return {table: set of rows}, numbers replaced by what they stand for, of a SQLite file or a PostgreSQL DSN.

    An ordinary role cannot list the namespaces of a server, so they are given.
    """
    store = _Postgres(where, namespaces) if "host=" in str(where) or "://" in str(where) else _Sqlite(where)
    with store.db:
        assert store.tables() - ASIDE - KEYWORD_INDEX - DELTAS == COLUMNS.keys(), "describe the new table here"
        numbers = {
            table: {number: (store.name(space), id) for space, number, id in store.rows(table, ["number", id])}
            for table, id in NUMBERED.items()
        }
        found = {table: _rows(store, table, names.split(), numbers) for table, names in COLUMNS.items()}
        found["posting"] = store.postings(numbers["chunk"])
    store.db.close()
    return found


def _rows(store, table, names, numbers):
    def said(column, value):
        referred = REFERENCES.get(column, column)
        if referred in numbers and isinstance(value, int):
            return numbers[referred][value]
        if column == "vector":
            if not isinstance(value, bytes):
                return np.array(value, dtype=np.float32).tobytes()
            if table == "entity_vector":
                return unpack_twelve([value])[0].tobytes()
            return np.frombuffer(value, "<f2").astype(np.float32).tobytes() if table == "chunk_vector" else value
        return tuple(sorted(json.loads(value).items())) if column == "terms" else value

    return {
        (store.name(space), *(said(*pair) for pair in zip(names, row, strict=True)))
        for space, *row in store.rows(table, names)
    }


class _Sqlite:
    def __init__(self, path):
        self.db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        add_packing_functions(self.db)
        self._spaces = dict(self.db.execute("SELECT number, name FROM namespace"))

    def tables(self):
        """Return the tables but that of the numbers of keys, which has the keys that others use, and no more."""
        used = "SELECT key FROM candidate UNION SELECT source FROM stated_relation"
        used += " UNION SELECT target FROM stated_relation UNION SELECT number FROM entity"
        used = set(self.db.execute(used))
        assert set(self.db.execute("SELECT number FROM name")) == used
        return {row[0] for row in self.db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")} - {"name"}

    def name(self, space):
        return self._spaces.get(space)

    def rows(self, table, columns):
        """Yield the number of the namespace, or nothing where a row has none of its own, and the columns."""
        space = "NULL" if table in SPACELESS else "namespace"
        keys = KEYS.get(table, ())
        casts = {c: f"(SELECT key FROM name WHERE number = {table}.{c})" for c in keys}
        if table == "candidate":
            same = "t.chunk = candidate.chunk AND t.key = candidate.key AND t.place = candidate.description"
            title = f"SELECT t.description FROM candidate AS t WHERE {same}"
            casts["description"] = f"iif(typeof(description) = 'text', description, ({title}))"
            casts["name"] = "coalesce(name, (SELECT spelling FROM name WHERE number = candidate.key))"
        if table == "chunk":
            casts["terms"], casts["text"] = "unpack_terms(terms, text)", "unpack_text(text)"
        names = [casts.get(c, c) for c in columns]
        yield from self.db.execute(f"SELECT {space}, {', '.join(names)} FROM {table}")

    def postings(self, chunks):
        found, lengths = {}, Counter()
        for space, term, block, entries in self.db.execute("SELECT namespace, term, block, entries FROM posting"):
            for entry in np.frombuffer(entries, "<u2").tolist():
                chunk = chunks[block * 4096 + (entry >> 4)]
                if term == " ":
                    lengths[chunk] = lengths[chunk] * 16 + entry % 16
                else:
                    at = self.name(space), term, chunk
                    found[at] = found.get(at, 0) + entry % 16
        return {(*at, frequency, lengths[at[2]]) for at, frequency in found.items()}


class _Postgres:
    def __init__(self, dsn, namespaces):
        self.db = psycopg.connect(dsn)
        self._spaces = namespaces or [row[0] for row in self.db.execute("SELECT namespace FROM weft.namespace")]

    def tables(self):
        found = self.db.execute(
            "SELECT relname FROM pg_class"
            " WHERE relnamespace = 'weft'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition"
        )
        return {row[0] for row in found}

    def name(self, space):
        return space

    def rows(self, table, columns):
        casts = {"vector": "vector::real[]", "terms": "terms::text"}
        if table == "entity":
            pending = "FROM weft.mention_delta AS d WHERE d.namespace = entity.namespace AND d.key = entity.key"
            casts |= {c: f"({c} + coalesce((SELECT sum(d.{c}) {pending}), 0))::bigint" for c in ("mentions", "chunks")}
        names = ", ".join(casts.get(column, column) for column in columns)
        space = "NULL" if table in SPACELESS else "namespace"
        for bound in self._bound():
            yield from self.db.execute(f"SELECT {space}, {names} FROM weft.{table} WHERE namespace = %s", [bound])

    def postings(self, chunks):
        """Read who holds which terms, or will when deltas are folded; what is counted must be what is held."""
        found, counted = set(), set()
        for space in self._bound():
            asked = "SELECT term, block, entries FROM weft.posting WHERE namespace = %s"
            for term, block, entries in self.db.execute(asked, [space]).fetchall():
                for place, frequency, length in ENTRY.iter_unpack(entries):
                    found.add((space, term, block * CHUNKS_PER_BLOCK + place, frequency, length))
            rows = self.db.execute("SELECT term, chunks FROM weft.term WHERE namespace = %s", [space])
            counted |= {(space, term, count) for term, count in rows}
        held = Counter(row[:2] for row in found)
        assert counted == {(*term, count) for term, count in held.items()}
        for space in self._bound():
            found = self._after_folding(space, found)
        return {(space, term, chunks[number], *rest) for space, term, number, *rest in found}

    def _after_folding(self, space, found):
        """Return postings with the changes that are not in them yet."""
        asked = "SELECT added, removed FROM weft.write_delta WHERE namespace = %s AND touched > 0 ORDER BY number"
        new, old = set(), {}
        for added, removed in self.db.execute(asked, [space]).fetchall():
            new |= set(added)
            old = {int(number): terms for number, terms in removed.items()} | old
        gone = {(space, term, number) for number, terms in old.items() if number not in new for term in terms}
        assert gone <= {row[:3] for row in found}, "a term that was removed was not held"
        asked = "SELECT number, terms, length FROM weft.chunk WHERE namespace = %s AND number = ANY (%s)"
        rows = self.db.execute(asked, [space, [*(new | old.keys())]]).fetchall()
        fresh = {
            (space, term, number, min(n, 255), length) for number, terms, length in rows for term, n in terms.items()
        }
        return {row for row in found if row[:3] not in gone} | fresh

    def _bound(self):
        """Yield the namespaces, each while row security shows it."""
        for space in self._spaces:
            bind(self.db, space)
            yield space
