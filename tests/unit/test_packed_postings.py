"""Packed postings of a SQLite file: blocks of entries with a place and a frequency."""

import random

from weft.store.sqlite.postings import (
    CHUNKS_PER_BLOCK,
    count_places,
    document_frequencies,
    merge_entries,
    pack_frequency,
)


def entries(frequencies):
    return b"".join(pack_frequency(place, frequencies[place]) for place in sorted(frequencies))


def test_changes_give_the_block_that_the_remaining_chunks_imply():
    """Random additions and removals, with frequencies that need several entries."""
    chance = random.Random(1)
    block, held = b"", {}
    for _ in range(200):
        places = range(CHUNKS_PER_BLOCK) if chance.random() < 0.5 else range(max(held, default=0) + 1, CHUNKS_PER_BLOCK)
        added = {place: chance.choice((1, 2, 15, 16, 40)) for place in chance.sample(places, min(3, len(places)))}
        removed = set(chance.sample(sorted(held), len(held) // 9))
        before = len(held)
        held = {place: count for place, count in held.items() if place not in removed} | added
        block, change = merge_entries(block, removed=removed, added=entries(added))

        assert change == len(held) - before
        assert block == merge_entries(b"", removed=None, added=entries(held))[0]
        assert count_places(block) == len(held)


def test_lengths_of_chunks_are_not_counted_as_a_term():
    """Only terms have a document frequency; a chunk counts once, however often it contains the term."""
    block = merge_entries(b"", removed=None, added=entries({3: 1, 7: 255}))[0]

    assert document_frequencies({("fox", 0): block, ("fox", 1): block, (" ", 0): block}) == {"fox": 4}
