"""
Messages of a conversation, and the document that they become.

    Message(role="user", text="Which port?", time=…)       user (2026-03-02 10:15): Which port?
    Message(role="assistant", text="8080.", time=…)
                                                           assistant (2026-03-02 10:15): 8080.

Every loader of a host yields messages; only this module renders them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timezone

from weft.load.conversations.projects import FOLDER, PROJECT, find_project
from weft.load.file_reader import LoadError
from weft.load.line_map import collapse, shorten
from weft.load.metadata import to_metadata
from weft.masking.mask import mask_secrets
from weft.records import Document, Turn, Unit, parse_time, to_microseconds
from weft.text.decode import clean

KIND = "conversation"
"""Value of the metadata field `kind` of every conversation."""
USER, ASSISTANT = "user", "assistant"
MAX_TITLE_CHARACTERS = 80
"""Maximum length of a title that is the first line of a conversation."""
MAX_ROLE_CHARACTERS = 60
MAX_TOOL_CHARACTERS = 160
"""Maximum length of a folded tool call."""
MAX_READ_CHARACTERS = 10_000
"""Characters of an argument that are searched for secrets before it is folded."""
MAX_PAUSE_MICROSECONDS = 30 * 60 * 1_000_000
"""A message after a longer pause starts an exchange of a chat between people."""

_MAX_SECONDS = 253_402_300_799
"""Last second of the year 9999."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation, before it is rendered."""

    role: str
    text: str
    time: int | None = None
    """Microseconds since 1970 in UTC."""
    clock: str = ""
    """Position in a recording, `00:01:05`, for a message without a time."""
    line: int = 0
    """Line of the file; 0 if its lines mean nothing, as in JSON."""
    opens: bool | None = None
    """True if it starts an exchange; None to decide by roles (`user` after another role)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Properties of a conversation that its messages do not have."""

    source: str
    host: str
    """Program or service that wrote it, such as `claude`."""
    id: str
    title: str = ""
    """Title; empty: the first line of the first message."""
    fields: Mapping[str, object] | None = None
    """Further metadata, such as the working directory."""


def to_document(messages: Iterable[Message], conversation: Conversation) -> Document:
    """Return the document of a conversation. Raises `LoadError` if no message has text."""
    kept = [clean_message for message in messages if (clean_message := _clean(message)).text]
    if not kept:
        raise LoadError("empty", "the conversation has no messages with text")
    pieces: list[str] = []
    turns: list[Turn] = []
    lines: list[int] = []
    unit: Unit = "line" if any(message.line for message in kept) else "turn"
    offset, role = 0, ""
    for number, message in enumerate(kept, start=1):
        block = f"{message.role}{_stamp(message)}: {message.text}"
        opens = message.opens if message.opens is not None else message.role == USER != role
        turns.append(Turn(offset, message.time, opens))
        pieces.append(block)
        lines += [message.line or number] * (block.count("\n") + 2)
        offset, role = offset + len(block) + 2, message.role
    return Document(
        source=conversation.source,
        title=_title(conversation, kept),
        text="\n\n".join(pieces),
        form="conversation",
        metadata=to_metadata(_metadata(conversation, kept)),
        lines=lines[:-1],
        unit=unit,
        turns=tuple(turns),
    )


def join_roles(messages: Iterable[Message]) -> list[Message]:
    """Return the messages with neighbours of one role joined: an agent writes a record per step of its answer."""
    joined: list[Message] = []
    for message in messages:
        if joined and joined[-1].role == message.role:
            text = "\n\n".join(filter(None, (joined[-1].text, message.text)))
            joined[-1] = replace(
                joined[-1], text=text, time=message.time if joined[-1].time is None else joined[-1].time
            )
        else:
            joined.append(message)
    return joined


def open_after_pauses(messages: Iterable[Message]) -> list[Message]:
    """Return the messages of a chat between people; one after a pause of 30 minutes starts an exchange."""
    found: list[Message] = []
    last: int | None = None
    for message in messages:
        is_late = last is not None and message.time is not None and message.time - last > MAX_PAUSE_MICROSECONDS
        found.append(replace(message, opens=message.opens or is_late))
        last = message.time if message.time is not None else last
    return found


def fold_tool(name: object, arguments: object) -> str:
    """Return a tool call on one line: `[Bash: ls docs]`. Only its first text argument is kept, without secrets."""
    if isinstance(arguments, str):
        with suppress(ValueError, RecursionError):
            arguments = json.loads(arguments)
    values = list(arguments.values()) if isinstance(arguments, dict) else [arguments]
    first = next((value for value in values if isinstance(value, str) and value.strip()), "")
    label = collapse(name) if isinstance(name, str) else "tool"
    text = mask_secrets(f"{label}: {collapse(first[:MAX_READ_CHARACTERS])}") if first else label
    return f"[{shorten(text, limit=MAX_TOOL_CHARACTERS)}]"


def read_time(value: object) -> int | None:
    """Return a time in microseconds: ISO 8601, or seconds or milliseconds since 1970. None if it is neither."""
    if isinstance(value, bool) or value is None:
        return None
    if not isinstance(value, int | float | str) or value == "":
        return None
    try:
        if not isinstance(value, str):
            return _from_seconds(float(value))
        text = value.strip()
        return _from_seconds(float(text)) if text[:1].isdigit() and "-" not in text else _from_iso(text)
    except (ValueError, OverflowError):
        return None


def format_time(time: int) -> str:
    """Return a time in ISO 8601 with seconds, in UTC."""
    return datetime.fromtimestamp(time // 1_000_000, tz=timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def text_of(value: object) -> str:
    """Return a value if it is a text, else an empty text."""
    return value if isinstance(value, str) else ""


def objects_of(value: object) -> list[Mapping[str, object]]:
    """Return the objects of a list; others are left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def object_of(value: object) -> Mapping[str, object]:
    """Return a value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def _clean(message: Message) -> Message:
    role = shorten(collapse(clean(message.role)), limit=MAX_ROLE_CHARACTERS) or "unknown"
    return replace(message, role=role, text=mask_secrets(clean(message.text).strip()))


def _stamp(message: Message) -> str:
    if message.time is not None:
        return f" ({datetime.fromtimestamp(message.time // 1_000_000, tz=timezone.utc):%Y-%m-%d %H:%M})"
    return f" ({message.clock})" if message.clock else ""


def _title(conversation: Conversation, messages: Sequence[Message]) -> str:
    title = mask_secrets(collapse(clean(conversation.title)))
    asked = [message.text for message in messages if message.role == USER] or [messages[0].text]
    return title or shorten(collapse(asked[0].partition("\n")[0]), limit=MAX_TITLE_CHARACTERS)


def _metadata(conversation: Conversation, messages: Sequence[Message]) -> dict[str, object]:
    times = [message.time for message in messages if message.time is not None]
    span = {"start": format_time(min(times)), "end": format_time(max(times))} if times else {}
    kept = {key: value for key, value in (conversation.fields or {}).items() if value not in (None, "")}
    project = find_project(text_of(kept.get(FOLDER)))
    own = {"kind": KIND, "host": conversation.host, "conversation": conversation.id}
    return {**own, **span, **kept, **({PROJECT: project} if project else {})}


def _from_seconds(value: float) -> int | None:
    if not math.isfinite(value) or value < 0:
        return None
    seconds = value / 1000 if value > _MAX_SECONDS else value
    return round(seconds * 1_000_000) if seconds <= _MAX_SECONDS else None


def _from_iso(text: str) -> int | None:
    time = to_microseconds(parse_time(text))
    return time if time >= 0 else None
