"""
Events of an agent host, as Claude Code 2, Codex CLI 0.169, Gemini CLI 0.61 and Cursor 3 send them to their hooks.

| event | input | answer |
| --- | --- | --- |
| `session-start` | `session_id`, `cwd` | facts about the user |
| `prompt` | `prompt`, `session_id` | passages and facts for the prompt, if the confidence suffices |
| `stop` | `transcript_path` | none; the transcript is indexed afterwards |

Passages of the running conversation are left out, because the model has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from weft.engine.engine import Engine
from weft.errors import InputError
from weft.masking.mask import mask_secrets
from weft.records import Result

EVENTS = ("session-start", "prompt", "stop")
TOP_K = 5
MAX_PROMPT_CHARACTERS = 4000
USER = "user"
"""Key of the entity that facts about the user have as their subject."""
_SUFFIXES = (".jsonl", ".json", ".md", ".txt")


def answer_event(engine: Engine, event: str, given: Mapping[str, Any], *, budget: int) -> str:
    """Return the text that the host adds to the model's context; empty for none. Raises `InputError`."""
    match event:
        case "session-start":
            return _about_user(engine, budget=budget)
        case "prompt":
            return _for_prompt(engine, _text(given, "prompt"), session=str(given.get("session_id", "")), budget=budget)
        case "stop":
            find_transcript(given)
            return ""
    raise InputError(f"unknown event {event[:40]!r}", hint=f"use one of {', '.join(EVENTS)}")


def find_transcript(given: Mapping[str, Any]) -> Path:
    """Return the transcript that a `stop` event names. Raises `InputError`."""
    path = Path(_text(given, "transcript_path")).expanduser()
    if not path.is_absolute() or path.suffix.lower() not in _SUFFIXES or not path.is_file():
        raise InputError(f"no transcript at {str(path)[:300]!r}", hint="pass the absolute path of a session log")
    return path


def _about_user(engine: Engine, *, budget: int) -> str:
    recall = engine.memory.recall(USER)
    own = tuple(item for item in recall.facts if item.fact.subject == USER)
    return engine.memory.context(replace(recall, facts=own), budget=budget).text if own else ""


def _for_prompt(engine: Engine, prompt: str, *, session: str, budget: int) -> str:
    result, recall = engine.query_with_facts(mask_secrets(prompt[:MAX_PROMPT_CHARACTERS]), top_k=TOP_K)
    kept = _without_session(result, session)
    if kept.status != "ok" or not (kept.evidence or recall.facts):
        return ""
    return engine.context(kept, budget=budget, recall=recall).text


def _without_session(result: Result, session: str) -> Result:
    """Return the result without passages of a conversation."""
    own = [piece for piece in result.evidence if session and piece.document.metadata.get("conversation") == session]
    return replace(result, evidence=tuple(piece for piece in result.evidence if piece not in own)) if own else result


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"the event has no text {name!r}", hint="pass the JSON that the host writes to its hooks")
    return value
