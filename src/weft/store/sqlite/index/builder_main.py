"""
Process that builds large read indexes for another one. Each message is one line of JSON.

    request     {"path": file, "min_rows": number}
    answer      {"changed": number of indexes} or {"error": text}

It ends early if the other process closes the pipe. It opens no file of another schema, which it would migrate: Weft
may have been upgraded since the other process started.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from contextlib import closing

from weft.errors import WeftError
from weft.store.sql_files import load_migrations
from weft.store.sqlite.connect import Connections, read_version


def main() -> None:
    """Answer one request."""
    request = json.loads(sys.stdin.buffer.readline())
    answer: dict[str, int | str]
    try:
        answer = {"changed": build(request["path"], min_rows=request["min_rows"])}
    except (WeftError, OSError, RuntimeError, ValueError) as error:
        answer = {"error": str(error)}
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")


def build(path: str, *, min_rows: int) -> int:
    """Extend the indexes of a file; return how many were changed."""
    if read_version(path) != max(load_migrations("sqlite")):
        sys.exit("the file has another schema")
    with closing(Connections(path)) as connections:
        threading.Thread(target=_await_end, args=(connections.index_builder.cancel,), daemon=True).start()
        return connections.index_builder.catch_up(min_rows=min_rows)


def _await_end(cancel: Callable[[], None]) -> None:
    """Cancel the build when the pipe is closed."""
    os.read(sys.stdin.fileno(), 1)  # a buffered read would hold a lock that the end of the interpreter needs
    cancel()


if __name__ == "__main__":
    main()
