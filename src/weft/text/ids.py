"""Content-derived ids of documents, chunks, entities and facts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b

from weft.text.normalise import fold, squeeze

_OWN_LENGTH = 13
"""Characters of the id of a chunk before those of its document."""

FACT_ENTITY_PREFIX = "e:"
"""Prefix of the ids of entities known only from facts. In other entity ids a hexadecimal digit follows the `e`."""


def digest(parts: Iterable[str], *, size: int = 16) -> str:
    """Return a BLAKE2b hash of `parts` in hexadecimal. `("ab", "c")` and `("a", "bc")` differ."""
    state = blake2b(digest_size=size)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


def document_id(namespace: str, source: str) -> str:
    """Return the id of a document: `d` and 24 hexadecimal digits."""
    return "d" + digest((namespace, source), size=12)


def chunk_id(document: str, text: str, occurrence: int) -> str:
    """
    Return the id of a chunk: `c`, 12 hexadecimal digits of its own, and 12 of its document.

    `text` is the indexed text, with title and headings; `occurrence` counts equal chunks of a document from 0. A chunk
    that moves inside its document keeps its id and therefore its vector.
    """
    return f"c{digest((document, text, str(occurrence)), size=6)}{_document_part(document)}"


def owner(chunk: str) -> str:
    """
    Return what the id of a chunk shares with those of the other chunks of its document: hits are grouped unread.

    In one of 500 namespaces with a million documents, two documents share it.
    """
    return chunk[_OWN_LENGTH:]


@lru_cache(maxsize=1024)
def _document_part(document: str) -> str:
    return digest((document,), size=6)


@lru_cache(maxsize=65536)
def entity_id(namespace: str, key: str) -> str:
    """Return the id of an entity: `e` and 24 hexadecimal digits."""
    return "e" + digest((namespace, key), size=12)


def fact_entity_id(key: str) -> str:
    """
    Return the id of an entity known only from facts: `e:` and its key.

    Such an entity can only be looked up by its key, which `fact_entity_key` returns.
    """
    return FACT_ENTITY_PREFIX + key


def fact_entity_key(id: str) -> str:
    """Return the key in an id made by `fact_entity_id`; empty for other ids."""
    return id.removeprefix(FACT_ENTITY_PREFIX) if id.startswith(FACT_ENTITY_PREFIX) else ""


def fact_content(subject: str, predicate: str, *, object: str, value: str) -> str:
    """Return the content hash of a statement. Case and spaces of a literal value are folded first."""
    return digest((subject, predicate, object, "" if object else squeeze(fold(value))), size=12)


def fact_id(namespace: str, content: str, occurrence: int) -> str:
    """Return the id of a fact: `f` and 24 hexadecimal digits. `occurrence` counts equal statements from 0."""
    return "f" + digest((namespace, content, str(occurrence)), size=12)
