"""
Chats of Slack and Discord exports.

| export | file | document | source of the shape |
| --- | --- | --- | --- |
| Slack workspace | `CHANNEL/2026-03-02.json` | one per channel and day | omgitsjessie/slack-exports, README.md |
| DiscordChatExporter 2.3x | one file per channel | one per channel | Tyrrrz/DiscordChatExporter, JsonMessageWriter |
| Discord data package | `c123/messages.json` | one per channel | Discord support, "Your Discord Data Package" |

A Slack export names users by id; their names are read from `users.json` beside the folders of the channels. A
Discord data package contains the messages of its user only.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from weft.load.conversations.turns import (
    USER,
    Conversation,
    Message,
    object_of,
    objects_of,
    open_after_pauses,
    read_time,
    text_of,
)

SLACK, DISCORD, DISCORD_PACKAGE = "slack", "discord", "discord-package"
MAX_SIDE_FILE_BYTES = 20 * 2**20
"""Maximum size of `users.json` and `channel.json`; a larger one is ignored."""

_SLACK_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_REFERENCE = re.compile(r"<([@#!]?)([^<>|\n]{1,500})(?:\|([^<>\n]{0,500}))?>")
"""Slack's references: `<@U02AB>` a user, `<#C03CD|general>` a channel, `<https://…|label>` a link."""
_CHATTER = frozenset({"channel_join", "channel_leave", "channel_topic", "channel_purpose", "channel_name", "bot_add"})
_PACKAGE_FOLDER = re.compile(r"c?(\d{5,25})")

Chat = tuple[Conversation, list[Message]]


def read_chat(content: object, *, path: Path, source: str) -> Chat | None:
    """Return the chat of a parsed JSON file; None if it has none of the shapes."""
    if isinstance(content, dict):
        return _read_discord(content) if _is_discord(content) else None
    records = objects_of(content)
    if not records or not isinstance(content, list) or len(records) < len(content):
        return None
    if _SLACK_DAY.fullmatch(Path(source).stem) and all("ts" in item and "type" in item for item in records):
        return read_slack(records, users=_read_side_file(path.parent.parent / "users.json"), source=source, day=source)
    if all("Contents" in item and "Timestamp" in item for item in records):
        return _read_package(records, path=path)
    return None


# ── Slack ───────────────────────────────────────────────────────────────────────────────────────


def is_slack_day(name: str) -> bool:
    """Return True for a path like `general/2026-03-02.json`."""
    path = Path(name)
    return path.suffix == ".json" and bool(_SLACK_DAY.fullmatch(path.stem)) and len(path.parts) > 1


def read_slack(records: list[Mapping[str, object]], *, users: object, source: str, day: str) -> Chat:
    """Return the chat in the file `day`, like `general/2026-03-02.json`; `users` is the content of `users.json`."""
    names = _user_names(users)
    channel = Path(day).parent.name or SLACK
    threads: dict[str, list[Message]] = {}
    for item in sorted(records, key=lambda item: text_of(item.get("ts"))):
        if item.get("type") == "message" and item.get("subtype") not in _CHATTER:
            thread = text_of(item.get("thread_ts")) or text_of(item.get("ts"))
            threads.setdefault(thread, []).append(_slack_message(item, names))
    conversation = Conversation(
        source=source, host=SLACK, id=channel, title=f"#{channel} {Path(day).stem}", fields={"channel": channel}
    )
    return conversation, open_after_pauses(_join_threads(threads.values()))


def _join_threads(threads: Iterable[list[Message]]) -> Iterator[Message]:
    """Yield the messages thread by thread; a thread with replies, and the message after it, start an exchange."""
    was_thread = False
    for thread in threads:
        is_thread = len(thread) > 1
        for number, message in enumerate(thread):
            yield replace(message, opens=number == 0 and (is_thread or was_thread))
        was_thread = is_thread


def _slack_message(item: Mapping[str, object], names: Mapping[str, str]) -> Message:
    profile = object_of(item.get("user_profile"))
    user = text_of(item.get("user"))
    own = text_of(profile.get("display_name")) or text_of(profile.get("real_name")) or text_of(item.get("username"))
    text = _REFERENCE.sub(lambda match: _plain_reference(match, names), text_of(item.get("text")))
    files = [f"[file: {name}]" for file in objects_of(item.get("files")) if (name := text_of(file.get("name")))]
    return Message(
        role=names.get(user) or own or user,
        text="\n".join(filter(None, [html.unescape(text), *files])),
        time=read_time(item.get("ts")),
    )


def _plain_reference(match: re.Match[str], names: Mapping[str, str]) -> str:
    sign, target, label = match[1], match[2], match[3]
    if sign == "@":
        return f"@{names.get(target) or label or target}"
    return f"{sign if sign == '#' else ''}{label or target}"


def _user_names(users: object) -> dict[str, str]:
    """Return the shown name of each user by id."""
    names = {}
    for user in objects_of(users):
        profile = object_of(user.get("profile"))
        shown = text_of(profile.get("display_name")) or text_of(profile.get("real_name")) or text_of(user.get("name"))
        names[text_of(user.get("id"))] = shown
    return names


# ── Discord ─────────────────────────────────────────────────────────────────────────────────────


def _is_discord(content: Mapping[str, object]) -> bool:
    has_messages = isinstance(content.get("messages"), list)
    return has_messages and all(isinstance(content.get(key), dict) for key in ("guild", "channel"))


def _read_discord(content: Mapping[str, object]) -> Chat:
    channel, guild = object_of(content.get("channel")), text_of(object_of(content.get("guild")).get("name"))
    id, name = text_of(channel.get("id")), text_of(channel.get("name"))
    messages = []
    for item in objects_of(content.get("messages")):
        author = object_of(item.get("author"))
        role = text_of(author.get("nickname")) or text_of(author.get("name"))
        files = [f"[file: {text_of(file.get('fileName'))}]" for file in objects_of(item.get("attachments"))]
        text = "\n".join(filter(None, [text_of(item.get("content")), *files]))
        messages.append(Message(role=role, text=text, time=read_time(item.get("timestamp"))))
    title = " ".join(filter(None, (guild, f"#{name}" if name else "")))
    fields = {"channel": name, "server": guild}
    conversation = Conversation(source=f"{DISCORD}:{id or title}", host=DISCORD, id=id, title=title, fields=fields)
    return conversation, open_after_pauses(messages)


def _read_package(records: list[Mapping[str, object]], *, path: Path) -> Chat:
    channel = object_of(_read_side_file(path.parent / "channel.json"))
    folder = _PACKAGE_FOLDER.fullmatch(path.parent.name)
    id = text_of(channel.get("id")) or (folder[1] if folder else path.parent.name)
    messages = [
        Message(role=USER, text=text_of(item.get("Contents")), time=read_time(item.get("Timestamp")), opens=False)
        for item in sorted(records, key=lambda item: str(item.get("Timestamp")))
    ]
    name, guild = text_of(channel.get("name")), text_of(object_of(channel.get("guild")).get("name"))
    title = " ".join(filter(None, (guild, f"#{name}" if name else f"channel {id}")))
    fields = {"channel": name, "server": guild}
    conversation = Conversation(
        source=f"{DISCORD_PACKAGE}:{id}", host=DISCORD_PACKAGE, id=id, title=title, fields=fields
    )
    return conversation, open_after_pauses(messages)


def _read_side_file(path: Path) -> object:
    """Return the JSON of a file beside the messages; None if it is missing, a link, too large or invalid."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_SIDE_FILE_BYTES:
            return None
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
