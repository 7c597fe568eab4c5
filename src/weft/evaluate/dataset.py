"""Evaluation sets in BEIR layout: `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`, each plain or `.gz`."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.errors import InputError
from weft.load.formats.beir import find_corpus, open_text

_GRADE = re.compile("-?[0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question with its graded gold documents."""

    id: str
    text: str
    gold: Mapping[str, int]


def find_sets(folders: Sequence[Path]) -> list[Path]:
    """Return the evaluation sets among folders and inside other folders, by name. Raises `InputError`."""
    found: list[Path] = []
    for folder in folders:
        inside = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
        found += [folder] if find_corpus(folder) else [path for path in inside if find_corpus(path)]
    if not found:
        raise InputError("no evaluation set found", hint="pass a folder with corpus.jsonl, queries.jsonl and qrels/")
    return list(dict.fromkeys(found))


def read_cases(folder: Path, *, limit: int | None = None) -> list[Case]:
    """Return the questions with at least one gold document, in file order. Raises `InputError`."""
    gold = _read_gold(find_file(folder, "qrels/test.tsv"))
    cases = []
    with open_text(find_file(folder, "queries.jsonl")) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                id, text = _read_question(line, number=number)
                cases += [Case(id=id, text=text, gold=gold[id])] if id in gold else []
    if not cases:
        hint = "add a judgement with a grade above 0 to qrels/test.tsv"
        raise InputError(f"{str(folder)!r} has no question with a relevant document", hint=hint)
    return cases[:limit]


def _read_gold(path: Path) -> dict[str, dict[str, int]]:
    """Return the documents with a grade above 0, by question. A first line without a grade is a header."""
    gold: dict[str, dict[str, int]] = {}
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            cells = [cell.strip() for cell in line.split("\t")]
            grade = int(cells[-1]) if _GRADE.fullmatch(cells[-1]) else None
            if not any(cells) or (number == 1 and grade is None):
                continue
            if len(cells) != 3 or grade is None:
                hint = "separate query id, document id and grade by tabs"
                raise InputError(f"invalid judgement in line {number}: {line[:80]!r}", hint=hint)
            if grade > 0:
                gold.setdefault(cells[0], {})[cells[1]] = grade
    return gold


def _read_question(line: str, *, number: int) -> tuple[str, str]:
    try:
        row = json.loads(line)
        id, text = str(row["_id"]), row["text"]
        if not isinstance(text, str):
            raise TypeError("text is not a string")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        hint = "write one JSON object with _id and text per line"
        raise InputError(f"invalid query in line {number}: {line[:80]!r}", hint=hint) from error
    return id, text


def find_file(folder: Path, name: str) -> Path:
    """Return the file `name` of a set, plain or compressed. Raises `InputError`."""
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    hint = "use the BEIR layout: corpus.jsonl, queries.jsonl, qrels/test.tsv"
    raise InputError(f"no {name!r} in {str(folder)!r}", hint=hint)


def corpus_hash(folder: Path) -> str:
    """Return a hash of the corpus file, the cache key of its index."""
    state = hashlib.sha256()
    with find_file(folder, "corpus.jsonl").open("rb") as file:
        while block := file.read(1 << 20):
            state.update(block)
    return state.hexdigest()
