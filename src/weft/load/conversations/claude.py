"""
Conversations of a Claude export (`conversations.json`).

Shape as of the exports of 2025, described by Sinity/polylogue (docs/providers/claude-ai.md): a list of objects with
`uuid`, `name` and `chat_messages`; a message has `sender`, `created_at`, `text` and `content` blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from weft.load.conversations.turns import (
    ASSISTANT,
    USER,
    Conversation,
    Message,
    fold_tool,
    objects_of,
    read_time,
    text_of,
)

HOST = "claude"
_ROLES = {"human": USER, "assistant": ASSISTANT}


def is_claude(record: Mapping[str, object]) -> bool:
    """Return True if an object is a conversation of a Claude export."""
    return isinstance(record.get("chat_messages"), list) and isinstance(record.get("uuid"), str)


def read_claude(record: Mapping[str, object]) -> tuple[Conversation, Iterator[Message]]:
    """Return the properties and messages of a conversation."""
    id = text_of(record.get("uuid"))
    conversation = Conversation(source=f"{HOST}:{id}", host=HOST, id=id, title=text_of(record.get("name")))
    return conversation, _messages(record)


def _messages(record: Mapping[str, object]) -> Iterator[Message]:
    for item in objects_of(record.get("chat_messages")):
        sender = text_of(item.get("sender"))
        yield Message(role=_ROLES.get(sender, sender), text=_text(item), time=read_time(item.get("created_at")))


def _text(item: Mapping[str, object]) -> str:
    """Return the text blocks and folded tool calls of a message; exports before 2025 have only `text`."""
    parts = []
    for block in objects_of(item.get("content")):
        match block.get("type"):
            case "text":
                parts.append(text_of(block.get("text")))
            case "tool_use":
                parts.append(fold_tool(block.get("name"), block.get("input")))
    for attachment in objects_of(item.get("attachments")):
        if name := text_of(attachment.get("file_name")):
            parts.append(f"[file: {name}]")
    return "\n\n".join(filter(None, parts)) or text_of(item.get("text"))
