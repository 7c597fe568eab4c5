"""
Entities joined by key: their ids, and what each member knows about them.

An id of an entity is a hash of the namespace and the key, so the members have different ids for one key. The joined
entity has the id that the first member has for the key. Example with the namespaces `docs` and `notes`:

    key           docs                notes               joined
    kubernetes    e1 (12 chunks)      e7 (3 chunks)       e1 (15 chunks)
    k8s           alias of e1         unknown             e1
    acme          unknown             e9 (1 chunk)        the id that docs would give `acme`

A page is an entity of its own member: two namespaces may have different documents with the same path. If both have the
same document (`duplicates`), its page is one entity. A name that is an alias in one member and an entity in another one
stands for both: edits hold inside their namespace.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from weft.extract.links.page_keys import is_page_key
from weft.records import Known
from weft.store.federated.members import EntityCount, Member
from weft.text.ids import entity_id, fact_entity_id, fact_entity_key

MAX_DEFINING_CHUNKS = 32
"""Limit for counting the defining chunks of an entity in a member."""

MAX_KEPT_KEYS = 200_000
"""Keys of ids that are kept between questions."""


class Joined(NamedTuple):
    """An entity of several members."""

    key: str
    owner: int | None
    """Place of the member whose page it is; None for a name, which all members may have."""


class EntityIds:
    """Keys by id. Both are hashes of content, so they stay valid between questions. Threads may share it."""

    def __init__(self) -> None:
        self.joined: dict[str, Joined] = {}
        self.own: dict[tuple[int, str], str] = {}
        """Keys by place of the member and id in the member."""

    def trim(self) -> None:
        """Forget all keys if there are too many."""
        if len(self.joined) + len(self.own) > MAX_KEPT_KEYS:
            self.joined, self.own = {}, {}


class EntityKeys:
    """Translation of ids for one question. `members` returns the members in their present state."""

    def __init__(self, members: Callable[[], Sequence[Member]], *, ids: EntityIds) -> None:
        self._members = members
        self._ids = ids
        self._known: dict[str, tuple[Known | None, ...]] = {}

    def clear(self) -> None:
        """Forget what the members know: they may have changed."""
        self._known.clear()
        self._ids.trim()

    def join(self, place: int, key: str) -> str:
        """Return the joined id of the entity with a key in the member at a place, and remember the key."""
        owner = self._owner(place, key)
        member = self._members()[owner or 0]
        id = entity_id(member.store.namespace, key)
        if owner is not None:
            id = member.outer(id)
        self._ids.joined[id] = Joined(key, owner)
        return id

    def join_all(self, place: int, own_ids: Iterable[str]) -> dict[str, str]:
        """Return the joined ids of entities of the member at a place, by their id there; unknown ids are left out."""
        ids = list(dict.fromkeys(own_ids))
        known = self._ids.own
        missing = [id for id in ids if (place, id) not in known and not fact_entity_key(id)]
        if missing:
            found = self._members()[place].store.graph.keys(missing)
            known.update(((place, id), key) for id, key in found.items())
        return {id: self.join(place, known[place, id]) for id in ids if (place, id) in known}

    def join_asked(self, place: int, own_ids: Iterable[str], asked: Mapping[str, str]) -> dict[str, list[str]]:
        """
        Return the joined ids of entities of a member: those that were `asked` for, own ids by joined id, or else one.

        An entity of a member may stand for several: `k8s`, which only this member merged, and `kubernetes`.
        """
        wanted: dict[str, list[str]] = defaultdict(list)
        for id, own in asked.items():
            wanted[own].append(id)
        return {own: wanted.get(own, [id]) for own, id in self.join_all(place, own_ids).items()}

    def key(self, id: str) -> str:
        """Return the key of a joined entity; empty if it is unknown."""
        joined = self._find(id)
        return joined.key if joined else ""

    def own_ids(self, ids: Sequence[str]) -> list[dict[str, str]]:
        """Return for each member its ids of joined entities, by joined id. Unknown entities are left out."""
        joined = {id: found for id in ids if (found := self._find(id))}
        self.look_up([found.key for found in joined.values()])
        return [
            {
                id: known.entity_id
                for id, found in joined.items()
                if (known := self._known_in(place, found)) and not fact_entity_key(known.entity_id)
            }
            for place in range(len(self._members()))
        ]

    def resolve(self, keys: Collection[str]) -> dict[str, str]:
        """
        Return the id of each key: of an entity, or of a name known only from facts. Unknown keys are left out.

        A page of which two members have different documents is left out.
        """
        self.look_up(keys)
        ends: dict[str, set[str]] = defaultdict(set)
        for place in range(len(self._members())):
            own = {key: name.entity_id for key in keys if (name := self._known[key][place])}
            joined = self.join_all(place, own.values())
            for key, id in own.items():
                if id in joined:
                    ends[key].add(joined[id])
        resolved = {}
        for key in keys:
            if len(ends[key]) == 1:
                resolved[key] = next(iter(ends[key]))
            elif ends[key] and not is_page_key(key):
                resolved[key] = self.join(0, key)
            elif not ends[key] and any(self._known[key]):
                resolved[key] = fact_entity_id(key)
        return resolved

    def known(self, id: str) -> list[Known | None]:
        """Return what each member knows about a joined entity."""
        joined = self._find(id)
        if joined is None:
            return [None] * len(self._members())
        self.look_up([joined.key])
        return [self._known_in(place, joined) for place in range(len(self._members()))]

    def look_up(self, keys: Iterable[str]) -> None:
        """Ask all members for these keys at once."""
        missing = [key for key in dict.fromkeys(keys) if key not in self._known]
        if not missing:
            return
        found = [_find_known(member, missing) for member in self._members()]
        for key in missing:
            self._known[key] = tuple(known.get(key) for known in found)

    def look_up_ids(self, ids: Iterable[str]) -> None:
        """Ask all members for these joined entities at once."""
        self.look_up([joined.key for id in ids if (joined := self._find(id))])

    def _known_in(self, place: int, joined: Joined) -> Known | None:
        if joined.owner is not None and self._owner(place, joined.key) != joined.owner:
            return None
        return self._known[joined.key][place]

    def _owner(self, place: int, key: str) -> int | None:
        """Return the place of the member that shows a page; None for a name."""
        return self._members()[place].hidden.pages.get(_page_of(key), place) if is_page_key(key) else None

    def _find(self, id: str) -> Joined | None:
        """Return the key of a joined id. That of an earlier process is known if the first member has the entity."""
        if id not in self._ids.joined:
            for place, member in enumerate(self._members()):
                self.join_all(place, member.own([id]))
        return self._ids.joined.get(id)


def _page_of(key: str) -> str:
    """Return the key of the page of a section; other keys unchanged."""
    return "/" + key[2:].partition("#")[0] if key.startswith("/#") else key


def _find_known(member: Member, keys: Sequence[str]) -> Mapping[str, Known]:
    """Return what a member knows about keys, without its hidden chunks."""
    found = member.store.graph.find_known(keys, max_defining=MAX_DEFINING_CHUNKS)
    hidden = member.hidden.entities
    if not hidden:
        return found
    return {key: _without(known, hidden.get(known.entity_id, EntityCount())) for key, known in found.items()}


def _without(known: Known, hidden: EntityCount) -> Known:
    return known._replace(
        chunks=max(0, known.chunks - hidden.chunks), defining_chunks=max(0, known.defining_chunks - hidden.defining)
    )
