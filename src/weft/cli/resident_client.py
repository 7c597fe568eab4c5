"""
Client of a resident daemon for `weft query`, `weft recall` and `weft timeline`.

The daemon that answers hooks has the models loaded. If one runs for the store, it runs the command too and returns its
output. Without one, or if anything differs (settings, environment, version, file), the command runs in this process.

`weft` imports this module before the command line, so it loads little.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

VERBS = ("query", "recall", "timeline")
SECONDS = 10.0
"""Maximum time to wait for an answer."""
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "COHERE_API_KEY", "JINA_API_KEY", "RERANK_API_KEY")
TERMINAL_NAMES = ("TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "COLUMNS")
_FLAGS = frozenset("--gate --no-gate --rerank --no-rerank --explain --full --facts --json --quiet -q --context".split())
_VALUED = frozenset(
    "--db --namespace -N --method --top-k -n --min-score --fusion --vector-weight --text-weight --document --where "
    "--after --before --as-of --budget --limit --project".split()
)
"""Options that the daemon may answer; others, such as `--load` and `--in`, need this process."""


def ask_resident(arguments: Sequence[str]) -> int | None:
    """Print the answer of a resident daemon and return its exit code; None if this process has to run the command."""
    if not arguments or arguments[0] not in VERBS:
        return None
    try:
        from weft.processes.child import clean_environment

        environment = clean_environment()
        place = find_place(arguments, environment)
        if place is None:
            return None
        found = _ask(arguments, *place, environment)
        sys.stdout.buffer.write(str(found["out"]).encode("utf-8", "replace"))
        sys.stdout.flush()
        sys.stderr.write(str(found["err"]))
        return int(found["code"])
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # as `head` does
        return 0
    except Exception:  # noqa: BLE001 - whatever is wrong with the daemon, the command still runs here
        return None


def find_place(arguments: Sequence[str], environment: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the file and the namespace that a command line probably names; None if a daemon cannot answer it."""
    if not arguments or arguments[0] not in VERBS:
        return None
    db = [environment.get("WEFT_DB") or environment.get("WEFT_STORE_DB") or "weft.db"]
    namespace = [environment.get("WEFT_NAMESPACE") or environment.get("WEFT_STORE_NAMESPACE") or "default"]
    given: dict[str, list[str]] = {"--db": db, "--namespace": namespace, "-N": namespace}
    rest = iter(arguments[1:])
    for word in rest:
        if not word.startswith("-") or word == "--":
            if word == "--":
                break
            continue
        name, equals, value = word.partition("=")
        if name in _FLAGS:
            continue
        if name not in _VALUED:
            return None
        value = value if equals else next(rest, "")
        if name in given:
            given[name].append(value)
    if len(db) > 2 or len(namespace) > 2 or "://" in db[-1] or not os.path.isfile(db[-1]):  # noqa: PTH113
        return None
    return os.path.abspath(db[-1]), namespace[-1]  # noqa: PTH100 - pathlib is slow to import


def identify(path: str) -> list[int]:
    """Return what tells a store file from one that replaced it. Raises `OSError` if the user may not read it."""
    with open(path, "rb") as file:  # noqa: PTH123
        found = os.fstat(file.fileno())
    return [found.st_dev, found.st_ino]


def digest_keys(environment: Mapping[str, str]) -> str:
    """Return a digest of the keys of endpoints, which settings contain."""
    import hashlib

    return hashlib.sha256("\0".join(environment.get(name, "") for name in KEYS).encode()).hexdigest()


def code_version() -> int:
    """Return a number that changes when the package is upgraded."""
    return os.stat(__file__).st_mtime_ns  # noqa: PTH116


def _ask(arguments: Sequence[str], db: str, namespace: str, environment: Mapping[str, str]) -> Mapping[str, Any]:
    import json
    import time

    from weft.daemon.address import find_address
    from weft.daemon.client import ask

    settings = {name: value for name, value in environment.items() if name.startswith(("WEFT_", "OPENAI_BASE"))}
    is_terminal = sys.stdout.isatty()
    request = {
        "event": "command",
        "arguments": list(arguments),
        "folder": os.getcwd(),  # noqa: PTH109
        "environment": settings,
        "keys": digest_keys(environment),
        "file": identify(db),
        "code": code_version(),
        "terminal": is_terminal,
        "width": os.get_terminal_size().columns if is_terminal else 0,
        "colours": {name: environment[name] for name in TERMINAL_NAMES if name in environment},
    }
    answer = ask(find_address(db, namespace), request, deadline=time.monotonic() + SECONDS)
    found = json.loads(answer["text"])
    return found if isinstance(found, dict) else {}
