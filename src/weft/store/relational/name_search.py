"""Mentions of names in chunks that do not nominate them, found by the words of the names."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection

from weft.extract.mentions import required_terms
from weft.store.relational.session import Namespace, Session
from weft.store.shared.name_search import MAX_EXAMINED_CHUNKS, choose_terms, count_alone


def search_names(db: Session, namespace: Namespace, keys: Collection[str]) -> dict[str, dict[str, int]]:
    """Return the number of mentions of each key, by id of the chunk. Chunks that nominate the key may be among them."""
    counts = db.count_terms(namespace, {term for key in keys for group in required_terms(key) for term in group})
    wanted = {key: groups for key in sorted(keys) if (groups := choose_terms(key, counts))}
    if not wanted:
        return {}
    found = db.find_chunks_with_terms(namespace, wanted)
    candidates = [(at, key, chunk) for at, key in enumerate(found) for chunk in sorted(found[key])]
    values = {
        "namespace": namespace,
        "candidates": json.dumps(candidates, ensure_ascii=False),
        "limit": MAX_EXAMINED_CHUNKS,
    }
    names, mentions = list(found), defaultdict[str, dict[str, int]](dict)
    for at, id, text, longer in db.run("candidate_texts", values) if candidates else ():
        if count := count_alone(text, names[at], longer=json.loads(longer)):
            mentions[names[at]][id] = count
    return mentions
