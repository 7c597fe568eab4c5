"""Validation of facts: refuses empty, long, boilerplate, secret and repeated statements."""

from __future__ import annotations

import re
from collections.abc import Iterable

from weft.records import Fact

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
_PLACEHOLDER = re.compile(r"x{3,}|redacted|hidden|changed|none", re.IGNORECASE)
_SECRET_PREDICATE = re.compile(
    r"(?:^|_)(?:password|passwd|passphrase|passcode|passwort|kennwort|mot_de_passe|contraseña|пароль|密码|密碼|口令|pin|api_?key|access_?key|secret(?:_?key)?|private_?key|"
    r"(?:access|auth|bearer|refresh|api)_?token|token|credit_?card|card_?number|cvv)$",
    re.IGNORECASE,
)
_SECRETS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a private key", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY")),
    ("an API key", re.compile(r"\b(?:sk|pk|rk)[-_](?:[A-Za-z]+[-_])*[A-Za-z0-9]{16,}")),
    ("an API key", re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}|\bSG\.[\w-]{16,}\.[\w-]{16,}")),
    (
        "a token",
        re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,})"),
    ),
    ("a token", re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*")),
    ("a token", re.compile(r"\b[Bb]earer\s+[\w.~+/-]{16,}")),
    ("a password", re.compile(r"\b(?:password|passwd|pwd|api[_-]?key|secret)\s*[:=]\s*\S{4,}", re.IGNORECASE)),
    ("a password", re.compile(r"\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@]+:[^\s/@]+@")),
)
_FOR_WHAT = r"(?:\s+(?:for|of|to|on|für|von|zu[mr]?|de|du|pour|para)(?:\s+\S+){1,4}?)?"
"""Purpose of a password, between the word `password` and its value."""
_IS = (
    r"\s*(?:[:=：]|是|为|為|は|\b(?:is|was|equals|ist|war|lautet|est|es|è|é)\b)\s*"
    r"(?:(?:now|still|currently|set to|jetzt|noch)\s+)?[\"'`«„“‘「]?"
)
_END = r"(?![A-Za-z0-9_-])(?!\s+(?:\w+\s+)?(?:characters|digits|bits?|long|hash(?:ed)?|encrypted|times|years|days)\b)"
_SAID_PASSWORD = re.compile(
    r"(?:\b(?:password|passwd|pwd|passphrase|passcode|passwort|kennwort|mot de passe|contraseña|wachtwoord|пароль)"
    rf"|密码|密碼|口令|パスワード){_FOR_WHAT}{_IS}"
    r"(?!(?:2fa|mfa|sha|aes|md5|argon2|pbkdf2|base64|utf)(?![a-z]))"
    rf"(?=[!-~]*\d|[!-~]*\w[@#$%^&*!+=?~]+\w)[!-~]{{4,}}{_END}",
    re.IGNORECASE,
)
"""A password contains a digit, or punctuation between letters; the next word of a sentence does not."""
_SAID_PIN = re.compile(
    r"\b(?:PIN|(?i:(?:my|our|his|her|their|your|card|bank|sim|phone|door|meine|mon|mi)\s+pin|geheimzahl))"
    rf"(?i:[ -]?(?:code|number|nummer))?(?i:{_FOR_WHAT}{_IS})\d{{4,8}}(?i:{_END})"
)
_SUBSTRINGS = (
    ("private key",),
    ("sk-", "sk_", "pk-", "pk_", "rk-", "rk_"),
    ("akia", "asia", "aiza", "sg."),
    ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox"),
    ("eyj",),
    ("bearer",),
    ("password", "passwd", "pwd", "api", "secret"),
    ("://",),
    ("pass", "pwd", "kennwort", "contraseña", "wachtwoord", "пароль", "密码", "密碼", "口令", "パスワード"),
    ("pin", "geheimzahl"),
)
"""A match of each pattern of `_mask` contains one of its substrings; the test is ten times as fast as the pattern."""
MAX_MASKED_CHARACTERS = 2000
_LONG = re.compile(r"(?<![\w/+-])[A-Za-z0-9+/_-]{32,}={0,2}(?![\w/+-])")
_DIGITS = re.compile(r"(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)")


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
    """Return the kind of secret in a fact, or an empty text."""
    text = f"{fact.value}\n{fact.note}"
    for kind, pattern in _SECRETS:
        if pattern.search(text):
            return kind
    sentence = f"{fact.subject_name} {fact.predicate.replace('_', ' ')} {fact.value}\n{fact.note}"
    if _SAID_PASSWORD.search(sentence) or _SAID_PIN.search(sentence):
        return "a password"
    if any(is_card_number(match[0]) for match in _DIGITS.finditer(text)):
        return "a card number"
    if any(_is_random(match[0]) for match in _LONG.finditer(text)):
        return "a key"
    is_named = not fact.object and _SECRET_PREDICATE.search(fact.predicate)
    return "a password or key" if is_named and not is_placeholder(fact.value) else ""


def mask_secrets(text: str) -> str:
    """
    Return a text in which each secret is replaced by its kind: `[an API key]`.

    Long texts are read in pieces of at most `MAX_MASKED_CHARACTERS`, cut at white space, so that the time is linear.
    """
    if len(text) <= MAX_MASKED_CHARACTERS:
        return _mask(text)
    pieces, start = [], 0
    while start < len(text):
        end = start + MAX_MASKED_CHARACTERS
        if end < len(text):
            end = max(text.rfind("\n", start, end), text.rfind(" ", start, end), start) + 1
            end = end if end > start + 1 else start + MAX_MASKED_CHARACTERS
        pieces.append(_mask(text[start:end]))
        start = end
    return _mask_private_keys("".join(pieces))


def _mask(text: str) -> str:
    text, folded = _mask_private_keys(text), text.casefold()
    patterns = (*_SECRETS, ("a password", _SAID_PASSWORD), ("a password", _SAID_PIN))
    for (kind, pattern), substrings in zip(patterns, _SUBSTRINGS, strict=True):
        if any(map(folded.__contains__, substrings)):
            text = pattern.sub(f"[{kind}]", text)
    text = _DIGITS.sub(lambda match: "[a card number]" if is_card_number(match[0]) else match[0], text)
    return _LONG.sub(lambda match: "[a key]" if _is_random(match[0]) else match[0], text)


def _mask_private_keys(text: str) -> str:
    """Return the text without the lines of private keys. A key without an end is removed up to the end of the text."""
    found = _SECRETS[0][1].search(text)
    while found:
        end = text.find("-----END", found.start())
        close = text.find("-----", end + 8) if end >= 0 else -1
        text = f"{text[: found.start()]}[a private key]{text[close + 5 :] if close >= 0 else ''}"
        found = _SECRETS[0][1].search(text, found.start())
    return text


def is_placeholder(text: str) -> bool:
    """Return True if a value is a placeholder for a secret: `***`, `...`, `xxxx`, `<redacted>`."""
    alphanumeric = [at for at, character in enumerate(text) if character.isalnum()]
    if not alphanumeric:
        return "***" in text or "..." in text
    return bool(_PLACEHOLDER.fullmatch(text[alphanumeric[0] : alphanumeric[-1] + 1]))


def is_card_number(text: str) -> bool:
    """Return True if a text has 13 to 19 digits with a valid Luhn checksum and the first digit of a card."""
    digits = [int(character) for character in text if character.isdigit()]
    if not 13 <= len(digits) <= 19 or digits[0] not in (2, 3, 4, 5, 6):
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def is_echo(fact: Fact, known: Fact) -> bool:
    """Return True if a known fact contains all words of a fact."""
    return _words(fact) <= _words(known)


def _words(fact: Fact) -> set[str]:
    text = f"{fact.subject} {fact.subject_name} {fact.predicate.replace('_', ' ')} {fact.value}"
    return set(_WORD.findall(text.casefold()))


def _is_random(word: str) -> bool:
    """Return True if a word mixes upper case, lower case and digits like a random key. Paths do not."""
    kinds = (str.isupper, str.islower, str.isdigit)
    mixed = all(sum(map(kind, word)) >= 4 for kind in kinds)
    return mixed and not re.search(r"[a-z]{7,}|[A-Z]{7,}", word)
