"""Input of every peer: records and questions with their vectors, in a folder that each peer reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from peers import DIMENSION

Vector: TypeAlias = NDArray[np.float32]
Found: TypeAlias = list[tuple[str, str]]
"""Ids with texts, best first."""

BATCH = 1_000
RRF = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A chunk with its vector, the names it mentions, its title among them, and the pairs of names it links."""

    id: str
    title: str
    text: str
    vector: Vector
    entities: tuple[str, ...] = ()
    edges: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question with its vector and the names in it."""

    text: str
    vector: Vector
    entities: tuple[str, ...] = ()


def write_given(folder: Path, records: Iterable[Record], questions: Sequence[Question]) -> None:
    """Write the input of the peers."""
    vectors = []
    with (folder / "records.jsonl").open("w", encoding="utf-8") as file:
        for record in records:
            vectors.append(record.vector)
            row = [record.id, record.title, record.text, record.entities, record.edges]
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    np.save(folder / "vectors.npy", np.stack(vectors))
    asked = [{"text": q.text, "vector": q.vector.tolist(), "entities": q.entities} for q in questions]
    (folder / "questions.json").write_text(json.dumps(asked), "utf-8")


def read_questions(folder: Path) -> list[Question]:
    """Return the questions."""
    rows = json.loads((folder / "questions.json").read_text("utf-8"))
    return [
        Question(text=row["text"], vector=np.array(row["vector"], np.float32), entities=tuple(row["entities"]))
        for row in rows
    ]


def read_batches(folder: Path) -> Iterator[list[Record]]:
    """Yield the records in batches. No record stays in memory or mapped."""
    with (folder / "vectors.npy").open("rb") as numbers, (folder / "records.jsonl").open(encoding="utf-8") as lines:
        np.lib.format.read_magic(numbers)
        np.lib.format.read_array_header_1_0(numbers)
        while rows := [json.loads(line) for line in islice(lines, BATCH)]:
            vectors = np.fromfile(numbers, np.float32, len(rows) * DIMENSION).reshape(-1, DIMENSION)
            yield [
                Record(
                    id=id,
                    title=title,
                    text=text,
                    vector=vector,
                    entities=tuple(entities),
                    edges=tuple((source, target) for source, target in edges),
                )
                for (id, title, text, entities, edges), vector in zip(rows, vectors, strict=True)
            ]


def fuse(rankings: Sequence[Found], k: int) -> Found:
    """Merge rankings by Reciprocal Rank Fusion, for peers that leave it to their users."""
    scores: dict[str, float] = {}
    texts: dict[str, str] = {}
    for ranking in rankings:
        for rank, (id, text) in enumerate(ranking, start=1):
            scores[id] = scores.get(id, 0.0) + 1 / (RRF + rank)
            texts[id] = text
    return [(id, texts[id]) for id in sorted(scores, key=lambda id: -scores[id])[:k]]


def mean_vectors(sums: Mapping[str, Any]) -> tuple[list[str], Vector]:
    """Return names with their summed vectors, normalised."""
    matrix = np.stack(list(sums.values())).astype(np.float32)
    return list(sums), matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
