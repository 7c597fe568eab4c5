"""
Index throughput and query latency at 1,000 and 10,000 documents, on one machine, in one run.

    python benchmarks/speed.py [--sizes 1000 10000] [--repeat 5] [--embedder local/granite-30m] [--write]

Documents of about 100 words are recombined from the sentences of the sample corpus. Indexing runs once through the
real embedder with an empty vector cache; queries run warm, `repeat` rounds of 50 questions, and the table gives the
median over rounds of the per-question median, with the lowest and highest round beside it. FTS5 (its own tokenizer,
OR query, bm25) and numpy on a matrix in memory answer the same questions in the same run for comparison.
`--write` puts the table into docs/performance.md.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import apsw
import numpy as np

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.records import Document, Filter
from weft.text.analyzer import query_terms

HOME = Path(__file__).resolve().parents[1]
PAGE = HOME / "docs" / "performance.md"
QUESTIONS = 50


def sentences() -> list[str]:
    """Return the sentences of the English part of the sample corpus."""
    text = "\n".join(path.read_text("utf-8") for path in sorted((HOME / "examples/corpus").glob("*/*.md")))
    found = re.split(r"(?<=[.!?])\s+", re.sub(r"[#*`\[\]|]", "", text))
    return [" ".join(s.split()) for s in found if 30 < len(s) < 300 and s.isascii()]


def make_documents(count: int, *, seed: int = 1) -> list[Document]:
    """Return `count` documents of about 100 words, each with a unique number."""
    chance, pool = random.Random(seed), sentences()
    documents = []
    for number in range(count):
        body = " ".join(chance.choices(pool, k=7))
        documents.append(Document(source=f"text:{number}", title=f"Record {number}", text=f"{body} Ticket {number}."))
    return documents


def rounds(ask: Callable[[str], object], questions: Sequence[str], repeat: int) -> str:
    """Return the median over rounds of the median milliseconds, and its spread."""
    medians = []
    for _ in range(repeat):
        spent = []
        for question in questions:
            start = time.perf_counter()
            ask(question)
            spent.append((time.perf_counter() - start) * 1000)
        medians.append(median(spent))
    return f"{median(medians):.1f} ({min(medians):.1f}–{max(medians):.1f})"


def measure(size: int, *, repeat: int, embedder: str) -> dict[str, str]:
    """Return the figures for one size."""
    documents, chance = make_documents(size), random.Random(2)
    questions = [" ".join(chance.choice(sentences()).split()[:9]) for _ in range(QUESTIONS)]
    with tempfile.TemporaryDirectory() as folder:
        # a vector cache of its own: nothing embedded earlier may help; the models stay where they are
        cache = Path(folder) / "cache"
        cache.mkdir()
        (cache / "models").symlink_to(read_settings().cache_dir / "models")
        overrides = {"store.db": f"{folder}/speed.db", "models.embedder": embedder, "models.cache_dir": str(cache)}
        settings = read_settings(overrides)
        with Engine(settings) as engine:
            start = time.perf_counter()
            receipt = engine.add(documents)
            seconds = time.perf_counter() - start
            engine.database.compact()
            return {
                "documents": f"{size:,}",
                "chunks": f"{receipt.chunks:,}",
                "index, chunks/s": f"{receipt.chunks / seconds:.1f}",
                "bytes/chunk": f"{Path(settings.store.db).stat().st_size / receipt.chunks:,.0f}",
                **_query_figures(engine, questions, repeat),
                **_rivals(documents, engine, questions, repeat),
            }


def _query_figures(engine: Engine, questions: Sequence[str], repeat: int) -> dict[str, str]:
    store, embedder = engine.store, engine.embedder
    assert embedder is not None
    known = {question: embedder.embed([question], kind="query")[0] for question in questions}
    return {
        "embed": rounds(lambda q: embedder.embed([q + str(random.random())], kind="query"), questions, repeat),
        "vector": rounds(lambda q: store.search_vector(known[q], limit=100, where=Filter()), questions, repeat),
        "keyword": rounds(lambda q: store.search_keyword(query_terms(q), limit=100, where=Filter()), questions, repeat),
        "hybrid, whole": rounds(lambda q: engine.query(q, method="hybrid"), questions, repeat),
    }


def _rivals(documents: Sequence[Document], engine: Engine, questions: Sequence[str], repeat: int) -> dict[str, str]:
    embedder = engine.embedder
    assert embedder is not None
    db = apsw.Connection(":memory:")
    db.execute("CREATE VIRTUAL TABLE f USING fts5(text, tokenize='porter unicode61')")
    db.executemany("INSERT INTO f VALUES (?)", [(f"{d.title} {d.text}",) for d in documents])

    def fts5(question: str) -> object:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        return db.execute("SELECT rowid, bm25(f) FROM f WHERE f MATCH ? ORDER BY 2 LIMIT 100", (words,)).fetchall()

    matrix = np.random.default_rng(3).standard_normal((len(documents), embedder.card.dimension)).astype(np.float32)
    known = {question: embedder.embed([question], kind="query")[0] for question in questions}

    def numpy_scan(question: str) -> object:
        scores = matrix @ known[question]
        return np.argpartition(-scores, min(100, len(scores) - 1))[:100]

    return {"FTS5": rounds(fts5, questions, repeat), "numpy in memory": rounds(numpy_scan, questions, repeat)}


def to_table(rows: Sequence[dict[str, str]]) -> str:
    """Return the rows as a Markdown table."""
    head = list(rows[0])
    lines = [head, ["---"] * len(head), *([row[name] for name in head] for row in rows)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10000])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--embedder", default="local/granite-30m")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    rows = []
    for size in arguments.sizes:
        rows.append(measure(size, repeat=arguments.repeat, embedder=arguments.embedder))
        print(rows[-1], flush=True)
    table = to_table(rows)
    print(table)
    if arguments.write:
        page = PAGE.read_text("utf-8")
        start, end = "<!-- speed -->\n", "<!-- /speed -->"
        PAGE.write_text(page[: page.index(start) + len(start)] + table + "\n" + page[page.index(end) :], "utf-8")


if __name__ == "__main__":
    main()
