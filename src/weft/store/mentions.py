"""Several names of one entity in one chunk are one mention."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from weft.records import Mention


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
