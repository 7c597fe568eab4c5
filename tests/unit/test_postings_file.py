"""MaxScore on a postings file returns exactly the results of adding up all postings."""

import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.rank.bm25 import idf, term_scores
from weft.store.index_files import postings_file, postings_merge
from weft.store.index_files.chunk_ids import ChunkIds, pack_ids, unpack_ids, write_chunk_ids
from weft.store.index_files.maxscore import rank
from weft.store.index_files.postings_file import read_postings
from weft.store.index_files.postings_merge import invert_chunks, merge_postings

STRANGE = ["", " ", "a b", "a:b", '"', "\\", "AND", "*", "中", "中文", "é", "e\u0301", "\x00", "😀", "x" * 70_000]


def make_rows(seed, count, *, vocabulary=40, first=1):
    """Return chunks; the first terms are in nearly all of them, the last in few."""
    chance = random.Random(seed)
    rows = []
    for number in range(first, first + count):
        terms = {
            f"t{n}": chance.randrange(1, 400 if n == 3 else 5)
            for n in range(vocabulary)
            if chance.random() < 2 / (n + 2)
        }
        rows.append((number * 3, json.dumps(terms), sum(terms.values()), f"c{number * 3:024x}"))
    return rows


def brute(rows, weights, *, mean_length):
    """Return the score of every chunk that contains a term, by number."""
    scores = {}
    for number, text, length, _ in rows:
        held, score = json.loads(text), 0.0
        for term, weight in weights.items():
            frequency = np.array([min(held.get(term, 0), 255)], dtype=np.float64)
            lengths = np.array([min(length, 65_535)], dtype=np.float64)
            score += term_scores(frequency, lengths, weight=weight, mean_length=mean_length)[0]
        if score:
            scores[number] = score
    return scores


def best(scores, limit):
    """Return the best scores, with all that tie with the last."""
    least = sorted(scores.values(), reverse=True)[:limit][-1] if scores else 0.0
    return {number: score for number, score in scores.items() if score >= least}


def found(arrays, weights, *, mean_length, limit, allowed=None):
    ranked = rank(arrays, weights, mean_length=mean_length, limit=limit, allowed=allowed)
    assert unpack_ids(ranked.ids) == [f"c{number:024x}" for number in ranked.numbers]
    return best(dict(zip(ranked.numbers.tolist(), ranked.scores.tolist(), strict=True)), limit)


def weigh(rows, terms):
    return {term: idf(sum(term in json.loads(text) for _, text, *_ in rows), total=len(rows)) for term in terms}


@given(st.integers(0, 10**6), st.integers(1, 120), st.sampled_from([7.0, 20.0, 90.0]))
def test_the_best_are_those_of_all_postings(seed, limit, mean_length):
    """This is true for any query and limit, with ties at the last rank and a changed mean length."""
    rows, chance = make_rows(seed, 150), random.Random(seed)
    asked = [f"t{n}" for n in chance.sample(range(45), chance.randrange(1, 9))]
    weights, arrays = weigh(rows, asked), invert_chunks(rows, mean=20.0)

    wanted = best(brute(rows, weights, mean_length=mean_length), limit)
    assert found(arrays, weights, mean_length=mean_length, limit=limit) == wanted


@pytest.mark.parametrize("slice", [50, 1 << 21])
def test_parts_are_merged_without_deleted_chunks(tmp_path, monkeypatch, slice):
    """A file merged from arrays and files equals one built at once."""
    monkeypatch.setattr(postings_merge, "MAX_SLICE_POSTINGS", slice)
    parts = [make_rows(seed, 90, first=1 + 100 * seed) for seed in range(3)]
    whole = [np.ones(90, dtype=bool)] * 2
    joined = merge_postings(
        [invert_chunks(rows, mean=9.0) for rows in parts[:2]], whole, mean=9.0, path=tmp_path / "joined"
    )
    keep = np.arange(180) % 3 != 0
    merge_postings([joined, invert_chunks(parts[2], mean=9.0)], [keep, whole[0]], mean=15.0, path=tmp_path / "all")
    arrays = read_postings(np.fromfile(tmp_path / "all", np.uint8))
    rows = [row for row, kept in zip([*parts[0], *parts[1]], keep, strict=True) if kept] + parts[2]

    assert arrays.numbers.tolist() == [row[0] for row in rows]
    assert len(arrays.common) > 0
    for seed in range(30):
        asked = [f"t{n}" for n in random.Random(seed).sample(range(45), 5)]
        weights = weigh(rows, asked)
        wanted = best(brute(rows, weights, mean_length=15.0), 10)
        assert found(arrays, weights, mean_length=15.0, limit=10) == wanted
        allowed = np.random.default_rng(seed).random(len(rows)) < 0.3
        some = [row for row, may in zip(rows, allowed, strict=True) if may]
        wanted = best(brute(some, weights, mean_length=15.0), 10)
        assert found(arrays, weights, mean_length=15.0, limit=10, allowed=allowed) == wanted


def test_the_drawn_file_is_the_written_one(tmp_path):
    """Offsets and values of the example in the module docstring."""
    rows = []
    for place in range(100):
        terms = {"the": 1 + place % 3} | {3: {"fox": 1}, 7: {"fox": 4, "owl": 2}}.get(place, {})
        rows.append((place + 1, json.dumps(terms), 20, f"c{place:024x}"))
    everything = [np.ones(100, dtype=bool)]
    arrays = merge_postings([invert_chunks(rows, mean=20.0)], everything, mean=20.0, path=tmp_path / "file")
    layout, _ = postings_file._layout({"numbers": 100, "hashes": 2, "places": 3, "common": 1})

    for name, (offset, _) in layout.items():
        assert f"    {offset}  {name} " in postings_file.__doc__
    assert arrays.starts.tolist() == [0, 1, 3]
    assert arrays.highest.tolist() == [160, 197]
    assert arrays.places.tolist() == [7, 3, 7]
    assert arrays.frequencies.tolist() == [2, 1, 4]
    assert arrays.codes.tolist() == [160, 116, 197]
    assert arrays.common_codes[0, :3].tolist() == [116, 160, 183]


def test_a_term_may_be_anything(tmp_path):
    """No character of a term is syntax, and different terms stay different."""
    rows = [(n, json.dumps({term: 1}), 1, f"c{n:024x}") for n, term in enumerate(STRANGE, start=1)]
    merge_postings([invert_chunks(rows, mean=1.0)], [np.ones(len(rows), bool)], mean=1.0, path=tmp_path / "file")
    arrays = read_postings(np.fromfile(tmp_path / "file", np.uint8))

    for number, term in enumerate(STRANGE, start=1):
        assert list(found(arrays, {term: 1.0}, mean_length=1.0, limit=9)) == [number]
    assert found(arrays, {"b": 1.0, "a": 1.0}, mean_length=1.0, limit=9) == {}


def test_a_hash_collision_is_refused(monkeypatch):
    """The index is not built, and a scan answers."""
    monkeypatch.setattr(postings_merge, "term_hash", lambda term: 7)

    with pytest.raises(ValueError, match="same hash"):
        invert_chunks(make_rows(1, 3), mean=1.0)


@pytest.mark.parametrize("content", [b"", b"{}", b"x" * 5000, b'{"sizes": {"numbers": 1}, "mean": 1}'.ljust(9000)])
def test_a_malformed_file_is_refused(tmp_path, content):
    """It raises instead of returning arrays."""
    (tmp_path / "file").write_bytes(content)

    with pytest.raises((ValueError, KeyError)):
        read_postings(np.fromfile(tmp_path / "file", np.uint8))


def test_chunk_ids_are_found_by_number(tmp_path):
    """In any order, and more than once."""
    numbers, ids = [2, 5, 9], ["c" + "0" * 24, "c", "cabc"]
    write_chunk_ids(tmp_path / "ids", numbers, pack_ids(ids))
    chunk_ids = ChunkIds(np.fromfile(tmp_path / "ids", np.uint8))

    assert unpack_ids(chunk_ids.find(np.array([9, 2, 5, 9]))) == [ids[2], ids[0], ids[1], ids[2]]
    assert unpack_ids(chunk_ids.find(np.zeros(0, np.int64))) == unpack_ids(pack_ids([])) == []


def test_a_malformed_id_file_or_id_is_refused(tmp_path):
    """Ids that cannot be stored completely raise too."""
    (tmp_path / "ids").write_bytes(b"x" * 34)

    with pytest.raises(ValueError, match="wrong size"):
        ChunkIds(np.fromfile(tmp_path / "ids", np.uint8))
    for id in ("c" * 26, "ç"):
        with pytest.raises(ValueError):
            pack_ids([id])
