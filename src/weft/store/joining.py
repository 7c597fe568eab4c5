"""Several names of one entity are one: their mentions in a chunk, and their relations with another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from weft.records import Mention, Relation
from weft.text.ids import entity_id


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


def join_relations(
    weights: Iterable[tuple[tuple[str, str, str], float]], *, targets: Mapping[str, str], namespace: str
) -> list[Relation]:
    """
    Return one relation per pair of entities and type, with the largest weight, strongest first.

    `weights` are by source key, target key and type; `targets` tells under which key each key is read. A relation
    of an entity with itself is none.
    """
    best: dict[tuple[str, str, str], float] = {}
    for (source, target, type), weight in weights:
        ends = (targets.get(source, source), targets.get(target, target), type)
        if ends[0] != ends[1]:
            best[ends] = max(weight, best.get(ends, 0.0))
    found = [
        Relation(source_id=entity_id(namespace, s), target_id=entity_id(namespace, t), type=type, weight=weight)
        for (s, t, type), weight in best.items()
    ]
    return sorted(found, key=lambda r: (-r.weight, r.source_id, r.target_id, r.type))
