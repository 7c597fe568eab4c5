"""Prompts of the extraction, from versioned files, and the JSON schema of the reply."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from typing import Any

from weft.extract.names import predicate_key
from weft.records import Chunk, Document
from weft.text.normalise import squeeze

VERSION = "extract-1"
"""Version of the prompt. A new wording needs a new file, because graphs and cached replies refer to the version."""

MAX_HEADING_CHARACTERS = 300
"""Maximum characters of the title, and of the headings, in a request."""


def _object(**properties: str) -> dict[str, Any]:
    """Return the schema of an object whose fields are all required, as strict servers demand."""
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }


_ITEMS = {
    "entities": _object(name="string", type="string", description="string"),
    "relations": _object(source="string", target="string", type="string", weight="number", description="string"),
    "facts": _object(subject="string", predicate="string", value="string", confidence="number"),
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {name: {"type": "array", "items": item} for name, item in _ITEMS.items()},
    "required": list(_ITEMS),
    "additionalProperties": False,
}


def read_prompt(version: str) -> dict[str, str]:
    """Return the parts of a prompt by their headings."""
    text = (files("weft.models") / "prompts" / f"{version}.md").read_text("utf-8")
    found = re.split(r"^# (\w+)\n", text, flags=re.MULTILINE)[1:]
    return dict(zip(found[::2], (part.strip() for part in found[1::2]), strict=True))


@dataclass(frozen=True)
class Prompt:
    """A prompt with the user's own types filled in."""

    entity_types: Sequence[str] = ()
    relation_types: Sequence[str] = ()
    version: str = VERSION
    _parts: dict[str, str] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._parts.update(read_prompt(self.version))

    @cached_property
    def system(self) -> str:
        """System prompt: the same for every passage."""
        placeholders = {"{entity_types}": self.entity_types, "{relation_types}": self.relation_types}
        lines = [
            line.replace(placeholder, ", ".join(types))
            for line in self._parts["types"].splitlines()
            for placeholder, types in placeholders.items()
            if placeholder in line and types
        ]
        return "\n\n".join([self._parts["system"], *(["\n".join(lines)] if lines else [])])

    @cached_property
    def fingerprint(self) -> str:
        """The version, with a hash of the user's types if there are any; unique for each system prompt."""
        types = "\n".join([*map(predicate_key, self.entity_types), "", *map(predicate_key, self.relation_types)])
        own = f"-{hashlib.sha256(types.encode()).hexdigest()[:8]}" if self.entity_types or self.relation_types else ""
        return f"{self.version}{own}"

    def passage(self, document: Document, chunk: Chunk) -> str:
        """
        Return the user message for a chunk.

        The text is enclosed in markers with its hash, so no text can contain its own end marker.
        """
        head = {
            "{title}": squeeze(document.title)[:MAX_HEADING_CHARACTERS],
            "{headings}": squeeze(" > ".join(chunk.heading))[:MAX_HEADING_CHARACTERS],
        }
        mark = hashlib.sha256("\n".join([*head.values(), chunk.text]).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        marker = f"=====passage {mark}====="
        # The marker is filled in first, because a title could contain its placeholder.
        before, _, after = self._parts["passage"].replace("{marker}", marker).partition("{text}")
        for placeholder, value in head.items():
            before = before.replace(placeholder, value)
        return f"{before}{chunk.text}{after}"

    def repair(self, passage: str, *, reason: str) -> str:
        """Return the user message after a reply that could not be parsed."""
        return f"{passage}\n\n{self._parts['repair'].replace('{reason}', reason)}"
