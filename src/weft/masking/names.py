"""
Names of settings, fields and flags whose values are secrets.

| name | kind |
| --- | --- |
| `password`, `PGPASSWORD`, `db.passwd`, `smtpPass`, `ADMIN_PWD_PROD` | password |
| `token`, `client_secret`, `DD_API_KEY`, `accessKey`, `x-auth-token` | secret |
| `STRIPE_KEY`, `session_id`, `sig` | key: the value must look random |
| `CSRF_TOKEN_NAME`, `password_hash`, `token_type`, `passwordField`, `compass`, `monkey` | none |
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

NameKind: TypeAlias = Literal["password", "secret", "key"]

MAX_NAME_CHARACTERS = 128
"""Longer texts are no names."""
TRIGGERS = (
    "pass", "pw", "secret", "token", "key", "auth", "cred", "sig", "sess", "sid", "kennwort", "contraseña",
    "contrasena", "wachtwoord", "пароль", "密码", "密碼", "口令", "パスワード", "senha", "heslo", "hasło", "schlüssel",
    "密钥", "令牌", "psk", "salt", "seed", "cookie",
)  # fmt: skip
"""Every name of a secret contains one of these, in lower case."""

_SEGMENT = re.compile(r"[A-Z]+(?![a-zà-ÿ])|[A-Z]?[a-zß-ÿ]+|[0-9]+|[^\W0-9A-Za-z_]+")
_PASSWORDS = (
    "password", "passwd", "passwort", "passphrase", "passcode", "kennwort", "contraseña", "contrasena", "wachtwoord",
    "пароль", "密码", "密碼", "口令", "パスワード", "senha", "heslo", "hasło", "pwd",
)  # fmt: skip
_SECRETS = (
    "secret", "token", "apikey", "secretkey", "accesskey", "authkey", "credential", "credentials", "密钥", "令牌",
)  # fmt: skip
_KEY_OWNERS = frozenset(
    """
    api secret access private auth authentication encryption encrypt signing sign account master service client shared
    preshared consumer storage jwt hmac webhook admin deploy app application license subscription functions function
    host server rsa aes ssh validation decryption instrumentation integration
    """.split()
)
"""Words before `key` that make it a secret: `api_key`, `storageKey`."""
_SECRET_PAIRS = {
    "salt": frozenset("auth nonce in hash secret app session cookie".split()),
    "seed": frozenset("totp otp mfa secret".split()),
    "cookie": frozenset("erlang auth session".split()),
}
"""Words that make another word the name of a secret: `NONCE_SALT`, `totp seed`."""
_PUBLIC = frozenset("public publishable site primary foreign partition sort cache index row shard map unique".split())
"""Words before `key` of keys that are not secret."""
_KEYS = frozenset("key auth authorization sig signature session sessionid sessid sid schlüssel creds cred".split())
_VERBS = frozenset(
    """
    update use require requires required show hide enable enabled disable disabled allow allowed has have is no save
    remember prompt ask reset forgot forget change check validate verify always never parse generate expire expires
    """.split()
)
"""Beginnings of the names of switches: `update_password: always`."""
_SUFFIXES = frozenset(
    """
    prod production live dev development test testing stage staging qa uat local old new current previous next backup
    primary secondary base b64 base64 hex raw plain value string str v1 v2 v3 a b
    """.split()
)
"""Words that may follow the word for a secret: `API_KEY_PROD`."""


def is_switch(name: str) -> bool:
    """Return True if a name begins with a verb: `update_password`, `showToken`."""
    parts = _SEGMENT.findall(name)
    return len(parts) > 1 and parts[0].lower() in _VERBS


def kind_of_name(name: str) -> NameKind | None:
    """Return the kind of secret that a name announces; None for other names."""
    if len(name) > MAX_NAME_CHARACTERS:
        return None
    parts = [part.lower() for part in _SEGMENT.findall(name)]
    while len(parts) > 1 and (parts[-1] in _SUFFIXES or parts[-1].isdigit()):
        parts.pop()
    if not parts or "public" in parts:
        return None
    last, before = parts[-1], parts[-2] if len(parts) > 1 else ""
    if (
        last.endswith(_PASSWORDS)
        or last in ("pass", "pw", "passw", "passe", "psk", "bindpw", "rootpw")
        or (last.endswith("pass") and (name.isupper() or name.startswith("-")))
    ):
        return None if last in ("bypass", "compass") else "password"
    if last.endswith(_SECRETS) and last not in ("nonsecret", "keytoken"):
        return None if before in ("page", "continuation", "cancellation", "next") else "secret"
    if (last == "key" and before in _KEY_OWNERS) or before in _SECRET_PAIRS.get(last, ()):
        return "secret"
    if last.endswith(("sessid", "sessionid")):
        return "key"
    return "key" if last in _KEYS and before not in _PUBLIC else None
