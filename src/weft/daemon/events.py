"""
Events of an agent host, as Claude Code 2, Codex CLI 0.169, Gemini CLI 0.61 and Cursor 3 send them to their hooks.

| event | input | effect |
| --- | --- | --- |
| `session-start` | `session_id`, `cwd` | facts about the user and the project are added to the context |
| `prompt` | `prompt`, `session_id`, `cwd` | so are passages and facts for the prompt |
| `stop` | `transcript_path`, `session_id`, `cwd` | the transcript is captured |
| `turn` | `prompt` or `text`, `conversation_id`, `generation_id`, `workspace_roots` | the turn is captured (Cursor) |

Hooks import this module, so it loads little.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

EVENTS = ("session-start", "prompt", "stop", "turn")
CAPTURED = ("stop", "turn")
"""Events that are spooled."""
SCOPES = ("project", "folder", "all")
"""Where a recall looks: in the project of the session, in its folder, or everywhere."""
TURN_HOST = "cursor"
SUFFIXES = (".jsonl", ".json", ".md", ".txt")
"""Extensions of transcripts."""
MAX_TURN_CHARACTERS = 200_000
MAX_PATH_BYTES = 4096


def session_of(given: Mapping[str, Any]) -> str:
    """Return the id of the session of an event; empty if it has none."""
    return str(given.get("session_id") or given.get("conversation_id") or "")


def folder_of(given: Mapping[str, Any]) -> str:
    """Return the working folder of an event; empty if it names none."""
    roots = given.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    found = given.get("cwd") or first
    return found if isinstance(found, str) and os.path.isabs(found) and "\0" not in found else ""


def to_capture(event: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is spooled of an event. Raises `ValueError` if there is nothing to capture."""
    kept = {"event": event, "session": session_of(given), "cwd": folder_of(given)}
    if event == "stop":
        return {**kept, "path": _transcript(given)}
    role, text = ("user", given.get("prompt")) if "prompt" in given else ("assistant", given.get("text"))
    if not isinstance(text, str) or not text.strip() or not kept["session"]:
        raise ValueError("the event has no text, or no conversation_id")
    from weft.masking.mask import mask_secrets  # here, because only Cursor sends its turns

    return {**kept, "turn": str(given.get("generation_id") or ""), "role": role,
            "text": mask_secrets(text[:MAX_TURN_CHARACTERS])}  # fmt: skip


def _transcript(given: Mapping[str, Any]) -> str:
    """Return the path of a transcript, which may not exist yet. Raises `ValueError`."""
    name = given.get("transcript_path")
    if not isinstance(name, str):
        raise ValueError("the event has no text 'transcript_path'")
    path = os.path.expanduser(name)
    size = len(path.encode("utf-8", "replace"))
    if size > MAX_PATH_BYTES:
        raise ValueError(f"the path of the transcript is too long: {size:,} bytes")
    is_text = path.isprintable() and path.encode("utf-8", "replace").decode() == path
    if not is_text or not os.path.isabs(path) or not path.lower().endswith(SUFFIXES):
        raise ValueError(f"no transcript at {path[:300]!r}")
    return path
