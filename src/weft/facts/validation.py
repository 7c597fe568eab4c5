"""Validation of facts: refuses empty, long, boilerplate, secret and repeated statements."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from weft.masking.mask import find_secrets, mask_secrets
from weft.masking.values import is_placeholder
from weft.records import Fact, FactEntity

MAX_VALUE_CHARACTERS = 2000
"""A fact is a statement, not a document."""

SECRET = "it looks like a secret"

_BOILERPLATE = frozenset(
    """
    ok|okay|yes|no idea|thanks|thank you|you're welcome|hello|hi|n/a|na|none|null|nil|undefined|unknown|tbd|todo|test|
    ...|-|?|i don't know|i do not know|not sure|lorem ipsum|as an ai language model
    """.replace("\n", "")
    .replace("  ", "")
    .split("|")
)
_OPENINGS = ("as an ai language model", "as an ai assistant", "lorem ipsum", "### 👤", "### 💡", "i'm sorry, but i")
_WORD = re.compile(r"\w+(?:\+\+?|#)?")
_LETTER = re.compile("[\\w\U00020000-\U0003ffff]")
"""Planes 2 and 3 contain only ideographs, some newer than the Unicode version of Python."""
_PRIVATE_KEY = " PRIVATE KEY-----"
_SECRET_PREDICATE = re.compile(
    r"(?:^|_)(?:password|passwd|passphrase|passcode|passwort|kennwort|mot_de_passe|contraseña|пароль|密码|密碼|口令|pin|api_?key|access_?key|secret(?:_?key)?|private_?key|"
    r"(?:access|auth|bearer|refresh|api)_?token|token|credit_?card|card_?number|cvv)$",
    re.IGNORECASE,
)


def refusal(fact: Fact, *, recalled: Iterable[Fact] = (), allow_secrets: bool = False) -> str:
    """Return the reason to refuse a fact; empty if it is valid. `recalled` are recently recalled facts."""
    if not all(map(_LETTER.search, (fact.subject, fact.predicate, fact.value))):
        return "it is empty: subject, predicate and value must have letters or digits"
    if len(fact.value) > MAX_VALUE_CHARACTERS:
        return (
            f"the value has {len(fact.value):,} characters, more than {MAX_VALUE_CHARACTERS:,}: index it as a document"
        )
    if is_boilerplate(fact.value):
        return "it is boilerplate: the value says nothing"
    if not allow_secrets and (kind := find_secret(fact)):
        return f"{SECRET} ({kind})"
    if fact.source == "conversation" and not fact.supersedes and any(is_echo(fact, known) for known in recalled):
        return "it repeats a fact that was just recalled"
    return ""


def is_boilerplate(text: str) -> bool:
    """Return True if a text is a phrase without content, or part of Weft's own output."""
    plain = " ".join(text.casefold().replace("’", "'").split())
    return plain.rstrip(".!") in _BOILERPLATE or plain in _BOILERPLATE or plain.startswith(_OPENINGS)


def find_secret(fact: Fact) -> str:
    """Return the kind of secret in a fact, or an empty text. The predicate may announce it."""
    predicate = fact.predicate.replace("_", " ")
    sentences = (f"{fact.subject_name} {predicate} {fact.value}", f"{fact.predicate}: {fact.value}", fact.value)
    for text in (*sentences, fact.note, fact.source, fact.spelling):
        if found := find_secrets(text):
            return found[0].kind
    if _PRIVATE_KEY in fact.value:
        return "a private key"
    is_named = not fact.object and _SECRET_PREDICATE.search(fact.predicate)
    return "a password or key" if is_named and not is_placeholder(fact.value) else ""


def without_secrets(entities: Iterable[FactEntity]) -> list[FactEntity]:
    """Return entities with the secrets of their descriptions masked; one whose name contains a secret is left out."""
    return [
        replace(entity, description=mask_secrets(entity.description))
        for entity in entities
        if not find_secrets(entity.name)
    ]


def is_echo(fact: Fact, known: Fact) -> bool:
    """Return True if a known fact contains all words of a fact."""
    return _words(fact) <= _words(known)


def _words(fact: Fact) -> set[str]:
    text = f"{fact.subject} {fact.subject_name} {fact.predicate.replace('_', ' ')} {fact.value}"
    return set(_WORD.findall(text.casefold()))
