"""
Passwords, PINs and keys that a sentence states.

| sentence | secret |
| --- | --- |
| `the password for the guest network is "Blau3rHimmel"`, `密码是Sommer2024`, `Passwort lautet Sommer2024` | the word |
| `my PIN is 4821` | the digits |
| `seed phrase: basket velvet …` | 12 to 24 words |
| `our API key is 9f86d081884c7d65` | the key |
| `the password is stored in the vault`, `the password is 12 characters long` | none |
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from weft.masking.names import NameKind
from weft.masking.spans import SecretSpan, positions
from weft.masking.values import is_hash, is_placeholder, shape_of

_FOR_WHAT = r"(?:\s{1,4}(?:for|of|to|on|für|von|zu[mr]?|de|du|pour|para)(?:\s{1,4}\S{1,40}){1,4}?)?"
"""Purpose of a password, between the word `password` and its value."""
_IS = (
    r"\s{0,4}(?:[:：](?!//)|是|为|為|は|\b(?:is|was|equals|ist|war|lautet|est|es|è|é)\b:?)\s{0,4}"
    r"(?:(?:now|still|currently|set to|jetzt|noch)\s{1,4})?[\"'`«„“‘「]?"
)
_END = (
    r"(?![A-Za-z0-9_-])"
    r"(?!\s{1,4}(?:\w{1,40}\s{1,4})?(?:characters|digits|bits?|long|hash(?:ed)?|encrypted|times|years|days)\b)"
)
_ALGORITHM = r"(?!(?:2fa|mfa|sha|aes|md5|argon2|pbkdf2|base64|utf)(?![a-z]))"
_PASSWORD = re.compile(
    rf"{_FOR_WHAT}{_IS}{_ALGORITHM}"
    rf"(?P<value>(?=[!-~]{{0,200}}\d|[!-~]{{0,200}}\w[@#$%^&*!+=?~]{{1,8}}\w|[a-z]{{10}})[!-~]{{4,200}}){_END}",
    re.IGNORECASE,
)
"""A password contains a digit, punctuation between letters, or random letters. The next word of a sentence does not."""
_KEY = re.compile(rf"{_FOR_WHAT}{_IS}(?P<value>[A-Za-z0-9+/_.~=-]{{12,400}})", re.IGNORECASE)
_PHRASE = re.compile(
    rf"{_IS}(?P<value>(?:[a-z]{{3,8}}[ ,]{{1,2}}){{11,23}}[a-z]{{3,8}})(?![ ,]{{1,2}}[a-z])|[=:][ \t]?[\"']"
    r"(?P<quoted>(?:[a-z]{3,8} ){11,23}[a-z]{3,8})[\"']"
)
"""Words of a wallet."""
_SENTENCE = re.compile(r"\b(?:the|and|you|your|for|with|that|this|are|from|have|not|they|which)\b")
_PIN_OWNER = re.compile(r"(?:my|our|his|her|their|your|card|bank|sim|phone|door|meine|mon|mi)\s{1,4}\Z", re.IGNORECASE)
_PIN = re.compile(rf"(?:[ -]?(?:code|number|nummer))?{_FOR_WHAT}{_IS}(?P<value>\d{{4,8}}){_END}", re.IGNORECASE)


def find_stated(text: str, stop: int, *, kind: NameKind) -> SecretSpan | None:
    """Return the secret that a sentence states after a name, which ends at `stop`."""
    match = (_PASSWORD if kind == "password" else _KEY).match(text, stop)
    if match is None:
        return None
    value = match["value"].rstrip(".,;:)\"'`»”’」")
    if (
        is_placeholder(value)
        or (kind != "password" and shape_of(value) != "random")
        or (kind == "key" and is_hash(value))
    ):
        return None
    if not any(map(str.isdigit, value)) and (kind != "password" or (value.isalpha() and shape_of(value) != "random")):
        return None
    start = match.start("value")
    return SecretSpan(start, start + len(value), "a password" if kind == "password" else "a key")


def find_phrases(text: str, folded: str) -> Iterator[SecretSpan]:
    """Yield the words of wallets: `seed phrase: basket velvet …`."""
    for word in ("seed phrase", "recovery phrase", "secret phrase", "backup phrase", "mnemonic"):
        for at in positions(folded, word):
            match = _PHRASE.match(text, at + len(word))
            group = "quoted" if match and match["quoted"] else "value"
            if match and not _SENTENCE.search(match[group]):
                yield SecretSpan(*match.span(group), "a password")


def find_pins(text: str, folded: str) -> Iterator[SecretSpan]:
    """Yield the PINs that sentences state; `folded` is the text in lower case, of the same length."""
    for word in ("pin", "geheimzahl"):
        for at in positions(folded, word):
            is_named = word != "pin" or text.startswith("PIN", at) or _PIN_OWNER.search(text[max(0, at - 12) : at])
            if is_named and not text[at - 1 : at].isalnum() and (match := _PIN.match(text, at + len(word))):
                yield SecretSpan(*match.span("value"), "a password")
