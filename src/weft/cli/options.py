"""Global options of all verbs, before or after the verb, and the session they configure."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from weft.cli.log_format import escape_warnings, log_to_stderr
from weft.cli.terminal import say

if TYPE_CHECKING:
    from weft.config import Settings
    from weft.engine.engine import Engine
    from weft.store.base import Database

Function = TypeVar("Function", bound=Callable[..., Any])

CLOSE_NOTICE_S = 1.0
"""Seconds that closing the store may take before a notice is printed."""
CLOSE_NOTICE = "updating the read indexes; Ctrl-C postpones the update without losing data"


@dataclass
class Session:
    """
    Values of the global options. Those after the verb replace those before it.

    `--db` and `--namespace` may be repeated for verbs that search several namespaces; of other options the last value
    is used.
    """

    overrides: dict[str, Any] = field(default_factory=dict)
    several: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """All values of `store.db` and `store.namespace`."""
    config: Path | None = None
    as_json: bool = False
    verbosity: int = 0
    folder: str = ""
    """Working folder of the user if that is another one than this process has."""

    def settings(self, **overrides: Any) -> Settings:
        """Return the effective settings; `overrides` are options of the verb, named `group__field`."""
        from weft.config import read_settings

        flags = {name.replace("__", "."): value for name, value in overrides.items()}
        return read_settings({**self.overrides, **flags}, file=self.config)

    def extractor(self, graph: bool | None) -> str | None:
        """Return the extractor for `--graph` or `--no-graph`; None keeps the configured one."""
        if graph is None:
            return None
        known = self.settings().graph.extractor
        return (known if known != "none" else "rules") if graph else "none"

    @contextmanager
    def open(self, *, must_exist: bool = True, notes_namespace: bool = True, **overrides: Any) -> Iterator[Engine]:
        """
        Open the engine for a `with` block.

        With `must_exist`, as for verbs that only read, raise `InputError` for a missing file. With `notes_namespace`
        too, an unknown namespace is reported on stderr.
        """
        from weft.cli.progress import FetchBar
        from weft.engine.engine import Engine

        settings = self.settings(**overrides)
        stores = (settings.store.db,) if "store__db" in overrides else self.several.get("store.db", ())
        if must_exist:
            _require(stores or (settings.store.db,))
        is_quiet = self.verbosity < 0
        engine = Engine(
            settings,
            on_fetch=None if is_quiet else FetchBar(),
            lists_namespaces=True,
        )
        if len(stores) > 1:
            from weft.engine.opening.open_engine import join_databases

            engine = join_databases(engine, stores)
        if len(names := self.several.get("store.namespace", ())) > 1:
            engine = engine.across(*names)
        try:
            unknown = engine.namespace_note() if must_exist and notes_namespace else ""
            for note in (*engine.database.notes, *([unknown] if unknown else ())):
                say(f"note: {note}", err=True)
            yield engine
        finally:
            with nullcontext() if is_quiet else notice_after(CLOSE_NOTICE_S, CLOSE_NOTICE):
                engine.close()

    @contextmanager
    def open_database(self) -> Iterator[tuple[Settings, Database]]:
        """Open the store alone for a `with` block: without models, so a fourth of the time of an engine."""
        from weft.engine.input_checks import describe_unknown_namespace
        from weft.engine.opening.databases import open_database

        settings = self.settings()
        _require((settings.store.db,))
        database = open_database(settings)
        try:
            unknown = describe_unknown_namespace(database, settings.store.namespace)
            for note in (*database.notes, *([unknown] if unknown else ())):
                say(f"note: {note}", err=True)
            yield settings, database
        finally:
            database.close()


def _require(stores: Sequence[str]) -> None:
    """Raise `InputError` if a store does not exist."""
    from weft.config import is_missing
    from weft.errors import InputError

    for db in stores:
        if is_missing(db):
            raise InputError(
                f"store {db!r} does not exist",
                hint="run `weft index PATH` to create the store, or pass an existing one with --db",
            )


@contextmanager
def notice_after(seconds: float, message: str) -> Iterator[None]:
    """Print a message to stderr if the block takes longer than `seconds`."""
    timer = threading.Timer(seconds, say, [message], {"err": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _remember(key: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    def callback(ctx: click.Context, param: click.Parameter, value: Any) -> None:
        session = ctx.ensure_object(Session)
        if value is None or value is False or ctx.get_parameter_source(param.name or "") == _DEFAULT:
            return
        match key:
            case "config":
                session.config = value
            case "json":
                session.as_json = True
            case "verbose":
                session.verbosity = value
                log_to_stderr(logging.DEBUG if value > 1 else logging.INFO)
            case "quiet":
                session.verbosity = -1
            case "store.db" | "store.namespace":
                if value:
                    session.overrides[key], session.several[key] = value[0], tuple(dict.fromkeys(value))
            case _:
                session.overrides[key] = value

    return callback


escape_warnings()

_DEFAULT = click.core.ParameterSource.DEFAULT
_OPTIONS: tuple[tuple[tuple[str, ...], dict[str, Any], str], ...] = (
    (
        ("--db",),
        {
            "multiple": True,
            "metavar": "FILE|DSN",
            "help": "Store: file (default ./weft.db) or postgresql://user@host/db.",
        },
        "store.db",
    ),
    (
        ("--namespace", "-N"),
        {"multiple": True, "metavar": "NAME", "help": "Namespace (default: default)."},
        "store.namespace",
    ),
    (("--embedder",), {"metavar": "NAME", "help": "Embedder; see `weft models list`."}, "models.embedder"),
    (
        ("--config",),
        {"type": click.Path(path_type=Path, dir_okay=False), "metavar": "FILE", "help": "Settings file (TOML)."},
        "config",
    ),
    (("--json",), {"is_flag": True, "help": "Print JSON."}, "json"),
    (("--verbose", "-v"), {"count": True, "help": "Log to stderr; repeat for debug messages."}, "verbose"),
    (("--quiet", "-q"), {"is_flag": True, "help": "Suppress progress and receipts."}, "quiet"),
)


def common_options(function: Function) -> Function:
    """Add the global options to a command. Their values are stored in the session, not passed to the function."""
    for names, attributes, key in reversed(_OPTIONS):
        option = click.option(*names, expose_value=False, callback=_remember(key), **attributes)
        function = option(function)
    return function


def check_single(session: Session, *, options: Sequence[str] = ("store.db", "store.namespace")) -> None:
    """Raise `UsageError` if one of these options has several values."""
    for key in options:
        if len(session.several.get(key, ())) > 1:
            flag = {"store.db": "--db", "store.namespace": "--namespace"}[key]
            raise click.UsageError(f"{flag} cannot be repeated here: this command uses one namespace of one store")


def verb(
    name: str | None = None, *, takes_several: bool = False, **attributes: Any
) -> Callable[[Callable[..., Any]], click.Command]:
    """
    Return a decorator for a command with the global options; the function receives the session first.

    With `takes_several`, the command searches several stores and namespaces as one.
    """

    def decorate(function: Callable[..., Any]) -> click.Command:
        @wraps(function)
        def checked(session: Session, *args: Any, **values: Any) -> Any:
            if not takes_several:
                check_single(session)
            return function(session, *args, **values)

        with_session: Callable[..., Any] = common_options(click.pass_obj(checked))
        make: Callable[[Callable[..., Any]], click.Command] = click.command(name, **attributes)
        return make(with_session)

    return decorate
