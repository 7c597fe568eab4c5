"""Route that opens a document in the editor of the user who runs the server: `/documents/{id}/open`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import APIRouter

from weft.admin.editor import check_window, editor_command, page_address
from weft.admin.source_files import find_source_file
from weft.config import Settings
from weft.engine.engine import Engine
from weft.errors import ConfigError
from weft.processes.child import start_detached
from weft.server.auth import Caller, Reader
from weft.server.errors import Refused, documented
from weft.server.routes.documents import Key
from weft.server.schemas import Opened

router = APIRouter(tags=["documents"])


@router.post("/documents/{id}/open", response_model=Opened, responses=documented(401, 404))
async def open_document(caller: Reader, id: Key) -> dict[str, Any]:
    """
    Open the file of a document, or of a chunk at its first line, in the editor of the settings.

    If `editor.command` is an address, the response has it. Otherwise the server runs the program, if it listens on
    loopback only and the key may write.
    """
    if not can_open(caller):
        hint = "set editor.command to an address, or to a program for a server on loopback"
        raise Refused(403, "not_allowed", "this server opens no editor", hint=hint)
    return {"address": await caller.state.threads.read(lambda: _open(caller.engine, caller.state.engines.settings, id))}


def can_open(caller: Caller) -> bool:
    """Return True if the settings let this caller open documents in an editor."""
    editor = caller.state.engines.settings.editor
    return bool(editor.url) or (bool(editor.program) and caller.state.is_private and caller.access != "read")


def _open(engine: Engine, settings: Settings, id: str) -> str | None:
    place = find_source_file(id, store=engine.store, base=engine.base)
    if settings.editor.url:
        return page_address(settings, place)
    check_window(settings)
    command = editor_command(settings, place)
    try:
        start_detached(command, folder=Path(place.path).parent)
    except OSError as error:
        raise ConfigError(f"cannot start {command[0]!r}: {error}", hint="check editor.command") from error
    return None
