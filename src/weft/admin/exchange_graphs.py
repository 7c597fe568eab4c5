"""Ready-made graphs into a namespace and out of it: import, take back, export."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from weft.errors import InputError, NotFound
from weft.exchange.clean import relation_type, to_name
from weft.exchange.read import GraphForm, read_graph
from weft.extract.mentions import DERIVED_TYPES
from weft.extract.names import name_key
from weft.index.embedding_cost import Meter
from weft.index.import_graph import Division, divide_graph
from weft.index.prune import iter_documents
from weft.index.reembed import embed_names
from weft.index.run import Step
from weft.load.folder import source_of
from weft.records import (
    Chunk,
    Document,
    DocumentInfo,
    Entity,
    Filter,
    GivenEntity,
    GivenGraph,
    GivenPassage,
    GivenRelation,
    ImportReceipt,
    NominationKind,
    Receipt,
    Relation,
)
from weft.store.base import Graph, Store
from weft.text.ids import document_id
from weft.text.searchable_metadata import IMPORT

if TYPE_CHECKING:
    from weft.engine.engine import Engine

PAGE = 500
"""Entities, chunks and documents that are read at once."""
MAX_PASSAGES = 20
"""Chunks an exported entity names: the strongest mentions."""
EVERY = 2**31 - 1
RESERVED = "*"
"""No name of an import: the store calls so what follows from mentions."""

_CHUNK_ID = re.compile("c[0-9a-f]{24}")

Progress = Callable[[int, int], None]
"""Documents done, and documents in all."""


def import_graph(
    engine: Engine,
    path: str | Path,
    *,
    form: GraphForm | None = None,
    name: str = "",
    on_step: Progress = lambda done, total: None,
) -> ImportReceipt:
    """
    Read a ready-made graph from a file and make what the import of this name says exactly that.

    Without a name it is called by the file's source. Statements about documents that are here go to their chunks; the
    rest becomes documents of its own. The same file again changes nothing, a changed one changes what differs.
    """
    start, path = time.perf_counter(), Path(path)
    graph = read_graph(path, form=form)
    name = choose_name(name or source_of(path, base=engine.base))
    wanted = set(_list_named(graph)) - {passage.id for passage in graph.passages}
    places = _find_places(engine.store, wanted, name=name)
    # What a model extracted from passages is a guess until two documents agree; what others give is meant.
    kind: NominationKind = "phrase" if graph.form == "openie" else "given"
    division = divide_graph(
        graph, name=name, kind=kind, places=places, read_place=lambda place: _read_place(engine.store, place)
    )
    _check_sources(engine.store, division.documents, name=name)
    receipt = _write(engine, division, name=name, on_step=on_step)
    return replace(
        receipt,
        form=graph.form,
        not_found=len(wanted - places.keys()),
        seconds=time.perf_counter() - start,
        skipped=(*graph.skipped, *division.skipped),
    )


def remove_import(engine: Engine, name: str) -> ImportReceipt:
    """Take an import back: its documents, and what it says of others. Raises `NotFound` where there is none."""
    start, name = time.perf_counter(), choose_name(name)
    retracted = engine.store.annotate(name, {})
    pruned = engine.store.delete([document.id for document in _iter_own(engine.store, name)])
    if not retracted and not pruned:
        raise NotFound(
            f"no import {name!r} in namespace {engine.store.namespace!r}",
            hint="it is called by the path of its file, or as --name said",
        )
    return ImportReceipt(name=name, pruned=pruned, annotated=retracted, seconds=time.perf_counter() - start)


def export_graph(
    engine: Engine,
    *,
    derived: bool = False,
    passages: bool = True,
    facts: bool = False,
    on_step: Callable[[int], None] = lambda count: None,
) -> GivenGraph:
    """
    Return the graph of the namespace: all entities by key, and their relations.

    Passages are chunks, by their ids. Relations that merely follow from mentions come with `derived`, texts of the
    chunks with `passages`. With `facts`, those that hold and lead to an entity are relations too, of weight 10 × their
    confidence. `on_step` is told how many entities were read.
    """
    store = engine.store
    entities: list[GivenEntity] = []
    relations: list[GivenRelation] = []
    for page in _iter_pages(store.graph):
        entities += _export_entities(store.graph, page)
        relations += _export_relations(store.graph, page, derived=derived)
        on_step(len(page))
    if facts:
        _add_facts(engine, entities, relations)
    graph = GivenGraph(entities=tuple(entities), relations=tuple(relations))
    return replace(graph, passages=tuple(_export_passages(store, _list_named(graph)))) if passages else graph


def choose_name(name: str) -> str:
    """Return the name of an import, on one line. Raises `InputError` where it cannot be one."""
    clean = to_name(name)
    if clean in ("", RESERVED):
        raise InputError(f"an import cannot be called {name!r}", hint="give it a name of letters with --name")
    return clean


# ── import ──────────────────────────────────────────────────────────────────────────────────────


def _find_places(store: Store, wanted: set[str], *, name: str) -> dict[str, str]:
    """
    Return, for each passage that is stored, the id of its document or chunk.

    A passage is a document by its metadata `_id`, else by its source, else by its id; or it is a chunk by its id. Of
    several the first by source counts. What the import itself made is passed over, for it may be about to go.
    """
    if not wanted:
        return {}
    by_label: dict[str, str] = {}
    by_source: dict[str, str] = {}
    by_id: dict[str, str] = {}
    for document in iter_documents(store, Filter()):
        if document.chunk_count and document.metadata.get(IMPORT) != name:
            by_label.setdefault(to_name(document.metadata.get("_id")), document.id)
            by_source.setdefault(to_name(document.source), document.id)
            by_id[document.id] = document.id
    chunk_ids = [id for id in sorted(wanted) if _CHUNK_ID.fullmatch(id)]
    by_id |= {chunk.id: chunk.id for ids in _slices(chunk_ids) for chunk in store.chunks(ids)}
    found = {**by_id, **by_source, **by_label}
    return {id: found[id] for id in wanted if id in found}


def _read_place(store: Store, place: str) -> tuple[str, Sequence[Chunk]]:
    """Return the title of a document, and its chunks or the one with this id."""
    chunks = store.chunks([place]) if _CHUNK_ID.fullmatch(place) else store.find_chunks(place)
    documents = store.documents([chunk.document_id for chunk in chunks[:1]])
    return (documents[0].title, chunks) if documents else ("", ())


def _check_sources(store: Store, documents: Sequence[Document], *, name: str) -> None:
    """Raise `InputError` when a document would take the place of one that another import or `weft index` made."""
    sources = [document.source for document in documents]
    for group in _slices(sources):
        for document in store.documents([document_id(store.namespace, source) for source in group]):
            if document.metadata.get(IMPORT) != name:
                raise InputError(
                    f"{document.source!r} is a document already that this import did not make",
                    hint="give the import another name with --name",
                )


def _write(engine: Engine, division: Division, *, name: str, on_step: Progress) -> ImportReceipt:
    """Write documents first, then what is said of others; what is no longer said goes last."""
    store, total, done = engine.store, len(division.documents), 0

    def count(step: Step) -> None:
        nonlocal done
        done += 1
        on_step(done, total)

    receipt = engine.add(division.documents, on_step=count)
    store.annotate(name, division.annotations)
    receipt = _embed_names(engine, receipt)
    kept = {document.source for document in division.documents}
    gone = [document.id for document in _iter_own(store, name) if document.source not in kept]
    return ImportReceipt(
        name=name,
        entities=division.entities,
        relations=division.relations,
        added=receipt.added,
        changed=receipt.changed,
        unchanged=receipt.unchanged,
        pruned=store.delete(gone) if gone else 0,
        annotated=len(division.annotations),
        embedded=receipt.embedded,
        cached=receipt.cached,
        embedding=receipt.embedding,
    )


def _embed_names(engine: Engine, receipt: Receipt) -> Receipt:
    """Embed what annotations describe, and count it."""
    if engine.embedder is None:
        return receipt
    before = Meter.of(engine.embedder)
    count = embed_names(engine.store, embedder=engine.embedder)
    done = Meter.of(engine.embedder) - before
    return replace(
        receipt,
        embedded=receipt.embedded + count - done.cached,
        cached=receipt.cached + done.cached,
        embedding=receipt.embedding + done.usage,
    )


def _iter_own(store: Store, name: str) -> Iterator[DocumentInfo]:
    """Yield the documents that an import made."""
    return iter_documents(store, Filter(source_prefix=f"{name}#", metadata=((IMPORT, name),)))


# ── export ──────────────────────────────────────────────────────────────────────────────────────


def _iter_pages(graph: Graph) -> Iterator[list[Entity]]:
    after = ""
    while page := graph.entities_after(after, limit=PAGE):
        yield page
        after = page[-1].key


def _export_entities(graph: Graph, page: Sequence[Entity]) -> list[GivenEntity]:
    chunks: dict[str, list[str]] = {entity.id: [] for entity in page}
    for mention in graph.mentions_of(list(chunks), limit=MAX_PASSAGES):
        chunks[mention.entity_id].append(mention.chunk_id)
    extractors = graph.extractors(list(chunks))
    return [
        GivenEntity(
            name=entity.name,
            type=entity.type,
            description=entity.description,
            aliases=_export_aliases(entity),
            passages=tuple(chunks[entity.id]),
            extractors=extractors.get(entity.id, ()),
        )
        for entity in page
    ]


def _export_aliases(entity: Entity) -> tuple[str, ...]:
    # Whoever renamed it did not rename it in the texts.
    renamed = (entity.key,) if name_key(entity.name) != entity.key else ()
    return tuple(alias for alias in (*entity.aliases, *renamed) if alias != entity.name)


def _export_relations(graph: Graph, page: Sequence[Entity], *, derived: bool) -> list[GivenRelation]:
    """Return the relations that go out from these entities, by entity and then strongest first."""
    order = {entity.id: place for place, entity in enumerate(page)}
    found = [
        relation
        for relation in graph.relations_of(list(order), limit=EVERY)
        if relation.source_id in order and (derived or relation.type not in DERIVED_TYPES)
    ]
    found.sort(key=lambda relation: order[relation.source_id])
    others = sorted({relation.target_id for relation in found} - order.keys())
    names = {entity.id: entity.name for entity in (*page, *graph.entities(others))}
    return [_export_relation(relation, names=names) for relation in graph.describe(found)]


def _export_relation(relation: Relation, *, names: Mapping[str, str]) -> GivenRelation:
    return GivenRelation(
        source=names[relation.source_id],
        target=names[relation.target_id],
        type=relation.type,
        weight=relation.weight,
        description=relation.description,
        passages=relation.chunks,
        extractors=relation.extractors,
    )


def _add_facts(engine: Engine, entities: list[GivenEntity], relations: list[GivenRelation]) -> None:
    """Add facts that lead to an entity; things that the graph knows go by their names there."""
    found = [fact for fact in engine.memory.standing() if fact.object]
    named = {
        key: name for fact in found for key, name in ((fact.subject, fact.subject_name), (fact.object, fact.value))
    }
    known = {key: e.name for keys in _slices(named) for key, e in engine.store.graph.find_entities(keys).items()}
    described = engine.store.facts.find_entities(list(named))
    entities += [
        GivenEntity(name=named[key], type=described[key].type, description=described[key].description)
        for key in sorted(named.keys() - known.keys())
    ]
    names = {**named, **known}
    stated = {(relation.source, relation.target, relation.type) for relation in relations}
    for fact in found:
        ends, type = (names[fact.subject], names[fact.object]), relation_type(fact.spelling or fact.predicate)
        if (*ends, type) not in stated:
            weight = max(1.0, 10 * fact.confidence)
            relations.append(GivenRelation(source=ends[0], target=ends[1], type=type, weight=weight))
            stated.add((*ends, type))


def _export_passages(store: Store, ids: Sequence[str]) -> Iterator[GivenPassage]:
    for group in _slices(ids):
        chunks = store.chunks(group)
        documents = store.documents(sorted({chunk.document_id for chunk in chunks}))
        titles = {document.id: document.title for document in documents}
        for chunk in chunks:
            title = titles.get(chunk.document_id, "")
            # Of a record without text there is only the title, and a passage must have a text.
            yield GivenPassage(id=chunk.id, text=chunk.text or title, title=title)


def _list_named(graph: GivenGraph) -> list[str]:
    """Return the ids of all passages that are named, each once."""
    groups = [entity.passages for entity in graph.entities] + [relation.passages for relation in graph.relations]
    return list(dict.fromkeys(id for group in groups for id in group))


def _slices(items: Iterable[str], size: int = PAGE) -> Iterator[list[str]]:
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part
