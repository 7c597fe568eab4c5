"""
Whether a name is an entity, and which one: a function of what documents nominate and of what the user said.

It knows no order: the same documents and the same edits give the same entities, however they came in.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from weft.records import STRONG_KINDS, Nomination

EditKind: TypeAlias = Literal["merge", "unmerge", "alias", "rename"]

RANKS = {
    "given": 0, "title": 0, "definition": 1, "metadata": 2, "field": 2, "link": 3, "abbreviation": 4,
    "name": 5, "quoted": 5, "identifier": 5, "phrase": 6, "term": 6, "heading": 7, "variant": 8,
}  # fmt: skip
"""Whose spelling, type and description an entity takes: the smaller, the better."""


OWN_KINDS = ("title", "definition", "field", "given")
"""Kinds that name a thing in its own right; a link or a mention in metadata may use another name of it."""

SILENT_KINDS = frozenset({"heading", "variant"})
"""Kinds that never make an entity: what a section is called, and how a name might be written elsewhere."""

CHAIN = 4
"""How many names of names are followed."""

_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    """What all documents together say of a key."""

    strong: bool
    """A title, link, definition or the like names it."""
    several: bool
    """Weaker signs of it stand in at least two documents."""
    own: bool
    """A title, definition, field or the user names it in its own right, not as another name of something."""
    aliases: Collection[tuple[str, str]]
    """Keys it is said to be another name of, each with the reason."""
    vague: bool = False
    """It is only a way to write a name, and one word that names of other things begin with: `Alexander`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a key is."""

    exists: bool
    strong: bool = False
    same_as: str = ""
    """Key of the entity it is another name of, or the key itself."""
    reason: str = ""


def vote(kind: str) -> int:
    """Return the weight of a nomination: 2 makes an entity alone, 1 with another document, 0 never."""
    if kind in STRONG_KINDS:
        return 2
    return 0 if kind in SILENT_KINDS else 1


def judge(key: str, votes: Votes, edits: Collection[tuple[str, str, str]]) -> Standing:
    """
    Return what a key is. `edits` are (kind, key, value) rows that name it on either side.

    The user's word comes first. Then a name that documents give as another name of exactly one thing, and never
    in its own right, is that thing, unless it is a surname that others are called by first.
    """
    mine = [(kind, value) for kind, owner, value in edits if owner == key]
    given = [value for kind, value in mine if kind in ("merge", "alias") and value != key]
    pointed_at = any(kind in ("merge", "alias") and value == key for kind, _, value in edits)
    strong = votes.strong or bool(given) or pointed_at
    if not strong and not votes.several:
        return Standing(exists=False)
    if given:
        kind = "merged" if ("merge", given[0]) in mine else "named"
        return Standing(exists=True, strong=True, same_as=min(given), reason=f"{kind} by you")
    refused = {value for kind, value in mine if kind == "unmerge"}
    targets = {target for target, _ in votes.aliases if target != key}
    if len(targets) == 1 and not votes.own and not votes.vague and not targets & refused:
        target = next(iter(targets))
        reason = min(reason for other, reason in votes.aliases if other == target)
        return Standing(exists=True, strong=strong, same_as=target, reason=reason)
    return Standing(exists=True, strong=strong, same_as=key)


def preference(nomination: Nomination) -> tuple[int, str, str]:
    """Return what nominations of a key are sorted by: the first is the one whose words an entity takes."""
    return RANKS[nomination.kind], nomination.name, nomination.description


def first_words(keys: Iterable[str]) -> set[str]:
    """Return what names of several words begin with: where they come and go, it may become vague, or clear."""
    return {key.partition(" ")[0] for key in keys if " " in key}


def letters(key: str) -> str:
    """Return a key without spaces: keys that share it may be two spellings of one name (`data base`, `database`)."""
    return key.replace(" ", "")


def join_spellings(
    group: Mapping[str, Standing], *, own: Collection[str], edits: Collection[tuple[str, str, str]]
) -> dict[str, Standing]:
    """
    Return the standings of keys that share their letters, the spellings of one name joined.

    They join the one that documents name in its own right, or else the strongest, then the first by key. Where two
    are named in their own right nothing is joined, nor where the numbers differ (`v1 2` is not `v12`), nor where
    the user or a document says what a name stands for.
    """
    free = sorted(key for key, standing in group.items() if standing.exists and standing.same_as == key)
    heads = [key for key in free if key in own]
    if len(free) < 2 or len(heads) > 1:
        return dict(group)
    head = heads[0] if heads else min(free, key=lambda key: (not group[key].strong, key))
    refused = {owner for kind, owner, value in edits if kind == "unmerge" and value == head}
    joined = dict(group)
    for key in free:
        if key != head and key not in refused and _DIGITS.findall(key) == _DIGITS.findall(head):
            joined[key] = replace(group[key], same_as=head, reason="another spelling with the same letters")
    return joined


def follow(key: str, same_as: Mapping[str, str]) -> str:
    """Return the key at the end of a chain of names: what `key` is read under. Names that are no entity end it."""
    for _ in range(CHAIN):
        after = same_as.get(key, key)
        if after == key or after not in same_as:
            break
        key = after
    return key
