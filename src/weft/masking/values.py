"""
Shape of a value: a placeholder, a word, a number, or characters without a pattern.

| value | shape |
| --- | --- |
| `***`, `<password>`, `${TOKEN}`, `changeme`, `null` | placeholder |
| `swordfish`, `correct-horse-battery`, `PasswordInput`, `db.password` | word |
| `123456` | number |
| `tulip42`, `Sommer2024!` | mixed |
| `kQzPwLmTrBnX`, `9f86d081884c7d65`, a UUID | random |

Words are told from random letters by the frequency of their pairs of letters.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Literal, TypeAlias

Shape: TypeAlias = Literal["placeholder", "word", "number", "mixed", "random"]

MIN_RANDOM_CHARACTERS = 12
"""Shorter values are at most `mixed`: few characters say little about their distribution."""
MAX_JUDGED_CHARACTERS = 96
"""The shape of a longer value is that of its beginning."""
MIN_PAIR_SCORE = 0.15
"""Mean score of the pairs of letters of words; 0.7 in words, -0.8 in random letters."""
MAX_WORD_SHARE = 0.43
"""Share of the letters of a random word that form words by chance; paths and names of models have more."""
RANDOM_CHANGES = 0.42
"""Share of changes of kind in a random word; 0.65 on average in base64, at most 0.4 in identifiers and paths."""
MAX_SERIAL_DIGITS = 2
"""A word with this many digits at its end is still a word: `password1`, `utf8`, `db02`."""

_COMMON = frozenset(
    """
    in er re te es ti at on en ed st le ar co al de nt or se ra ng li an ri et it tr me ta io is di ec ne ma ro ic la ns
    nd ce pe ac lo ge ca as si ct ve pa el pr un na to ch ea fi rs il nc he ll om ss am ts th ex ol ou po ad mp rt ap pl
    no im ur em ha od mi su ab os op ut id bl ni ie oc ig sp ck mo sc ul da so sh ot ly ke ia ep ef us cl ho ty ir ag fo
    va ai pt gr rm tt hi do be ci cr ba ip ee sa ow iv rc ub ls if um pi iz vi rd ev tu bi
    """.split()
)
"""The 150 most frequent pairs of letters in words and identifiers; 80 % of all pairs."""
_USUAL = frozenset(
    """
    cu ff rr lt qu ze ds up oo ib eg bo fe pp yp gi tc nf ue ry au lu nv ph gs wa sl ob ld og wi tl fr ru bu rg du ov fa
    xt ua ei rn ay fl ms cc bs uc mu nu ew ps gn cs ui br dd gh nn we dr fu mb py rl pu ga av oi xp mm ki gu ht sy tp go
    ey nk of ok dl eq rp ks wo oa gl rk ak ys ft nl eb ax rv wr sm tm xi tf eo ix xe td ws ka aw sf sk lp df cm vo hr dg
    rf ml uf yt ug dt fs np cd ud lc wn cy yn af wh bc gg rb by ym sn pc yl db sw md eu xc tw ja ye yo jo ju je my za zi
    zo kn kl ko ku kr ik uk ek ox gt lf lm nh nw nm rw rh tb hu hy
    """.split()
)
"""Less frequent pairs of words. All others make up 4 % of the pairs of words, and half of those of random letters."""

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_WORDS = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
_DIGIT_INSIDE = re.compile(r"[0-9][A-Za-z]")
_SEPARATED = re.compile(r"[_\-./:@ ]")
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_PLACEHOLDER = re.compile(
    r"[xX•*.…_-]{3,100}|…|<[^<>\n]{0,100}>|\[[^\[\]\n]{0,100}\]|\{\{?[^{}\n]{0,100}\}?\}|%\([\w.]{1,60}\)?s?|%[a-zA-Z%]|%[A-Z_]{1,60}%"
    r"|\$[A-Za-z_]\w{0,60}|\$[({].{0,200}|\([\w\s.,:/'\"-]{0,200}\)?|&[\w#]{1,20};|@[a-z]{2,20}/[\w.]{1,60}"
)
_FILLERS = frozenset(
    """
    none null nil true false yes no on off undefined unknown required optional empty missing invalid hidden redacted
    changed change changeme change_me change-me replaceme replace_me replace-me replace dummy example sample placeholder
    todo tbd fixme foo bar baz foobar test value string str text bytes byte int integer number bool boolean object any
    array list dict unicode default enabled disabled set unset new old auto here above below password passwd passwort
    kennwort pwd pass passphrase passcode secret secrets token tokens key keys apikey api_key api-key auth authorization
    credentials credential username user login email secretstr my_password mypassword your_password yourpassword
    yield await new self this lambda
    type field column varchar char textarea input header cookie session bearer basic digest csrf csrftoken
    csrf_token csrfmiddlewaretoken xsrf-token jwt oauth oauth2 plain plaintext random generated stdin prompt file env
    """.split()
)
"""Values that stand for a secret or a type, in lower case."""
_FILLER_STARTS = (
    "your",
    "my-",
    "my_",
    "example",
    "insert",
    "enter",
    "put-",
    "placeholder",
    "replace",
    "changeme",
    "some",
)


def shape_of(value: str) -> Shape:
    """Return the shape of a value."""
    value = value[:MAX_JUDGED_CHARACTERS]
    if is_placeholder(value):
        return "placeholder"
    if value.isdigit():
        return "number"
    parts = _PARTS.findall(value)
    if _are_words(value, parts):
        return "word"
    return "random" if len(value) >= MIN_RANDOM_CHARACTERS and _is_irregular(value, parts) else "mixed"


def is_placeholder(value: str) -> bool:
    """Return True if a value stands for a secret: `***`, `<password>`, `${TOKEN}`, `changeme`, `[a password]`."""
    folded = value.lower()
    if folded in _FILLERS or "***" in value or "EXAMPLE" in value or _PLACEHOLDER.fullmatch(value):
        return True
    letters = [at for at, character in enumerate(value) if character.isalnum()]
    if not letters:
        return "..." in value
    inner = folded[letters[0] : letters[-1] + 1]
    if inner in _FILLERS and not inner.isdigit():
        return True
    return folded.endswith("...") or (folded.startswith(_FILLER_STARTS) and not any(map(str.isdigit, value)))


def is_hash(value: str) -> bool:
    """Return True for hexadecimal digits of one case, and for a UUID: hashes and ids look like this."""
    return bool(_HEX.fullmatch(value) or _UUID.fullmatch(value))


def is_wordlike(*parts: str) -> bool:
    """Return True if letters form words, by their pairs of letters. Up to three letters are a word."""
    folded = [part.lower() for part in parts]
    pairs = [part[at : at + 2] for part in folded for at in range(len(part) - 1)]
    score = sum(1 if pair in _COMMON else 0 if pair in _USUAL else -2 for pair in pairs)
    return score > MIN_PAIR_SCORE * len(pairs) or sum(map(len, parts)) <= 3


def has_words(word: str, *, share: float = MAX_WORD_SHARE) -> bool:
    """Return True if words make up at least this share of a text; the default is more than they do by chance."""
    words = [part for part in _WORDS.findall(word) if is_wordlike(part)]
    return sum(map(len, words)) >= share * len(word)


def is_random_word(word: str) -> bool:
    """Return True if a word has both cases, a digit and frequent changes, and hardly any words inside."""
    upper, lower, digits = (sum(map(kind, word)) for kind in (str.isupper, str.islower, str.isdigit))
    is_mixed = min(upper, lower) >= 3 and digits and has_many_changes(word, share=RANDOM_CHANGES)
    return bool(is_mixed) and "EXAMPLE" not in word and not has_words(word)


def has_many_changes(value: str, *, share: float) -> bool:
    """Return True if at least a `share` of neighbouring characters differ in kind: lower, upper, digit, other."""
    kinds = [(character.islower(), character.isupper(), character.isdigit()) for character in value]
    return sum(first != second for first, second in pairwise(kinds)) >= share * (len(kinds) - 1)


def _are_words(value: str, parts: list[str]) -> bool:
    """Return True if a value is words in any case with separators: `read_only`, `PasswordInput`, `utf8`."""
    letters = [part for part in parts if not part.isdigit()]
    if not letters or sum(map(len, parts)) + len(_SEPARATED.findall(value)) < len(value):
        return False  # other punctuation, or letters of other scripts
    digits = "".join(part for part in parts if part.isdigit())
    together = "".join(letters)
    is_uneven = len(letters) > 2 and len(together) < (3 if value.islower() or value.isupper() else 4) * len(letters)
    if len(digits) > MAX_SERIAL_DIGITS or is_uneven or _DIGIT_INSIDE.search(value):
        return False
    return is_wordlike(*letters) and (len(letters) == 1 or is_wordlike(together))


def _is_irregular(value: str, parts: list[str]) -> bool:
    """Return True if a value mixes kinds of characters too often, or has letters that form no words."""
    if has_many_changes(value, share=0.15) and any(map(str.isdigit, value)) and any(map(str.isalpha, value)):
        return True
    return not all(map(is_wordlike, parts)) or len(parts) * 3 > len(value)
