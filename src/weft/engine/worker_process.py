"""The process of one worker of a crew: `working.py` starts it and tells it what to do."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.engine.worker_pool import work
from weft.errors import WeftError


def main() -> int:
    """Work until standard input ends. An error that is ours goes to standard output, as JSON."""
    told = json.loads(sys.stdin.readline())
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda number, frame: stop.set())

    def wait_for_end() -> None:
        os.read(sys.stdin.fileno(), 1)  # not through the buffer, whose lock would be held when the process ends
        stop.set()

    threading.Thread(target=wait_for_end, name="end", daemon=True).start()
    try:
        with Engine(read_settings(told["settings"])) as engine:
            work(engine, stop, name=told["name"])
    except WeftError as error:
        sys.stdout.write(json.dumps({"error": str(error), "hint": error.hint}))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
