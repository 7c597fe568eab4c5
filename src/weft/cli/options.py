"""Options every verb takes, before it or after it, and the session they make."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from weft.cli.terminal import say

if TYPE_CHECKING:
    from weft.config import Settings
    from weft.engine.engine import Engine

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass
class Session:
    """What the global options say. Later ones win."""

    overrides: dict[str, Any] = field(default_factory=dict)
    config: Path | None = None
    as_json: bool = False
    verbosity: int = 0

    def settings(self, **overrides: Any) -> Settings:
        """Return the settings in force; `overrides` are flags of the verb, as `group__field`."""
        from weft.config import read_settings

        flags = {name.replace("__", "."): value for name, value in overrides.items()}
        return read_settings({**self.overrides, **flags}, file=self.config)

    def extractor(self, graph: bool | None) -> str | None:
        """Return what `--graph` or `--no-graph` makes of the extractor in the settings; None leaves it as it is."""
        if graph is None:
            return None
        known = self.settings().graph.extractor
        return (known if known != "none" else "rules") if graph else "none"

    def open(self, *, must_exist: bool = True, **overrides: Any) -> Engine:
        """Open the engine; a missing file is an error for verbs that only read."""
        from weft.cli.closing import CommandEngine
        from weft.cli.progress import FetchBar
        from weft.config import is_missing
        from weft.engine.engine import Engine
        from weft.errors import InputError

        settings = self.settings(**overrides)
        db = settings.store.db
        if must_exist and is_missing(db):
            raise InputError(f"there is no store {db!r}", hint="weft index PATH makes one, or name another with --db")
        engine = CommandEngine(settings, on_fetch=FetchBar()) if self.verbosity >= 0 else Engine(settings)
        for note in engine.database.notes:
            say(f"note: {note}", err=True)
        return engine


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
                logging.basicConfig(level=logging.DEBUG if value > 1 else logging.INFO, format="%(name)s: %(message)s")
            case "quiet":
                session.verbosity = -1
            case _:
                session.overrides[key] = value

    return callback


_DEFAULT = click.core.ParameterSource.DEFAULT
_OPTIONS: tuple[tuple[tuple[str, ...], dict[str, Any], str], ...] = (
    (
        ("--db",),
        {"metavar": "FILE|DSN", "help": "The store: a file (default ./weft.db) or postgresql://user@host/database."},
        "store.db",
    ),
    (("--namespace", "-N"), {"metavar": "NAME", "help": "Whose documents (default: default)."}, "store.namespace"),
    (("--embedder",), {"metavar": "NAME", "help": "Which embedder; see `weft models list`."}, "models.embedder"),
    (
        ("--config",),
        {"type": click.Path(path_type=Path, dir_okay=False), "metavar": "FILE", "help": "Settings file (TOML)."},
        "config",
    ),
    (("--json",), {"is_flag": True, "help": "Print JSON."}, "json"),
    (("--verbose", "-v"), {"count": True, "help": "Say more on stderr; twice for everything."}, "verbose"),
    (("--quiet", "-q"), {"is_flag": True, "help": "No progress, no receipt."}, "quiet"),
)


def common_options(function: Function) -> Function:
    """Add the global options to a verb. Their values go to the session, not to the function."""
    for names, attributes, key in reversed(_OPTIONS):
        option = click.option(*names, expose_value=False, callback=_remember(key), **attributes)
        function = option(function)
    return function


def verb(name: str | None = None, **attributes: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command that takes the global options and is given the session first."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        with_session: Callable[..., Any] = common_options(click.pass_obj(function))
        make: Callable[[Callable[..., Any]], click.Command] = click.command(name, **attributes)
        return make(with_session)

    return decorate
