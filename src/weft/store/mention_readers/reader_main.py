"""
Process that finds mentions for another one. Each message is one line of JSON.

    names       [name, …]                                  once
    texts       [[text, [subject, …]], …]                  any number of times
    answer      [[[name, count, …], [source, target, type, …]], …]

In an answer a name is its position in the list of names, and a type its position in `DERIVED_TYPES`.
"""

from __future__ import annotations

import json
import sys

from weft.extract.mentions import DERIVED_TYPES, find_mentions
from weft.extract.names import LazyWords, NameSet


def main() -> None:
    """Answer until the other process closes the pipe."""
    names: list[str] = json.loads(sys.stdin.buffer.readline() or b"[]")
    places = {name: place for place, name in enumerate(names)}
    types = {type: place for place, type in enumerate(DERIVED_TYPES)}
    known = NameSet(places)
    for line in sys.stdin.buffer:
        answer = []
        for text, about in json.loads(line):
            named = find_mentions(text, known=known, about=about, found=LazyWords(text))
            counts = [value for name, count in named.counts.items() for value in (places[name], count)]
            relations = [
                value
                for source, target, type in named.relations
                for value in (places[source], places[target], types[type])
            ]
            answer.append((counts, relations))
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
