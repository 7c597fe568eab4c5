"""
Stores of any size for the speed benchmarks, multiplied from real text.

    python benchmarks/corpora.py --size 100000 DIR       # writes DIR/100000.db

The documents of evaluation sets are indexed with the real model, which takes a few minutes once. The other documents
are variants of them: rare words of names are replaced, a few sentences of other documents are appended, and the vector
is moved slightly towards that of another passage. The number of names therefore grows with the corpus, and common
words and names stay common. Candidates and stated relations are renamed with the text, so `weft check` finds no problem
and the store accepts writes.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import apsw
import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "quality"))

from harness import data_folder, make_parser
from renaming import WORD, Renaming, expect_variants

from weft.engine.opening.open_engine import open_engine
from weft.extract.names import MAX_KEY_WORDS, match_names, singular, words
from weft.load.formats.beir import iter_corpus
from weft.records import Document
from weft.store.shared.merging import pair_tie_rank, tie_rank
from weft.store.shared.twelve_bits import pack_twelve, unpack_twelve
from weft.store.sqlite.packed_terms import add_packing_functions
from weft.store.sqlite.postings import CHUNKS_PER_BLOCK, TermChanges, count_places
from weft.text.analyzer import count_terms, terms
from weft.text.ids import chunk_id, document_id, entity_id
from weft.text.split import indexed_text

SETS = ("2wiki-dev", "musique-train", "hotpot-train")
NAMESPACE = "default"
MOVED, NOISE = 0.35, 0.25
"""How far a vector moves towards another one, and in no direction."""

_CANDIDATES = (
    "SELECT chunk, document, key, place, name, code, vote, rank, type, description, about, alias_of, reason"
    " FROM candidate WHERE origin = ''"
)
_STATED_RELATIONS = "SELECT chunk, origin, source, target, type, weight, description FROM stated_relation"

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


def base_store(folder: Path) -> Path:
    """Return a store with the indexed evaluation sets; build it if it is missing."""
    path = folder / "base.db"
    if not path.exists():
        begun = folder / "base.begun.db"
        with open_engine(str(begun)) as engine:
            engine.add(_documents())
        begun.rename(path)
    return path


def _documents() -> Iterator[Document]:
    seen = set()
    for name in SETS:
        for document in iter_corpus(data_folder() / name):
            if document.text not in seen:
                seen.add(document.text)
                yield replace(document, source=f"{name}/{document.source}")


def make_store(folder: Path, size: int) -> Path:
    """Return a store of about `size` chunks; build it if it is missing."""
    path = folder / f"{size}.db"
    if path.exists():
        return path
    begun = folder / f"{size}.begun.db"
    begun.unlink(missing_ok=True)
    shutil.copy(base_store(folder), begun)
    db = apsw.Connection(str(begun))
    add_packing_functions(db)
    db.pragma("journal_mode", "off")
    db.pragma("synchronous", "off")
    db.pragma("cache_size", -1_000_000)
    copies = max(1, round(size / db.execute("SELECT count(*) FROM chunk").get))
    renaming = Renaming(db)
    if copies > 1:
        expect_variants(db, renaming)
    variants = Variants(db, renaming)
    with db, _without_indexes(db):
        db.execute("CREATE TEMP TABLE new_posting (term TEXT, block INTEGER, entries BLOB)")
        for copy in range(1, copies):
            variants.write(copy)
            print(f"\r{copy + 1} of {copies} variants", end="", file=sys.stderr, flush=True)
        variants.finish(copies)
    db.execute("PRAGMA optimize")
    db.close()
    begun.rename(path)
    return path


class _without_indexes:  # noqa: N801
    """
    Drop the derived indexes for the block and rebuild them afterwards, because sorting many rows at once is faster.
    """

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._statements: list[tuple[str, str]] = []

    def __enter__(self) -> None:
        found = self._db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
        self._statements = list(found)
        for name, _ in self._statements:
            self._db.execute(f'DROP INDEX "{name}"')

    def __exit__(self, *failure: object) -> None:
        for _, sql in self._statements:
            self._db.execute(sql)


@dataclass
class _Chunk:
    pieces: list[str]
    places: list[int]
    """Which of the pieces are words that change."""
    terms: dict[str, int]
    row: tuple[Any, ...]


class Variants:
    """Writes variants of the content of a store into the same store."""

    def __init__(self, db: apsw.Connection, renaming: Renaming) -> None:
        self._db = db
        self._chance = random.Random(1)
        self._renaming = renaming
        self._documents = list(db.execute("SELECT number, title, unit FROM document ORDER BY number"))
        rows = db.execute(
            "SELECT number, document, ordinal, heading, start_line, end_line, unpack_text(text),"
            " unpack_terms(terms, text) FROM chunk ORDER BY number"
        )
        self._chunks = [self._read(row) for row in rows]
        self.chunks = len(self._chunks)
        highest = self._chunks[-1].row[0]
        self._step = -(-(highest + 1) // CHUNKS_PER_BLOCK) * CHUNKS_PER_BLOCK
        """Between the numbers of a chunk and of its variant: whole blocks."""
        packed = dict(db.execute("SELECT chunk, vector FROM chunk_vector"))
        self._model = db.execute("SELECT number FROM model WHERE active").get
        self._vectors = np.stack([np.frombuffer(packed[chunk.row[0]], "<f2") for chunk in self._chunks])
        self._entities = list(
            db.execute("SELECT number, key, strong, same_as, reason, mentions, chunks, head FROM entity")
        )
        self._names: dict[int, str] = dict(db.execute("SELECT number, key FROM name"))
        self._spellings: dict[int, str | None] = dict(db.execute("SELECT number, spelling FROM name"))
        self._own = {number for number, key in self._names.items() if renaming.changes(key)}
        self._keys = {row[0]: row[1] for row in self._entities}
        self._fillers = [(text, count_terms(text)) for text in self._find_fillers()]
        self._offset = max(self._names) + 1
        self._relations = list(db.execute("SELECT source, target, type, weight FROM relation"))
        self._mentions = list(db.execute("SELECT key, chunk, count, about, sentences FROM mention"))
        self._candidates = list(db.execute(_CANDIDATES))
        self._stated_relations = list(db.execute(_STATED_RELATIONS))
        self._described = list(db.execute("SELECT chunk, key, vector FROM entity_vector"))

    def write(self, copy: int) -> None:
        """Write one variant of everything."""
        suffix = self._renaming.suffix(copy)
        text = cache(lambda said: self._renaming.text(said, suffix))
        key = cache(lambda of: self._renaming.key(of, suffix))
        shift, onto = copy * self._step, copy * (self._documents[-1][0] + 1)
        renamed_terms = {terms(word)[0]: terms(word + suffix)[0] for word in self._renaming.rare}

        def renamed(said: Any) -> Any:
            return text(said) if isinstance(said, str) else said  # nothing, or a place

        def entity(number: int) -> int:
            return number + copy * self._offset if number in self._own else number

        db, run, names = self._db, self._db.executemany, self._names
        run(
            "INSERT INTO name (number, namespace, key, spelling) VALUES (?, 1, ?, ?)",
            ((entity(n), key(names[n]), text(self._spellings[n] or "") or None) for n in sorted(self._own)),
        )
        ids = {number: document_id(NAMESPACE, f"variant {copy}/{number}") for number, *_ in self._documents}
        titles = {number: text(title) for number, title, _ in self._documents}
        run(
            "INSERT INTO document (number, namespace, id, source, title, metadata, content_hash, unit)"
            " VALUES (?, 1, ?, ?, ?, '{}', 'variant', ?)",
            [(n + onto, ids[n], f"variant {copy}/{n}", titles[n], unit) for n, _, unit in self._documents],
        )
        places: dict[int, int] = {}
        seen: Counter[tuple[int, str]] = Counter()
        changes, length = TermChanges(None, namespace=1), 0  # type: ignore[arg-type]
        rows = []
        for chunk in self._chunks:
            number, document, ordinal, heading, first, last = chunk.row
            pieces = list(chunk.pieces)
            for at in chunk.places:
                pieces[at] += suffix
            held = Counter({renamed_terms.get(term, term): count for term, count in chunk.terms.items()})
            for said, counts in self._chance.sample(self._fillers, self._chance.randrange(4)):
                pieces.append(" " + said)
                held.update(counts)
            said, heading = "".join(pieces), text(heading)
            indexed = indexed_text(titles[document], tuple(json.loads(heading)), said)
            id = chunk_id(ids[document], indexed, seen[document, indexed])
            seen[document, indexed] += 1
            places[number], size = tie_rank(id), held.total()
            length += size
            changes.add(number + shift, held, length=size)
            terms_said = json.dumps(held, ensure_ascii=False)
            rows.append((number + shift, document + onto, id, ordinal, heading, first, last, said, terms_said, size))
        run(
            "INSERT INTO chunk (number, namespace, document, id, ordinal, heading, start_line, end_line, text, terms,"
            " length) VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6, ?7, pack_text(?8), pack_terms(?9, ?8), ?10)",
            rows,
        )
        run("INSERT INTO new_posting VALUES (?, ?, ?)", ((t, b, e) for (t, b), e in changes.blocks().items()))
        numbers = [chunk.row[0] + shift for chunk in self._chunks]
        run(
            "INSERT INTO chunk_vector (chunk, model, vector) VALUES (?, ?, ?)",
            (
                (n, self._model, v.astype("<f2").tobytes())
                for n, v in zip(numbers, self._move(self._vectors, copy), strict=True)
            ),
        )
        run(
            "INSERT INTO entity (number, namespace, hash, key, strong, alias_of, reason, mentions, chunks, head)"
            " VALUES (?1, 1, unhex(substr(?2, 2)), ?3, ?4, nullif(?5, ?3), ?6, ?7, ?8, ?9)",
            (
                (
                    entity(n),
                    entity_id(NAMESPACE, key(k)),
                    key(k),
                    strong,
                    key(same),
                    why,
                    mentions,
                    chunks,
                    entity(head),
                )
                for n, k, strong, same, why, mentions, chunks, head in self._entities
                if n in self._own
            ),
        )
        run(
            "INSERT INTO mention (key, chunk, count, about, place, sentences) VALUES (?, ?, ?, ?, ?, ?)",
            ((entity(k), c + shift, count, about, places[c], bits) for k, c, count, about, bits in self._mentions),
        )
        run(
            "INSERT INTO relation (source, target, type, weight, place) VALUES (?, ?, ?, ?, ?)",
            (
                (entity(s), entity(t), type, weight, pair_tie_rank(NAMESPACE, key(names[s]), key(names[t])))
                for s, t, type, weight in self._relations
                if s in self._own or t in self._own
            ),
        )
        run(
            "INSERT INTO candidate (namespace, origin, extractor, chunk, document, key, place, name, code, vote, rank,"
            " type, description, about, alias_of, reason) VALUES (1, '', '', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (c + shift, d + onto, entity(k), at, renamed(name), *kind, renamed(said), about, key(alias), why)
                for c, d, k, at, name, *kind, said, about, alias, why in self._candidates
            ),
        )
        run(
            "INSERT INTO stated_relation (namespace, extractor, chunk, origin, source, target, type, weight,"
            " description, place) VALUES (1, '', ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (c + shift, origin, entity(s), entity(t), type, weight, text(said), places[c])
                for c, origin, s, t, type, weight, said in self._stated_relations
            ),
        )
        described = np.stack(unpack_twelve([row[2] for row in self._described]))
        run(
            "INSERT INTO entity_vector (chunk, key, model, vector) VALUES (?, ?, ?, ?)",
            (
                (row[0] + shift, key(row[1]), self._model, vector)
                for row, vector in zip(self._described, pack_twelve(self._move(described, copy)), strict=True)
            ),
        )
        db.execute("UPDATE namespace SET chunks = chunks + ?, length = length + ?", (len(rows), length))

    def finish(self, copies: int) -> None:
        """Write the rows that all variants share."""
        shared = [row for row in self._entities if row[0] not in self._own]
        self._db.executemany(
            "UPDATE entity SET mentions = ?, chunks = ? WHERE number = ?",
            ((copies * row[5], copies * row[6], row[0]) for row in shared),
        )
        self._db.execute("INSERT INTO posting SELECT 1, term, block, entries FROM new_posting ORDER BY term, block")
        self._db.execute("DELETE FROM term")
        self._db.create_scalar_function("count_places", lambda *values: count_places(*values), 1)
        counts = "SELECT 1, term, sum(count_places(entries)) FROM posting WHERE term <> ' ' GROUP BY term"
        self._db.execute(f"INSERT INTO term {counts}")
        self._db.execute(
            "INSERT INTO chunk_terms (namespace, chunk) SELECT 1, number FROM chunk AS c"
            " WHERE NOT EXISTS (SELECT 1 FROM chunk_terms WHERE chunk = c.number) ORDER BY number"
        )
        self._db.execute("UPDATE namespace SET generation = generation + 1")

    def _read(self, row: tuple[Any, ...]) -> _Chunk:
        pieces = WORD.split(row[6])
        places = [at for at in range(1, len(pieces), 2) if pieces[at].lower() in self._renaming.rare]
        return _Chunk(pieces=pieces, places=places, terms=json.loads(row[7]), row=row[:6])

    def _find_fillers(self) -> list[str]:
        """Return sentences without names that do not continue a name at the end of the preceding text."""
        names = set(self._keys.values())
        ends = {" ".join(parts[at:]) for parts in (name.split(" ") for name in names) for at in range(1, len(parts))}
        found: dict[str, None] = {}
        for chunk in self._chunks:
            for sentence in _SENTENCE.split("".join(chunk.pieces)):
                if 40 < len(sentence) < 200 and sentence[1:].islower() and sentence[0].isupper():
                    held = words(sentence)
                    said = [word.text for word in held[:MAX_KEY_WORDS]]
                    begins = {" ".join((*said[:at], singular(word))) for at, word in enumerate(said)}
                    if ends.isdisjoint(begins) and not match_names(held, names):
                        found[sentence] = None
        return list(found)

    def _move(self, vectors: np.ndarray, copy: int) -> np.ndarray:
        chance = np.random.default_rng(copy)
        others = vectors[chance.permutation(len(vectors))]
        noise = chance.normal(size=vectors.shape).astype(np.float32) / np.sqrt(vectors.shape[1])
        moved = vectors.astype(np.float32) + MOVED * others + NOISE * noise
        unit: np.ndarray = (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32)
        return unit


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--size", type=int, nargs="+", default=[100_000])
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for size in arguments.size:
        start = time.perf_counter()
        path = make_store(arguments.folder, size)
        print(f"\r{path}: {path.stat().st_size / 1e9:.2f} GB, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
