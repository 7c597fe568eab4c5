"""Random documents, and possible replies of an unreliable language model."""

from __future__ import annotations

import random
import re
from itertools import pairwise
from pathlib import Path

from llm_serving import Graph, entity, relation

_FIRST = "Ada Bruno Clara Dmitri Elena Farid Greta Hugo Ines Jonas Keiko Lamar Mira Nils Olga Pavel Rosa Sami".split()
_LAST = "Abbot Brandt Castel Duarte Eklund Fischer Grant Holm Ivanov Jensen Kowal Lindqvist Moreau Novak".split()
_THINGS = (
    "Harbour Office|Night Ferry|Lantern Works|Copper Line|Salt Archive|North Quay|Glass Mill|Meridian Survey|"
    "Tidal Board|Amber Press|Orchard Trust|Signal House|River Council|Granite Museum"
).split("|")
_VERBS = "founded moved sold surveyed rebuilt inherited designed chaired financed closed visited reported".split()
_ENDS = (
    "before the winter of that year|after a long dispute with the owners|although the plans had been lost twice|"
    "as part of a wider change that few had expected|and nobody objected|because the older building was too small|"
    "which the newspapers of the time described at length|for a price that was never made public"
).split("|")
_PLAIN = (
    "It was not the first attempt, and it would not be the last.|The weather was poor and the work went slowly.|"
    "Most of what is known about this comes from letters that were found much later.|"
    "Little changed in the years that followed, apart from the names on the doors."
).split("|")


def write_corpus(folder: Path, count: int, *, seed: int) -> Path:
    """Write notes of one to some forty sentences, most of them short, some dense with names and some without."""
    chance = random.Random(seed)
    people = [f"{first} {last}" for first in _FIRST for last in _LAST]
    folder.mkdir()
    for number in range(count):
        density = chance.uniform(0.4, 1.0)
        sentences = [
            _write_sentence(chance, people) if chance.random() < density else chance.choice(_PLAIN)
            for _ in range(max(1, min(40, round(chance.lognormvariate(1.9, 0.5)))))
        ]
        (folder / f"{number:03}.txt").write_text(f"Note {number}. " + " ".join(sentences), "utf-8")
    return folder


def _write_sentence(chance: random.Random, people: list[str]) -> str:
    subject = chance.choice([*chance.sample(people, 3), chance.choice(_THINGS)])
    year = f" in {chance.randint(1850, 1990)}" if chance.random() < 0.4 else ""
    return f"{subject} {chance.choice(_VERBS)} the {chance.choice(_THINGS)}{year}, {chance.choice(_ENDS)}."


def read_unevenly(text: str) -> Graph:
    """
    Return what a model might read in a text: which names, how many relations and how many words, is left to chance.

    Around what the names in a text let expect, replies spread by about a third of their length, one in twenty is empty.
    """
    chance = random.Random(text)
    care, talk = chance.uniform(0.6, 1.0) * (chance.random() > 0.05), chance.lognormvariate(0.0, 0.2)
    names = list(dict.fromkeys(re.findall(r"[A-Z]\w+ [A-Z]\w+", text)))
    names = [name for name in names if chance.random() < care]
    words = text.split()

    def said() -> str:
        start, size = chance.randrange(len(words)), round(talk * chance.uniform(3, 35))
        return " ".join(words[start : start + size])

    return {
        "entities": [entity(name, "thing", said()) for name in names],
        "relations": [relation(a, "tied_to", b, 5, said()) for a, b in pairwise(names) if chance.random() < care],
        "facts": [
            {"subject": name, "predicate": "dated", "value": year, "confidence": 0.7}
            for name, year in zip(names, re.findall(r"\b1[89]\d\d\b", text), strict=False)
        ],
    }
