"""
Contract of a store: the behaviour that every database owes its callers, as tests for pytest.

A class of your tests inherits it and opens a new, empty database:

    class TestMyStore(StoreContract):
        def open_database(self) -> Database:
            return MyDatabase()
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest

from weft.errors import SchemaMismatch
from weft.records import (
    Batch,
    Calibration,
    Candidate,
    Chunk,
    Curve,
    DocumentInfo,
    Extraction,
    Filter,
    IndexedChunk,
    Metadata,
    Ranking,
    Scalar,
    StoredModel,
    Vector,
)
from weft.store.base import Database, Store, StoreReader
from weft.text.analyzer import count_terms, query_terms
from weft.text.ids import chunk_id, document_id
from weft.text.split import indexed_text

MODEL = StoredModel(name="fake/three", fingerprint="f1", dimension=3, active=True)
EVERYTHING = Filter()
CALIBRATION = Calibration(
    cosine=Curve(middle=0.31, slope=20.5),
    beside=Curve(middle=0.15, slope=17.5),
    words=Curve(middle=0.2, slope=30.0),
    pairs=Curve(middle=0.14, slope=50.0),
    origin="fitted",
    probes=343,
    area=0.9876,
    chunks=1015,
)


def unit(*values: float) -> Vector:
    """Return a vector of length 1, rounded as stores round it."""
    vector = np.array(values, dtype=np.float32)
    rounded: Vector = (vector / np.linalg.norm(vector)).astype(np.float16).astype(np.float32)
    return rounded


def make_batch(
    source: str,
    texts: Sequence[str],
    *,
    namespace: str = "default",
    vectors: Mapping[str, Vector] | None = None,
    metadata: Metadata | None = None,
    model: str = MODEL.fingerprint,
) -> Batch:
    """Build the batch of a document whose chunks are `texts`."""
    id = document_id(namespace, source)
    seen = dict[str, int]()
    items = []
    for ordinal, text in enumerate(texts):
        indexed = indexed_text(source, (), text)
        occurrence = seen[indexed] = seen.get(indexed, -1) + 1
        chunk = Chunk(
            id=chunk_id(id, indexed, occurrence),
            document_id=id,
            ordinal=ordinal,
            heading=(),
            start_line=ordinal + 1,
            end_line=ordinal + 1,
            text=text,
        )
        vector = (vectors or {}).get(text, unit(len(text) % 7 + 1, len(set(text)) % 5 + 1, 1))
        items.append(IndexedChunk(chunk=chunk, terms=count_terms(indexed), vector=vector if model else None))
    document = DocumentInfo(
        id=id, source=source, title=source, metadata=metadata or {}, content_hash=json.dumps(texts), unit="line"
    )
    return Batch(document=document, chunks=tuple(items), model=model)


def at(microseconds: int) -> datetime:
    """Return a time by the microseconds since 1970."""
    return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=microseconds)


def found(ranking: Ranking, store: StoreReader) -> list[str]:
    """Return the texts of the hits, best first."""
    return [chunk.text for chunk in store.chunks([hit.chunk_id for hit in ranking.hits])]


def keyword(store: StoreReader, text: str, where: Filter = EVERYTHING) -> list[str]:
    """Return the texts that a keyword search finds, best first."""
    return found(store.search_keyword(query_terms(text), limit=9, where=where), store)


def replace_candidates(batch: Batch) -> Batch:
    """Return the batch with a candidate by each chunk: its first word."""
    items = []
    for item in batch.chunks:
        name = item.chunk.text.split()[0]
        candidate = Candidate(key=name.lower(), name=name, kind="given", about=True)
        items.append(replace(item, extraction=Extraction(candidates=(candidate,))))
    return replace(batch, chunks=tuple(items))


class StoreContract:
    """Tests of a database. A subclass overrides `open_database`, or the fixture `database`."""

    def open_database(self) -> Database:
        """Return a new, empty database."""
        raise NotImplementedError

    @pytest.fixture
    def database(self) -> Iterator[Database]:
        """Give a new database, and check it after the test."""
        database = self.open_database()
        yield database
        assert database.check() == []
        database.close()

    @pytest.fixture
    def store(self, database: Database) -> Store:
        """Give a store with an embedder."""
        store = database.store("default")
        store.write_model(MODEL)
        return store

    # ── write and read ──────────────────────────────────────────────────────────────────────────

    def test_writing_twice_keeps_one_copy(self, store: Store) -> None:
        """Writing the same document again changes nothing a caller can see."""
        batch = make_batch("a", ["Paris is the capital of France"])
        store.write(batch)
        before = (store.documents([batch.document.id]), store.find_chunks(batch.document.id))
        store.write(batch)

        assert (store.documents([batch.document.id]), store.find_chunks(batch.document.id)) == before
        assert keyword(store, "paris") == ["Paris is the capital of France"]
        assert store.stats().chunks == 1

    def test_the_last_of_two_versions_in_one_write_counts(self, store: Store, database: Database) -> None:
        """Chunks of the first one were never seen by a reader."""
        first, last = (replace_candidates(make_batch("a", [text])) for text in ("Paris is here", "Lyon is there"))
        store.write(first, make_batch("b", ["nothing"]), last)

        assert [chunk.text for chunk in store.find_chunks(last.document.id)] == ["Lyon is there"]
        assert database.check() == []

    def test_a_changed_document_loses_what_is_gone_and_keeps_what_stayed(self, store: Store) -> None:
        """A chunk that stays keeps its id and vector even when the batch brings no vector for it."""
        store.write(make_batch("a", ["alpha stays", "beta goes"]))
        new = make_batch("a", ["gamma comes", "alpha stays"])
        kept = IndexedChunk(chunk=new.chunks[1].chunk, terms=new.chunks[1].terms, vector=None)
        store.write(Batch(document=new.document, chunks=(new.chunks[0], kept), model=new.model))

        assert [c.text for c in store.find_chunks(new.document.id)] == ["gamma comes", "alpha stays"]
        assert keyword(store, "beta") == []
        assert store.find_unembedded(MODEL.fingerprint, limit=9) == []

    def test_a_chunk_whose_terms_change_alone_is_found_by_the_new_ones(self, store: Store) -> None:
        """Metadata is searched with the first chunk, so its terms can change while its text does not."""
        batch = make_batch("a", ["alpha"])
        store.write(batch)
        item = IndexedChunk(chunk=batch.chunks[0].chunk, terms={"alpha": 1, "tag": 2}, vector=None)
        store.write(Batch(document=batch.document, chunks=(item,), model=batch.model))

        assert keyword(store, "tagged") == ["alpha"]
        assert store.stats().terms == 2

    def test_chunks_keep_the_asked_order_and_skip_the_missing(self, store: Store) -> None:
        """Callers rely on the order they asked for."""
        store.write(make_batch("a", ["one", "two"]))
        one, two = store.find_chunks(document_id("default", "a"))

        assert store.chunks([two.id, "nope", one.id]) == [two, one]
        (document,) = store.documents([one.document_id])
        assert store.passages.with_documents([two.id, "nope", one.id]) == [(two, document), (one, document)]

    def test_documents_come_by_source_in_pages(self, store: Store) -> None:
        """A listing can be continued after the last source seen."""
        for name in ("b", "a", "c"):
            store.write(make_batch(name, ["text"]))

        every = store.find_documents(EVERYTHING)
        titles = {c.id: (item.id, item.source, item.title) for item in every for c in store.find_chunks(item.id)}
        assert store.passages.titles([*titles, "unknown"]) == titles
        first = store.find_documents(EVERYTHING, limit=2)
        rest = store.find_documents(EVERYTHING, after=first[-1].source, limit=2)
        assert [d.source for d in first + rest] == ["a", "b", "c"]

    def test_metadata_comes_back_as_it_was(self, store: Store) -> None:
        """Lists, numbers, truth values, nothing and any script survive."""
        metadata: Metadata = {"tags": ["a", "b"], "year": 2025, "ok": True, "none": None, "名": "文", "f": 1.5}
        store.write(make_batch("a", ["text"], metadata=metadata))

        assert store.documents([document_id("default", "a")])[0].metadata == metadata

    # ── search ──────────────────────────────────────────────────────────────────────────────────

    def test_the_rarer_term_wins(self, store: Store) -> None:
        """BM25 weighs a term by how few chunks hold it. A store may tell which terms the best hits contain."""
        store.write(make_batch("a", ["common rare", "common common", "common word"]))

        assert keyword(store, "common rare")[0] == "common rare"
        terms = ["common", "word", "absent"]
        shared = store.search_keyword(terms, limit=3, where=EVERYTHING).shared
        assert shared == store.passages.find_terms(list(shared), terms)

    def test_equal_scores_are_ordered_by_id(self, store: Store) -> None:
        """Ties have a stated order, so that two runs and two stores agree."""
        for name in "abcdefgh":
            store.write(make_batch("x" + name, ["same words"]))

        by_words = store.search_keyword(["same", "word"], limit=5, where=EVERYTHING).hits
        by_vector = store.search_vector(unit(1, 2, 3), limit=5, where=EVERYTHING).hits
        every = sorted(c.id for d in store.find_documents(EVERYTHING) for c in store.find_chunks(d.id))
        assert [hit.chunk_id for hit in by_words] == [hit.chunk_id for hit in by_vector] == every[:5]
        assert [hit.rank for hit in by_words] == [1, 2, 3, 4, 5]

    def test_vectors_rank_by_cosine_with_their_background(self, store: Store) -> None:
        """The score is the cosine; mean and deviation are those of all chunks, filtered out or not."""
        vectors = {"north": unit(0, 1, 0), "east": unit(1, 0, 0), "between": unit(1, 1, 0)}
        store.write(make_batch("a", ["north", "east"], vectors=vectors))
        store.write(make_batch("b", ["between"], vectors=vectors))
        ranking = store.search_vector(unit(0, 1, 0), limit=2, where=EVERYTHING)

        assert found(ranking, store) == ["north", "between"]
        assert [hit.score for hit in ranking.hits] == pytest.approx([1, 0.5**0.5], abs=1e-3)  # float16
        cosines = [1, 0, 0.5**0.5]
        assert (ranking.mean, ranking.deviation) == pytest.approx((np.mean(cosines), np.std(cosines)), abs=1e-3)
        only = store.search_vector(unit(0, 1, 0), limit=9, where=Filter(source_prefix="b"))
        assert found(only, store) == ["between"]
        assert only.mean == pytest.approx(ranking.mean)

    def test_a_chunk_full_of_the_terms_approaches_the_ceiling(self, store: Store) -> None:
        """The ceiling is the score no chunk can exceed."""
        store.write(make_batch("a", ["zebra " * 200, "lion"]))
        ranking = store.search_keyword(["zebra"], limit=1, where=EVERYTHING)

        assert 0.9 * ranking.ceiling < ranking.hits[0].score < ranking.ceiling

    @pytest.mark.parametrize(
        "text", ['"', "a AND (", "*", "", "NEAR(", '"; DROP TABLE chunk', "%", "\x00", "🙂"], ids=repr
    )
    def test_search_takes_any_text(self, store: Store, text: str) -> None:
        """No input is read as query syntax."""
        store.write(make_batch("s", ["something else entirely"]))

        assert keyword(store, text) == []
        assert store.stats().documents == 1

    def test_filters_narrow_both_channels(self, store: Store) -> None:
        """By document, by path prefix, by metadata; a list matches by its elements; text is compared as text."""
        store.write(make_batch("docs/a", ["shared one"], metadata={"tags": ["red", "blue"], "year": 2024}))
        store.write(make_batch("docs/b", ["shared two"], metadata={"tags": ["red"], "draft": True}))
        store.write(make_batch("src/c", ["shared three"], metadata={"tags": "red"}))
        cases: dict[Filter, set[str]] = {
            Filter(source_prefix="docs/"): {"shared one", "shared two"},
            Filter(metadata=(("tags", "red"),)): {"shared one", "shared two", "shared three"},
            Filter(metadata=(("tags", "red"), ("year", 2024))): {"shared one"},
            Filter(metadata=(("year", "2024"),)): {"shared one"},
            Filter(metadata=(("draft", True),)): {"shared two"},
            Filter(metadata_if_present=(("draft", True),)): {"shared one", "shared two", "shared three"},
            Filter(metadata_if_present=(("draft", "no"),)): {"shared one", "shared three"},
            Filter(metadata=(("tags", "red"),), metadata_if_present=(("year", 2025),)): {"shared two", "shared three"},
            Filter(metadata_excluded=(("tags", "blue"),)): {"shared two", "shared three"},
            Filter(metadata=(("tags", "red"),), metadata_excluded=(("year", 2024), ("draft", True))): {"shared three"},
            Filter(documents=(document_id("default", "src/c"),)): {"shared three"},
            Filter(source_prefix="docs/%"): set(),
            Filter(metadata=(("ta' OR 1", "red"),)): set(),
        }
        for where, expected in cases.items():
            assert set(keyword(store, "shared", where)) == expected, where
            assert set(found(store.search_vector(unit(1, 1, 1), limit=9, where=where), store)) == expected, where
            assert {c.text for d in store.find_documents(where) for c in store.find_chunks(d.id)} == expected

    def test_times_narrow_both_channels_chunk_by_chunk(self, store: Store) -> None:
        """From `after` on and until before `before`; a chunk without a time passes no filter with a time."""
        texts = ["shared one", "shared two", "shared three", "shared four"]
        spans = [(10, 20), (20, 30), (None, None), (40, 40)]
        batch = make_batch("talk", texts)
        chunks = [
            replace(item, chunk=replace(item.chunk, start_time=start, end_time=end))
            for item, (start, end) in zip(batch.chunks, spans, strict=True)
        ]
        store.write(replace(batch, chunks=tuple(chunks)))
        store.write(make_batch("note", ["shared five"]))
        cases: dict[Filter, set[str]] = {
            Filter(after=at(20)): {texts[0], texts[1], texts[3]},
            Filter(after=at(21)): {texts[1], texts[3]},
            Filter(before=at(20)): {texts[0]},
            Filter(after=at(31), before=at(40)): set(),
            Filter(after=datetime(1970, 1, 1), before=at(10**15), source_prefix="talk"): {*texts} - {texts[2]},
            Filter(after=at(0), source_prefix="note"): set(),
        }
        for where, expected in cases.items():
            assert set(keyword(store, "shared", where)) == expected, where
            assert set(found(store.search_vector(unit(1, 1, 1), limit=9, where=where), store)) == expected, where
            assert [d.source for d in store.find_documents(where)] == (["talk"] if expected else [])
        assert [(c.start_time, c.end_time) for c in store.find_chunks(batch.document.id)] == spans
        assert [(i.chunk.start_time, i.chunk.end_time) for i in store.batches([batch.document.id])[0].chunks] == spans

    def test_filters_know_whole_numbers_with_and_without_a_point(self, store: Store) -> None:
        """`1` is `1.0`, as a number and as text; `1.10` is not `1.1`, `01` not `1`, and true is no number."""
        values: dict[str, Scalar | Sequence[Scalar]] = {
            "a": 1,
            "b": 1.0,
            "c": [2.5, 1e16],
            "d": "1.10",
            "e": True,
            "f": "01",
            "g": -3,
        }
        for name, value in values.items():
            store.write(make_batch(name, [name], metadata={"v": value}))
        cases: list[tuple[Scalar, str]] = [
            (1, "ab"),
            (1.0, "ab"),
            ("1", "ab"),
            ("1.0", "ab"),
            (2.5, "c"),
            (10**16, "c"),
            (1e16, "c"),
        ]
        cases += [("1.1", ""), ("1.10", "d"), ("true", "e"), ("01", "f"), (-3.0, "g"), ("-3", "g"), ("3", "")]
        for value, expected in cases:
            passed = store.find_documents(Filter(metadata=(("v", value),)))
            assert "".join(sorted(document.source for document in passed)) == expected, value

    # ── delete ──────────────────────────────────────────────────────────────────────────────────

    def test_delete_removes_the_document_from_both_channels(self, store: Store) -> None:
        """A deleted document can no longer be found, and is counted once."""
        store.write(make_batch("a", ["Paris is a capital"]))
        store.write(make_batch("b", ["Oslo is a capital"]))
        gone = document_id("default", "a")

        assert store.delete([gone, gone, "nope"]) == 1
        assert keyword(store, "capital") == ["Oslo is a capital"]
        assert len(store.search_vector(unit(1, 1, 1), limit=9, where=EVERYTHING).hits) == 1
        assert store.delete([gone]) == 0

    # ── models ──────────────────────────────────────────────────────────────────────────────────

    def test_a_batch_of_another_embedder_is_refused(self, store: Store) -> None:
        """Vectors of two models never mix."""
        with pytest.raises(SchemaMismatch, match=r"fake/three|another embedder"):
            store.write(make_batch("a", ["text"], model="other"))
        assert store.stats().documents == 0

    def test_a_new_embedder_takes_over_once_every_chunk_has_its_vector(self, store: Store) -> None:
        """Until then the old one answers; afterwards its vectors are gone."""
        store.write(make_batch("a", ["one", "two"]))
        other = StoredModel(name="fake/two", fingerprint="f2", dimension=2, active=False)
        store.write_model(other)
        ids = store.find_unembedded("f2", limit=9)
        store.write_vectors("f2", {ids[0]: unit(1, 0), "unknown": unit(1, 0)})

        with pytest.raises(SchemaMismatch):
            store.write_model(StoredModel(name="fake/two", fingerprint="f2", dimension=2, active=True))
        assert len(store.search_vector(unit(1, 1, 1), limit=9, where=EVERYTHING).hits) == 2
        store.write_vectors("f2", {ids[1]: unit(0, 1)})
        store.write_model(StoredModel(name="fake/two", fingerprint="f2", dimension=2, active=True))
        assert [hit.chunk_id for hit in store.search_vector(unit(0, 1), limit=1, where=EVERYTHING).hits] == [ids[1]]
        assert [(m.name, m.active) for m in store.stats().models] == [("fake/two", True)]
        with pytest.raises(SchemaMismatch):
            store.search_vector(unit(1, 1, 1), limit=1, where=EVERYTHING)

    def test_a_store_without_an_embedder_answers_by_keyword(self, database: Database) -> None:
        """Vectors are optional; nothing found by them is an empty ranking."""
        store = database.store("plain")
        store.write(make_batch("a", ["hello"], namespace="plain", model=""))

        assert keyword(store, "hello") == ["hello"]
        assert store.search_vector(unit(1, 1, 1), limit=9, where=EVERYTHING).hits == ()

    # ── calibration ─────────────────────────────────────────────────────────────────────────────

    def test_a_calibration_is_kept_until_it_is_forgotten(self, store: Store) -> None:
        """The last written calibration is read back unchanged."""
        assert store.calibration() is None
        for calibration in (CALIBRATION, replace(CALIBRATION, probes=9)):
            before = store.stats().generation
            store.write_calibration(calibration)
            assert store.calibration() == calibration
            assert store.stats().generation > before
        store.write_calibration(None)
        assert store.calibration() is None

    def test_a_calibration_goes_with_its_embedder(self, store: Store) -> None:
        """While another embedder is prepared the old numbers count; once it answers they are gone, and stay gone."""
        store.write(make_batch("a", ["one"]))
        store.write_calibration(CALIBRATION)
        other = StoredModel(name="fake/two", fingerprint="f2", dimension=2, active=False)
        store.write_model(other)
        store.write_vectors("f2", {id: unit(1, 0) for id in store.find_unembedded("f2", limit=9)})

        assert store.calibration() == CALIBRATION
        store.write_model(replace(other, active=True))
        assert store.calibration() is None
        store.write_model(replace(MODEL, active=False))
        store.write_vectors("f1", {id: unit(1, 0, 0) for id in store.find_unembedded("f1", limit=9)})
        store.write_model(MODEL)
        assert store.calibration() is None

    def test_a_store_without_an_embedder_has_a_calibration_of_its_own(self, database: Database) -> None:
        """Words alone can be calibrated too; the first embedder ends that."""
        store = database.store("plain")
        store.write_calibration(CALIBRATION)

        assert store.calibration() == CALIBRATION
        store.write_model(MODEL)
        assert store.calibration() is None

    def test_a_calibration_belongs_to_one_namespace(self, database: Database, store: Store) -> None:
        """Another one does not see it, and dropping its own removes it."""
        other = database.store("other")
        other.write_model(MODEL)
        store.write_calibration(CALIBRATION)

        assert other.calibration() is None
        database.drop("default")
        assert database.store("default").calibration() is None

    def test_a_sample_is_the_same_each_time_and_says_nothing_of_the_documents(self, store: Store) -> None:
        """Chunks come in the order of their ids, which are hashes."""
        for name in "abc":
            store.write(make_batch(name, [f"{name} one", f"{name} two"]))
        ids = [c.id for d in store.find_documents(EVERYTHING) for c in store.find_chunks(d.id)]

        assert [chunk.id for chunk in store.sample(limit=4)] == sorted(ids)[:4]
        assert len(store.sample(limit=99)) == 6
        assert store.sample(limit=9)[0] == store.chunks([min(ids)])[0]

    # ── namespaces ──────────────────────────────────────────────────────────────────────────────

    def test_a_namespace_that_was_never_written_is_empty(self, database: Database) -> None:
        """Reading makes nothing."""
        store = database.store("nobody")

        assert keyword(store, "x") == []
        assert store.find_documents(EVERYTHING) == []
        assert store.stats().documents == 0
        assert database.namespaces() == []

    def test_another_namespace_moves_no_score(self, database: Database, store: Store) -> None:
        """BM25 statistics are per namespace."""
        store.write(make_batch("a", ["apple pie", "plum pie"]))
        before = store.search_keyword(["appl", "pie"], limit=9, where=EVERYTHING)
        other = database.store("other")
        other.write_model(MODEL)
        for number in range(20):
            other.write(make_batch(f"o{number}", ["apple apple tree"], namespace="other"))

        assert store.search_keyword(["appl", "pie"], limit=9, where=EVERYTHING) == before

    def test_dropping_a_namespace_leaves_the_others(self, database: Database, store: Store) -> None:
        """Everything of one owner goes, nothing of another."""
        store.write(make_batch("a", ["mine"]))
        other = database.store("other")
        other.write_model(MODEL)
        other.write(make_batch("a", ["theirs"], namespace="other"))

        assert database.namespaces() == ["default", "other"]
        assert database.drop("other")
        assert not database.drop("other")
        assert database.namespaces() == ["default"]
        assert keyword(store, "mine") == ["mine"]
