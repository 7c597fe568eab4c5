"""How else a name may be written: a person's with initials or by the surname, a place's without what it lies in."""

from __future__ import annotations

import re

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
_NO_PERSON = word_set("list christian guardian")
_NAME = re.compile(r"[^\W\d_][^\W\d_'’.-]*(?:[-'’][^\W\d_]+)*\.?")
_NUMERAL = re.compile(r"[IVX]+|[JS]r\.?")
MIN_SURNAME = 4
"""Letters of a surname that may stand alone; shorter ones are words of many languages."""


def is_person(type: str) -> bool:
    """Tell whether a type is one of persons: `poet`, `footballer`, `historian`."""
    return type in _PERSONS or (type.endswith(_PERSON_ENDINGS) and type not in _NO_PERSON)


def name_variants(name: str, *, text: str) -> list[tuple[str, str]]:
    """
    Return other ways to write a person's name, each with the reason it is one.

    `text` is what is written about the person: the surname alone counts only if it is used there behind the full name.
    Without one, as for the authors of a paper, initials count whatever they are.
    """
    parts = name.split()
    if not 2 <= len(parts) <= 5 or not all(_NAME.fullmatch(part) and part[0].isupper() for part in parts):
        return []
    given, surname = parts[:-1], parts[-1]
    if _NUMERAL.fullmatch(surname):  # `Henry Ford II` is not Henry II
        return []
    initials = " ".join(f"{part[0]}." for part in given)
    found = [(f"{initials} {surname}", "initials of a full name")]
    if len(given) > 1:
        middle = " ".join(f"{part[0]}." for part in given[1:])
        found += [
            (f"{given[0]} {middle} {surname}", "initials of a full name"),
            (f"{given[0][0]}. {surname}", "initials of a full name"),
            (f"{given[0]} {surname}", "a full name without its middle"),
        ]
    is_alone = len(surname) >= MIN_SURNAME and _stands_alone(surname, given=given[-1], text=text)
    if is_alone:
        found.append((surname, "surname behind a full name"))
    if _is_plural(surname) or (text and not is_alone):  # as a key, `A. Franklin` is the surname alone
        found = [(variant, reason) for variant, reason in found if " " in name_key(variant)]
    return [(variant, reason) for variant, reason in dict(found).items() if variant != name]


def place_head(name: str, *, text: str) -> str:
    """
    Return the name of a place without what it lies in: `Springfield` of `Springfield, Illinois`; else nothing.

    The text about it must begin with that part and not with the whole, as it does where the rest only tells places
    of one name apart: `Earth, Wind & Fire` is never called by its first word.
    """
    head, comma, rest = name.partition(", ")
    parts = rest.replace(",", "").split()
    if not comma or len(head) < MIN_SURNAME or not all(part[0].isupper() for part in (*head.split()[-1:], *parts)):
        return ""
    opening = text.lstrip()
    follows = opening[len(head) : len(head) + 1]
    return head if opening.startswith(head) and not opening.startswith(name) and not follows.isalnum() else ""


def _is_plural(surname: str) -> bool:
    """Tell whether a surname reads as a plural: as keys, `Roberts` and `A. Roberts` are any Robert."""
    folded = fold(surname)
    return singular(folded) != folded


def _stands_alone(surname: str, *, given: str, text: str) -> bool:
    """Tell whether the surname is used without the name before it."""
    return any(
        not text[: match.start()].rstrip().endswith((given, ".")) or _opens_sentence(text, match.start())
        for match in re.finditer(rf"\b{re.escape(surname)}\b", text)
    )


def _opens_sentence(text: str, at: int) -> bool:
    before = text[:at].rstrip()
    return bool(re.search(r"[a-z)]\.$", before))
