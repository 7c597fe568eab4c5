"""Switch of a namespace to another embedder, without loading the documents again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.errors import SchemaMismatch
from weft.facts.lifecycle import fact_text
from weft.index.embedding_cost import EmbedPreview
from weft.models.base import Embedder, LearnsDimension
from weft.records import Fact, StoredModel
from weft.store.base import Store
from weft.text.ids import fact_content
from weft.text.split import indexed_text

TEXTS_PER_TRANSACTION = 256
"""An interruption loses at most this many vectors."""

NO_LIMIT = 1 << 60


def reembed(store: Store, *, embedder: Embedder, on_step: Callable[[int], None] = lambda count: None) -> int:
    """
    Embed every chunk without a vector of `embedder`, then make `embedder` active. Return the number of embedded chunks.

    Searches use the old embedder until the switch, and other processes may write. After an interruption the next
    call continues.

    """
    active = next((known for known in store.models() if known.active), None)
    for known in store.models():
        if known.fingerprint == embedder.card.fingerprint:
            expect_dimension(embedder, known.dimension)
    probe_dimension(embedder)
    card = embedder.card
    model = StoredModel(name=card.name, fingerprint=card.fingerprint, dimension=card.dimension, active=False)
    if active is None or active.fingerprint != card.fingerprint:
        store.write_model(model)
    done = 0
    while True:
        while ids := store.find_unembedded(card.fingerprint, limit=TEXTS_PER_TRANSACTION):
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
        except SchemaMismatch:  # another process has written a document since: embed it too
            continue
        return done


def probe_dimension(embedder: Embedder) -> None:
    """Embed a query, after which the embedder's card has the dimension. Queries are not counted with the documents."""
    embedder.embed(["a first text, so that the dimension is known"], kind="query")


def expect_dimension(embedder: Embedder, dimension: int) -> None:
    """Pass the dimension of the stored vectors to an embedder that accepts it."""
    model: object = embedder
    if isinstance(model, LearnsDimension):
        model.expect(dimension)


def preview_reembed(store: Store, *, embedder: Embedder, embedding: EmbedPreview) -> int:
    """Add the texts that `reembed` would embed to the preview. Return the number of chunks without a vector."""
    fingerprint = embedder.card.fingerprint
    ids = store.find_unembedded(fingerprint, limit=NO_LIMIT)
    for part in _split_groups(ids):
        embedding.add(list(_read_texts(store, part).values()))
    for part in _split_groups(list(store.graph.find_unembedded(fingerprint, limit=NO_LIMIT).values())):
        embedding.add(part)
    preview_facts(store, embedding=embedding)
    return len(ids)


def preview_facts(store: Store, *, embedding: EmbedPreview) -> None:
    """Count the facts and their entities that `embed_facts` would embed."""
    if embedding.fingerprint is None:
        return
    texts = store.facts.find_unembedded(embedding.fingerprint, limit=NO_LIMIT)
    sentences = store.facts.find_unembedded_texts(embedding.fingerprint, limit=NO_LIMIT)
    preview_texts([texts[key] for key in sorted(texts)], embedding=embedding)
    preview_texts([sentences[id] for id in sorted(sentences)], embedding=embedding)


def preview_texts(texts: Sequence[str], *, embedding: EmbedPreview) -> None:
    """Count texts that would be embedded together, in groups of one transaction each."""
    for part in _split_groups(texts):
        embedding.add(part)


def find_new_fact_entities(store: Store, facts: Sequence[Fact]) -> dict[str, str]:
    """Return the texts to embed of fact entities that are not stored yet, by key."""
    named: dict[str, str] = {}
    for fact in facts:
        named.setdefault(fact.subject, fact.subject_name)
        if fact.object:
            named.setdefault(fact.object, fact.value)
    known = store.facts.find_entities(list(named)) if named else {}
    return {key: name for key, name in named.items() if key not in known}


def find_new_fact_texts(store: Store, facts: Sequence[Fact]) -> dict[str, str]:
    """Return the sentences to embed of facts that are not stored yet, by content."""
    texts = {
        fact_content(fact.subject, fact.predicate, object=fact.object, value=fact.value): fact_text(fact)
        for fact in facts
    }
    return {content: text for content, text in texts.items() if not store.facts.same([content])}


def _split_groups(items: Sequence[str]) -> list[Sequence[str]]:
    return [items[start : start + TEXTS_PER_TRANSACTION] for start in range(0, len(items), TEXTS_PER_TRANSACTION)]


def _read_texts(store: Store, ids: Sequence[str]) -> dict[str, str]:
    """Return the text to embed by chunk id; chunks of deleted documents are left out."""
    chunks = store.chunks(ids)
    documents = {d.id: d for d in store.documents(list({chunk.document_id for chunk in chunks}))}
    return {
        chunk.id: indexed_text(documents[chunk.document_id].title, chunk.heading, chunk.text)
        for chunk in chunks
        if chunk.document_id in documents
    }


def embed_names(store: Store, *, embedder: Embedder) -> int:
    """Embed described entities that have no vector of `embedder`; return their number."""
    fingerprint, done = embedder.card.fingerprint, 0
    while names := store.graph.find_unembedded(fingerprint, limit=TEXTS_PER_TRANSACTION):
        vectors = embedder.embed(list(names.values()))
        store.graph.write_vectors(fingerprint, dict(zip(names, vectors, strict=True)))
        done += len(names)
    return done


def embed_facts(store: Store, *, embedder: Embedder) -> int:
    """Embed facts and their entities that have no vector of `embedder`; return their number."""
    fingerprint, done = embedder.card.fingerprint, 0
    while names := store.facts.find_unembedded(fingerprint, limit=TEXTS_PER_TRANSACTION):
        vectors = embedder.embed(list(names.values()))
        store.facts.write_vectors(fingerprint, dict(zip(names, vectors, strict=True)))
        done += len(names)
    while sentences := store.facts.find_unembedded_texts(fingerprint, limit=TEXTS_PER_TRANSACTION):
        vectors = embedder.embed(list(sentences.values()))
        store.facts.write_text_vectors(fingerprint, dict(zip(sentences, vectors, strict=True)))
        done += len(sentences)
    return done
