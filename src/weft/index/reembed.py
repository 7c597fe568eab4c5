"""Gives every chunk a vector of another embedder without reading the documents again."""

from __future__ import annotations

from collections.abc import Callable

from weft.errors import SchemaMismatch
from weft.models.base import Embedder
from weft.records import StoredModel
from weft.store.base import Store
from weft.text.split import indexed_text

GROUP = 256
"""Chunks per transaction: what an interruption loses at most."""


def reembed(store: Store, *, embedder: Embedder, on_step: Callable[[int], None] = lambda count: None) -> int:
    """
    Embed what has no vector under `embedder` yet, then let it answer; return how many were embedded.

    Online: until the last moment the old embedder answers, and others may write. Interrupted, it goes on
    where it stopped when called again.
    """
    embedder.embed(["a first text, so that the dimension is known"])
    card = embedder.card
    model = StoredModel(name=card.name, fingerprint=card.fingerprint, dimension=card.dimension, active=False)
    active = next((known for known in store.models() if known.active), None)
    if active is None or active.fingerprint != card.fingerprint:
        store.write_model(model)
    done = 0
    while True:
        while ids := store.find_unembedded(card.fingerprint, limit=GROUP):
            chunks = store.chunks(ids)
            documents = {d.id: d for d in store.documents(list({chunk.document_id for chunk in chunks}))}
            texts = {
                chunk.id: indexed_text(documents[chunk.document_id].title, chunk.heading, chunk.text)
                for chunk in chunks
                if chunk.document_id in documents
            }
            vectors = embedder.embed(list(texts.values()))
            store.write_vectors(card.fingerprint, dict(zip(texts, vectors, strict=True)))
            done += len(texts)
            on_step(len(texts))
        embed_names(store, embedder=embedder)
        embed_facts(store, embedder=embedder)
        try:
            store.write_model(
                StoredModel(name=card.name, fingerprint=card.fingerprint, dimension=card.dimension, active=True)
            )
        except SchemaMismatch:  # another process wrote a document in between: embed that too
            continue
        return done


def embed_names(store: Store, *, embedder: Embedder) -> int:
    """Embed names with descriptions that have no vector under `embedder` yet; return how many."""
    fingerprint, done = embedder.card.fingerprint, 0
    while names := store.graph.find_unembedded(fingerprint, limit=GROUP):
        vectors = embedder.embed(list(names.values()))
        store.graph.write_vectors(fingerprint, dict(zip(names, vectors, strict=True)))
        done += len(names)
    return done


def embed_facts(store: Store, *, embedder: Embedder) -> int:
    """Embed entities of facts that have no vector under `embedder` yet; return how many."""
    fingerprint, done = embedder.card.fingerprint, 0
    while names := store.facts.find_unembedded(fingerprint, limit=GROUP):
        vectors = embedder.embed(list(names.values()))
        store.facts.write_vectors(fingerprint, dict(zip(names, vectors, strict=True)))
        done += len(names)
    return done
