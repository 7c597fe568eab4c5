"""
Cache key of a question: its words in order, without the parts that rewordings change freely.

| rewording | same key |
| --- | --- |
| case, spacing, punctuation, accents | `Where do I live?`, `where do I live` |
| polite openers | `Could you tell me where I live, please?` |
| articles, `do`, `does`, `that`, plural forms | `Where I live` |
| contractions | `What's JACQ?`, `What is JACQ` |
| a clause moved to the front | `On Monday, where am I?`, `Where am I on Monday?` |

Every other word must be the same and in the same order. So a number, a name, a negation, a tense or swapped roles
(`Does Ada report to Bruno?`, `Does Bruno report to Ada?`) give another key.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from weft.extract.names import singular
from weft.text.normalise import fold, squeeze

FILLERS = frozenset({"a", "an", "the", "please", "do", "does", "that"})
"""Words that never tell two questions apart. A capital `A` inside a question is a name, as in `vitamin A`."""

OPENERS = {("can", "you"), ("could", "you"), ("would", "you"), ("you", "know"), ("tell", "me"), ("remind", "me")}
"""Pairs of words that introduce a question; they are left out."""

SYNONYMS = {"which": "what"}

CONTRACTIONS = (("won't", "will not"), ("can't", "can not"), ("n't", " not"), ("'m", " am"), ("'re", " are"))
"""Endings of words and their full forms; `cannot` and `'s` are handled apart."""

IS_BEFORE = frozenset({"what", "who", "where", "when", "why", "how", "which", "it", "that", "there", "here"})
"""Words after which `'s` stands for `is`; after others it marks the owner and is left out."""

MAX_KEY_CHARACTERS = 1000
"""A longer text is its own key, except for case and spacing. All rotations of the words are compared."""

_SPACES = str.maketrans(dict.fromkeys("，。？！；：、「」『』《》（）", " ") | {"’": "'", "‘": "'"})
_EDGES = ".,;:!?¿¡\"“”'()[]…"


def cache_key(text: str) -> str:
    """Return the key of a question. Questions with the same key have the same answer."""
    plain = fold(squeeze(text))
    if len(text) > MAX_KEY_CHARACTERS:
        return plain
    tokens = text.translate(_SPACES).split()
    words = [word for at, token in enumerate(tokens) for word in _read_token(token, is_first=at == 0)]
    pairs = {at for at, pair in enumerate(pairwise(words)) if pair in OPENERS}
    kept = [word for at, word in enumerate(words) if at not in pairs and at - 1 not in pairs]
    return " ".join(_smallest_rotation(kept)) or plain


def _read_token(token: str, *, is_first: bool) -> list[str]:
    """Return the normalised words of a token: `don't` gives `not`, `services` gives `service`."""
    written = token.strip(_EDGES)
    word = fold(written)
    stem, _, ending = word.rpartition("'")
    if ending == "s" and stem:
        word = f"{stem} is" if stem in IS_BEFORE else stem
    elif word == "cannot":
        word = "can not"
    else:
        word = next((word.removesuffix(end) + full for end, full in CONTRACTIONS if word.endswith(end)), word)
    parts = word.replace("-", " ").split() if word[:1].isalpha() else [word]
    is_name = written == "A" and not is_first
    return [SYNONYMS.get(part, singular(part)) for part in parts if part and (is_name or part not in FILLERS)]


def _smallest_rotation(words: Sequence[str]) -> list[str]:
    """Return the rotation of a list that sorts first, so that a clause may stand at either end."""
    return min(([*words[at:], *words[:at]] for at in range(len(words))), default=[])
