"""Top-k by BM25 over the segments and the memtable of a keyword index, without deleted chunks."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from weft.rank.fuse import order
from weft.records import Hit
from weft.store.index_files.chunk_ids import unpack_ids
from weft.store.index_files.maxscore import RankedChunks, rank
from weft.store.index_files.postings_file import PostingArrays
from weft.store.relational.session import Namespace, Session
from weft.store.sqlite.index.memtable import TermRows
from weft.store.sqlite.postings import MAX_DESCRIBED_HITS


class KeywordSearch:
    """Keyword query: idf weights of its terms and the mean chunk length."""

    def __init__(
        self,
        segments: Sequence[PostingArrays],
        memtable: TermRows,
        *,
        weights: Mapping[str, float],
        mean_length: float,
        unindexed: int,
    ) -> None:
        """
        `unindexed` is the number of chunks in the file minus that of the segments.

        If it equals the size of the memtable, no chunk was deleted and candidates need not be looked up.
        """
        self._segments = segments
        self._memtable = memtable
        self._weights = weights
        self._mean_length = mean_length
        self._unindexed = unindexed

    def best(
        self, db: Session, namespace: Namespace, *, limit: int, spare: int, allowed: Collection[int] | None
    ) -> tuple[tuple[Hit, ...], dict[str, frozenset[str]]] | None:
        """
        Return the best chunks and the terms in the first of them; with `allowed`, only chunks with these numbers.

        None if too many candidates were deleted or an index file is damaged.
        """
        chosen: NDArray[np.int64] | None = None
        if allowed is not None:
            rows = db.run("terms_of_chunks", {"namespace": namespace, "numbers": json.dumps(sorted(allowed))})
            chosen = np.sort(np.array([number for (number,) in rows], dtype=np.int64))
        for count in (limit + spare, 4 * (limit + spare)):
            try:
                found = self._find(count, chosen)
                ids = unpack_ids(found.ids)
            except (IndexError, ValueError):  # a damaged file, or an id of an unindexed chunk that cannot be packed
                return None
            numbers = found.numbers.tolist()
            # Checked after ranking: another thread may have added rows that this transaction does not see.
            is_complete = len(self._memtable) == self._unindexed
            deleted = set() if is_complete else _find_deleted(db, namespace, numbers)
            if len(numbers) - len(deleted) >= limit or len(numbers) < count:
                # A changed chunk has the same id under a new number.
                each = zip(numbers, ids, found.scores.tolist(), strict=True)
                hits = order({id: score for number, id, score in each if number not in deleted}, limit=limit)
                return tuple(hits), self._describe(hits[:MAX_DESCRIBED_HITS], ids, found.has)
        return None

    def _describe(self, hits: Sequence[Hit], ids: Sequence[str], has: NDArray[np.uint8]) -> dict[str, frozenset[str]]:
        """Return the terms of the query in each of the hits, by chunk id."""
        places = {id: place for place, id in enumerate(ids)}
        rows = np.unpackbits(has[[places[hit.chunk_id] for hit in hits]], axis=1)
        return {hit.chunk_id: frozenset(compress(self._weights, row)) for hit, row in zip(hits, rows, strict=True)}

    def _find(self, count: int, chosen: NDArray[np.int64] | None) -> RankedChunks:
        """Return the best `count` chunks and all chunks that tie with the last one; fewer if fewer match."""
        found = [self._memtable.rank(self._weights, mean_length=self._mean_length, allowed=chosen)]
        for segment in self._segments:
            mask = None if chosen is None else np.isin(segment.numbers, chosen)
            found.append(rank(segment, self._weights, mean_length=self._mean_length, limit=count, allowed=mask))
        best = RankedChunks(*map(np.concatenate, zip(*found, strict=True)))
        if len(best.scores) > count:
            least = np.partition(best.scores, len(best.scores) - count)[len(best.scores) - count]
            best = best.at(best.scores >= least)
        return best


def _find_deleted(db: Session, namespace: Namespace, numbers: Sequence[int]) -> set[int]:
    return {number for (number,) in db.run("gone_terms", {"namespace": namespace, "numbers": json.dumps(numbers)})}
