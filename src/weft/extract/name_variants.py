"""
Variants of names: persons by initials or surname, places without their region.

| name | text | variants |
| --- | --- | --- |
| `Ada Mary Byron` | uses `Byron` alone | `A. M. Byron`, `Ada M. Byron`, `A. Byron`, `Ada Byron`, `Byron` |
| `Henry Ford II` | | none: `II` is not a surname |
| `Springfield, Illinois` | begins with `Springfield is` | `Springfield` |
| `Earth, Wind & Fire` | begins with the whole name | none |
"""

from __future__ import annotations

import re

from weft.extract.entity_types import AMBIGUOUS_PERSONS
from weft.extract.lexicon import word_set
from weft.extract.names import name_key, singular
from weft.text.normalise import fold

_PERSONS = word_set(
    "person human actor actress admiral aristocrat architect astronaut athlete author baron bishop boxer cardinal "
    "chancellor coach commander composer conductor count countess cricketer dancer diplomat director doctor drummer "
    "duchess duke earl editor emperor empress engineer explorer farmer filmmaker founder general governor inventor "
    "judge king knight lawyer leader mathematician mayor merchant minister model monarch monk nobleman noblewoman "
    "novelist nun nurse officer painter peer performer philosopher pilot playwright poet politician pope president "
    "priest prince princess producer professor queen rabbi rapper rower ruler sailor saint scholar sculptor senator "
    "singer skier soldier sultan surgeon swimmer teacher translator warlord wrestler writer"
)
_PERSON_ENDINGS = ("ist", "ian", "woman", "sman", "maker", "player", "writer", "baller", "grapher", "keeper", "wright")
_NOT_A_PERSON = word_set("list christian guardian")
_NAME = re.compile(r"[^\W\d_][^\W\d_'’.-]*(?:[-'’][^\W\d_]+)*\.?")
_NUMERAL = re.compile(r"[IVX]+|[JS]r\.?")
MIN_SURNAME_LETTERS = 4
"""Shorter surnames do not become variants: they are words of many languages."""


def is_person(type: str) -> bool:
    """Return True if a type is one of persons: `poet`, `footballer`, `historian`."""
    if type in AMBIGUOUS_PERSONS:
        return False
    return type in _PERSONS or (type.endswith(_PERSON_ENDINGS) and type not in _NOT_A_PERSON)


def name_variants(name: str, *, text: str) -> list[tuple[str, str]]:
    """
    Return the variants of a person's name, each with a reason.

    `text` is the text about the person. The surname is a variant only if it occurs there without the first name. With
    an empty text, as for authors of a paper, the variants have initials or no middle name.
    """
    parts = name.split()
    if not 2 <= len(parts) <= 5 or not all(_NAME.fullmatch(part) and part[0].isupper() for part in parts):
        return []
    first_names, surname = parts[:-1], parts[-1]
    if _NUMERAL.fullmatch(surname):  # `Henry Ford II` is not Henry II
        return []
    initials = " ".join(f"{part[0]}." for part in first_names)
    found = [(f"{initials} {surname}", "initials of a full name")]
    if len(first_names) > 1:
        middle = " ".join(f"{part[0]}." for part in first_names[1:])
        found += [
            (f"{first_names[0]} {middle} {surname}", "initials of a full name"),
            (f"{first_names[0][0]}. {surname}", "initials of a full name"),
            (f"{first_names[0]} {surname}", "a full name without its middle"),
        ]
    is_alone = len(surname) >= MIN_SURNAME_LETTERS and _stands_alone(surname, before=first_names[-1], text=text)
    if is_alone:
        found.append((surname, "surname behind a full name"))
    if _is_plural(surname) or (text and not is_alone):  # the key of `A. Franklin` is the surname alone
        found = [(variant, reason) for variant, reason in found if " " in name_key(variant)]
    return [(variant, reason) for variant, reason in dict(found).items() if variant != name]


def place_head(name: str, *, text: str) -> str:
    """
    Return a place name without its region: `Springfield` of `Springfield, Illinois`; else an empty text.

    The text must begin with the first part and not with the whole name. So `Earth, Wind & Fire` stays whole.
    """
    head, comma, rest = name.partition(", ")
    parts = rest.replace(",", "").split()
    if (
        not comma
        or len(head) < MIN_SURNAME_LETTERS
        or not all(part[0].isupper() for part in (*head.split()[-1:], *parts))
    ):
        return ""
    opening = text.lstrip()
    follows = opening[len(head) : len(head) + 1]
    return head if opening.startswith(head) and not opening.startswith(name) and not follows.isalnum() else ""


def _is_plural(surname: str) -> bool:
    """Return True if a surname has the form of a plural. As keys, `Roberts` and `A. Roberts` equal `Robert`."""
    folded = fold(surname)
    return singular(folded) != folded


def _stands_alone(surname: str, *, before: str, text: str) -> bool:
    """Return True if the surname occurs without the name `before` in front of it."""
    return any(
        not text[: match.start()].rstrip().endswith((before, ".")) or _opens_sentence(text, match.start())
        for match in re.finditer(rf"\b{re.escape(surname)}\b", text)
    )


def _opens_sentence(text: str, at: int) -> bool:
    before = text[:at].rstrip()
    return bool(re.search(r"[a-z)]\.$", before))
