"""Commands that a daemon runs for clients, with its open engine (`weft.cli.resident_client`)."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from weft.cli.options import Session
from weft.cli.resident_client import VERBS, code_version, digest_keys, find_place, identify
from weft.cli.terminal import Terminal, say, use_terminal
from weft.config import Settings, read_settings
from weft.engine.engine import Engine
from weft.errors import InputError
from weft.processes.child import clean_environment

WRONG_USAGE = 2


class ResidentCommands:
    """Runs commands of clients whose settings are those of the daemon."""

    def __init__(self, engine: Engine, *, db: str) -> None:
        self._engine, self._db = engine, db
        self._file, self._code = identify(db), code_version()

    def answer(self, request: Mapping[str, Any]) -> str:
        """Return output and exit code of a command as JSON. Raises `InputError` if the client has to run it."""
        arguments = request.get("arguments")
        if not isinstance(arguments, list) or not all(isinstance(word, str) for word in arguments):
            raise InputError("invalid arguments", hint="pass a list of texts")
        self._check(arguments, request)
        streams = Terminal(
            out=io.StringIO(),
            err=io.StringIO(),
            width=int(request.get("width") or 0) if request.get("terminal") else None,
            environment={str(name): str(value) for name, value in dict(request.get("colours") or {}).items()},
        )
        with use_terminal(streams):
            code = self._run(arguments, folder=str(request.get("folder")))
        if code == WRONG_USAGE:  # its message names the program
            raise InputError("wrong usage", hint="run the command without a daemon")
        return json.dumps({"out": streams.out.getvalue(), "err": streams.err.getvalue(), "code": code})

    def _check(self, arguments: list[str], request: Mapping[str, Any]) -> None:
        """Raise `InputError` unless the command has the same effect here as in the process of the client."""
        environment, folder = request.get("environment"), Path(str(request.get("folder")))
        if not isinstance(environment, dict) or not folder.is_absolute():
            raise InputError("invalid environment or folder", hint="run the command without a daemon")
        is_same = (
            [request.get("file"), request.get("code")] == [self._file, self._code]
            and self._file == identify(self._db)
            and request.get("keys") == digest_keys(clean_environment())
        )
        if not is_same or find_place(arguments, environment) is None or arguments[0] not in VERBS:
            raise InputError("another file, version or key", hint="run the command without a daemon")
        wanted = self._settings(arguments, environment, folder)
        if wanted != _comparable(self._engine.settings, Path.cwd()):
            raise InputError("other settings", hint="run the command without a daemon")

    def _settings(self, arguments: list[str], environment: Mapping[str, str], folder: Path) -> Settings:
        """Return the settings of the client's process, flags included."""
        from weft.cli.main import weft

        session, (name, *rest) = Session(), arguments
        try:
            with weft.make_context("weft", list(arguments), obj=session) as parent:
                command = weft.get_command(parent, name)
                if command is not None:
                    command.make_context(name, list(rest), parent=parent)
        except (click.ClickException, click.exceptions.Exit) as error:
            raise InputError("wrong usage", hint="run the command without a daemon") from error
        return _comparable(read_settings(session.overrides, environment=environment, folder=folder), folder)

    def _run(self, arguments: list[str], *, folder: str) -> int:
        from weft.cli.errors import run_reporting
        from weft.cli.main import weft

        return run_reporting(weft, arguments=arguments, session=ResidentSession(self._engine, folder=folder))


class ResidentSession(Session):
    """Session whose engine is open already and stays open."""

    def __init__(self, engine: Engine, *, folder: str) -> None:
        super().__init__(folder=folder)
        self._engine = engine

    @contextmanager
    def open(self, *, must_exist: bool = True, notes_namespace: bool = True, **overrides: Any) -> Iterator[Engine]:
        """Yield the engine of the daemon, with the notes of a command that opens one."""
        engine = self._engine
        unknown = engine.namespace_note() if must_exist and notes_namespace else ""
        for note in (*engine.database.notes, *([unknown] if unknown else ())):
            say(f"note: {note}", err=True)
        yield engine


def _comparable(settings: Settings, folder: Path) -> Settings:
    """Return settings without keys and origins, with the absolute path of the store."""
    store = replace(settings.store, db=str((folder / settings.store.db).resolve()))
    return replace(settings, store=store, origins={}, api_key="", anthropic_key="", rerank_keys={})
