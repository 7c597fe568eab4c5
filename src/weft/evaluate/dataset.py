"""Evaluation sets in BEIR layout: `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`, each plain or `.gz`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from weft.errors import InputError
from weft.load.beir import open_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question with the documents that answer it, graded."""

    id: str
    text: str
    gold: Mapping[str, int]


def read_cases(folder: Path, *, limit: int | None = None) -> list[Case]:
    """Return the questions that have at least one gold document, in their order."""
    gold: dict[str, dict[str, int]] = {}
    with open_text(find_file(folder, "qrels/test.tsv")) as lines:
        for number, line in enumerate(lines, start=1):
            cells = line.rstrip("\n").split("\t")
            if number == 1 and not cells[-1].strip().lstrip("-").isdigit():
                continue  # the header
            if len(cells) != 3 or not cells[2].strip().lstrip("-").isdigit():
                raise InputError(f"line {number} of the judgements is not query, document, grade: {line[:80]!r}")
            if int(cells[2]) > 0:
                gold.setdefault(cells[0], {})[cells[1]] = int(cells[2])
    cases = []
    with open_text(find_file(folder, "queries.jsonl")) as lines:
        for line in lines:
            row = json.loads(line)
            if row["_id"] in gold:
                cases.append(Case(id=row["_id"], text=row["text"], gold=gold[row["_id"]]))
    if not cases:
        raise InputError(f"{str(folder)!r} has no question with a judged document")
    return cases[:limit]


def find_file(folder: Path, name: str) -> Path:
    """Return the file `name` of a set, plain or compressed."""
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    hint = "BEIR layout: corpus.jsonl, queries.jsonl, qrels/test.tsv"
    raise InputError(f"there is no {name!r} in {str(folder)!r}", hint=hint)


def corpus_hash(folder: Path) -> str:
    """Return a hash of the corpus file, so that an index of it can be used again."""
    state = hashlib.sha256()
    with find_file(folder, "corpus.jsonl").open("rb") as file:
        while block := file.read(1 << 20):
            state.update(block)
    return state.hexdigest()
