"""
Entity resolution: which names are entities, and which names are the same entity.

| key | nominations | user edits | result |
| --- | --- | --- | --- |
| `auth service` | a title | | an entity |
| `oauth` | a phrase in one document | | no entity |
| `oauth` | a phrase in two documents | | an entity |
| `kg` | alias of `knowledge graph`, never in its own right | | same as `knowledge graph` |
| `kg` | the same | unmerge `kg`, `knowledge graph` | an entity of its own |
| `k8s` | | merge into `kubernetes` | same as `kubernetes` |

The result depends on the set of nominations and edits, never on their order.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from weft.records import STRONG_KINDS, Nomination

EditKind: TypeAlias = Literal["merge", "unmerge", "alias", "rename"]

KIND_RANKS = {
    "given": 0, "title": 0, "definition": 1, "metadata": 2, "field": 2, "link": 3, "abbreviation": 4,
    "name": 5, "quoted": 5, "identifier": 5, "phrase": 6, "term": 6, "heading": 7, "variant": 8,
}  # fmt: skip
"""Rank of a nomination kind: an entity takes name, type and description from the smallest rank."""


OWN_KINDS = ("title", "definition", "field", "given")
"""Kinds that name an entity in its own right. A link or a metadata value may use an alias."""

SILENT_KINDS = frozenset({"heading", "variant"})
"""Kinds that never make an entity: section headings and possible spellings of a name."""

MAX_ALIAS_CHAIN = 4
"""Number of aliases of aliases that are followed."""

_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    """Evidence of all documents about a key."""

    strong: bool
    """A nomination of a strong kind exists, such as a title, link or definition."""
    several: bool
    """Weak nominations exist in at least two documents."""
    own: bool
    """A title, definition, field or the user names it in its own right, not as an alias."""
    aliases: Collection[tuple[str, str]]
    """Keys it is an alias of, each with the reason."""
    vague: bool = False
    """It is only a possible spelling, and a first word of other names: `Alexander`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Resolution of a key."""

    exists: bool
    strong: bool = False
    same_as: str = ""
    """Key of the entity it is an alias of, or the key itself."""
    reason: str = ""


def vote(kind: str) -> int:
    """Return the weight of a nomination kind: 2 makes an entity, 1 needs another document, 0 never makes one."""
    if kind in STRONG_KINDS:
        return 2
    return 0 if kind in SILENT_KINDS else 1


def judge(key: str, votes: Votes, edits: Collection[tuple[str, str, str]]) -> Standing:
    """
    Return the resolution of a key. `edits` are (kind, key, value) rows with the key on either side.

    User edits have priority. Otherwise a key that is an alias of exactly one other key, and never named in its own
    right, resolves to that key, unless it is ambiguous (`vague`).
    """
    own_edits = [(kind, value) for kind, owner, value in edits if owner == key]
    merge_targets = [value for kind, value in own_edits if kind in ("merge", "alias") and value != key]
    pointed_at = any(kind in ("merge", "alias") and value == key for kind, _, value in edits)
    strong = votes.strong or bool(merge_targets) or pointed_at
    if not strong and not votes.several:
        return Standing(exists=False)
    if merge_targets:
        kind = "merged" if ("merge", merge_targets[0]) in own_edits else "named"
        return Standing(exists=True, strong=True, same_as=min(merge_targets), reason=f"{kind} by you")
    refused = {value for kind, value in own_edits if kind == "unmerge"}
    targets = {target for target, _ in votes.aliases if target != key}
    if len(targets) == 1 and not votes.own and not votes.vague and not targets & refused:
        target = next(iter(targets))
        reason = min(reason for other, reason in votes.aliases if other == target)
        return Standing(exists=True, strong=strong, same_as=target, reason=reason)
    return Standing(exists=True, strong=strong, same_as=key)


def preference(nomination: Nomination) -> tuple[int, str, str]:
    """Return the sort key of the nominations of a key: the entity takes its name and text from the first."""
    return KIND_RANKS[nomination.kind], nomination.name, nomination.description


def first_words(keys: Iterable[str]) -> set[str]:
    """Return the first words of keys of several words. Such a key makes its first word vague."""
    return {key.partition(" ")[0] for key in keys if " " in key}


def letters(key: str) -> str:
    """Return a key without spaces: equal for possible spellings of one name (`data base`, `database`)."""
    return key.replace(" ", "")


def join_spellings(
    group: Mapping[str, Standing], *, own: Collection[str], edits: Collection[tuple[str, str, str]]
) -> dict[str, Standing]:
    """
    Return the resolutions of keys with the same letters, with the spellings of one name joined.

    They join the key named in its own right, or else the strongest, then the smallest key. Nothing is joined if two are
    named in their own right, if the numbers differ (`v1 2` is not `v12`), or if a key is an alias already.
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
    """Return the key at the end of a chain of aliases. A key that is not an entity ends the chain."""
    for _ in range(MAX_ALIAS_CHAIN):
        after = same_as.get(key, key)
        if after == key or after not in same_as:
            break
        key = after
    return key
