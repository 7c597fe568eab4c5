"""Masking of documents and of what is known about them: title, metadata, links, names and relations."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from weft.config import MemoryOptions
from weft.masking.mask import find_secrets, mask_secrets, replace_spans
from weft.records import Document, Extraction, GivenGraph, Metadata, Scalar

T = TypeVar("T")


def mask_documents(items: Iterable[T], options: MemoryOptions) -> Iterator[T]:
    """Yield items with the secrets of documents masked, unless the options allow them. Others pass unchanged."""
    for item in items:
        is_masked = isinstance(item, Document) and not options.allow_secrets
        yield mask_document(item) if is_masked else item  # type: ignore[arg-type, misc]


def mask_document(document: Document) -> Document:
    """
    Return a document without secrets: text, title, metadata, links, and the names and relations given with it.

    The number of lines stays the same. Offsets of turns are moved.
    """
    spans = find_secrets(document.text)
    changes: dict[str, object] = {}
    if spans:
        text, shifts = replace_spans(document.text, spans)
        starts = [span.start for span in spans]
        changes["text"] = text
        changes["turns"] = tuple(
            turn._replace(start=turn.start + shifts[bisect_left(starts, turn.start)]) for turn in document.turns
        )
    masked: dict[str, object] = {
        "title": mask_secrets(document.title),
        "metadata": mask_metadata(document.metadata),
        "links": tuple(
            link._replace(address=mask_secrets(link.address), label=mask_secrets(link.label)) for link in document.links
        ),
        "given": mask_extraction(document.given),
    }
    changes |= {name: value for name, value in masked.items() if value != getattr(document, name)}
    return replace(document, **changes) if changes else document  # type: ignore[arg-type]


def mask_metadata(metadata: Metadata) -> Metadata:
    """Return metadata without secrets. The key announces the value, as in `password: x9!k`."""
    return {
        mask_secrets(key): [_mask_field(key, item) for item in value]
        if isinstance(value, list | tuple)
        else _mask_field(key, value)  # type: ignore[arg-type]
        for key, value in metadata.items()
    }


def mask_extraction(extraction: Extraction) -> Extraction:
    """Return names and relations without secrets. A name that contains one is left out with its relations."""
    hidden = {item.key for item in extraction.candidates if find_secrets(item.name) or find_secrets(item.key)}
    candidates = tuple(
        item._replace(description=mask_secrets(item.description))
        for item in extraction.candidates
        if item.key not in hidden and item.alias_of not in hidden
    )
    stated_relations = tuple(
        stated._replace(description=mask_secrets(stated.description))
        for stated in extraction.stated_relations
        if stated.source not in hidden and stated.target not in hidden
    )
    return Extraction(candidates=candidates, stated_relations=stated_relations)


def mask_graph(graph: GivenGraph) -> GivenGraph:
    """Return an imported graph without secrets. Entities and relations whose names contain one are left out."""
    entities = [
        replace(
            entity,
            description=mask_secrets(entity.description),
            aliases=tuple(alias for alias in entity.aliases if not find_secrets(alias)),
            notes=tuple(map(mask_secrets, entity.notes)),
        )
        for entity in graph.entities
        if not find_secrets(entity.name)
    ]
    relations = [
        replace(relation, description=mask_secrets(relation.description))
        for relation in graph.relations
        if not (find_secrets(relation.source) or find_secrets(relation.target))
    ]
    hidden = len(graph.entities) + len(graph.relations) - len(entities) - len(relations)
    skipped = (f"{hidden} statements whose names contain a secret",) if hidden else ()
    return replace(graph, entities=tuple(entities), relations=tuple(relations), skipped=(*graph.skipped, *skipped))


def _mask_field(key: str, value: Scalar) -> Scalar:
    if not isinstance(value, str):
        return value
    head = f"{key}: "
    masked = mask_secrets(head + value)
    return masked[len(head) :] if masked.startswith(head) else mask_secrets(value)
