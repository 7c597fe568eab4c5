"""
Time and memory of indexing with the real model, by stage.

    python benchmarks/indexing.py [--documents 600] [--set 2wiki-dev ...] [--into FILE ...] [--without-model] [--tables]
                                  [--device cuda] [--repeat 1] [--write]

Documents of evaluation sets are indexed with an empty vector cache. If more are wanted, variants follow in which rare
words have other endings. Reading (splitting, analysing, extracting), the model and writing overlap, so the sum of their
seconds exceeds the total.

    model busy         share of the total in which the model is running
    write, CPU         processor time of writing
    CPU                processor time of all stages but the model, in all processes; comparable on a busy machine
    CPU, writer        processor time of the process that writes, if the model runs elsewhere; it uses about one core
    read indexes, s    seconds from the last written document until the read indexes are complete
    bytes/chunk        size of the store with its read indexes, and of these alone
    memory             maximum resident memory of the process that writes, private and mapped; private memory of all
                       processes together
    --into             index into a copy of an existing store, one row per store; `-` is an empty store
    --without-model    use random vectors, so that only reading and writing take time
    --device           run the model there (`models.device`); default: the CPU
    --tables           print the bytes per chunk of each table and index of the SQLite file as well
    --write            put the table into docs/performance.md
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import apsw
import numpy as np
from harness import data_folder, make_parser, process_memory, publish, to_table
from renaming import RARE, WORD

from weft.config import Settings, read_settings
from weft.engine.adapters import open_embedder
from weft.engine.engine import Engine
from weft.index import batch_writer, run
from weft.load.formats.beir import iter_corpus
from weft.models.base import Embedder, TextKind
from weft.records import Document, Vectors
from weft.store.relational.store import RelationalStore


class Clock:
    """Seconds spent in functions, by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.work: dict[str, float] = {}
        """The same, only what the processor did in the thread that called."""

    def around(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function with the same result whose time is measured."""

        def timed(*arguments: Any, **named: Any) -> Any:
            start, begun = time.perf_counter(), time.thread_time()
            try:
                return call(*arguments, **named)
            finally:
                self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
                self.work[name] = self.work.get(name, 0.0) + time.thread_time() - begun

        return timed


class Watch:
    """Thread that samples the memory of this process and of its children four times a second."""

    def __init__(self) -> None:
        self.own, self.mapped, self.all = 0, 0, 0
        self._ended = threading.Event()
        threading.Thread(target=self._look, daemon=True).start()

    def end(self) -> None:
        self._ended.set()

    def _look(self) -> None:
        while not self._ended.wait(0.25):
            own, mapped = process_memory()
            self.own, self.mapped = max(self.own, own), max(self.mapped, mapped)
            self.all = max(self.all, own + sum(process_memory(child)[0] for child in find_children()))


def find_children() -> list[int]:
    """Return the ids of the processes that this one has started."""
    found: list[int] = []
    for file in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # the thread has ended
            found += map(int, file.read_text("ascii").split())
    return found


class Chance:
    """Embedder that returns random vectors under the name of a model."""

    def __init__(self, model: Embedder) -> None:
        self.card = model.card
        self._chance = np.random.default_rng(1)

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        drawn = self._chance.normal(size=(len(texts), self.card.dimension)).astype(np.float32)
        unit: Vectors = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
        return unit


def open_model(settings: Settings) -> Embedder:
    """Return the embedder of the settings, with which the stores were built."""
    model = open_embedder(settings)
    assert model is not None
    return model


def read_documents(names: Sequence[str], count: int) -> Iterator[Document]:
    """
    Return documents of evaluation sets; after the last one, variants of them with other rare words.

    Each set has its own sources. So names grow with the number of documents, and common words stay common.
    """
    real = [
        replace(document, source=f"{name}/{document.source}")
        for name in names
        for document in iter_corpus(data_folder() / name)
    ]
    if count <= len(real):
        return iter(real[:count])
    held = Counter(word for document in real for word in set(WORD.findall(f"{document.title} {document.text}")))
    rare = {word for word, documents in held.items() if documents <= RARE and len(word) > 3 and word[0].isupper()}
    copies = (_rename(document, rare, copy) for copy in itertools.count(1) for document in real)
    return itertools.islice(itertools.chain(real, copies), count)


def _rename(document: Document, rare: Collection[str], copy: int) -> Document:
    """Return a variant of a document in which rare words have another ending."""
    suffix = "x" + "".join("bcdfghjklm"[int(digit)] for digit in str(copy))

    def renamed(text: str) -> str:
        return WORD.sub(lambda match: match[0] + suffix if match[0] in rare else match[0], text)

    source = f"variant {copy}/{document.source}"
    return replace(document, source=source, title=renamed(document.title), text=renamed(document.text))


def table_bytes(path: Path, chunks: int) -> dict[str, str]:
    """Return the bytes per chunk of each table and index, the largest first."""
    rows = apsw.Connection(str(path)).execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC")
    return {name: f"{size / chunks:,.0f}" for name, size in rows if size >= chunks}


def store_bytes(path: Path) -> tuple[int, int]:
    """Return the size of a store with the pages that are still in its log, and the size of its read indexes."""
    db = apsw.Connection(str(path))
    pages = int(db.execute("PRAGMA page_count").get) * int(db.execute("PRAGMA page_size").get)
    return pages, sum(file.stat().st_size for file in Path(f"{path}.index").glob("*"))


def cpu_seconds() -> float:
    """Return the processor time of this process and of its ended children."""
    return sum(os.times()[:4])


def measure(
    names: Sequence[str], count: int, into: str, *, with_model: bool, tables: bool, device: str
) -> dict[str, str]:
    """Return the figures of one run."""
    clock = Clock()
    with tempfile.TemporaryDirectory(dir=Path(into).parent if into else None) as folder:
        cache, db = Path(folder) / "cache", Path(folder) / "indexing.db"
        cache.mkdir()
        (cache / "models").symlink_to(read_settings().cache_dir / "models")
        if into:
            shutil.copy(into, db)
            if Path(f"{into}.index").is_dir():
                shutil.copytree(f"{into}.index", f"{db}.index")
        settings = read_settings({"store.db": str(db), "models.cache_dir": str(cache), "models.device": device})
        documents = read_documents(names, count)
        embedder = None if with_model else Chance(open_model(settings))
        with Engine(settings, embedder=embedder) as engine:
            assert engine.embedder is not None
            engine.embedder.embed([f"the model is loaded before, text {number}" for number in range(64)])
            before = engine.store.stats().chunks
            run.make_draft = clock.around("split, analyse", run.make_draft)  # type: ignore[assignment]
            run.extract_group = clock.around("extract", run.extract_group)  # type: ignore[assignment]
            batch_writer.make_batches = clock.around("model", batch_writer.make_batches)  # type: ignore[assignment]
            for name in ("write", "finish_load"):
                setattr(RelationalStore, name, clock.around("write", getattr(RelationalStore, name)))
            watch, start, cpu, own = Watch(), time.perf_counter(), cpu_seconds(), time.process_time()
            receipt = engine.add(documents)
            whole, cpu, own = time.perf_counter() - start, cpu_seconds() - cpu, time.process_time() - own
            ended = time.perf_counter()
        indexes_seconds = time.perf_counter() - ended
        watch.end()
        chunks, total = receipt.chunks, before + receipt.chunks
        per = {stage: f"{seconds / chunks * 1000:.1f}" for stage, seconds in clock.seconds.items()}
        if tables:
            print(to_table([{"table": name, "bytes": size} for name, size in table_bytes(db, total).items()]))
        pages, indexes = store_bytes(db)
        return {
            "chunks before": f"{before:,}",
            "chunks": f"{chunks:,}",
            "texts embedded": f"{receipt.embedded:,}",
            "chunks/s": f"{chunks / whole:.1f}",
            "s per 1,000 chunks": f"{whole / chunks * 1000:.1f}",
            **{stage: per.get(stage, "0") for stage in ("split, analyse", "extract", "model", "write")},
            "write, CPU": f"{clock.work['write'] / chunks * 1000:.1f}",
            "CPU": f"{(cpu - clock.work.get('model', 0.0)) / chunks * 1000:.1f}",
            "CPU, writer": f"{own / chunks * 1000:.1f}" if device != "cpu" or not with_model else "–",
            "read indexes, s": f"{indexes_seconds:.1f}",
            "bytes/chunk": f"{(pages + indexes) / total:,.0f}" if not with_model else "–",
            "of these read indexes": f"{indexes / total:,.0f}" if not with_model else "–",
            "model busy": f"{clock.seconds['model'] / whole:.0%}" if with_model else "–",
            "MB own": f"{watch.own:,}",
            "MB mapped": f"{watch.mapped:,}",
            "MB all processes": f"{watch.all:,}",
        }


def main() -> None:
    parser = make_parser(__doc__, repeat=1)
    parser.add_argument("--documents", type=int, default=600)
    parser.add_argument("--set", nargs="+", default=["2wiki-dev"])
    parser.add_argument("--into", nargs="+", default=["-"], metavar="FILE")
    parser.add_argument("--without-model", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--tables", action="store_true")
    arguments = parser.parse_args()
    run_one = partial(
        measure,
        arguments.set,
        arguments.documents,
        with_model=not arguments.without_model,
        tables=arguments.tables,
        device=arguments.device,
    )
    rows = []
    for into in arguments.into * arguments.repeat:  # each in a process of its own, for its memory
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            rows.append(pool.submit(run_one, "" if into == "-" else into).result())
    publish("writing" if arguments.without_model else "indexing", to_table(rows), write=arguments.write)


if __name__ == "__main__":
    main()
