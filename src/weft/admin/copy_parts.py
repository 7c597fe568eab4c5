"""Parts of a namespace that can be listed, compared and written: documents, facts, edits and others."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, cast

from weft.graph.entity_resolution import EditKind
from weft.records import Batch, Extraction, Fact, Filter, Vector
from weft.store.base import Store
from weft.text.ids import digest

PAGE_ITEMS = 500
"""Number of facts, entities or documents per comparison."""

PAGE_CHUNKS = 128
"""Maximum number of chunks per comparison and transaction. A single document may have more."""


class Part(Protocol):
    """One kind of stored content. Derived data, such as the graph, is excluded."""

    what: str
    is_counted: bool = False
    """True if the progress bar counts its items."""

    def pages(self, store: Store) -> Iterator[list[str]]:
        """Yield the ids of all items in pages."""

    def known(self, store: Store, ids: Sequence[str]) -> set[str]:
        """Return those of the ids that the store has."""

    def checksums(self, store: Store, ids: Sequence[str]) -> Mapping[str, str]:
        """Return a checksum of the whole content of each existing item."""

    def write(self, source: Store, target: Store, ids: Sequence[str]) -> None:
        """Write these items to the target."""

    def remove(self, store: Store, ids: Sequence[str]) -> int:
        """Delete these items; return their number."""

    def name(self, store: Store, id: str) -> str:
        """Return the display name of an item, by default its id."""
        return id


class Documents(Part):
    """Documents with chunks, terms, vectors and extractions."""

    what = "document"
    is_counted = True

    def pages(self, store: Store) -> Iterator[list[str]]:
        after, ids, chunks = "", list[str](), 0
        while page := store.find_documents(Filter(), after=after, limit=PAGE_ITEMS):
            for document in page:
                ids.append(document.id)
                chunks += document.chunk_count
                if chunks >= PAGE_CHUNKS or len(ids) >= PAGE_ITEMS:
                    yield ids
                    ids, chunks = [], 0
            after = page[-1].source
        if ids:
            yield ids

    def known(self, store: Store, ids: Sequence[str]) -> set[str]:
        return {document.id for document in store.documents(ids)}

    def checksums(self, store: Store, ids: Sequence[str]) -> Mapping[str, str]:
        return {batch.document.id: digest(_batch_texts(batch)) for batch in store.batches(ids)}

    def write(self, source: Store, target: Store, ids: Sequence[str]) -> None:
        target.write(*source.batches(ids))

    def remove(self, store: Store, ids: Sequence[str]) -> int:
        return store.delete(ids)

    def name(self, store: Store, id: str) -> str:
        return next((document.source for document in store.documents([id])), id)


class Imports(Part):
    """Annotations of imports, by the name of the import, with the vectors of described names."""

    what = "import"

    def pages(self, store: Store) -> Iterator[list[str]]:
        for origin in store.annotations.origins():
            yield [origin]

    def known(self, store: Store, ids: Sequence[str]) -> set[str]:
        return set(store.annotations.origins()) & set(ids)

    def checksums(self, store: Store, ids: Sequence[str]) -> Mapping[str, str]:
        return {origin: digest(self._texts(store, origin)) for origin in self.known(store, ids)}

    def write(self, source: Store, target: Store, ids: Sequence[str]) -> None:
        for origin in ids:
            extractions = source.annotations.read(origin)
            pages = _slices(sorted(extractions))
            vectors = {at: vector for page in pages for at, vector in source.graph.vectors(page).items()}
            target.annotations.write(origin, extractions, vectors=vectors)

    def remove(self, store: Store, ids: Sequence[str]) -> int:
        for origin in ids:
            store.annotations.write(origin, {})
        return len(ids)

    def _texts(self, store: Store, origin: str) -> Iterator[str]:
        extractions = store.annotations.read(origin)
        for page in _slices(sorted(extractions)):
            vectors = store.graph.vectors(page)
            for id in page:
                yield id
                yield from _extraction_texts(extractions[id])
                for key in sorted({n.key for n in extractions[id].candidates if n.description}):
                    yield _vector_text(vectors.get((id, key)))


class Edits(Part):
    """Edits of entities: merges, aliases, renames."""

    what = "edit"

    def pages(self, store: Store) -> Iterator[list[str]]:
        yield from _slices([json.dumps(edit) for edit in sorted(store.graph.edits())])

    def known(self, store: Store, ids: Sequence[str]) -> set[str]:
        return {json.dumps(edit) for edit in store.graph.edits()} & set(ids)

    def checksums(self, store: Store, ids: Sequence[str]) -> Mapping[str, str]:
        return {id: id for id in self.known(store, ids)}

    def write(self, source: Store, target: Store, ids: Sequence[str]) -> None:
        self._change(target, ids, undo=False)

    def remove(self, store: Store, ids: Sequence[str]) -> int:
        self._change(store, ids, undo=True)
        return len(ids)

    def name(self, store: Store, id: str) -> str:
        return " ".join(json.loads(id))

    def _change(self, store: Store, ids: Sequence[str], *, undo: bool) -> None:
        for kind, key, value in map(json.loads, ids):
            store.graph.write_edit(cast(EditKind, kind), key, value, undo=undo)


class Facts(Part):
    """Facts with history, accesses and source documents."""

    what = "fact"
    is_counted = True

    def pages(self, store: Store) -> Iterator[list[str]]:
        after = ""
        while page := store.facts.facts_after(after, limit=PAGE_ITEMS):
            yield [fact.id for fact in page]
            after = page[-1].id

    def known(self, store: Store, ids: Sequence[str]) -> set[str]:
        return {fact.id for fact in store.facts.facts(ids)}

    def checksums(self, store: Store, ids: Sequence[str]) -> Mapping[str, str]:
        origins, vectors = store.facts.origins(ids), store.facts.text_vectors(ids)
        return {
            fact.id: digest(
                [
                    repr(fact),
                    *map(repr, store.facts.history(fact.id)),
                    repr(sorted(origins.get(fact.id, ()))),
                    _vector_text(vectors.get(fact.id)),
                ]
            )
            for fact in store.facts.facts(ids)
        }

    def write(self, source: Store, target: Store, ids: Sequence[str]) -> None:
        facts = self._with_references(source, target, ids)
        every = [fact.id for fact in facts]
        keys = sorted({key for fact in facts for key in (fact.subject, fact.object) if key})
        target.facts.restore(
            facts,
            events=[event for id in every for event in source.facts.history(id)],
            origins=source.facts.origins(every),
            entities=list(source.facts.find_entities(keys).values()),
            vectors=source.facts.vectors(keys),
            text_vectors=source.facts.text_vectors(every),
        )

    def remove(self, store: Store, ids: Sequence[str]) -> int:
        return store.facts.forget(ids)

    def _with_references(self, source: Store, target: Store, ids: Sequence[str]) -> list[Fact]:
        """Return facts, and the facts that they refer to and the target does not have yet."""
        facts = {fact.id: fact for fact in source.facts.facts(ids)}
        todo = list(facts.values())
        while todo:
            others = {fact.supersedes for fact in todo}
            others |= {event.other for fact in todo for event in source.facts.history(fact.id)}
            others -= {"", *facts}
            missing = sorted(others - self.known(target, sorted(others)))
            todo = source.facts.facts(missing)
            facts |= {fact.id: fact for fact in todo}
        return list(facts.values())


class FactEntities(Part):
    """The entities of facts, with their vectors."""

    what = "entity"
    is_counted = True

    def pages(self, store: Store) -> Iterator[list[str]]:
        after = ""
        while page := store.facts.entities_after(after, limit=PAGE_ITEMS):
            yield [entity.key for entity in page]
            after = page[-1].key

    def known(self, store: Store, ids: Sequence[str]) -> set[str]:
        return set(store.facts.find_entities(ids))

    def checksums(self, store: Store, ids: Sequence[str]) -> Mapping[str, str]:
        vectors = store.facts.vectors(ids)
        found = store.facts.find_entities(ids)
        return {key: digest([repr(entity), _vector_text(vectors.get(key))]) for key, entity in found.items()}

    def write(self, source: Store, target: Store, ids: Sequence[str]) -> None:
        entities = list(source.facts.find_entities(ids).values())
        target.facts.restore([], entities=entities, vectors=source.facts.vectors(ids))

    def remove(self, store: Store, ids: Sequence[str]) -> int:
        store.facts.forget([], entities=ids)
        return len(ids)


class Calibrations(Part):
    """The fitted calibration of the confidence."""

    what = "calibration"

    def pages(self, store: Store) -> Iterator[list[str]]:
        if store.calibration() is not None:
            yield [self.what]

    def known(self, store: Store, ids: Sequence[str]) -> set[str]:
        return {self.what} if store.calibration() is not None else set()

    def checksums(self, store: Store, ids: Sequence[str]) -> Mapping[str, str]:
        found = store.calibration()
        return {self.what: repr(found)} if found is not None else {}

    def write(self, source: Store, target: Store, ids: Sequence[str]) -> None:
        target.write_calibration(source.calibration())

    def remove(self, store: Store, ids: Sequence[str]) -> int:
        store.write_calibration(None)
        return 1


class Spending(Part):
    """Costs of language models, run by run."""

    what = "receipt"

    def pages(self, store: Store) -> Iterator[list[str]]:
        yield from _slices([run.id for run in store.spending.runs()])

    def known(self, store: Store, ids: Sequence[str]) -> set[str]:
        return {run.id for run in store.spending.runs()} & set(ids)

    def checksums(self, store: Store, ids: Sequence[str]) -> Mapping[str, str]:
        return {run.id: repr(run) for run in store.spending.runs() if run.id in ids}

    def write(self, source: Store, target: Store, ids: Sequence[str]) -> None:
        target.spending.write(*(run for run in source.spending.runs() if run.id in ids))

    def remove(self, store: Store, ids: Sequence[str]) -> int:
        return store.spending.forget(ids)


PARTS: tuple[Part, ...] = (Documents(), Imports(), Edits(), Facts(), FactEntities(), Calibrations(), Spending())
"""All parts in the order of writing: facts refer to documents, annotations to chunks."""


def _batch_texts(batch: Batch) -> Iterator[str]:
    document = batch.document
    about = [
        document.source,
        document.title,
        dict(document.metadata),
        document.content_hash,
        document.unit,
        batch.model,
    ]
    yield json.dumps(about, sort_keys=True)
    for item in batch.chunks:
        chunk = item.chunk
        lines = [chunk.ordinal, chunk.start_line, chunk.end_line, chunk.start_time, chunk.end_time]
        yield json.dumps([chunk.id, *lines, chunk.heading, chunk.text, dict(item.terms)], sort_keys=True)
        yield _vector_text(item.vector)
        yield from _extraction_texts(item.extraction)
        for key, vector in sorted(item.entity_vectors.items(), key=lambda pair: pair[0]):
            yield key
            yield _vector_text(vector)


def _extraction_texts(extraction: Extraction) -> list[str]:
    return [*sorted(map(repr, extraction.candidates)), *sorted(map(repr, extraction.stated_relations))]


def _vector_text(vector: Vector | None) -> str:
    return "" if vector is None else vector.astype("<f2").tobytes().hex()


def _slices(ids: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(ids), PAGE_ITEMS):
        yield list(ids[start : start + PAGE_ITEMS])
