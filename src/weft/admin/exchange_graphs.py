"""Import, removal and export of ready-made graphs."""

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
from weft.exchange.file_formats import GraphForm
from weft.exchange.read import read_graph
from weft.extract.names import name_key
from weft.index.embedding_cost import Meter
from weft.index.import_graph import ImportPlan, plan_import
from weft.index.progress import Step
from weft.index.prune import iter_documents
from weft.index.reembed import embed_names
from weft.load.folder import source_of
from weft.masking.masked_documents import mask_graph
from weft.records import (
    CODE_PREFIX,
    CandidateKind,
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
    Receipt,
    Relation,
)
from weft.store.base import Graph, Store
from weft.text.ids import document_id
from weft.text.searchable_metadata import IMPORT

if TYPE_CHECKING:
    from weft.engine.engine import Engine

PAGE_ROWS = 500
"""Number of entities, chunks or documents per read."""
MAX_PASSAGES = 20
"""Maximum number of chunk ids per exported entity; the strongest mentions are kept."""
NO_LIMIT = 2**31 - 1
RESERVED_NAME = "*"
"""Name that no import can have: the store uses it for relations derived from mentions."""

_CHUNK_ID = re.compile("c[0-9a-f]{24}")

Progress = Callable[[int, int], None]
"""Called with the number of documents done and the total."""


def import_graph(
    engine: Engine,
    path: str | Path,
    *,
    form: GraphForm | None = None,
    name: str = "",
    on_step: Progress = lambda done, total: None,
) -> ImportReceipt:
    """
    Import a graph from a file; it replaces an earlier import of the same name.

    The default name is the source of the file. Statements about stored documents annotate their chunks; the rest
    becomes documents of the import. Importing the same file again changes nothing; a changed file writes only
    differences.
    """
    start, path = time.perf_counter(), Path(path)
    graph = read_graph(path, form=form)
    if not engine.settings.memory.allow_secrets:
        graph = mask_graph(graph)
    name = choose_name(name or source_of(path, base=engine.base))
    wanted = set(_list_named(graph)) - {passage.id for passage in graph.passages}
    stored = _find_stored(engine.store, wanted, name=name)
    # OpenIE output is uncertain until two documents agree; other formats contain explicit statements.
    kind: CandidateKind = "phrase" if graph.form == "openie" else "given"
    plan = plan_import(
        graph, name=name, kind=kind, stored_ids=stored, read_chunks=lambda id: _read_passage(engine.store, id)
    )
    _check_sources(engine.store, plan.documents, name=name)
    receipt = _write(engine, plan, name=name, on_step=on_step)
    return replace(
        receipt,
        form=graph.form,
        not_found=len(wanted - stored.keys()),
        seconds=time.perf_counter() - start,
        skipped=(*graph.skipped, *plan.skipped),
    )


def remove_import(engine: Engine, name: str) -> ImportReceipt:
    """Remove an import: its documents and its annotations of others. Raises `NotFound`."""
    start, name = time.perf_counter(), choose_name(name)
    retracted = engine.store.annotations.write(name, {})
    pruned = engine.store.delete([document.id for document in _iter_own(engine.store, name)])
    if not retracted and not pruned:
        raise NotFound(
            f"no import {name!r} in namespace {engine.store.namespace!r}",
            hint="pass the path of the imported file, or the value of --name",
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
    Return the graph of the namespace: all entities in the order of their keys, and their relations.

    Passages are chunks, by id; `passages` includes their texts. `derived` includes relations derived from mentions.
    `facts` includes valid facts about entities as relations of weight 10 × confidence. `on_step` is called with the
    number of entities read.
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
    """Return the name of an import on one line. Raises `InputError` if it is empty or reserved."""
    clean = to_name(name)
    if clean in ("", RESERVED_NAME):
        raise InputError(f"invalid import name {name!r}", hint="pass a name with letters as --name")
    return clean


# ── import ──────────────────────────────────────────────────────────────────────────────────────


def _find_stored(store: Store, wanted: set[str], *, name: str) -> dict[str, str]:
    """
    Return, for each stored passage, the id of its document or chunk.

    A passage is matched with the metadata `_id` of documents, then their source, then the ids of documents and chunks.
    The first document by source is used. Documents of the import itself are ignored, since the import may delete them.
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


def _read_passage(store: Store, id: str) -> tuple[str, Sequence[Chunk]]:
    """Return the title of a document with all its chunks, or with the chunk of this id."""
    chunks = store.chunks([id]) if _CHUNK_ID.fullmatch(id) else store.find_chunks(id)
    documents = store.documents([chunk.document_id for chunk in chunks[:1]])
    return (documents[0].title, chunks) if documents else ("", ())


def _check_sources(store: Store, documents: Sequence[Document], *, name: str) -> None:
    """Raise `InputError` if a document would replace one of another import or of `weft index`."""
    sources = [document.source for document in documents]
    for group in _slices(sources):
        for document in store.documents([document_id(store.namespace, source) for source in group]):
            if document.metadata.get(IMPORT) != name:
                raise InputError(
                    f"the source {document.source!r} already belongs to another document",
                    hint="choose another name with --name",
                )


def _write(engine: Engine, plan: ImportPlan, *, name: str, on_step: Progress) -> ImportReceipt:
    """Write documents and annotations, then delete documents that the import no longer contains."""
    store, total, done = engine.store, len(plan.documents), 0

    def count(step: Step) -> None:
        nonlocal done
        done += 1
        on_step(done, total)

    receipt = engine.add(plan.documents, on_step=count)
    store.annotations.write(name, plan.annotations)
    receipt = _embed_names(engine, receipt)
    kept = {document.source for document in plan.documents}
    outdated = [document.id for document in _iter_own(store, name) if document.source not in kept]
    return ImportReceipt(
        name=name,
        entities=plan.entities,
        relations=plan.relations,
        added=receipt.added,
        changed=receipt.changed,
        unchanged=receipt.unchanged,
        pruned=store.delete(outdated) if outdated else 0,
        annotated=len(plan.annotations),
        embedded=receipt.embedded,
        cached=receipt.cached,
        embedding=receipt.embedding,
    )


def _embed_names(engine: Engine, receipt: Receipt) -> Receipt:
    """Embed the described entities of annotations, and add the counts to the receipt."""
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
    """Yield the documents of an import."""
    return iter_documents(store, Filter(source_prefix=f"{name}#", metadata=((IMPORT, name),)))


# ── export ──────────────────────────────────────────────────────────────────────────────────────


def _iter_pages(graph: Graph) -> Iterator[list[Entity]]:
    after = ""
    while page := graph.entities_after(after, limit=PAGE_ROWS):
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
    if entity.key.startswith(CODE_PREFIX):
        return ()  # elsewhere `idempotency_key` would be another name of a thing called "Idempotency key"
    # A renamed entity keeps its old name in the texts.
    renamed = (entity.key,) if name_key(entity.name) != entity.key else ()
    return tuple(alias for alias in (*entity.aliases, *renamed) if alias != entity.name)


def _export_relations(graph: Graph, page: Sequence[Entity], *, derived: bool) -> list[GivenRelation]:
    """Return the outgoing relations of these entities, in their order, strongest first."""
    order = {entity.id: index for index, entity in enumerate(page)}
    every = graph.relations_of(list(order), limit=NO_LIMIT)
    every += graph.co_occurrences(list(order), limit=NO_LIMIT) if derived else []
    found = [relation for relation in every if relation.source_id in order]
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
    """Add facts about entities as relations; entities of the graph keep their names."""
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
            # A record without text has only a title, and a passage needs a text.
            yield GivenPassage(id=chunk.id, text=chunk.text or title, title=title)


def _list_named(graph: GivenGraph) -> list[str]:
    """Return the ids of all passages in the graph, each once."""
    groups = [entity.passages for entity in graph.entities] + [relation.passages for relation in graph.relations]
    return list(dict.fromkeys(id for group in groups for id in group))


def _slices(items: Iterable[str], size: int = PAGE_ROWS) -> Iterator[list[str]]:
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part
