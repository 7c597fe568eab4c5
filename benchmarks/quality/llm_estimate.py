"""
Error of `weft estimate` against the actual cost, over many runs of 200 and of 1,000 passages.

    python benchmarks/quality/llm_estimate.py

Replies are extractions by GPT-3.5 (`openie.jsonl`) in the requested format. A description is a whole sentence or its
first twenty words, truncated at `llm.output_tokens`. The tokenizer of the local embedding model counts the tokens.

The output gives the median and the 95th percentile of the errors: of the default estimates of tokens in and out, of
samples of 10, and of growing samples as in `weft estimate`. For growing samples it also gives the number of passages,
and the share of runs within 10 % for the remaining passages and for all of them.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from sets import data_folder

from weft.config import read_settings
from weft.engine.adapters import open_counter
from weft.models.llm.estimate import estimate_reply_tokens
from weft.models.llm.prompt import Prompt
from weft.models.llm.statistics import ReplyCost, ReplyStatistics, UsageEstimate, iter_sample_sizes
from weft.records import Chunk, Document
from weft.text.tokens import guess_model_tokens

RUNS = 200
SIZES = (200, 1000)
FEW = 10
DESCRIPTIONS = {"20 words": 20, "sentences": 10_000}
LONGEST = 2000
"""As `llm.output_tokens` is by default."""


def write_reply(text: str, read: dict[str, Any], *, words: int) -> str:
    """Return the extraction of a passage in the requested format, with descriptions of at most this many words."""
    sentences = re.split(r"(?<=[.!?]) ", text)

    def said(name: str) -> str:
        sentence = next((sentence for sentence in sentences if name in sentence), sentences[0])
        return " ".join(sentence.split()[:words])

    names, triples = read["entities"], [triple for triple in read["triples"] if len(triple) == 3]
    between = [triple for triple in triples if triple[2] in names]
    reply = {
        "entities": [{"name": name, "type": "thing", "description": said(name)} for name in names],
        "relations": [
            {"source": s, "target": o, "type": p.replace(" ", "_"), "weight": 8, "description": said(s)}
            for s, p, o in between
        ],
        "facts": [
            {"subject": s, "predicate": p.replace(" ", "_"), "value": o, "confidence": 0.9}
            for s, p, o in triples
            if [s, p, o] not in between
        ],
    }
    return json.dumps(reply, ensure_ascii=False)


def read_rows(folder: Path, *, words: int) -> list[ReplyCost]:
    counter, prompt = open_counter(read_settings()), Prompt()
    read = {row["_id"]: row for row in map(json.loads, (folder / "openie.jsonl").read_text("utf-8").splitlines())}
    passages = [json.loads(line) for line in (folder / "corpus.jsonl").read_text("utf-8").splitlines()]
    rows = []
    for passage in (passage for passage in passages if passage["_id"] in read):
        document = Document(source="x", title=passage["title"], text=passage["text"])
        chunk = Chunk(id="c", document_id="d", ordinal=0, heading=(), start_line=1, end_line=1, text=passage["text"])
        question = prompt.passage(document, chunk)
        sent, reply = prompt.system + question, write_reply(passage["text"], read[passage["_id"]], words=words)
        rows.append(
            ReplyCost(
                estimated_in=guess_model_tokens(sent),
                estimated_out=estimate_reply_tokens(question),
                tokens_in=counter.count(sent),
                tokens_out=min(counter.count(reply), LONGEST),
                seconds=0.0,
            )
        )
    return rows


def expect(rows: list[ReplyCost], sample: int) -> UsageEstimate:
    """Return the estimate for the other passages from a sample; without a sample, the default estimate."""
    rest = rows[sample:]
    question, reply = sum(row.estimated_in for row in rest), sum(row.estimated_out for row in rest)
    told = ReplyStatistics.of(rows[:sample]).estimate(calls=len(rest), question=question, reply=reply)
    guessed = sum(min(row.estimated_out, LONGEST) for row in rest)
    return told or UsageEstimate(tokens_in=question, tokens_out=guessed, seconds=0.0)


def grow(rows: list[ReplyCost]) -> int:
    """Return the final size of the growing sample of these passages."""
    for size in iter_sample_sizes(len(rows), chunks=len(rows)):
        if expect(rows, size).is_precise(sampled=sum(row.tokens_out for row in rows[:size])):
            break
    return size


@dataclass(frozen=True)
class Run:
    """One estimate and the actual cost."""

    sample: int
    tokens_in: float
    tokens_out: float
    whole: float
    """Of the tokens out of sample and rest."""
    is_covered: bool


def one_run(rows: list[ReplyCost], sample: int) -> Run:
    """Return the errors, as shares."""
    found, rest = expect(rows, sample), rows[sample:]
    asked, replied = sum(row.tokens_in for row in rest), sum(row.tokens_out for row in rest)
    off = abs(found.tokens_out - replied)
    return Run(
        sample=sample,
        tokens_in=abs(found.tokens_in / asked - 1),
        tokens_out=off / replied,
        whole=off / sum(row.tokens_out for row in rows),
        is_covered=off <= found.error,
    )


def describe(runs: list[Run]) -> Iterator[str]:
    samples = [run.sample for run in runs]
    yield f"{median(samples):.0f} (to {max(samples)})"
    for name in ("tokens_in", "tokens_out", "whole"):
        errors = [getattr(run, name) for run in runs]
        yield f"{median(errors):.1%}, {quantiles(errors, n=20)[-1]:.1%}"
    for name in ("tokens_out", "whole"):
        yield f"{sum(getattr(run, name) <= 0.1 for run in runs) / len(runs):.1%}"
    yield f"{sum(run.is_covered for run in runs) / len(runs):.0%}" if samples[0] else ""


def main() -> None:
    heads = "in\tout\twhole\tout within 10 %\twhole within 10 %\twithin the margin"
    print(f"set\tdescriptions\tpassages\tsample\t{heads}")
    for name in ("musique-train", "2wiki-dev"):
        for kind, words in DESCRIPTIONS.items():
            rows, chance = read_rows(data_folder() / name, words=words), random.Random(7)
            for size in SIZES:
                drawn = [chance.sample(rows, size) for _ in range(RUNS)]
                for way in (lambda rows: 0, lambda rows: FEW, grow):
                    runs = [one_run(rows, way(rows)) for rows in drawn]
                    print(name, kind, size, *describe(runs), sep="\t", flush=True)


if __name__ == "__main__":
    main()
