"""
Capture of conversations: what waits in the spool becomes documents.

| event | document |
| --- | --- |
| `stop` with the transcript of a session | the conversation, as `weft index` loads it |
| `turn` with the text of a prompt or an answer | one exchange, `cursor:SESSION#TURN` |

Each document has the project and the folder of its session as metadata. An event is deleted after its document is
committed; a document that is indexed again is unchanged, so nothing is lost and nothing is there twice.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from weft.daemon.events import TURN_HOST
from weft.daemon.spool import Spool
from weft.daemon.state import State
from weft.engine.engine import Engine
from weft.engine.paths import load_files
from weft.errors import InputError, NotFound, WeftError
from weft.load.conversations.projects import FOLDER, PROJECT, find_project
from weft.load.conversations.turns import ASSISTANT, USER, Conversation, Message, to_document
from weft.load.file_reader import LoadError
from weft.masking.mask import mask_secrets
from weft.records import Document, Skipped

logger = logging.getLogger(__name__)

MAX_WAIT_SECONDS = 24 * 3600
"""Age at which an event is dropped whose transcript is missing or unreadable."""
ANSWER_SECONDS = 600
"""Age at which a prompt is indexed without an answer."""
_RETRIED = frozenset({"unreadable"})
"""Reasons for which a transcript is read again later."""


@dataclass(slots=True)
class _Waiting:
    """The events of one document."""

    names: list[str] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)

    @property
    def last(self) -> dict[str, Any]:
        return self.events[-1]

    @property
    def age(self) -> float:
        """Seconds since the first event."""
        return time.time() - float(self.events[0].get("time") or 0)


def drain(engine: Engine, spool: Spool) -> int:
    """
    Index what waits in a spool and delete it; return the number of indexed documents.

    An event whose document cannot be stored now stays. Returns at once if another process drains the spool.
    """
    if not spool.names():
        return 0
    done = 0
    with spool.claim() as is_claimed:
        for waiting in _group(spool) if is_claimed else ():
            try:
                indexed = _capture(engine, waiting)
            except InputError as error:  # no later drain can index it
                State(spool).add_error(str(error))
                spool.remove(waiting.names)
                continue
            except (WeftError, OSError) as error:
                logger.warning("cannot index what waits: %s", error)
                State(spool).add_error(str(error))
                continue
            if indexed is None:  # it waits for more
                continue
            done += indexed
            spool.remove(waiting.names)
            if indexed:
                State(spool).set("capture", _name(waiting.last))
    return done


def _group(spool: Spool) -> Iterable[_Waiting]:
    """Return the waiting events by document, oldest first. A damaged event is deleted; a rename is never partial."""
    found: dict[tuple[str, ...], _Waiting] = {}
    for name in spool.names():
        try:
            event = spool.read(name)
        except FileNotFoundError:
            continue
        except ValueError as error:
            State(spool).add_error(f"damaged event {name}: {error}")
            spool.remove([name])
            continue
        parts = (event.get("path"),) if event.get("event") == "stop" else (event.get("session"), event.get("turn"))
        group = found.setdefault((str(event.get("event")), *map(str, parts)), _Waiting())
        group.names.append(name)
        group.events.append(event)
    return found.values()


def _capture(engine: Engine, waiting: _Waiting) -> int | None:
    """Index the document of some events; return 1 if there is one, 0 for none, None if the events have to wait."""
    if waiting.last.get("event") == "stop":
        return _capture_transcript(engine, waiting)
    return _capture_turn(engine, waiting)


def _capture_transcript(engine: Engine, waiting: _Waiting) -> int | None:
    event = waiting.last
    path = Path(str(event.get("path")))
    reasons: set[str] = set()
    if not path.is_file():
        reasons.add("unreadable")
        documents: list[Document] = []
    else:
        loaded = list(load_files([path], options=engine.settings.load, base=engine.base))
        reasons |= {item.reason for item in loaded if isinstance(item, Skipped)}
        documents = [_label(item, event) for item in loaded if isinstance(item, Document)]
    if not documents and reasons & _RETRIED:
        if waiting.age < MAX_WAIT_SECONDS:
            return None
        raise InputError(
            f"no transcript at {str(path)!r} for a day: its session is not captured", hint="run weft hook status"
        )
    if documents:
        engine.add(documents)
    return int(bool(documents))


def _label(document: Document, event: Mapping[str, Any]) -> Document:
    """Return a document with the project and folder of its session; those that the transcript names stay."""
    folder = str(document.metadata.get(FOLDER) or event.get("cwd") or "")
    project = find_project(folder)
    own = {FOLDER: folder, PROJECT: project} if project else {}
    return replace(document, metadata={**own, **document.metadata})


def _capture_turn(engine: Engine, waiting: _Waiting) -> int | None:
    """Index an exchange. What its document contains already is not added again."""
    session, turn = str(waiting.last.get("session", "")), str(waiting.last.get("turn", ""))
    has_answer = any(event.get("role") == ASSISTANT for event in waiting.events)
    if not has_answer and waiting.age < ANSWER_SECONDS:
        return None
    ordered = sorted(waiting.events, key=lambda event: (event.get("role") != USER, float(event.get("time") or 0)))
    messages = [
        Message(role=str(e.get("role")), text=str(e.get("text", "")), time=int(float(e.get("time") or 0) * 1_000_000))
        for e in ordered
    ]
    source = f"{TURN_HOST}:{session}#{turn}"
    if known := _stored_text(engine, source):
        messages = [m for m in messages if _squeeze(_beginning(m)) not in known]
        digest = hashlib.sha256("\0".join(m.text for m in messages).encode()).hexdigest()[:8]
        source = f"{source}.{digest}"
    if not messages:
        return 0
    try:
        document = to_document(messages, Conversation(source=source, host=TURN_HOST, id=session))
    except LoadError:
        return 0
    engine.add([_label(document, waiting.last)])
    return 1


def _beginning(message: Message) -> str:
    """Return the beginning of a message as it is stored."""
    return mask_secrets(message.text.strip())[:80]


def _stored_text(engine: Engine, source: str) -> str:
    try:
        _, chunks = engine.get(source)
    except NotFound:
        return ""
    return _squeeze(" ".join(chunk.text for chunk in chunks))


def _squeeze(text: str) -> str:
    return " ".join(text.split())


def _name(event: Mapping[str, Any]) -> str:
    return str(event.get("path") or f"{TURN_HOST}:{event.get('session', '')}")
