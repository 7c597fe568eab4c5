"""Several names of one entity are one: their mentions in a chunk, and their relations with another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from weft.records import Mention, Relation


def join_mentions(mentions: Iterable[Mention]) -> list[Mention]:
    """Return one mention per entity and chunk, strongest first: what is about it, then by count, then by id."""
    joined: dict[tuple[str, str], Mention] = {}
    for mention in mentions:
        at = (mention.entity_id, mention.chunk_id)
        before = joined.get(at)
        if before is not None:
            mention = replace(
                mention,
                count=before.count + mention.count,
                about=before.about or mention.about,
                chunks=max(before.chunks, mention.chunks),
                strong=before.strong or mention.strong,
            )
        joined[at] = mention
    return sorted(joined.values(), key=lambda m: (not m.about, -m.count, m.chunk_id, m.entity_id))


def join_relations(weights: Iterable[tuple[tuple[str, str, str], float]]) -> list[Relation]:
    """
    Return one relation per pair of entities and type, with the largest weight, strongest first.

    `weights` are by source id, target id and type. A relation of an entity with itself is none.
    """
    best: dict[tuple[str, str, str], float] = {}
    for (source, target, type), weight in weights:
        if source != target:
            best[source, target, type] = max(weight, best.get((source, target, type), 0.0))
    found = [Relation(source_id=s, target_id=t, type=type, weight=weight) for (s, t, type), weight in best.items()]
    return sorted(found, key=lambda r: (-r.weight, r.source_id, r.target_id, r.type))
