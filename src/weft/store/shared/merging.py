"""Merging of mentions, relations and descriptions of one entity under several names, and tie-breaking order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from weft.records import Candidate, Extraction, Mention, Relation, StatedRelation
from weft.text.ids import entity_id

MAX_DESCRIPTIONS = 20
"""Maximum number of descriptions of an entity that are merged, best rank first."""
MAX_DESCRIPTION_CHARACTERS = 600
"""Maximum length of a description merged from several chunks."""


def join_mentions(mentions: Iterable[Mention]) -> list[Mention]:
    """Return one mention per entity and chunk, with summed counts."""
    joined: dict[tuple[str, str], Mention] = {}
    for mention in mentions:
        at = mention[0], mention[1]  # hot loop
        if at in joined:
            before = joined[at]
            mention = mention._replace(
                count=before.count + mention.count,
                about=before.about or mention.about,
                chunks=max(before.chunks, mention.chunks),
                strong=before.strong or mention.strong,
                elsewhere=before.elsewhere or mention.elsewhere,
                has_defining_chunk=before.has_defining_chunk or mention.has_defining_chunk,
            )
        joined[at] = mention
    return list(joined.values())


def strongest_mentions(mentions: Iterable[Mention]) -> list[Mention]:
    """Return one mention per entity and chunk: defining chunks first, then by descending count, then by ids."""
    return sorted(join_mentions(mentions), key=_strength)


def _strength(mention: Mention) -> tuple[bool, int, str, str]:
    entity, chunk, count, about = mention[:4]  # hot loop
    return not about, -count, chunk, entity


def alias_names(name: str, names: Iterable[str], *, spelling: Callable[[], str | None]) -> tuple[str, ...]:
    """
    Return the aliases of an entity, in order.

    If the displayed name is an alias, `spelling()` replaces that alias in the list. For example, a paper with its id as
    key is displayed under its title; `spelling()` returns a name that links use for the key.
    """
    return tuple((spelling() or other) if other == name else other for other in names)


def join_relations(weights: Iterable[tuple[tuple[str, str, str], float]]) -> list[Relation]:
    """
    Return one relation per pair of entities and type, with the largest weight, strongest first.

    `weights` are by (source id, target id, type). Relations of an entity with itself are dropped.
    """
    best: dict[tuple[str, str, str], float] = {}
    for at, weight in weights:  # hot loop
        if at[0] != at[1] and weight > best.get(at, -1.0):
            best[at] = weight
    ordered = sorted([(-float(weight), *at) for at, weight in best.items()])  # JSON has integers
    return [Relation(source, target, type, -weight) for weight, source, target, type in ordered]


def tie_rank(id: str) -> int:
    """Return the first 32 bits of an id (a hash): a tie-breaker independent of the order of insertion."""
    return int(id[1:9], 16)


def pair_tie_rank(namespace: str, source: str, target: str) -> int:
    """Return the tie-breaker of a relation between two keys; equal in both directions."""
    first, second = (tie_rank(entity_id(namespace, key)) for key in (source, target))
    return join_tie_ranks(first, second)


def join_tie_ranks(first: int, second: int) -> int:
    """Return the tie-breaker of a relation from those of its entities."""
    return first * 2**31 + second // 2 if first < second else second * 2**31 + first // 2


def deduplicated(extraction: Extraction) -> Extraction:
    """Return an extraction with the first candidate of each name and kind and the last statement of each relation."""
    candidates: dict[tuple[str, str, str], Candidate] = {}
    for item in extraction.candidates:
        candidates.setdefault((item.key, item.kind, item.name), item)
    stated_relations: dict[tuple[str, str, str], StatedRelation] = {
        (c.source, c.target, c.type): c for c in extraction.stated_relations
    }
    return Extraction(candidates=tuple(candidates.values()), stated_relations=tuple(stated_relations.values()))


def same_statements(first: Extraction, second: Extraction) -> bool:
    """Return True if two extractions have the same candidates and stated relations, in any order."""
    return set(first.candidates) == set(second.candidates) and set(first.stated_relations) == set(
        second.stated_relations
    )


def join_descriptions(rows: Iterable[Sequence[Any]]) -> str:
    """
    Return the description of an entity from rows of (rank, description, extractor), one for each candidate.

    The result is the first description of the best rank. If a model wrote it, descriptions by models from other chunks
    are appended, because each model call read one chunk. A description by rules is a whole sentence and is used alone.
    """
    rows = sorted((rank, text, extractor) for rank, text, extractor in rows)[:MAX_DESCRIPTIONS]
    best_rank = rows[0][0] if rows else None
    best = [(text, extractor) for rank, text, extractor in rows if rank == best_rank]
    written = {text for text, extractor in best if extractor}
    texts: list[str] = []
    for text in dict.fromkeys(text for text, _ in best):
        is_new = not any(text.casefold() in known.casefold() for known in texts)
        if not texts or (
            is_new and {text, texts[0]} <= written and sum(map(len, texts)) + len(text) <= MAX_DESCRIPTION_CHARACTERS
        ):
            texts.append(text)
    return " ".join(texts)


def extractor_names(labels: Iterable[str | None]) -> tuple[str, ...]:
    """
    Return the sorted names of the extractors for labels of candidates or stated relations.

    | label | extractors |
    | --- | --- |
    | `""` | rules |
    | `"x"` | x |
    | `"+x"` | rules and x |
    | None (derived from mentions) | none |

    """
    found: set[str] = set()
    for label in labels:
        if label is not None:
            found |= ({"rules"} if label == "" or label.startswith("+") else set()) | {label.removeprefix("+")}
    return tuple(sorted(found - {""}))
