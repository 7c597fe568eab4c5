"""
Comparison of rules that detect duplicate names: the number of pairs, and a sample for manual review.

    python benchmarks/quality/similar_names.py                      # number of pairs per rule
    python benchmarks/quality/similar_names.py --show "one letter"  # up to 100 pairs, drawn with a fixed seed
    python benchmarks/quality/similar_names.py --set cacm           # output of `weft entity similar` for an indexed set

The names are extractions of GPT-3.5 from musique-train and 2wiki-dev (`openie.jsonl`), each under its key.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from itertools import combinations

from sets import NAMES, data_folder, open_set

from weft.extract.names import name_key, singular
from weft.extract.typos import find_typos, to_written_key

Pair = tuple[str, str]


def read_names() -> dict[str, str]:
    """Return one spelling of each name, by key."""
    names: dict[str, str] = {}
    for name in ("musique-train", "2wiki-dev"):
        for line in (data_folder() / name / "openie.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            texts = {str(text) for text in row["entities"]}
            texts |= {str(triple[at]) for triple in row["triples"] if len(triple) == 3 for at in (0, 2)}
            for text in sorted(texts):
                names.setdefault(name_key(text), text)
    return {key: name for key, name in names.items() if key}


def share(keys: Iterable[str], *, of: Callable[[str], Iterable[Hashable]]) -> set[Pair]:
    """Return the pairs of keys with a common feature."""
    groups: defaultdict[Hashable, set[str]] = defaultdict(set)
    for key in keys:
        for common in of(key):
            groups[common].add(key)
    return {pair for group in groups.values() for pair in combinations(sorted(group), 2)}


def edited(key: str) -> set[str]:
    """Return a key and all forms of it with one letter deleted."""
    return {key} | {key[:at] + key[at + 1 :] for at in range(len(key))}


def is_one_edit(one: str, other: str) -> bool:
    """Return True if one letter is missing, different or swapped, and all numbers are equal."""
    if one.replace(" ", "") == other.replace(" ", "") or numbers(one) != numbers(other):
        return False
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return len(one) + len(other) == 1 or len(one) == len(other) == 1 or (len(one) == 2 and one == other[::-1])


def numbers(key: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\d+", key))


def differing(one: str, other: str) -> tuple[str, str]:
    """Return the differing words of two keys with the same number of words; empty if more than one differs."""
    pairs = list(zip(one.split(), other.split(), strict=False))
    found = [pair for pair in pairs if pair[0] != pair[1]]
    return found[0] if len(found) == 1 and one.count(" ") == other.count(" ") else ("", "")


def rules(names: dict[str, str]) -> dict[str, set[Pair]]:
    """Return the pairs of each rule."""
    one = {pair for pair in share((key for key in names if 4 <= len(key) <= 60), of=edited) if is_one_edit(*pair)}
    words = {pair: differing(*pair) for pair in one}
    long = {pair for pair, (a, b) in words.items() if min(len(a), len(b)) >= 6 and a[0] == b[0]}
    inner = {pair for pair in long if words[pair][0][-1] == words[pair][1][-1]}
    slips = list(find_typos(to_written_key(key, names[key]) for key in sorted(names)))
    return {
        "one letter": one,
        "one letter, not the first, of 8": {(a, b) for a, b in one if a[0] == b[0] and min(len(a), len(b)) >= 8},
        "the last letter of a word of 6": long - inner,
        "inside a word of 6 that stands alone": {pair for pair in inner if " " not in pair[0]},
        "inside a word of 6 beside others": {pair for pair in inner if " " in pair[0]},
        "weft entity similar, letters": {slip[:2] for slip in slips if slip.how != "only spaces differ"},
        "spaces": share(names, of=lambda key: [(key.replace(" ", ""), numbers(key))]),
        "the order of words": share(
            names, of=lambda key: [tuple(sorted(key.split()))] if " " in key and not numbers(key) else []
        ),
        "plurals inside": share(names, of=lambda key: [" ".join(map(singular, key.split()))] if " " in key else []),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", metavar="RULE")
    parser.add_argument("--set", choices=NAMES)
    arguments = parser.parse_args()
    if arguments.set:
        with open_set(arguments.set, embedder="local/granite-30m") as (engine, _):
            for found in engine.entities.similar(limit=1000):
                print(found.entity.name, found.into.name, found.why, found.shared, sep="\t")
        return
    names = read_names()
    for rule, pairs in rules(names).items():
        if arguments.show is None:
            print(f"{len(pairs):,}\t{rule}")
        elif rule == arguments.show:
            drawn = random.Random(7).sample(sorted(pairs), min(100, len(pairs)))
            print("\n".join(f"{names[one]}\t{names[other]}" for one, other in drawn))


if __name__ == "__main__":
    main()
