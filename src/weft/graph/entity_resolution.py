"""
Entity resolution: decides for each name if it is an entity, an alias of one, or neither.

| key | candidates | user edits | result |
| --- | --- | --- | --- |
| `auth service` | a title | | an entity |
| `oauth` | a phrase in one document | | no entity |
| `oauth` | a phrase in two documents | | an entity |
| `kg` | alias of `knowledge graph`, never a main name | | same as `knowledge graph` |
| `kg` | the same | unmerge `kg`, `knowledge graph` | a separate entity |
| `k8s` | | merge into `kubernetes` | same as `kubernetes` |
| `page` | a title | delete `page` | no entity |
| `code:run` | alias of `code:app.run` | | same as `code:app.run` |
| `code:run` | alias of `code:app.run` and of `code:job.run` | | no entity: the short name is ambiguous |
| `code:app.run` | the same, but `app` exports `app.core.run` by name | | same as `code:app.core.run` |

The result depends on the set of candidates and edits, never on their order.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from weft.records import CODE_PREFIX, EXPORT_REASON, STRONG_KINDS, Candidate

EditKind: TypeAlias = Literal["merge", "unmerge", "alias", "rename", "delete"]

KIND_RANKS = {
    "given": 0, "title": 0, "definition": 1, "metadata": 2, "field": 2, "link": 3, "abbreviation": 4,
    "name": 5, "quoted": 5, "identifier": 5, "phrase": 6, "term": 6, "heading": 7, "variant": 8,
    "page": 0, "section": 0, "anchor": 7, "label": 9,
}  # fmt: skip
"""Rank of a candidate kind. An entity takes name, type and description from the kind of smallest rank."""


OWN_KINDS = ("title", "definition", "field", "given")
"""Kinds whose name is a main name. A link or a metadata value may use an alias instead."""

SILENT_KINDS = frozenset({"heading", "variant", "page", "section", "label"})
"""
Kinds that never create an entity on their own: section headings, possible spellings of a name, pages.

Pages and sections become entities by links (`store.relational.graph.link_write`).
"""

MAX_ALIAS_CHAIN = 4
"""Maximum length of a chain of aliases."""

_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    """Evidence of all documents about a key."""

    strong: bool
    """A candidate of a strong kind exists, such as a title, link or definition."""
    several: bool
    """Weak candidates exist in at least two documents."""
    own: bool
    """A title, a definition, a field or the user gives the key as a main name, not as an alias."""
    aliases: Collection[tuple[str, str]]
    """(key, reason) for each key of which this key is an alias."""
    vague: bool = False
    """The key is only a possible spelling, and also the first word of other names: `Alexander`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """Resolution of a key."""

    exists: bool
    strong: bool = False
    same_as: str = ""
    """Key of the entity; differs from the key for an alias."""
    reason: str = ""


ABSENT = Resolution(exists=False)
"""Resolution of a key that is not an entity."""


def vote(kind: str) -> int:
    """Return the weight of a candidate kind: 2 creates an entity, 1 needs a second document, 0 never creates one."""
    if kind in STRONG_KINDS:
        return 2
    return 0 if kind in SILENT_KINDS else 1


def judge(key: str, votes: Votes, edits: Collection[tuple[str, str, str]]) -> Resolution:
    """
    Return the resolution of a key. `edits` are (kind, key, value) rows with the key on either side.

    User edits have priority. Otherwise a key resolves to another key if it is an alias of exactly one key and never a
    main name. An ambiguous key (`vague`) resolves to itself.
    """
    if not edits and not votes.strong and not votes.several:  # nearly all keys
        return ABSENT
    own_edits = [(kind, value) for kind, owner, value in edits if owner == key]
    if any(kind == "delete" for kind, _ in own_edits):
        return ABSENT
    merge_targets = [value for kind, value in own_edits if kind in ("merge", "alias") and value != key]
    pointed_at = any(kind in ("merge", "alias") and value == key for kind, _, value in edits)
    strong = votes.strong or bool(merge_targets) or pointed_at
    if not strong and not votes.several:
        return ABSENT
    if merge_targets:
        kind = "merged" if ("merge", merge_targets[0]) in own_edits else "named"
        return Resolution(exists=True, strong=True, same_as=min(merge_targets), reason=f"{kind} by you")
    refused = {value for kind, value in own_edits if kind == "unmerge"}
    exported = {target for target, reason in votes.aliases if reason == EXPORT_REASON and target != key}
    targets = exported or {target for target, _ in votes.aliases if target != key}
    if len(targets) == 1 and not votes.own and not votes.vague and not targets & refused:
        target = next(iter(targets))
        reason = min(reason for other, reason in votes.aliases if other == target)
        return Resolution(exists=True, strong=strong, same_as=target, reason=reason)
    if key.startswith(CODE_PREFIX) and targets and not votes.own:
        return Resolution(exists=False)
    return Resolution(exists=True, strong=strong, same_as=key)


def preference(candidate: Candidate) -> tuple[int, str, str]:
    """Return a sort key of candidates. The entity takes its name and text from the first candidate."""
    return KIND_RANKS[candidate.kind], candidate.name, candidate.description


def first_words(keys: Iterable[str]) -> set[str]:
    """Return the first words of all multi-word keys. A first word is ambiguous (`vague`) as a name."""
    return {key.partition(" ")[0] for key in keys if " " in key}


def letters(key: str) -> str:
    """Return a key without spaces: equal for possible spellings of one name (`data base`, `database`)."""
    return key.replace(" ", "")


def join_spellings(
    group: Mapping[str, Resolution], *, own: Collection[str], edits: Collection[tuple[str, str, str]]
) -> dict[str, Resolution]:
    """
    Return the resolutions of keys with the same letters, with the spellings of one name joined.

    They join the key that is a main name, or else the strongest, then the smallest key. Nothing is joined if two keys
    are main names, or if a key is already an alias. Keys with different numbers are not joined either: `v1 2` is not
    `v12`.
    """
    free = sorted(key for key, resolution in group.items() if resolution.exists and resolution.same_as == key)
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
