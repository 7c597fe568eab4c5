"""What is said more than once is one: mentions and relations under several names, repeated statements; how ties go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from weft.records import Claim, Extraction, Mention, Nomination, Relation
from weft.text.ids import entity_id

WINDOW = 20
"""Descriptions of an entity that are looked at, the best first."""
MAX_DESCRIPTION = 600
"""Characters of what several chunks say of an entity."""


def join_mentions(mentions: Iterable[Mention]) -> list[Mention]:
    """Return one mention per entity and chunk."""
    joined: dict[tuple[str, str], Mention] = {}
    for mention in mentions:
        at = mention[0], mention[1]
        if at in joined:
            before = joined[at]
            mention = mention._replace(
                count=before.count + mention.count,
                about=before.about or mention.about,
                chunks=max(before.chunks, mention.chunks),
                strong=before.strong or mention.strong,
                elsewhere=before.elsewhere or mention.elsewhere,
                home=before.home or mention.home,
            )
        joined[at] = mention
    return list(joined.values())


def strongest_mentions(mentions: Iterable[Mention]) -> list[Mention]:
    """Return one mention per entity and chunk, strongest first: what is about it, then by count, then by id."""
    return sorted(join_mentions(mentions), key=_strength)


def _strength(mention: Mention) -> tuple[bool, int, str, str]:
    entity, chunk, count, about = mention[:4]
    return not about, -count, chunk, entity


def other_names(name: str, names: Iterable[str], *, spelling: Callable[[], str | None]) -> tuple[str, ...]:
    """
    Return the other names of an entity, in their order.

    An entity may be called by one of them, as a paper that is kept under its id is called by its title. There the
    `spelling` by which others refer to what it is kept under stands instead.
    """
    return tuple((spelling() or other) if other == name else other for other in names)


def join_relations(weights: Iterable[tuple[tuple[str, str, str], float]]) -> list[Relation]:
    """
    Return one relation per pair of entities and type, with the largest weight, strongest first.

    `weights` are by source id, target id and type. A relation of an entity with itself is none.
    """
    best: dict[tuple[str, str, str], float] = {}
    for at, weight in weights:
        if at[0] != at[1] and weight > best.get(at, -1.0):
            best[at] = weight
    ordered = sorted([(-float(weight), *at) for at, weight in best.items()])  # whole ones come as JSON without a point
    return [Relation(source, target, type, -weight) for weight, source, target, type in ordered]


def place(id: str) -> int:
    """Return the first 32 bits of an id: an order for ties that does not depend on when things came in."""
    return int(id[1:9], 16)


def pair_place(namespace: str, source: str, target: str) -> int:
    """Return the same for a relation between two keys, in either direction."""
    ids = [entity_id(namespace, key) for key in (source, target)]
    return place(min(ids)) * 2**31 + place(max(ids)) // 2


def unrepeated(extraction: Extraction) -> Extraction:
    """Return what counts: of nominations of one name and kind the first, of claims of one relation the last."""
    nominations: dict[tuple[str, str, str], Nomination] = {}
    for item in extraction.nominations:
        nominations.setdefault((item.key, item.kind, item.name), item)
    claims: dict[tuple[str, str, str], Claim] = {(c.source, c.target, c.type): c for c in extraction.claims}
    return Extraction(nominations=tuple(nominations.values()), claims=tuple(claims.values()))


def same_statements(first: Extraction, second: Extraction) -> bool:
    """Tell whether two extractions say the same, in whatever order."""
    return set(first.nominations) == set(second.nominations) and set(first.claims) == set(second.claims)


def join_descriptions(rows: Iterable[Sequence[Any]]) -> str:
    """
    Return what describes an entity, of (rank, description, extractor) of what puts it forward.

    That is the first description of the best rank. Where a model wrote it, what models wrote of the entity in other
    chunks stands behind it, as far as it is new: each saw a part. A rule's is a sentence of a document, and enough.
    """
    rows = sorted((rank, text, extractor) for rank, text, extractor in rows)[:WINDOW]
    best = [row for row in rows if row[0] == rows[0][0]]
    written = {text for _, text, extractor in best if extractor}
    texts: list[str] = []
    for text in dict.fromkeys(text for _, text, _ in best):
        is_new = not any(text.casefold() in known.casefold() for known in texts)
        if not texts or (
            is_new and {text, texts[0]} <= written and sum(map(len, texts)) + len(text) <= MAX_DESCRIPTION
        ):
            texts.append(text)
    return " ".join(texts)


def extractors(labels: Iterable[str | None]) -> tuple[str, ...]:
    """Return who read something, by what nominations and claims of it say; None is what nobody read."""
    found: set[str] = set()
    for label in labels:
        if label is not None:
            found |= ({"rules"} if label == "" or label.startswith("+") else set()) | {label.removeprefix("+")}
    return tuple(sorted(found - {""}))
