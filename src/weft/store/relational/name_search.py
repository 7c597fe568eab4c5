"""Mentions of names in chunks that do not nominate them, found by the words of the names."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection

from weft.extract.mentions import count_mentions, required_terms
from weft.store.relational.session import Namespace, Session
from weft.store.shared.name_search import MAX_EXAMINED_CHUNKS, choose_terms


def search_names(db: Session, namespace: Namespace, keys: Collection[str]) -> dict[str, dict[str, int]]:
    """Return the number of mentions of each key, by id of the chunk. Chunks that nominate the key may be among them."""
    counts = db.count_terms(namespace, {term for key in keys for group in required_terms(key) for term in group})
    wanted = {key: groups for key in sorted(keys) if (groups := choose_terms(key, counts))}
    if not wanted:
        return {}
    found = db.find_chunks_with_terms(namespace, wanted)
    names = [key for key, chunks in found.items() if chunks]
    pairs = [(at, chunk) for at, key in enumerate(names) for chunk in sorted(found[key])]
    values = {"namespace": namespace, "pairs": json.dumps(pairs), "limit": MAX_EXAMINED_CHUNKS}
    texts: dict[str, str] = {}
    candidates: defaultdict[str, list[str]] = defaultdict(list)
    for at, id, text in db.run("candidate_texts", values) if pairs else ():
        candidates[id].append(names[at])
        texts[id] = text
    mentions: dict[str, dict[str, int]] = defaultdict(dict)
    for id, text in texts.items():
        for key, count in count_mentions(text, candidates[id]).items():
            mentions[key][id] = count
    return mentions
