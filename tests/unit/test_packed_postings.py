"""Packed postings of a SQLite file: blocks of entries with a place and a frequency."""

import random
from collections import defaultdict

from weft.store.sqlite.postings import (
    CHUNKS_PER_BLOCK,
    TermChanges,
    count_places,
    document_frequencies,
    merge_entries,
)


def entries(frequencies):
    """Return the entries of places: a place in 12 bits, and a frequency of at most 15 in 4 bits."""
    found = []
    for place, frequency in sorted(frequencies.items()):
        parts = [15] * (frequency // 15) + [frequency % 15] * (frequency % 15 > 0)
        found += [(16 * place + part).to_bytes(2, "little") for part in parts]
    return b"".join(found)


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


def test_added_chunks_are_packed_by_term():
    """Numbers in any order, some several times or removed again; the last addition of each counts."""
    chance = random.Random(2)
    changes, held = TermChanges(None, namespace=1), {}
    for _ in range(600):
        number = chance.randrange(3 * CHUNKS_PER_BLOCK)
        if held and chance.random() < 0.2:
            number = chance.choice(sorted(held))
            changes.remove(number, held.pop(number)[0])
        if chance.random() < 0.8:
            terms = {term: chance.choice((1, 1, 1, 2, 15, 16, 30, 300)) for term in chance.sample("abcdefghij", 3)}
            held[number] = terms, chance.choice((0, 7, 65_535, 70_000))
            changes.add(number, terms, length=held[number][1])
    wanted = defaultdict(dict)
    for number, (terms, length) in held.items():
        block, place = divmod(number, CHUNKS_PER_BLOCK)
        for term, frequency in terms.items():
            wanted[term, block][place] = min(frequency, 255)
        wanted[" ", block][place] = min(length, 65_535)
    found = changes.blocks()

    assert {at for at in found if at[0] != " "} == {at for at in wanted if at[0] != " "}
    for (term, block), places in wanted.items():
        if term != " ":
            assert found[term, block] == entries(places)
            continue
        nibbles = [(place, length >> bits & 15) for place, length in sorted(places.items()) for bits in (12, 8, 4, 0)]
        assert found[term, block] == b"".join((16 * place + four).to_bytes(2, "little") for place, four in nibbles)


def test_lengths_of_chunks_are_not_counted_as_a_term():
    """Only terms have a document frequency; a chunk counts once, however often it contains the term."""
    block = merge_entries(b"", removed=None, added=entries({3: 1, 7: 255}))[0]

    assert document_frequencies({("fox", 0): block, ("fox", 1): block, (" ", 0): block}) == {"fox": 4}
