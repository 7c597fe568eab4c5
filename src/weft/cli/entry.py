"""
Entry point of the package: the command line, and short paths for hooks and for commands that a daemon answers.

An agent host runs `weft hook` at every prompt. With the options that `weft install` writes, nothing but the client of
the daemon is imported; loading the command line and the settings would take longer than the answer.

| arguments | path |
| --- | --- |
| `hook prompt --db /a/weft.db --namespace default` | short |
| `hook prompt --budget 200 --db …` | short if file and namespace are named |
| `hook prompt`, `hook prompt --db weft.db` | command line: settings name the store |
| `hook --help`, `hook prompt --verbose` | command line |
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_OPTIONS = {
    "--db": "db", "--namespace": "namespace", "--budget": "budget", "--deadline": "deadline", "--scope": "scope",
}  # fmt: skip
DEFAULT_BUDGET = 1500
"""Maximum characters of an answer."""
DEFAULT_DEADLINE = 300
"""Milliseconds that a hook waits for the daemon."""


def main() -> None:
    """Run the command line; the entry point of the package."""
    verb = sys.argv[1:2]
    if verb == ["hook"] and run_hook(sys.argv[2:]):
        return
    if verb and verb[0] in ("query", "recall", "timeline"):
        from weft.cli.resident_client import ask_resident

        code = ask_resident(sys.argv[1:])
        if code is not None:
            sys.exit(code)
    _load_command_line()()


def _load_command_line() -> Callable[[], None]:
    """Import the command line. Ctrl-C during the import ends the process without a traceback."""
    import signal

    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_default:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from weft.cli.main import main as run

    if is_default:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run


def run_hook(arguments: Sequence[str]) -> bool:
    """Answer a hook if the arguments name event, store and namespace; return False if they need the command line."""
    event, *rest = arguments or [""]
    values = dict(zip(rest[::2], rest[1::2], strict=False))
    found = {_OPTIONS[name]: value for name, value in values.items() if name in _OPTIONS}
    budget, deadline = found.get("budget", str(DEFAULT_BUDGET)), found.get("deadline", str(DEFAULT_DEADLINE))
    is_known = len(rest) == 2 * len(found) and "namespace" in found and _is_location(found.get("db", ""))
    if not is_known or not all(text.isascii() and text.isdigit() and int(text) for text in (budget, deadline)):
        return False
    from weft.daemon.client import answer_hook
    from weft.daemon.events import EVENTS, SCOPES

    scope = found.get("scope", SCOPES[0])
    if event not in EVENTS or scope not in SCOPES:
        return False
    answer = answer_hook(
        event,
        db=found["db"],
        namespace=found["namespace"],
        budget=int(budget),
        milliseconds=int(deadline),
        scope=scope,
    )
    sys.stdout.buffer.write(answer.encode("ascii"))
    return True


def _is_location(db: str) -> bool:
    """Return True for a store whose name does not depend on settings or the current folder."""
    return os.path.isabs(db) or "://" in db  # noqa: PTH117 - pathlib is slow to import
