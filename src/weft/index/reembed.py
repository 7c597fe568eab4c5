"""Gives every chunk a vector of another embedder without reading the documents again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.errors import SchemaMismatch
from weft.index.embedding_cost import EmbedPreview
from weft.models.base import Embedder, Expecting
from weft.records import Fact, StoredModel
from weft.store.base import Store
from weft.text.split import indexed_text

GROUP = 256
"""Chunks per transaction: what an interruption loses at most."""

ALL = 1 << 60
"""As many as there are."""


def reembed(store: Store, *, embedder: Embedder, on_step: Callable[[int], None] = lambda count: None) -> int:
    """
    Embed what has no vector under `embedder` yet, then let it answer; return how many were embedded.

    Online: until the last moment the old embedder answers, and others may write. Interrupted, it goes on
    where it stopped when called again.
    """
    active = next((known for known in store.models() if known.active), None)
    for known in store.models():
        if known.fingerprint == embedder.card.fingerprint:
            expect_dimension(embedder, known.dimension)
    ask_dimension(embedder)
    card = embedder.card
    model = StoredModel(name=card.name, fingerprint=card.fingerprint, dimension=card.dimension, active=False)
    if active is None or active.fingerprint != card.fingerprint:
        store.write_model(model)
    done = 0
    while True:
        while ids := store.find_unembedded(card.fingerprint, limit=GROUP):
            texts = _read_texts(store, ids)
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


def ask_dimension(embedder: Embedder) -> None:
    """Embed a first text, so that the dimension is on the card; it is none of the documents', and not counted so."""
    embedder.embed(["a first text, so that the dimension is known"], kind="query")


def expect_dimension(embedder: Embedder, dimension: int) -> None:
    """Let an embedder know the dimension of its vectors that are there, where it cannot tell by itself."""
    inside: object = embedder
    if isinstance(inside, Expecting):
        inside.expect(dimension)


def preview_reembed(store: Store, *, embedder: Embedder, embedding: EmbedPreview) -> int:
    """Count what `reembed` would embed, writing and embedding nothing; return how many chunks."""
    fingerprint = embedder.card.fingerprint
    ids = store.find_unembedded(fingerprint, limit=ALL)
    for part in _groups(ids):
        embedding.add(list(_read_texts(store, part).values()))
    for part in _groups(list(store.graph.find_unembedded(fingerprint, limit=ALL).values())):
        embedding.add(part)
    preview_facts(store, embedding=embedding)
    return len(ids)


def preview_facts(store: Store, *, embedding: EmbedPreview) -> None:
    """Count the entities of facts that `embed_facts` would embed."""
    if embedding.fingerprint is None:
        return
    texts = store.facts.find_unembedded(embedding.fingerprint, limit=ALL)
    for part in _groups([texts[key] for key in sorted(texts)]):
        embedding.add(part)


def find_new(store: Store, facts: Sequence[Fact]) -> dict[str, str]:
    """Return what is to be embedded of entities that facts name and that are not there yet, by key."""
    named: dict[str, str] = {}
    for fact in facts:
        named.setdefault(fact.subject, fact.subject_name)
        if fact.object:
            named.setdefault(fact.object, fact.value)
    known = store.facts.find_entities(list(named)) if named else {}
    return {key: name for key, name in named.items() if key not in known}


def _groups(items: Sequence[str]) -> list[Sequence[str]]:
    return [items[start : start + GROUP] for start in range(0, len(items), GROUP)]


def _read_texts(store: Store, ids: Sequence[str]) -> dict[str, str]:
    """Return what is embedded of chunks, by id; those whose document is gone are left out."""
    chunks = store.chunks(ids)
    documents = {d.id: d for d in store.documents(list({chunk.document_id for chunk in chunks}))}
    return {
        chunk.id: indexed_text(documents[chunk.document_id].title, chunk.heading, chunk.text)
        for chunk in chunks
        if chunk.document_id in documents
    }


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
