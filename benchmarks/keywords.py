"""
Comparison of algorithms for the best 100 chunks by BM25, on the same postings and questions.

    python benchmarks/keywords.py SET… [--size 100000] [--keep DIR]

SET are folders in BEIR layout, e.g. of `$WEFT_DATA`. A chunk is a title with sentences of three random passages.

    arrays          arrays of the read index (`store/index_files/maxscore.py`)
    all postings    sum over every posting of the question, in memory
    tantivy         that library (if installed) over the same terms, split at blanks

Times are milliseconds of processor time, p50 / p95, because other processes affect them less. `top 10` is the share of
the first ten ranks with the same chunk as `all postings`, before rescoring. `--keep DIR` keeps the arrays and the files
of tantivy there, and uses existing ones.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from weft.rank.bm25 import idf, term_scores
from weft.store.index_files.maxscore import rank
from weft.store.index_files.postings_file import PostingArrays, read_postings
from weft.store.index_files.postings_merge import invert_chunks, merge_postings
from weft.text.analyzer import count_terms, query_terms

RUN, LIMIT, QUESTIONS = 32_768, 100, 200
Passage = tuple[Counter[str], list[Counter[str]]]


def read_set(folder: Path) -> tuple[list[Passage], list[list[str]]]:
    """Return the terms of titles and sentences, and those of questions."""
    passages = []
    for line in (folder / "corpus.jsonl").read_text("utf-8").splitlines():
        said = json.loads(line)
        sentences = [count_terms(part) for part in re.split(r"(?<=[.!?])\s+", said["text"])]
        passages.append((count_terms(said.get("title", "")), [part for part in sentences if part]))
    lines = (folder / "queries.jsonl").read_text("utf-8").splitlines()
    return [one for one in passages if one[1]], [query_terms(json.loads(line)["text"]) for line in lines]


def chunks(passages: list[Passage], size: int) -> Iterator[tuple[int, str, int, str]]:
    """Yield number, terms, length and id of chunks made of parts of passages."""
    chance = random.Random(1)
    for number in range(1, size + 1):
        terms = Counter(chance.choice(passages)[0])
        for _ in range(3):
            sentences = chance.choice(passages)[1]
            first = chance.randrange(len(sentences))
            for sentence in sentences[first : first + 2]:
                terms.update(sentence)
        yield number, json.dumps(terms), terms.total(), f"c{number:024x}"


def make_arrays(rows: Iterator[tuple[int, str, int, str]], path: Path) -> None:
    parts = []
    while some := list(islice(rows, RUN)):
        parts.append(invert_chunks(some, mean=100.0))
    merge_postings(parts, [np.ones(len(part.numbers), bool) for part in parts], mean=100.0, path=path)


def add_up(arrays: PostingArrays, weights: dict[str, float], *, mean_length: float) -> list[int]:
    """Return the best chunks by the sum over every posting, as the store does without an index, but from memory."""
    scores = np.zeros(len(arrays.numbers))
    for held, weight in zip(arrays.find(weights), weights.values(), strict=True):
        places = np.arange(len(scores)) if held.places is None else held.places
        frequencies, lengths = held.frequencies.astype(np.float64), arrays.lengths[places].astype(np.float64)
        scores[places] += term_scores(frequencies, lengths, weight=weight, mean_length=mean_length)
    best = np.flatnonzero(scores >= np.partition(scores, len(scores) - LIMIT)[len(scores) - LIMIT])
    return (best[np.argsort(-scores[best], kind="stable")] + 1).tolist()


def open_tantivy(rows: Iterator[tuple[int, str, int, str]], folder: Path) -> Callable[[list[str]], list[int]]:
    import tantivy

    builder = tantivy.SchemaBuilder().add_text_field("terms", tokenizer_name="blank", index_option="freq")
    schema = builder.add_unsigned_field("number", fast=True).build()
    is_new = not folder.exists()
    folder.mkdir(exist_ok=True)
    index = tantivy.Index(schema, path=str(folder))
    index.register_tokenizer("blank", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    if is_new:
        writer = index.writer(256_000_000, 1)
        for number, terms, *_ in rows:
            text = " ".join(" ".join([term] * many) for term, many in json.loads(terms).items())
            document = tantivy.Document(terms=text)
            document.add_unsigned("number", number)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def ask(terms: list[str]) -> list[int]:
        each = [tantivy.Query.term_query(schema, "terms", term, index_option="freq") for term in terms]
        query = tantivy.Query.boolean_query([(tantivy.Occur.Should, one) for one in each])
        hits = searcher.search(query, LIMIT, count=False).hits
        return list(searcher.fast_field_values("number", [address for _, address in hits]))

    return ask


def timed(ask: Callable[[Any], list[int]], asked: list[Any]) -> tuple[str, list[list[int]]]:
    for one in asked[:20]:
        ask(one)
    times, found = [], []
    for one in asked:
        start = time.thread_time()
        found.append(ask(one))
        times.append((time.thread_time() - start) * 1000)
    return f"{np.median(times):.1f} / {np.percentile(times, 95):.1f}", found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--keep", default="")
    arguments = parser.parse_args()
    read_sets = [read_set(folder) for folder in arguments.sets]
    passages = [passage for some, _ in read_sets for passage in some]
    questions = [question for _, some in read_sets for question in some]
    questions = random.Random(3).sample(questions, min(QUESTIONS, len(questions)))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(arguments.keep or temporary)
        path = folder / f"{arguments.size}.terms"
        if not path.exists():
            make_arrays(chunks(passages, arguments.size), path)
        arrays = read_postings(np.memmap(path, dtype=np.uint8, mode="r"))
        mean = float(arrays.lengths.mean())
        terms = sorted({term for one in questions for term in one})
        counts = {
            term: np.count_nonzero(held.frequencies) for term, held in zip(terms, arrays.find(terms), strict=True)
        }
        weights = [{term: idf(int(counts[term]), total=arguments.size) for term in one} for one in questions]

        def by_arrays(asked: dict[str, float]) -> list[int]:
            found = rank(arrays, asked, mean_length=mean, limit=LIMIT)
            return found.numbers[np.argsort(-found.scores, kind="stable")].tolist()

        taken, exact = timed(lambda asked: add_up(arrays, asked, mean_length=mean), weights)
        print(f"| {arguments.size:,} chunks, {len(questions)} questions | time | top 10 |\n| --- | --- | --- |")
        print(f"| all postings | {taken} | 1.000 |", flush=True)
        taken, found = timed(by_arrays, weights)
        print(f"| arrays | {taken} | {agreement(found, exact):.3f} |", flush=True)
        if find_spec("tantivy"):
            ask = open_tantivy(chunks(passages, arguments.size), folder / f"{arguments.size}.tantivy")
            taken, found = timed(ask, questions)
            print(f"| tantivy | {taken} | {agreement(found, exact):.3f} |", flush=True)


def agreement(found: list[list[int]], exact: list[list[int]]) -> float:
    same = [a == b for one, other in zip(found, exact, strict=True) for a, b in zip(one[:10], other[:10], strict=False)]
    return sum(same) / max(1, len(same))


if __name__ == "__main__":
    main()
