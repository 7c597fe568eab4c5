"""Records of a store that `benchmarks/corpora.py` built, and the questions of its evaluation sets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from peers.given import Question, Record
from weft.engine.opening.open_engine import open_engine
from weft.evaluate.dataset import read_cases
from weft.records import DocumentInfo, Filter
from weft.search.question.entities import recognise_names
from weft.search.question.read import read_question
from weft.store.base import Store

QUESTIONS = 50
PAGE = 500
"""Documents read at once."""


def read_records(path: Path, *, limit: int) -> Iterator[Record]:
    """Yield the chunks of a store; each links the name that its document is about to the other names in it."""
    with open_engine(str(path)) as engine:
        count, after = 0, ""
        while documents := engine.store.find_documents(Filter(), after=after, limit=PAGE):
            after = documents[-1].source
            for record in _page(engine.store, documents):
                if count == limit:
                    return
                count += 1
                yield record


def _page(store: Store, documents: list[DocumentInfo]) -> Iterator[Record]:
    batches = store.batches([document.id for document in documents])
    mentions = store.graph.mentions_in([item.chunk.id for batch in batches for item in batch.chunks])
    names = {entity.id: entity.name for entity in store.graph.entities([m.entity_id for m in mentions])}
    held: dict[str, dict[str, bool]] = {}
    for mention in mentions:
        if mention.entity_id in names:
            held.setdefault(mention.chunk_id, {})[names[mention.entity_id]] = mention.about
    for batch in batches:
        for item in batch.chunks:
            assert item.vector is not None
            found = held.get(item.chunk.id, {})
            subject = next((name for name, about in found.items() if about), "")
            spelled = {candidate.key: candidate.name for candidate in item.extraction.candidates}
            stated_relations = {
                (spelled[stated.source], spelled[stated.target])
                for stated in item.extraction.stated_relations
                if stated.source in spelled and stated.target in spelled
            }
            links = {(subject, name) for name in found if subject and name != subject}
            yield Record(
                id=item.chunk.id,
                title=batch.document.title,
                text=item.chunk.text,
                vector=item.vector,
                entities=tuple(found),
                edges=tuple(sorted(stated_relations | links)),
            )


def read_asked(path: Path, folders: list[Path]) -> list[Question]:
    """Return questions of all sets, with vectors of the store's model and the names that it recognises."""
    cases = [case.text for folder in folders for case in read_cases(folder)]
    texts = cases[:: max(1, len(cases) // QUESTIONS)][:QUESTIONS]
    with open_engine(str(path)) as engine:
        assert engine.embedder is not None
        vectors = engine.embedder.embed(texts, kind="query")
        return [
            Question(
                text=text,
                vector=vector,
                entities=tuple(
                    seed.entity.name for seed in recognise_names(read_question(text), graph=engine.store.graph)
                ),
            )
            for text, vector in zip(texts, vectors, strict=True)
        ]
