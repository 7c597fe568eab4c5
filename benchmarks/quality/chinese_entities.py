"""
Precision, recall and time of entity recognition in 100 Chinese questions.

    python benchmarks/quality/chinese_entities.py            # both halves, with and without the extra `zh`
    python benchmarks/quality/chinese_entities.py --misses   # missed and wrong entities

`zh/corpus.jsonl` has 44 short texts, `zh/questions.jsonl` the questions with the names in each. Spellings of one name
are alternatives. Questions with an even number are held out: no constant was tuned on them.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.config import SplitOptions
from weft.engine.adapters import open_tagger
from weft.extract.chinese.tagger import Tagger
from weft.extract.names import name_key
from weft.extract.rules import RuleExtractor
from weft.index.run import index_documents
from weft.records import Document, Entity
from weft.search.question.entities import recognise_names
from weft.search.question.read import read_question
from weft.store.base import Store
from weft.store.sqlite.database import SqliteDatabase

FOLDER = Path(__file__).parent / "zh"


@dataclass(frozen=True)
class Answer:
    """A question with its recognised entities."""

    question: dict[str, Any]
    wrong: list[str]
    missed: list[str]
    right: int
    milliseconds: float


def build(tagger: Tagger | None) -> Store:
    store = SqliteDatabase(":memory:").store("zh")
    rows = [json.loads(line) for line in (FOLDER / "corpus.jsonl").read_text("utf-8").splitlines()]
    documents = [Document(source=f"text:{row['_id']}", title=row["title"], text=row["text"]) for row in rows]
    index_documents(documents, store=store, embedder=None, options=SplitOptions(), extractor=RuleExtractor(tagger))
    return store


def ask(store: Store, question: dict[str, Any]) -> Answer:
    start = time.perf_counter()
    entities = [seed.entity for seed in recognise_names(read_question(question["text"]), graph=store.graph)]
    took = (time.perf_counter() - start) * 1000
    wanted = [{name_key(name) for name in names} for names in question["names"]]
    right = [any(_keys(entity) & keys for keys in wanted) for entity in entities]
    known = set().union(*map(_keys, entities))
    missed = [names[0] for names, keys in zip(question["names"], wanted, strict=True) if not known & keys]
    wrong = [entity.name for entity, good in zip(entities, right, strict=True) if not good]
    return Answer(question, wrong, missed, sum(right), took)


def _keys(entity: Entity) -> set[str]:
    return {name_key(name) for name in (entity.name, *entity.aliases)} | {entity.key}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true", help="print what was missed and what was wrong")
    shown = parser.parse_args().misses
    questions = [json.loads(line) for line in (FOLDER / "questions.jsonl").read_text("utf-8").splitlines()]
    for label, tagger in (("with zh", open_tagger()), ("without", None)):
        if label == "with zh" and tagger is None:
            print("the extra zh is not installed: pip install 'weft-search[zh]'")
            continue
        store = build(tagger)
        answers = [ask(store, question) for question in questions]
        for part, chosen in (("tuned on", answers[0::2]), ("held out", answers[1::2]), ("all", answers)):
            named = sum(answer.right + len(answer.wrong) for answer in chosen)
            right = sum(answer.right for answer in chosen)
            wanted = sum(len(answer.question["names"]) for answer in chosen)
            found = wanted - sum(len(answer.missed) for answer in chosen)
            middle = sorted(answer.milliseconds for answer in chosen)[len(chosen) // 2]
            print(
                f"{label:8} {part:9} {len(chosen):3} questions, {wanted:3} names: "
                f"precision {right / max(1, named):.3f}, recall {found / max(1, wanted):.3f}, median {middle:.2f} ms"
            )
        for answer in answers if shown else ():
            if answer.missed or answer.wrong:
                half = "tuned" if answers.index(answer) % 2 == 0 else "held"
                print(f"  {half:5} {answer.question['text']}  missed {answer.missed}  wrong {answer.wrong}")


if __name__ == "__main__":
    main()
