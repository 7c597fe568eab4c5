"""
Latency of recall over many facts.

    python benchmarks/facts.py [--facts 100000] [--entities 20000] [--hub 10000] [--questions 200] [--asked]

Facts are spread over the entities; half of them link two entities. A second run adds a hub entity with 10,000 facts
that every question reaches. The embedder is a fake, and its time is excluded. The time includes the search for
entities by name and by vector (384 dimensions), two hops of facts, scoring, and counting the accesses. The cache is
disabled. With `--asked` each question has content words, so a hundred facts of each of its entities are matched.
`cpu` is the median of the processor time, which other load changes little.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from statistics import median, quantiles

from weft.config import MemoryOptions
from weft.extract.names import name_key
from weft.index.reembed import embed_facts
from weft.records import Fact, StoredModel, Vectors
from weft.search.facts.recall import recall
from weft.store.base import Store
from weft.store.sqlite.database import SqliteDatabase
from weft.testing import FakeEmbedder
from weft.text.ids import fact_content, fact_id

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
HUB = "Great Hub"


class TimedEmbedder(FakeEmbedder):
    """Embedder that counts its own time, to be excluded."""

    seconds = 0.0
    cpu_seconds = 0.0

    def embed(self, texts: Sequence[str], *, kind: str = "document") -> Vectors:
        start, cpu_start = time.perf_counter(), time.process_time()
        made = super().embed(texts)
        self.seconds += time.perf_counter() - start
        self.cpu_seconds += time.process_time() - cpu_start
        return made


def make_fact(subject: str, predicate: str, value: str, *, object: str, place: int, confidence: float) -> Fact:
    """Return a fact with all its keys."""
    content = fact_content(name_key(subject), predicate, object=name_key(object), value=value)
    return Fact(
        id=fact_id("default", content, place),
        subject=name_key(subject),
        subject_name=subject,
        predicate=predicate,
        object=name_key(object),
        value=object or value,
        confidence=confidence,
        source="file",
        status="confirmed",
        created=NOW - timedelta(minutes=place),
    )


def fill(store: Store, *, facts: int, entities: int, hub: int) -> list[str]:
    """Write facts; return the names of the entities."""
    chance = random.Random(7)
    names = ["user", *(f"Thing {number} of {chance.randrange(10**6)}" for number in range(1, entities))]
    made = []
    for place in range(facts):
        subject = HUB if place < hub else names[place % entities]
        other = chance.choice(names) if place % 2 else ""
        if hub and place >= hub and place % 5 == 0:
            other = HUB
        value = f"value {place}"
        confidence = chance.random()
        made.append(make_fact(subject, "holds", value, object=other, place=place, confidence=confidence))
    for start in range(0, len(made), 5000):
        store.facts.write(made[start : start + 5000])
    return names


def measure(*, facts: int, entities: int, hub: int, questions: int, asked: bool) -> str:
    """Return a row of figures."""
    embedder = TimedEmbedder(dimension=384)
    with tempfile.TemporaryDirectory() as folder:
        database = SqliteDatabase(f"{folder}/facts.db")
        store = database.store("default")
        card = embedder.card
        store.write_model(
            StoredModel(name=card.name, fingerprint=card.fingerprint, dimension=card.dimension, active=True)
        )
        start = time.perf_counter()
        names = fill(store, facts=facts, entities=entities, hub=hub)
        embed_facts(store, embedder=embedder)
        filled = time.perf_counter() - start
        chance = random.Random(11)
        about = [f"{name}{f' and {HUB}' if hub else ''}" for name in chance.sample(names, questions)]
        texts = [f"Which status and which value has {name}?" if asked else f"What is {name}?" for name in about]
        taken, used, recalled = [], [], 0
        for text in texts:
            embedder.seconds, start = 0.0, time.perf_counter()
            embedder.cpu_seconds, cpu_start = 0.0, time.process_time()
            found = recall(text, store=store, embedder=embedder, options=MemoryOptions(), at=NOW)
            store.facts.touch([piece.fact.id for piece in found.facts], at=NOW)
            taken.append(1000 * (time.perf_counter() - start - embedder.seconds))
            used.append(1000 * (time.process_time() - cpu_start - embedder.cpu_seconds))
            recalled += len(found.facts)
        database.close()
    warm = taken[10:]
    return (
        f"| {facts:,} facts, {entities:,} entities, hub {hub:,} | {median(warm):.1f} | {quantiles(warm, n=20)[-1]:.1f} "
        f"| {median(used[10:]):.1f} | {recalled / len(texts):.1f} | {filled:.0f} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--entities", type=int, default=20_000)
    parser.add_argument("--hub", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--asked", action="store_true", help="ask for something of the entities, not only for them")
    arguments = parser.parse_args()
    print("| memory | p50 ms | p95 ms | cpu ms | facts recalled | filled in s |\n| --- | --- | --- | --- | --- | --- |")
    for hub in (0, arguments.hub):
        row = measure(
            facts=arguments.facts,
            entities=arguments.entities,
            hub=hub,
            questions=arguments.questions,
            asked=arguments.asked,
        )
        print(row, flush=True)


if __name__ == "__main__":
    main()
