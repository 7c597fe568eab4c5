"""
Mentions of names that only other members know.

A member knows the names of its own documents. Its passages may contain names that another member defines: a page about
a film in one namespace names the director, whose page is in another one. Such mentions are found in the text.

    passages → entities    runs of words of a few passages, looked up among the entities of the other members
    entity → passages      the passages with all terms of the name, by the keyword index; their texts decide
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from weft.extract.links.page_keys import is_page_key
from weft.extract.names import NameSet, long_keys, match_names, short_keys, words
from weft.records import Known, Mention, Word
from weft.store.federated.entity_keys import EntityKeys
from weft.store.federated.members import Member
from weft.text.analyzer import query_terms
from weft.text.ids import fact_entity_key

MAX_NAME_WORDS = 8
"""Maximum number of words of a name that is looked up."""

MAX_SEARCHED_ENTITIES = 8
"""Entities of one read whose names are searched in the members that do not know them: those of a question."""

MAX_SEARCHED_CHUNKS = 24
"""Passages of a member that are read for one name; a name in more passages is common there and is left out."""


def find_in_chunks(members: Sequence[Member], place: int, chunk_ids: Sequence[str], keys: EntityKeys) -> list[Mention]:
    """Return the mentions, in these chunks of the member at a place, of entities that only other members have."""
    chunks = members[place].store.chunks(chunk_ids)
    found = {chunk.id: words(chunk.text) for chunk in chunks}
    short, pairs = set[str](), set[str]()
    for text in found.values():
        some, starts = short_keys(text, longest=MAX_NAME_WORDS)
        short |= some
        pairs |= starts
    known = [_find_known(member, found.values(), short=short, pairs=pairs) for member in members]
    own = known[place]
    foreign = set[str]().union(*known) - own
    if not foreign:
        return []
    names = NameSet(own | foreign, longest=MAX_NAME_WORDS)
    counts = {id: Counter(key for key, *_ in match_names(text, names) if key in foreign) for id, text in found.items()}
    ids = keys.resolve({key for count in counts.values() for key in count})
    return [
        _mention(ids[key], members[place].outer(chunk), count, keys)
        for chunk, count_by_key in counts.items()
        for key, count in count_by_key.items()
        if key in ids and not fact_entity_key(ids[key])
    ]


def find_chunks(members: Sequence[Member], entity_ids: Sequence[str], keys: EntityKeys) -> list[Mention]:
    """Return the mentions of entities in the members that do not know them. Only for a few entities."""
    if len(entity_ids) > MAX_SEARCHED_ENTITIES:
        return []
    mentions = []
    for id in entity_ids:
        key = keys.key(id)
        if not key or is_page_key(key):
            continue
        for member, known in zip(members, keys.known(id), strict=True):
            if known is None or fact_entity_key(known.entity_id):
                for chunk, count in _search(member, key).items():
                    mentions.append(_mention(id, member.outer(chunk), count, keys))
    return mentions


def _find_known(
    member: Member, texts: Collection[Sequence[Word]], *, short: Collection[str], pairs: Collection[str]
) -> set[str]:
    """Return the keys in texts that are names of a member; `short` and `pairs` are those of `short_keys`."""
    graph = member.store.graph
    beginnings = graph.find_key_prefixes(pairs)
    long = (long_keys(text, beginnings, longest=MAX_NAME_WORDS) for text in texts)
    keys = sorted(set(short).union(*long))
    return set(graph.links_of([], keys=keys, mentions=0, relations=0).ids)


def _search(member: Member, key: str) -> Mapping[str, int]:
    """Return how often the chunks of a member contain a name, by chunk id."""
    terms = query_terms(key)
    (ids,) = member.store.find_chunks_with_terms([terms], limit=MAX_SEARCHED_CHUNKS) if terms else (None,)
    shown = [id for id in ids or () if id not in member.hidden.chunks]
    names, counts = NameSet([key], longest=MAX_NAME_WORDS), dict[str, int]()
    for chunk in member.store.chunks(shown) if shown else ():
        if count := len(match_names(words(chunk.text), names)):
            counts[chunk.id] = count
    return counts


def _mention(id: str, chunk_id: str, count: int, keys: EntityKeys) -> Mention:
    known: list[Known] = [name for name in keys.known(id) if name and not fact_entity_key(name.entity_id)]
    return Mention(
        entity_id=id,
        chunk_id=chunk_id,
        count=count,
        about=False,
        chunks=1 + sum(name.chunks for name in known),
        strong=any(name.strong for name in known),
        elsewhere=True,
        has_defining_chunk=any(name.defining_chunks for name in known),
    )
