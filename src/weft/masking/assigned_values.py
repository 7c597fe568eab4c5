"""
Decision whether an assigned value is a secret, by the kind of its name, its style and its shape.

| text | verdict |
| --- | --- |
| `DB_PASSWORD=swordfish`, `"password": "swordfish"`, `password: swordfish` | secret: a password may be a word |
| `token: 9f86d081884c7d65`, `"api_key": "tulip42"` | secret: not a word |
| `token: identifier`, `secret: true`, `"token": "csrftoken"` | none: a word |
| `STRIPE_KEY=9f86d081884c7d65…` | secret: random and long |
| `key: 9f86d081884c7d65…`, `cache_key = user_id` | none: a hash or an id; a word |
| `password = getpass.getpass()`, `token = self.token`, `password: str` | none: an expression |
| `password = "%s"`, `secret: ./key.pem`, `"password": "Your password"` | none: a template, a path, a sentence |
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

from weft.masking.names import NameKind, is_switch, kind_of_name
from weft.masking.values import Shape, has_words, is_hash, is_placeholder, is_random_word, is_wordlike, shape_of

Style: TypeAlias = Literal[
    "quoted", "shell", "line", "below", "inline", "flag", "spaced", "element", "cell", "argument"
]
"""Notation of a value (`assignments.py`)."""

MIN_PASSWORD_CHARACTERS = 4
MIN_SECRET_CHARACTERS = 6
MIN_BARE_SECRET_CHARACTERS = 8
"""Minimum length of a token without quotes, which may be an expression."""
MIN_KEY_CHARACTERS = 16
MIN_NAME_SHARE = 0.6
"""Share of words in a name such as `S3AccessPointAttachments`."""
MIN_PATHLIKE_CHARACTERS = 32
"""Minimum length of a key that begins with a slash."""

_REFERENCE = re.compile(r"[A-Za-z_$][\w$]{0,80}(?:(?:\?\.|\.|->|::)[A-Za-z_$][\w$]{0,80}){0,12}")
_REFERENCE_END = re.compile(r"\?\.|\.|->|::")
_LINE_END = re.compile(r"[\"'`]?[ \t]{0,20}(?:[\r\n]|\Z)")
_LETTERS = re.compile(r"[a-z]+|[A-Z]+")
_CALL = re.compile(r"[\w.$]{1,120}[(\[]")
_CODE = re.compile(r"(?P<name>[a-z_][a-z_.]{2,80})[(\[]")
"""Value of a keyword argument: `PASSWORD=parser.get('db')`, `TOKEN=response['token'],`."""
_NO_SECRET = re.compile(
    r"\.{1,2}/|~/|[a-z]{2,8}://|arn:|\\[xuU][0-9a-fA-F]{2}|#[0-9a-fA-F]{3,8}\Z|v?\d{1,4}(?:\.\d{1,6}){2,3}|S-1-\d|0x[0-9a-fA-F]{1,16}\Z"
    r"|[\w./\\-]{1,200}\.(?:pem|key|crt|cer|pub|p12|pfx|jks|txt|json|ya?ml|toml|ini|cfg|env|py|js|ts|go|md|html)\Z"
)
"""Paths, addresses, escapes, colours, versions, Windows SIDs, small numbers and names of files."""
_TEMPLATE = re.compile(r"%[sdr]|\{[\w.!:]{0,60}\}|&[a-z]{2,6};")
_TAG = re.compile(r"![a-z]{1,20}")
"""Tag of YAML: `!vault`."""
_TECHNICAL = re.compile(
    r"(?:2fa|mfa|sha|aes|md5|argon2|pbkdf2|bcrypt|scrypt|base64|utf|oauth|iso|rfc|cve|aws4|u?int|float|string|1password)"
    r"(?![a-z])",
    re.IGNORECASE,
)
"""Beginnings of words such as `2FA-protected`."""
_TYPE = re.compile(r"[ \t][0-9][ \t]\Z")
"""Type of a password of Cisco: `enable secret 0 x9!k`."""
_KEY_VALUE = re.compile(r"[A-Za-z0-9+/=_.~:%-]+")


class AssignedValue(NamedTuple):
    """Position and style of a value after a name."""

    start: int
    end: int
    style: Style


def is_secret(text: str, found: AssignedValue, *, kind: NameKind, name: str) -> bool:
    """Return True if the value after a name of this kind is a secret."""
    value = text[found.start : found.end]
    if is_placeholder(value) or _NO_SECRET.match(value) or (not value.isascii() and not any(map(str.isdigit, value))):
        return False
    if value.startswith("/") and not (len(value) >= MIN_PATHLIKE_CHARACTERS and is_random_word(value)):
        return False  # a path
    if value.rstrip(",;").casefold() == name.casefold():
        return False  # `token=token`
    if " " in value or "\n" in value:
        return _is_passphrase(value, kind=kind, name=name)
    if found.style != "shell" and _is_template(value):
        return False
    shape = shape_of(value)
    if ((shape == "word" or value.isalpha()) and is_switch(name)) or (found.style == "shell" and _is_call(value)):
        return False
    if found.style == "below" and not _LINE_END.match(text, found.end):
        return False
    if found.style == "spaced":
        if kind == "secret" and _TYPE.search(text, max(0, found.start - 3), found.start):
            kind = "password"
        is_alone = bool(_LINE_END.match(text, found.end)) or text[found.start - 1] in "\"'"
        return _is_spaced(value, kind=kind, name=name, shape=shape, is_alone=is_alone)
    if found.style in ("inline", "line", "below") and _is_expression(text, found, shape, kind=kind):
        return False
    match kind:
        case "password":
            return _is_password(text, found, value, shape)
        case "secret":
            return _is_token(found, value, shape, is_variable=name.isupper())
        case "key":
            before = text[max(0, found.start - len(name) - 2) : found.start]
            is_query = before.startswith(("?", "&", ";")) and not name.lower().endswith("key")
            is_setting = text[found.start - 1] == "=" and "_" in name.strip("_")
            return _is_key(found, value, shape, is_variable=name.isupper() or is_query or is_setting)


def _is_spaced(value: str, *, kind: NameKind, name: str, shape: Shape, is_alone: bool) -> bool:
    """
    Return True for a value after a space: `ENV API_TOKEN x9…`, `and password Summer2024`.

    Random letters are a password between quotes or at the end of a line: `bindpw kQzPwLmTr`.
    """
    has_both = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    if kind == "password" and is_alone and not is_wordlike(*_LETTERS.findall(value)):
        return True
    if (
        kind == "key"
        or not has_both
        or (is_hash(value) and not (is_alone and kind == "secret"))
        or (_REFERENCE.fullmatch(value) and "." in value)
    ):
        return False
    if kind == "secret" and (has_words(value) or ("/" in value and not is_random_word(value))):
        return False
    is_said = kind == "password" and name.lower() != "pass" and shape == "mixed" and not _TECHNICAL.match(value)
    return shape == "random" or is_said


def _is_passphrase(value: str, *, kind: NameKind, name: str) -> bool:
    """Return True for words after a name such as `passphrase`, and for four groups of four letters (Google)."""
    words = value.split()
    is_grouped = kind == "password" and len(words) == 4 and all(len(word) == 4 and word.islower() for word in words)
    return is_grouped or ("phrase" in name.lower() and len(words) >= 3 and all(word.isalpha() for word in words))


def _is_call(value: str) -> bool:
    """Return True if a value begins like a call or an index of words in lower case."""
    match = _CODE.match(value)
    return match is not None and is_wordlike(*_LETTERS.findall(match["name"]))


def _is_template(value: str) -> bool:
    """Return True if a value has fields to fill in, and words at most beside them: `%s:%s`, `{user}-token`."""
    rest, count = _TEMPLATE.subn("", value)
    return bool(count) and (len(rest) < MIN_PASSWORD_CHARACTERS or shape_of(rest) in ("word", "placeholder"))


def _is_expression(text: str, found: AssignedValue, shape: Shape, *, kind: NameKind) -> bool:
    """Return True if a value without quotes is code or prose: a call, an attribute, a variable, `2FA-protected`."""
    value = text[found.start : found.end]
    if value.startswith(("[", "(", "{", "&")) or _TAG.fullmatch(value) or _TECHNICAL.match(value) or _CALL.match(value):
        return True
    if not _REFERENCE.fullmatch(value):
        return False
    if text[found.end : found.end + 1] in ("(", "["):
        return True
    is_named = kind_of_name(value) is not None and (
        shape in ("word", "placeholder") or not value.isalnum() or has_words(value)
    )
    is_path = "." in value or "::" in value or "->" in value
    if is_named or not is_path:
        return is_named
    first = "".join(_LETTERS.findall(_REFERENCE_END.split(value)[0]))
    is_attribute = kind != "password" and (has_words(value) or (len(first) > 3 and is_wordlike(first)))
    return shape == "word" or is_attribute or not any(map(str.isdigit, value))


def _is_password(text: str, found: AssignedValue, value: str, shape: Shape) -> bool:
    if len(value) < MIN_PASSWORD_CHARACTERS:
        return False
    if shape != "word" or found.style == "shell":
        return True
    match found.style:
        case "quoted" | "element":  # `"password": "user_password"` names a field
            return kind_of_name(value) is None or (value.islower() and value.isalpha() and value.isascii())
        case "line":  # `password: swordfish` and `password=swordfish`, but not `password = variable`
            before = text[found.start - 2 : found.start]
            is_numbered = value[0].isupper() and value[-1].isdigit()
            is_plain = (value.islower() or is_numbered) and "_" not in value and len(value) > MIN_PASSWORD_CHARACTERS
            return is_plain and not before.endswith("= ") and text[found.end : found.end + 1] != ","
        case "inline":  # `the new password: hunter2`
            return any(map(str.isdigit, value)) and text[found.start - 2 : found.start] == ": "
    return False


def _is_token(found: AssignedValue, value: str, shape: Shape, *, is_variable: bool) -> bool:
    has_digits = any(map(str.isdigit, value))
    match found.style:
        case "shell" if is_variable:
            return len(value) >= MIN_SECRET_CHARACTERS and shape != "number"
        case "quoted" | "argument" | "element":
            is_name = not has_digits and kind_of_name(value) is not None
            return len(value) >= MIN_SECRET_CHARACTERS and shape in ("mixed", "random") and not is_name
    is_mixed = shape == "mixed" and has_digits and any(map(str.isalpha, value))
    return len(value) >= MIN_BARE_SECRET_CHARACTERS and (shape == "random" or is_mixed)


def _is_key(found: AssignedValue, value: str, shape: Shape, *, is_variable: bool) -> bool:
    """Return True for a long random value. Hashes and ids are keys of caches and tables, but not in `STRIPE_KEY=…`."""
    if shape != "random" or len(value) < MIN_KEY_CHARACTERS or not _KEY_VALUE.fullmatch(value):
        return False
    if ("/" in value and not is_random_word(value)) or has_words(
        value, share=MIN_NAME_SHARE
    ):  # `S3Key: folder/file-2.0.tar.gz`
        return False
    has_both = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return (is_variable and found.style in ("shell", "line")) or (has_both and not is_hash(value))
