"""Ids that derive from what they name, never from the order things came in."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from weft.text.normalise import fold, squeeze

FACT_ENTITY = "e:"
"""What ids of entities that facts alone know begin with; those of documents go on in digits."""


def digest(parts: Iterable[str], *, size: int = 16) -> str:
    """Return a hash of `parts` as hexadecimal text; `("ab", "c")` and `("a", "bc")` differ."""
    state = blake2b(digest_size=size)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


def document_id(namespace: str, source: str) -> str:
    """Return the id of the document with this source: `d` and 24 hexadecimal digits."""
    return "d" + digest((namespace, source), size=12)


def chunk_id(document: str, text: str, occurrence: int) -> str:
    """
    Return the id of a chunk: `c` and 24 hexadecimal digits.

    `text` is all that is indexed of it, title and headings included; `occurrence` counts equal ones from 0.
    A chunk whose text did not change keeps its id, and with it its vector, wherever it moves to.
    """
    return "c" + digest((document, text, str(occurrence)), size=12)


def entity_id(namespace: str, key: str) -> str:
    """Return the id of the entity with this key: `e` and 24 hexadecimal digits."""
    return "e" + digest((namespace, key), size=12)


def fact_entity_id(key: str) -> str:
    """
    Return the id of an entity that facts alone know: `e:` and its key, which `fact_entity_key` gives back.

    Documents know nothing of it, so nothing but the key is there to find it by.
    """
    return FACT_ENTITY + key


def fact_entity_key(id: str) -> str:
    """Return the key in the id of an entity that facts alone know; empty for other ids."""
    return id.removeprefix(FACT_ENTITY) if id.startswith(FACT_ENTITY) else ""


def fact_content(subject: str, predicate: str, *, object: str, value: str) -> str:
    """Return what makes two facts the same statement: keys, and a literal however it is spelled and spaced."""
    return digest((subject, predicate, object, "" if object else squeeze(fold(value))), size=12)


def fact_id(namespace: str, content: str, occurrence: int) -> str:
    """Return the id of a fact: `f` and 24 hexadecimal digits. `occurrence` counts equal statements from 0."""
    return "f" + digest((namespace, content, str(occurrence)), size=12)
