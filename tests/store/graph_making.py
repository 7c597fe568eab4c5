"""Documents with names in several spellings, what a plain extractor reads in them, and all a reader can see of it."""

from dataclasses import replace

from contract import MODEL, make_batch, unit

from weft.extract.names import match_names, name_key, words
from weft.records import Candidate, Extraction, Filter, StatedRelation

NAMES = [
    *("Auth Service", "OAuth Provider", "Auth Service Team", "SR-052", "SR-053", "密钥", "Ledgers", "Paris", "AS"),
    *("Auth", "Data Base", "Database", "SR 052", "SR0 52", "Authservice", "密 钥", "C", "C++", "Paris+"),
]
"""Among them several spellings of one name, names that differ in a sign, and one that others begin with."""
KEYS = [name_key(name) for name in NAMES]


def extract(source, text):
    """Propose what a plain extractor would: the source as title, names in the text weakly, one alias, one link."""
    title = source
    found = {key for key, _, _ in match_names(words(text), KEYS)}
    candidates = [
        Candidate(key=name_key(title), name=title, kind="title", about=True, description=text[:40]),
        Candidate(key=name_key(title), name=title, kind="definition", description=text[:40] if len(text) % 2 else "0"),
    ]
    candidates += [
        Candidate(key=key, name=name, kind="phrase") for name, key in zip(NAMES, KEYS, strict=True) if key in found
    ]
    stated_relations = []
    if "AS" in text.split():
        alias = Candidate(key="as", name="AS", kind="abbreviation", alias_of="auth service", reason="in parentheses")
        candidates.append(alias)
    if "密钥" in text:
        candidates.append(Candidate(key="密钥", name="密钥", kind="link"))
        stated_relations.append(
            StatedRelation(source=name_key(title), target="密钥", type="links_to", weight=8.0, description=text)
        )
    return Extraction(candidates=tuple(candidates), stated_relations=tuple(stated_relations))


def batch_of(source, texts, *, namespace="default"):
    batch = make_batch(source, texts, namespace=namespace)
    items = []
    for item in batch.chunks:
        found = extract(source, item.chunk.text)
        vectors = {n.key: unit(1, len(n.key), 2) for n in found.candidates if n.description}
        items.append(replace(item, extraction=found, entity_vectors=vectors))
    return replace(batch, chunks=tuple(items))


def view(store):
    """Return everything a reader can see of the graph."""
    graph = store.graph
    entities = graph.find_entities([*KEYS, "doc one", "ledger"])
    ids = sorted({entity.id for entity in entities.values()})
    chunks = sorted(c.id for d in store.find_documents(Filter()) for c in store.find_chunks(d.id))
    return {
        "entities": entities,
        "by id": graph.entities(ids),
        "known": {
            key: repr(name) for key, name in graph.find_known([*KEYS, "doc one", "ledger"], max_defining=2).items()
        },
        "beginnings": graph.find_key_prefixes(["auth service", "oauth provider", "sr 052", "auth"]),
        "names": graph.names(ids),
        "mentions": graph.mentions_of(ids, limit=3),
        "links": graph.links_of(ids[::2], keys=sorted(entities), mentions=99, relations=99),
        "definitions": graph.definitions(ids, hits=chunks),
        "in chunks": sorted(graph.mentions_in(chunks)),
        "chunks about": [(m.chunk_id, m.entity_id) for m in graph.mentions_in(chunks, about=True)],
        "relations": graph.describe(graph.relations_of(ids, limit=99)),
        "derived": graph.describe(graph.co_occurrences(ids, limit=99)),
        "some derived": graph.co_occurrences(ids, limit=2),
        "derived between": graph.co_occurrences(ids[:2], others=ids[1:4], limit=99),
        "between": graph.relations_between(ids[:3], others=ids[1:]),
        "read by": graph.extractors(ids),
        "close": [
            (entity.id, round(score, 5))
            for some in (chunks, chunks[:2])
            for entity, score in graph.search_entities(unit(1, 3, 2), chunk_ids=some, limit=4)
        ],
        "has entities": graph.has_entities(),
        "top": graph.top_entities(limit=5),
        "listed": [*graph.entities_after("", limit=2), *graph.entities_after("auth service", limit=99)],
        "to embed": graph.find_unembedded("another", limit=99),
        "not embedded": graph.find_unembedded(MODEL.fingerprint, limit=99),
        "count": graph.count(),
        "edits": graph.edits(),
    }
