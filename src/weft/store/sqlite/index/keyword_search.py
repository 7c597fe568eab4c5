"""The best chunks by BM25 in an index and in what is newer, of those that are still there."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from weft.rank.fuse import order
from weft.records import Hit
from weft.store.relational.session import Namespace, Session
from weft.store.sqlite.index.chunk_ids import unpack_ids
from weft.store.sqlite.index.maxscore import Ranked, rank
from weft.store.sqlite.index.memtable import TermTail
from weft.store.sqlite.index.postings_file import TermArrays


class TermSearch:
    """A question by words: the weights of its terms, and the mean length of chunks."""

    def __init__(
        self,
        segments: Sequence[TermArrays],
        tail: TermTail,
        *,
        weights: Mapping[str, float],
        mean_length: float,
        newer: int,
    ) -> None:
        """With so many `newer` chunks in the tail, all that index and tail hold is there, and nobody needs to look."""
        self._segments = segments
        self._tail = tail
        self._weights = weights
        self._mean_length = mean_length
        self._newer = newer

    def best(
        self, db: Session, namespace: Namespace, *, limit: int, spare: int, allowed: Collection[int] | None
    ) -> tuple[Hit, ...] | None:
        """Return the best chunks, of those with `allowed` numbers; None where too many that were found are gone."""
        chosen: NDArray[np.int64] | None = None
        if allowed is not None:
            rows = db.run("terms_of_chunks", {"namespace": namespace, "numbers": json.dumps(sorted(allowed))})
            chosen = np.sort(np.array([row[0] for row in rows], dtype=np.int64))
        for looks in (limit + spare, 4 * (limit + spare)):
            try:
                found = self._find(looks, chosen)
                ids = unpack_ids(found.ids)
            except (IndexError, ValueError):  # a damaged file, or a newer chunk whose id is none of ours
                return None
            numbers = found.numbers.tolist()
            # only now: another thread may have put into the tail what this transaction does not see
            gone = set() if len(self._tail) == self._newer else _find_gone(db, namespace, numbers)
            if len(numbers) - len(gone) >= limit or len(numbers) < looks:
                # a chunk that changed has the same id under a new number
                each = zip(numbers, ids, found.scores.tolist(), strict=True)
                return tuple(order({id: score for number, id, score in each if number not in gone}, limit=limit))
        return None

    def _find(self, looks: int, chosen: NDArray[np.int64] | None) -> Ranked:
        """Return the best `looks` chunks and those that score as the last of them; fewer are all."""
        found = [self._tail.rank(self._weights, mean_length=self._mean_length, allowed=chosen)]
        for segment in self._segments:
            mask = None if chosen is None else np.isin(segment.numbers, chosen)
            asked = {"mean_length": self._mean_length, "limit": looks}
            found.append(rank(segment, self._weights, **asked, allowed=mask))  # type: ignore[arg-type]
        best = Ranked(*map(np.concatenate, zip(*found, strict=True)))
        if len(best.scores) > looks:
            least = np.partition(best.scores, len(best.scores) - looks)[len(best.scores) - looks]
            best = best.at(best.scores >= least)
        return best


def _find_gone(db: Session, namespace: Namespace, numbers: Sequence[int]) -> set[int]:
    return {number for (number,) in db.run("gone_terms", {"namespace": namespace, "numbers": json.dumps(numbers)})}
