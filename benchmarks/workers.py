"""
Rate of indexing with the real model, in one process and in several, into SQLite and PostgreSQL.

    python benchmarks/workers.py [--documents 300] [--workers 1 2] [--dsn postgresql://…] [--repeat 1]

Documents of about 100 words are recombined from the sentences of the sample corpus and written to files. `weft index`
indexes them into a new namespace with an empty vector cache. Without `--dsn` only SQLite is measured. The time
includes the start of the processes and the loading of the model.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from speed import make_documents

from weft.config import read_settings


def index(folder: Path, texts: Path, *, db: str, namespace: str, workers: int) -> float:
    """Return chunks per second of one run."""
    cache = Path(tempfile.mkdtemp(dir=folder))
    (cache / "models").symlink_to(read_settings().cache_dir / "models")
    command = [sys.executable, "-m", "weft", "--db", db, "--namespace", namespace, "-q", "index", str(texts), "--json"]
    start = time.perf_counter()
    done = subprocess.run(
        [*command, "--workers", str(workers)],
        env={**os.environ, "WEFT_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(json.loads(done.stdout)["chunks"] / (time.perf_counter() - start))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--dsn", default="")
    parser.add_argument("--repeat", type=int, default=1)
    arguments = parser.parse_args()
    print("| store | workers | chunks/s |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = folder / "texts"
        texts.mkdir()
        for number, document in enumerate(make_documents(arguments.documents)):
            (texts / f"{number}.md").write_text(f"# {document.title}\n\n{document.text}\n", encoding="utf-8")
        for store, db in (("SQLite", str(folder / "weft.db")), ("PostgreSQL", arguments.dsn)):
            for workers in arguments.workers if db else ():
                spaces = [f"w{workers}-{nth}" for nth in range(arguments.repeat)]
                rates = [index(folder, texts, db=db, namespace=space, workers=workers) for space in spaces]
                print(f"| {store} | {workers} | {median(rates):.1f} ({min(rates):.1f}–{max(rates):.1f}) |", flush=True)


if __name__ == "__main__":
    main()
