"""
Latency of the graph channel for growing corpora.

    python benchmarks/graph.py [--set 2wiki-dev] [--sizes 2000 4000 6000] [--repeat 5] [--write]
    python benchmarks/graph.py --entities 100000 [--repeat 5]

The same 100 questions run at every size. Each corpus contains their gold documents, and other documents in file order.
No embedder is used: the time includes the recognition of entities, the walk, and the paths of the ten best chunks.
The table gives the median over warm rounds of the per-question median, with the lowest and the highest round.
`--write` puts the table into docs/performance.md. The sets are found as in benchmarks/quality. `--entities` measures
only the recogniser, on this number of invented entities of two and three words that share their words.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent / "quality"))

from sets import data_folder
from speed import PAGE, rounds, to_table

from weft.config import SearchOptions
from weft.engine.opening.open_engine import open_engine
from weft.evaluate.dataset import Case, read_cases
from weft.extract.names import name_key
from weft.load.formats.beir import iter_corpus
from weft.records import Batch, Chunk, Document, DocumentInfo, Extraction, IndexedChunk, Nomination
from weft.search.graph.channel import GraphFound, search_graph
from weft.search.question.entities import Seed, recognise_names
from weft.search.question.read import read_question
from weft.search.search_context import SearchContext
from weft.store.base import Graph
from weft.text.analyzer import count_terms
from weft.text.ids import chunk_id, document_id

QUESTIONS = 100
SHOWN = 10


def choose(documents: Sequence[Document], cases: Sequence[Case], *, size: int) -> list[Document]:
    """Return `size` documents, including those that answer the questions."""
    gold = {id for case in cases for id in case.gold}
    first = [document for document in documents if document.metadata["_id"] in gold]
    rest = [document for document in documents if document.metadata["_id"] not in gold]
    return (first + rest)[:size]


def recognise(question: str, *, graph: Graph) -> list[Seed]:
    """Return the entities that a question names."""
    return recognise_names(read_question(question), graph=graph)


def measure(documents: Sequence[Document], questions: Sequence[str], *, repeat: int) -> dict[str, str]:
    """Return the figures for one corpus."""
    with tempfile.TemporaryDirectory() as folder, open_engine(f"{folder}/graph.db", embedder="none") as engine:
        start = time.perf_counter()
        receipt = engine.add(documents)
        seconds = time.perf_counter() - start
        store, options = engine.store, engine.settings.graph
        graph = store.graph
        entities, relations = graph.count()
        seeds = {question: recognise(question, graph=graph) for question in questions}

        def find(question: str, seeds: Sequence[Seed]) -> GraphFound:
            search = SearchContext(store=store, embedder=None, options=SearchOptions(pool=100), graph=options)
            return search_graph(read_question(question), seeds, search)

        def channel(question: str) -> object:
            with store.reading():
                return find(question, seeds[question])

        def whole(question: str) -> object:
            with store.reading():
                found = find(question, recognise(question, graph=graph))
                return found.explain({hit.chunk_id: hit.chunk_id for hit in found.hits[:SHOWN]})

        for question in questions:
            whole(question)
        return {
            "documents": f"{receipt.documents:,}",
            "entities": f"{entities:,}",
            "relations": f"{relations:,}",
            "index, documents/s": f"{receipt.documents / seconds:.0f}",
            "recognise": rounds(lambda q: recognise(q, graph=graph), questions, repeat),
            "walk": rounds(channel, questions, repeat),
            "recognise, walk, explain": rounds(whole, questions, repeat),
        }


def measure_recogniser(count: int, *, repeat: int) -> str:
    """Return the milliseconds to recognise the entities of a question among `count` entities."""
    chance = random.Random(4)
    words = ["".join(chance.choices("aeioulmnrst", k=7)).capitalize() for _ in range(600)]
    names = list({" ".join(chance.sample(words, chance.choice((2, 3)))): None for _ in range(count * 2)})[:count]
    with tempfile.TemporaryDirectory() as folder, open_engine(f"{folder}/many.db", embedder="none") as engine:
        for start in range(0, count, 500):
            engine.store.write(*(_one_entity(name) for name in names[start : start + 500]))
        graph = engine.store.graph
        questions = [
            f"Where does {a} meet {b}, and why?" for a, b in zip(names[:QUESTIONS], names[-QUESTIONS:], strict=True)
        ]
        assert all(len(recognise(question, graph=graph)) == 2 for question in questions)
        return f"{graph.count()[0]:,} entities: {rounds(lambda q: recognise(q, graph=graph), questions, repeat)} ms"


def _one_entity(name: str) -> Batch:
    document = DocumentInfo(id=document_id("default", name), source=name, title=name, metadata={}, content_hash=name)
    id = chunk_id(document.id, name, 0)
    chunk = Chunk(id=id, document_id=document.id, ordinal=0, heading=(), start_line=1, end_line=1, text=name)
    nomination = Nomination(key=name_key(name), name=name, kind="title", about=True)
    item = IndexedChunk(chunk=chunk, terms=count_terms(name), extraction=Extraction(nominations=(nomination,)))
    return Batch(document=document, chunks=(item,))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", default="2wiki-dev")
    parser.add_argument("--sizes", type=int, nargs="+", default=[2000, 4000, 6000])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--entities", type=int)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.entities:
        print(measure_recogniser(arguments.entities, repeat=arguments.repeat))
        return
    folder = data_folder() / arguments.set
    documents = [item for item in iter_corpus(folder) if isinstance(item, Document)]
    cases = read_cases(folder, limit=QUESTIONS)
    rows = []
    for size in arguments.sizes:
        print(f"{size:,} documents …", file=sys.stderr)
        chosen = choose(documents, cases, size=size)
        rows.append(measure(chosen, [case.text for case in cases], repeat=arguments.repeat))
    table = to_table(rows)
    print(table)
    spent = [float(row["walk"].split()[0]) for row in rows]
    print(f"largest against smallest: {max(spent) / min(spent):.2f}, middle {median(spent):.1f} ms")
    if arguments.write:
        page = PAGE.read_text("utf-8")
        table = f"<!-- graph -->\n{table}\n<!-- /graph -->"
        PAGE.write_text(re.sub(r"<!-- graph -->.*?<!-- /graph -->", lambda _: table, page, flags=re.S), "utf-8")


if __name__ == "__main__":
    main()
