"""
Conversations of a ChatGPT export (`conversations.json`).

Shape as of the exports of 2025, described by mitkury/chatgpt-export-parser (docs/chatgpt-data-export-format.md): a list
of objects with a tree of messages in `mapping`. The shown branch ends at `current_node`:

    root ── system ── user ─┬─ answer (regenerated)
                            └─ answer ── user ── answer   ← current_node
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from weft.load.conversations.turns import ASSISTANT, Conversation, Message, fold_tool, object_of, read_time, text_of

HOST = "chatgpt"
_KEPT_ROLES = frozenset({"user", "assistant"})
_TEXT_TYPES = frozenset({"text", "multimodal_text"})


def is_chatgpt(record: Mapping[str, object]) -> bool:
    """Return True if an object is a conversation of a ChatGPT export."""
    has_id = isinstance(record.get("conversation_id"), str) or isinstance(record.get("id"), str)
    mapping = record.get("mapping")
    return has_id and isinstance(mapping, dict) and all(isinstance(node, dict) for node in mapping.values())


def read_chatgpt(record: Mapping[str, object]) -> tuple[Conversation, Iterator[Message]]:
    """Return the properties and messages of a conversation."""
    id = text_of(record.get("conversation_id")) or text_of(record.get("id"))
    conversation = Conversation(source=f"{HOST}:{id}", host=HOST, id=id, title=text_of(record.get("title")))
    return conversation, _messages(record)


def _messages(record: Mapping[str, object]) -> Iterator[Message]:
    for node in _branch(record):
        message = object_of(node.get("message"))
        role = text_of(object_of(message.get("author")).get("role"))
        hidden = object_of(message.get("metadata")).get("is_visually_hidden_from_conversation")
        if role in _KEPT_ROLES and not hidden:
            yield Message(role=role, text=_text(message, role=role), time=read_time(message.get("create_time")))


def _branch(record: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Return the nodes from the root to the current node; the last node that is a leaf without a current node."""
    mapping = object_of(record.get("mapping"))
    leaves = [id for id, node in mapping.items() if not object_of(node).get("children")]
    id = record.get("current_node")
    if not isinstance(id, str) or id not in mapping:
        id = leaves[-1] if leaves else None
    branch: list[Mapping[str, object]] = []
    seen: set[str] = set()
    while isinstance(id, str) and id in mapping and id not in seen:  # a damaged file may link in a circle
        seen.add(id)
        branch.append(object_of(mapping[id]))
        id = branch[-1].get("parent")
    return branch[::-1]


def _text(message: Mapping[str, object], *, role: str) -> str:
    content = object_of(message.get("content"))
    recipient = text_of(message.get("recipient")) or "all"
    if role == ASSISTANT and recipient != "all":  # a tool call
        return fold_tool(recipient, content.get("text") or _join(content.get("parts")))
    if content.get("content_type") not in _TEXT_TYPES:
        return ""
    return _join(content.get("parts"))


def _join(parts: object) -> str:
    """Return the text parts; pictures and sound are objects, of which only a transcript is kept."""
    texts = []
    for part in parts if isinstance(parts, list) else ():
        texts.append(text_of(part) or text_of(object_of(part).get("text")))
    return "\n\n".join(filter(None, texts))
