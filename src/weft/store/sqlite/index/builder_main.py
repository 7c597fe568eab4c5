"""
Process that builds large read indexes for another one.

    request     {"path": file, "min_rows": number, "versions": [schema, format, 0 or 1]}
    answers     ["ready"], then ["changed", number of indexes] or ["error", text]

It ends early if the other process closes the pipe. If the other process has other versions, it ends without an answer:
it could not read the file, or would write an index that the other one cannot read.
"""

from __future__ import annotations

import sys
import threading
from contextlib import closing

from weft.errors import StoreError
from weft.processes.parent_connection import ParentConnection
from weft.store.index_files.hnsw import make_graph
from weft.store.sqlite.connect import Connections, read_version
from weft.store.sqlite.index.builder_process import read_versions


def main() -> None:
    """Answer one request."""
    parent = ParentConnection()
    request = parent.receive()
    if request["versions"] != read_versions():
        sys.exit("another version of Weft is installed")
    *_, has_graphs = request["versions"]
    if has_graphs:
        make_graph(1)  # loads usearch before a thread waits for the pipe, which could block this on Windows
    cancelled = threading.Event()
    parent.on_end(cancelled.set)
    parent.send(["ready"])
    try:
        answer = ["changed", build(request["path"], min_rows=request["min_rows"], cancelled=cancelled)]
    except Exception as error:  # noqa: BLE001 - the other process reports it; also too little memory
        answer = ["error", str(error) or type(error).__name__]
    parent.send(answer)


def build(path: str, *, min_rows: int, cancelled: threading.Event) -> int:
    """Extend the indexes of a file; return how many were changed."""
    schema, *_ = read_versions()
    if read_version(path) != schema:
        raise StoreError(f"{path!r} has another schema", hint="run the command again")
    with closing(Connections(path)) as connections:
        connections.index_builder.cancelled = cancelled
        return connections.index_builder.catch_up(min_rows=min_rows)


if __name__ == "__main__":
    main()
