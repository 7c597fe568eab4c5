"""
In-memory store: the reference implementation of the store roles.

It derives everything from the documents on each read, so it is slow and simple. Tests compare the other adapters
with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from memory_store.derived_checks import find_missing_vectors, passes
from memory_store.fact_store import FactContent, MemoryFacts
from memory_store.graph import MemoryGraph
from memory_store.jobs import JobRow, MemoryJobs
from weft.errors import InputError, SchemaMismatch
from weft.rank.bm25 import ceiling, idf, term_scores
from weft.records import (
    ApiKey,
    Batch,
    Calibration,
    Chunk,
    DocumentInfo,
    DocumentTitle,
    Done,
    Extraction,
    Filter,
    Hit,
    IndexedChunk,
    KeyPresence,
    KeywordStatistics,
    LlmRun,
    Problem,
    Ranking,
    StoredModel,
    StoreStats,
    Vector,
)
from weft.store.base import MIN_COMMON_TERM_CHUNKS
from weft.store.shared.half_precision import round_to_half
from weft.store.shared.merging import deduplicated, same_statements
from weft.store.shared.twelve_bits import round_to_twelve


@dataclass
class _Content:
    """Content of one namespace."""

    documents: dict[str, DocumentInfo] = field(default_factory=dict)
    chunks: dict[str, IndexedChunk] = field(default_factory=dict)
    models: dict[str, StoredModel] = field(default_factory=dict)
    vectors: dict[tuple[str, str], Vector] = field(default_factory=dict)
    """Vectors by fingerprint and chunk id."""
    edits: set[tuple[str, str, str]] = field(default_factory=set)
    annotations: dict[tuple[str, str], Extraction] = field(default_factory=dict)
    """Annotations of imports, by origin and chunk id."""
    entity_vectors: dict[tuple[str, str, str], Vector] = field(default_factory=dict)
    """Vectors of names, by fingerprint, chunk id and key."""
    calibrations: dict[str, Calibration] = field(default_factory=dict)
    """Calibrations by fingerprint, which is empty without an embedder."""
    facts: FactContent = field(default_factory=FactContent)
    jobs: dict[str, JobRow] = field(default_factory=dict)
    llm_runs: dict[str, LlmRun] = field(default_factory=dict)
    generation: int = 0

    def touch(self) -> None:
        self.generation += 1

    def active(self) -> StoredModel | None:
        return next((model for model in self.models.values() if model.active), None)

    def keep_entity_vectors(self, is_kept: Callable[[str, str, str], bool]) -> None:
        """Drop the vectors of names for which `is_kept(fingerprint, chunk id, key)` is false."""
        self.entity_vectors = {at: vector for at, vector in self.entity_vectors.items() if is_kept(*at)}


class MemoryKeys:
    """API keys in memory."""

    def __init__(self) -> None:
        self._keys: dict[str, ApiKey] = {}

    def write(self, key: ApiKey) -> None:
        self._keys[key.id] = key

    def all(self) -> list[ApiKey]:
        return sorted(self._keys.values(), key=lambda key: (key.created, key.id))

    def find(self, ids: Sequence[str]) -> dict[str, ApiKey]:
        return {id: self._keys[id] for id in ids if id in self._keys}

    def match(self, id: str, *, digest: str) -> ApiKey | None:
        key = self._keys.get(id)
        return key if key is not None and key.digest == digest else None

    def presence(self) -> KeyPresence:
        return KeyPresence(bool(self._keys), any(key.revoked is None for key in self._keys.values()))

    def forget(self, ids: Sequence[str]) -> int:
        return sum(self._keys.pop(id, None) is not None for id in set(ids))


class MemorySpending:
    """Costs of language models in memory, for one namespace."""

    def __init__(self, runs: dict[str, LlmRun]) -> None:
        self._runs = runs

    def write(self, *runs: LlmRun) -> None:
        self._runs |= {run.id: run for run in runs}

    def runs(self) -> list[LlmRun]:
        return sorted(self._runs.values(), key=lambda run: (run.at, run.id))

    def forget(self, ids: Sequence[str]) -> int:
        return sum(self._runs.pop(id, None) is not None for id in set(ids))


class MemoryPassages:
    """Chunks in memory by document, time and place, for one namespace."""

    def __init__(self, content: _Content) -> None:
        self._content = content

    def titles(self, chunk_ids: Sequence[str]) -> dict[str, DocumentTitle]:
        chunks = [self._content.chunks[id].chunk for id in chunk_ids if id in self._content.chunks]
        owners = {chunk.id: self._content.documents[chunk.document_id] for chunk in chunks}
        return {chunk: DocumentTitle(owner.id, owner.source, owner.title) for chunk, owner in owners.items()}

    def with_documents(self, chunk_ids: Sequence[str]) -> list[tuple[Chunk, DocumentInfo]]:
        chunks = [self._content.chunks[id].chunk for id in chunk_ids if id in self._content.chunks]
        return [(chunk, self._content.documents[chunk.document_id]) for chunk in chunks]

    def find_terms(self, chunk_ids: Sequence[str], terms: Sequence[str]) -> dict[str, set[str]]:
        known = {id: self._content.chunks[id] for id in chunk_ids if id in self._content.chunks}
        return {id: {term for term in terms if term in item.terms} for id, item in known.items()}

    def have_times(self) -> bool:
        return any(item.chunk.start_time is not None for item in self._content.chunks.values())

    def latest(self, where: Filter, *, limit: int) -> list[Chunk]:
        owners = self._content.documents
        found = [
            item.chunk
            for item in self._content.chunks.values()
            if item.chunk.start_time is not None
            and where.allows_time(item.chunk.start_time, item.chunk.end_time)
            and _passes(owners[item.chunk.document_id], where)
        ]
        return sorted(found, key=lambda chunk: (-(chunk.start_time or 0), chunk.id))[:limit]

    def openings(self, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        found: dict[str, Chunk] = {}
        every = [item.chunk for item in self._content.chunks.values()]
        for part in every:
            if part.id in chunk_ids and part.heading and part.start_time is not None:
                before = [c for c in every if c.document_id == part.document_id and c.ordinal < part.ordinal]
                opening = max((c for c in before if not c.heading), key=lambda c: c.ordinal, default=None)
                found |= {part.id: opening} if opening else {}
        return found

    def answers(self, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        places = {(item.chunk.document_id, item.chunk.ordinal): item.chunk for item in self._content.chunks.values()}
        return {
            opening.id: answer
            for opening in places.values()
            if opening.id in chunk_ids and not opening.heading and opening.start_time is not None
            if (answer := places.get((opening.document_id, opening.ordinal + 1))) and answer.heading
        }


class MemoryAnnotations:
    """Annotations of chunks by imports."""

    def __init__(self, content: _Content, store: MemoryStore) -> None:
        self._content = content
        self._store = store

    def origins(self) -> list[str]:
        stated = self._content.annotations.items()
        return sorted({origin for (origin, _), extraction in stated if extraction != Extraction()})

    def read(self, origin: str) -> dict[str, Extraction]:
        stated = self._content.annotations.items()
        return {id: extraction for (by, id), extraction in stated if by == origin and extraction != Extraction()}

    def write(
        self,
        origin: str,
        extractions: Mapping[str, Extraction],
        *,
        vectors: Mapping[tuple[str, str], Vector] | None = None,
    ) -> int:
        content, empty = self._content, Extraction()
        before = {id: extraction for (by, id), extraction in content.annotations.items() if by == origin}
        after = {id: deduplicated(extractions[id]) for id in extractions.keys() & content.chunks.keys()}
        changed = {
            id
            for id in before.keys() | after.keys()
            if not same_statements(before.get(id, empty), after.get(id, empty))
        }
        others = {(by, id): extraction for (by, id), extraction in content.annotations.items() if by != origin}
        content.annotations = others | {(origin, id): extraction for id, extraction in after.items()}
        own = {(id, n.key) for id in changed for n in content.chunks[id].extraction.candidates if n.description}
        content.keep_entity_vectors(lambda _, id, key: id not in changed or (id, key) in own)
        content.generation += bool(changed)
        if vectors and (active := content.active()):
            self._store.graph.write_vectors(active.fingerprint, vectors)
        return len(changed)


class MemoryDatabase:
    """All namespaces in memory. The content is lost when the process ends."""

    def __init__(self) -> None:
        self._contents: dict[str, _Content] = {}
        self.keys = MemoryKeys()

    @property
    def notes(self) -> tuple[str, ...]:
        return ()

    def store(self, namespace: str) -> MemoryStore:
        return MemoryStore(self._contents.setdefault(namespace, _Content()), namespace=namespace)

    def prefetch(self, *, resident: bool = False) -> None:
        return

    def namespaces(self) -> list[str]:
        return sorted(name for name, content in self._contents.items() if content.documents or content.facts.facts)

    def drop(self, namespace: str) -> bool:
        content = self._contents.pop(namespace, None)
        return content is not None and content.generation > 0

    def check(self) -> list[Problem]:
        return [problem for name in self.namespaces() for problem in find_missing_vectors(self.store(name))]

    def compare(self) -> list[Problem]:
        return []

    def repair(self) -> list[str]:
        return []

    def backup(self, target: Path) -> None:
        raise InputError("an in-memory store cannot be backed up", hint="set --db to a file")

    def size(self) -> int:
        return 0

    def compact(self) -> None:
        return

    def close(self) -> None:
        return


class MemoryStore:
    """One namespace in memory."""

    def __init__(self, content: _Content, *, namespace: str) -> None:
        self._content = content
        self._namespace = namespace

    @property
    def annotations(self) -> MemoryAnnotations:
        return MemoryAnnotations(self._content, self)

    @property
    def namespace(self) -> str:
        return self._namespace

    @property
    def graph(self) -> MemoryGraph:
        content, active = self._content, self._content.active()
        vectors = {
            (id, key): vector
            for (fingerprint, id, key), vector in content.entity_vectors.items()
            if active and fingerprint == active.fingerprint
        }
        return MemoryGraph(
            {id: self._annotated(item) for id, item in content.chunks.items()},
            content.edits,
            vectors,
            content.entity_vectors,
            namespace=self._namespace,
            remembered=content.facts.entities,
            sources={id: document.source for id, document in content.documents.items()},
        )

    @property
    def facts(self) -> MemoryFacts:
        content = self._content
        models = tuple(content.models.values())
        return MemoryFacts(
            content.facts,
            models=models,
            touched=content.touch,
            generation=lambda: content.generation,
            heads=lambda: self.graph.heads(),
        )

    @property
    def passages(self) -> MemoryPassages:
        return MemoryPassages(self._content)

    @property
    def jobs(self) -> MemoryJobs:
        return MemoryJobs(self._content.jobs)

    @property
    def spending(self) -> MemorySpending:
        return MemorySpending(self._content.llm_runs)

    def _annotated(self, item: IndexedChunk) -> IndexedChunk:
        """Return a chunk whose extraction includes the annotations of imports."""
        imported = [e for (_, id), e in sorted(self._content.annotations.items()) if id == item.chunk.id]
        every = [deduplicated(item.extraction), *imported]
        return replace(
            item,
            extraction=Extraction(
                candidates=tuple(n for extraction in every for n in extraction.candidates),
                stated_relations=tuple(stated for extraction in every for stated in extraction.stated_relations),
            ),
        )

    def finish_load(self) -> None:
        """Do nothing: there are no indexes."""

    def write(self, *batches: Batch, done: Done | None = None, defer_indexes: bool = False) -> None:
        active = self._content.active()
        if any((active.fingerprint if active else "") != batch.model for batch in batches):
            raise SchemaMismatch(
                f"namespace {self._namespace!r} is indexed with another embedder", hint="run weft reembed"
            )
        if done:
            self.jobs.finish(done)
        self.jobs.discard([batch.document.id for batch in batches])
        for batch in batches:
            self._write(batch)
        self._content.generation += bool(batches)

    def _write(self, batch: Batch) -> None:
        content, id = self._content, batch.document.id
        new = {item.chunk.id: item for item in batch.chunks}
        self._remove_chunks(lambda item: item.chunk.document_id == id and item.chunk.id not in new)
        content.documents[id] = replace(batch.document, chunk_count=len(new))
        for chunk_id, item in new.items():
            content.chunks[chunk_id] = item
            if item.vector is not None:
                content.vectors[batch.model, chunk_id] = round_to_half(item.vector)
            described = {n.key for n in self._annotated(item).extraction.candidates if n.description}
            content.keep_entity_vectors(_is_of_other_chunk_or_described(chunk_id, described))
            content.entity_vectors |= {
                (batch.model, chunk_id, key): round_to_twelve(vector) for key, vector in item.entity_vectors.items()
            }
        self.facts.state(id, batch.facts)
        if batch.fact_vectors:
            known = self.facts.vectors(list(batch.fact_vectors))
            self.facts.write_vectors(batch.model, {**batch.fact_vectors, **known})

    def delete(self, document_ids: Sequence[str]) -> int:
        known = [id for id in dict.fromkeys(document_ids) if id in self._content.documents]
        for id in known:
            del self._content.documents[id]
            self.facts.state(id, ())
        self.jobs.delete(document_ids)
        self._remove_chunks(lambda item: item.chunk.document_id in known)
        self._content.generation += bool(known)
        return len(known)

    def write_model(self, model: StoredModel) -> None:
        content = self._content
        if model.active:
            if self.find_unembedded(model.fingerprint, limit=1) or self.graph.find_unembedded(
                model.fingerprint, limit=1
            ):
                raise SchemaMismatch(
                    f"namespace {self._namespace!r} has chunks without vectors of {model.name!r}",
                    hint="run weft reembed, or pass --embedder none to search without vectors",
                )
            content.models = {}
            content.calibrations = {k: c for k, c in content.calibrations.items() if k == model.fingerprint}
            content.vectors = {(m, id): v for (m, id), v in content.vectors.items() if m == model.fingerprint}
            content.keep_entity_vectors(lambda fingerprint, *_: fingerprint == model.fingerprint)
            self.facts.keep_models(model.fingerprint)
        content.models[model.fingerprint] = model
        content.generation += 1

    def write_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        if model not in self._content.models:
            raise SchemaMismatch(f"namespace {self._namespace!r} has no embedder {model!r}", hint="run weft reembed")
        for id, vector in vectors.items():
            if id in self._content.chunks:
                self._content.vectors[model, id] = round_to_half(vector)

    def reading(self) -> AbstractContextManager[None]:
        return nullcontext()

    def write_calibration(self, calibration: Calibration | None) -> None:
        active = self._content.active()
        self._content.calibrations = {active.fingerprint if active else "": calibration} if calibration else {}
        self._content.generation += 1

    def documents(self, ids: Sequence[str]) -> list[DocumentInfo]:
        return [self._content.documents[id] for id in ids if id in self._content.documents]

    def find_documents(self, where: Filter, *, after: str = "", limit: int = 1000) -> list[DocumentInfo]:
        found = [d for d in self._content.documents.values() if d.source > after and _passes(d, where)]
        if where.has_time:
            chunks = [item.chunk for item in self._content.chunks.values()]
            timed = {c.document_id for c in chunks if where.allows_time(c.start_time, c.end_time)}
            found = [document for document in found if document.id in timed]
        return sorted(found, key=lambda document: document.source)[:limit]

    def source_range(self, *, absolute: bool = False) -> tuple[str, str] | None:
        prefix = "/" if absolute else ""
        found = sorted(d.source for d in self._content.documents.values() if d.source.startswith(prefix))
        return (found[0], found[-1]) if found else None

    def chunks(self, ids: Sequence[str]) -> list[Chunk]:
        return [self._content.chunks[id].chunk for id in ids if id in self._content.chunks]

    def find_chunks(self, document_id: str) -> list[Chunk]:
        found = [item.chunk for item in self._content.chunks.values() if item.chunk.document_id == document_id]
        return sorted(found, key=lambda chunk: chunk.ordinal)

    def batches(self, document_ids: Sequence[str]) -> list[Batch]:
        active = self._content.active()
        model = active.fingerprint if active else ""
        return [
            Batch(document=document, chunks=tuple(self._whole(c.id, model) for c in self.find_chunks(id)), model=model)
            for id in dict.fromkeys(document_ids)
            for document in self.documents([id])
        ]

    def _whole(self, id: str, model: str) -> IndexedChunk:
        """Return a chunk with its vectors, as written."""
        content = self._content
        item = replace(content.chunks[id], extraction=deduplicated(content.chunks[id].extraction))
        described = sorted({n.key for n in item.extraction.candidates if n.description})
        stored = content.entity_vectors
        names = {key: stored[model, id, key] for key in described if (model, id, key) in stored}
        return replace(item, vector=content.vectors.get((model, id)), entity_vectors=names)

    def content_hashes(self) -> list[tuple[str, str, str]]:
        return [(id, document.source, document.content_hash) for id, document in self._content.documents.items()]

    def models(self) -> list[StoredModel]:
        return sorted(self._content.models.values(), key=lambda model: (not model.active, model.fingerprint))

    def calibration(self) -> Calibration | None:
        active = self._content.active()
        return self._content.calibrations.get(active.fingerprint if active else "")

    def sample(self, *, limit: int) -> list[Chunk]:
        return self.chunks(sorted(self._content.chunks)[:limit])

    def find_unembedded(self, model: str, *, limit: int) -> list[str]:
        return sorted(id for id in self._content.chunks if (model, id) not in self._content.vectors)[:limit]

    def search_vector(self, vector: Vector, *, limit: int, where: Filter) -> Ranking:
        active = self._content.active()
        if active is None:
            return Ranking()
        if len(vector) != active.dimension:
            raise SchemaMismatch(
                f"the question vector has dimension {len(vector)}, but the index has dimension {active.dimension}",
                hint=f"pass --embedder {active.name}, or run weft reembed",
            )
        cosines = {
            id: float(v @ vector) / (float(np.linalg.norm(v)) or 1.0)  # rounding to float16 changes the length
            for (model, id), v in self._content.vectors.items()
            if model == active.fingerprint
        }
        if not cosines:
            return Ranking()
        values = np.array(list(cosines.values()))
        hits = self._best(cosines, limit=limit, where=where)
        return Ranking(hits=hits, mean=float(values.mean()), deviation=float(values.std()), count=len(values))

    def keyword_statistics(self, terms: Sequence[str]) -> KeywordStatistics:
        items = self._content.chunks.values()
        return KeywordStatistics(
            chunks=len(items),
            length=sum(sum(item.terms.values()) for item in items),
            counts={term: sum(term in item.terms for item in items) for term in terms},
        )

    def search_keyword(
        self, terms: Sequence[str], *, limit: int, where: Filter, statistics: KeywordStatistics | None = None
    ) -> Ranking:
        items = self._content.chunks
        lengths = {id: sum(item.terms.values()) for id, item in items.items()}
        if not items or not terms:
            return Ranking()
        known = statistics or self.keyword_statistics(terms)
        mean_length = known.length / known.chunks
        scores: dict[str, float] = {}
        weights = []
        for term in dict.fromkeys(terms):
            frequencies = {id: item.terms[term] for id, item in items.items() if term in item.terms}
            weights.append(idf(known.counts.get(term, 0), total=known.chunks))
            for id, frequency in frequencies.items():
                sizes = (
                    np.array([min(frequency, 255)], dtype=float),
                    np.array([min(lengths[id], 65_535)], dtype=float),
                )
                added = term_scores(*sizes, weight=weights[-1], mean_length=mean_length)
                scores[id] = scores.get(id, 0.0) + float(added[0])
        return Ranking(hits=self._best(scores, limit=limit, where=where), ceiling=ceiling(weights))

    def find_chunks_with_terms(self, wanted: Sequence[Sequence[str]], *, limit: int) -> list[list[str] | None]:
        return [self._find_with_terms(terms, limit=limit) for terms in wanted]

    def _find_with_terms(self, terms: Sequence[str], *, limit: int) -> list[str] | None:
        by_term = [{id for id, item in self._content.chunks.items() if term in item.terms} for term in terms]
        found = sorted(set.intersection(*by_term)) if by_term else []
        is_common = all(len(ids) >= MIN_COMMON_TERM_CHUNKS for ids in by_term) and bool(by_term)
        return None if is_common or len(found) > limit else found

    def stats(self) -> StoreStats:
        content, active = self._content, self._content.active()
        return StoreStats(
            documents=len(content.documents),
            chunks=len(content.chunks),
            terms=len({term for item in content.chunks.values() for term in item.terms}),
            vectors=sum(fingerprint == active.fingerprint for fingerprint, _ in content.vectors) if active else 0,
            generation=content.generation,
            models=tuple(self.models()),
            vector_search="exact" if active else "",
            entity_search="exact" if active else "",
        )

    def _best(self, scores: Mapping[str, float], *, limit: int, where: Filter) -> tuple[Hit, ...]:
        allowed = [(-score, id) for id, score in scores.items() if self._allows(self._content.chunks[id].chunk, where)]
        return tuple(Hit(id, rank, -score) for rank, (score, id) in enumerate(sorted(allowed)[:limit], start=1))

    def _allows(self, chunk: Chunk, where: Filter) -> bool:
        document = self._content.documents[chunk.document_id]
        return _passes(document, where) and where.allows_time(chunk.start_time, chunk.end_time)

    def _remove_chunks(self, is_deleted: Callable[[IndexedChunk], bool]) -> None:
        content = self._content
        deleted = {id for id, item in content.chunks.items() if is_deleted(item)}
        content.chunks = {id: item for id, item in content.chunks.items() if id not in deleted}
        content.vectors = {(model, id): v for (model, id), v in content.vectors.items() if id not in deleted}
        content.annotations = {(by, id): e for (by, id), e in content.annotations.items() if id not in deleted}
        content.keep_entity_vectors(lambda _, id, __: id not in deleted)


def _passes(document: DocumentInfo, where: Filter) -> bool:
    return (
        (not where.documents or document.id in where.documents)
        and document.source.startswith(where.source_prefix)
        and passes(document.metadata, where)
    )


def _is_of_other_chunk_or_described(chunk_id: str, keys: set[str]) -> Callable[[str, str, str], bool]:
    return lambda _, id, key: id != chunk_id or key in keys
