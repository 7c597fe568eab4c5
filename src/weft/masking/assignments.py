"""
Values that a name announces: assignments, fields, flags, query parameters and cells of tables.

| text | style | value |
| --- | --- | --- |
| `{"password": "x9!k"}`, `'api_key' => 'x9…'`, `password: str = "x9!k"` | quoted | between the quotes |
| `POSTGRES_PASSWORD=x9!k`, `?token=x9…&page=2`, `Server=a;Pwd=x9!k;`, `--token=x9…` | shell | to the next separator |
| `password: x9!k`, `spring.datasource.password=x9!k` | line | to the end of the line |
| `Here is the token:`, then a line of its own | below | the line |
| `--password x9!k` | flag | the next word |
| `ENV API_TOKEN x9…` | spaced | the next word |
| `{"name": "DB_PASSWORD", "value": "x9!k"}` | quoted | between the quotes of the next field |
| `<password>x9!k</password>` | element | to the next tag |
| `| password | x9!k |` | cell | the cell |
| `define('DB_PASSWORD', 'x9!k')`, `["--password", "x9!k"]` | argument | between the quotes |
| `connect(password=x9)` | inline | to the next separator; it may be an expression |

A name is found by a substring (`names.TRIGGERS`). What follows it is read by patterns that are anchored and bounded, so
that the time is linear. `assigned_values.py` decides whether the value is a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from weft.masking.assigned_values import AssignedValue, Style, is_secret
from weft.masking.names import TRIGGERS, NameKind, kind_of_name
from weft.masking.spans import SecretSpan, positions
from weft.masking.spoken import find_stated

MAX_NAME_CHARACTERS = 64
MAX_VALUE_CHARACTERS = 500
MAX_QUOTED_CHARACTERS = 2000
KINDS: dict[NameKind, str] = {"password": "a password", "secret": "a token", "key": "a key"}

_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-.")
_NAME_END = re.compile(r"[A-Za-z0-9_.-]{0,64}")
_KEY_OWNER = re.compile(
    r"(?:api|access|secret|private|auth|account|license|signing|encryption|master|service)[ -]\Z", re.IGNORECASE
)
_CLOSE = re.compile(r"\\{0,3}[\"'`*]{0,3}[\])]{0,2}\*{0,2}")
_SEPARATOR = re.compile(
    r"[ \t]{0,20}(?:(?P<value>value[ \t]?=)"
    r"|(?P<field>(?:,(?:[ \t]{0,4}\r?\n)?[ \t]{0,40}[\"']?|\r?\n[ \t]{0,40})[vV]alue[\"']?[ \t]?[:=])"
    r"|(?P<type>(?::|As )[ \t]?[A-Za-z_][\w.\[\]|]{0,40}[ \t]{1,4}|(?:string|\[\]byte|char)[ \t]{1,4})?"
    r"(?P<equals>=>|(?<=[ \t])->(?=[ \t])|[:.+]=|[|?]{2}=|=(?![=~]))"
    r"|(?P<colon>[:：](?![:=])\*{0,2})|(?P<comma>,)|(?P<bar>\|)|(?P<element>>(?:<[vV]alue>)?|</key>\s{0,40}<string>))"
    r"(?P<gap>[ \t]{0,20})(?:[|>][+-]?(?=\r?\n))?(?P<below>(?:\r?\n[ \t>]{0,20}){0,2})"
)
_FIELD_NAME = re.compile(r"(?:name|key)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?\Z", re.IGNORECASE)
_RESOURCE = re.compile(r"::\Z|\barn:[\w:/.-]{0,90}\Z")
"""Text before a name inside the id of a resource: `AWS::IAM::AccessKey`, `arn:aws:secretsmanager:…:secret`."""
_USER_INFO = re.compile(r"://[^\s/@]{0,64}\Z")
_SPACE = re.compile(r"[ \t]{1,20}(?:\\\r?\n[ \t]{0,20}|[0-9][ \t](?=[^\s-]))?")
"""Space before a value, and the type of a password of Cisco: `enable secret 0 x9!k`."""
_OPENING = re.compile(
    r"(?:(?:str|bytes|String|String::from|new String|Secret|SecretStr|SecretString::(?:new|from)|Buffer\.from)\()?"
    r"(?P<prefix>[bBuUrRfF@$]{0,2})(?P<escape>\\{0,3})(?P<quote>\"\"\"|'''|[\"'`“„«‘「])"
)
_CLOSING = {"“": "”", "„": "“", "«": "»", "‘": "’", "「": "」"}
_BARE: dict[Style, re.Pattern[str]] = {
    "shell": re.compile(r"[^\s\"'`&;|<>]{1,500}"),
    "line": re.compile(r"[^\s]{1,500}"),
    "below": re.compile(r"[^\s\"'`]{1,500}"),
    "inline": re.compile(r"[^\s\"'`,;&()\[\]{}<>|]{1,500}"),
    "flag": re.compile(r"[^\s\"'`|;]{1,500}"),
    "spaced": re.compile(r"[\w+/.~!?@#$%^*-]{6,500}={0,2}"),
    "element": re.compile(r"[^\s<]{1,500}"),
    "cell": re.compile(r"[^\s|`]{1,500}"),
}
_LONG_REST = re.compile(r"[\w+/.~=%-]{1,20000}")
_NEXT_ARGUMENT = re.compile(r"(?<=[.!])[ \t]{1,4}(?:-|[a-z_]{1,30}=)")
"""An option or a pair after a value, whose full stop is not that of a sentence."""
_USER_BEFORE = re.compile(r"(?:(?P<name>(?![a-z]{2,12}://)[\w.@-]{1,64})[:/](?=[^\s/]{6,})|[A-Za-z]{2,20}=(?=[^=]))")
"""Beginning of credentials: `NEO4J_AUTH=neo4j/x9!k`, `Authorization: key=x9…`."""
_LOGINS = ("auth", "authorization", "creds", "cred", "credentials")
"""Ends of names whose value may be a user and a password."""
_INNER_ENDS = frozenset("&;\"'<|")
"""Characters after a value whose full stop belongs to it: `"Uid=app;Pwd=x9k."`."""
_WORD_ENDS = ("", *" \t\r\n.,;:?!)\"'`")
_LINE_REST = re.compile(r"[^\s\"'`]{1,500}[ \t]{0,40}(?:#[^\n]{0,200})?(?=[\r\n]|\Z)")
_LINE_START = re.compile(r"(?:\A|\n)[ \t>#/;*-]{0,40}(?:(?:export|set|setx|ENV|ARG|env|let|const|var)[ \t]{1,4})?\Z")
_DEFINITION = re.compile(r"(?:#define|\bsetx|\bsetenv|\bset -\w{1,3})[ \t]{1,4}\Z")
_TABLE_ROW = re.compile(r"(?:\A|\n)[ \t]{0,20}\|[^\n]{0,600}\Z")
_PAIR_AFTER = re.compile(r"(?:[ \t]{1,4}|;)[A-Za-z_][\w.-]{0,40}=\S")
_PAIR_BEFORE = re.compile(r"[\w.]=[^\s,()]{1,80}[ \t]\Z")


def find_assigned(text: str, folded: str) -> Iterator[SecretSpan]:
    """Yield the secrets that a name announces; `folded` is the text in lower case, of the same length."""
    end = 0
    for at, trigger in sorted((at, word) for word in TRIGGERS for at in positions(folded, word)):
        if at < end:
            continue
        start, end = _name_bounds(text, folded, at, trigger)
        name = text[start:end]
        kind = kind_of_name(name)
        if kind == "key" and _KEY_OWNER.search(text[max(0, start - 12) : start]):
            kind = "secret"
        if kind is None:
            continue
        value = _read_value(text, start, end)
        found = find_stated(text, end, kind=kind) if value is None or value.style == "spaced" else None
        if value and name.lower().endswith(_LOGINS) and (user := _USER_BEFORE.match(text, value.start, value.end)):
            value = value._replace(start=user.end())
        if value and is_secret(text, value, kind=kind, name=name) and not _is_address(text, start, value):
            found = SecretSpan(value.start, _whole_end(text, value), KINDS[kind])
        if found:
            yield found
            end = found.end


def _is_address(text: str, start: int, value: AssignedValue) -> bool:
    """Return True if a name is the user of a URL, of which the password has a format, or part of a resource id."""
    before = text[max(0, start - 100) : start]
    is_user = "@" in text[value.start : value.end] and _USER_INFO.search(before)
    return bool(is_user or _RESOURCE.search(before))


def _whole_end(text: str, value: AssignedValue) -> int:
    """Return the end of a secret, which may be longer than the characters that are judged."""
    is_whole = value.end - value.start < MAX_VALUE_CHARACTERS or value.style not in _BARE
    rest = None if is_whole else _LONG_REST.match(text, value.end)
    return rest.end() if rest else value.end


def _name_bounds(text: str, folded: str, at: int, trigger: str) -> tuple[int, int]:
    """Return the bounds of the name around a trigger. Words of other scripts have no spaces around them."""
    if not trigger.isascii():
        return at, at + len(trigger)
    start, lowest = at, max(0, at - MAX_NAME_CHARACTERS)
    while start > lowest and folded[start - 1] in _NAME_CHARACTERS:
        start -= 1
    if start < at and text[start - 1 : start] == "\\" and folded[start] in "nrt":  # an escape in JSON: `\nPASSWORD=…`
        start += 1
    match = _NAME_END.match(text, at)
    stop = match.end() if match else at + 1
    while stop > at + 1 and text[stop - 1] in ".-":
        stop -= 1
    return start, stop


def _read_value(text: str, start: int, stop: int) -> AssignedValue | None:
    """Return the value after the name at `start:stop`; None if nothing is assigned."""
    close = _CLOSE.match(text, stop)
    after = close.end() if close else stop
    match = _SEPARATOR.match(text, after)
    if match is None:
        return _read_spaced(text, start, after)
    if match["comma"]:
        return _read_argument(text, start, match.end()) if after > stop else None
    if match["element"]:
        is_named = (
            text[start - 1 : start] == "<" or (after > stop and text.startswith('"', stop)) or match["element"] != ">"
        )
        value = _read_bare(text, match.end(), "element") if is_named else None
        return value if value and text.startswith("</", value.end) else None
    if match["field"] and not _FIELD_NAME.search(text[max(0, start - 20) : start]):
        return None
    if match["bar"] and not (match["gap"] and _TABLE_ROW.search(text[max(0, start - 620) : start])):
        return None
    opening = _OPENING.match(text, match.end())
    if opening and not (match["bar"] and opening["quote"] != "`"):
        return _read_quoted(text, opening)
    if match["value"]:
        return None
    return _read_bare(text, match.end(), _style(text, start, match, is_closed=after > stop))


def _read_argument(text: str, start: int, at: int) -> AssignedValue | None:
    """Return the second of two arguments, of which the first is the name: `define('DB_PASSWORD', 'x9!k')`."""
    opening, is_flag = _OPENING.match(text, at), text.startswith("-", start)
    is_first = is_flag or text[max(0, start - 2) : start - 1] == "("
    value = _read_quoted(text, opening) if opening and is_first else None
    if value is None or not (is_flag or text[value.end + 1 : value.end + 2] == ")"):
        return None
    return value._replace(style="argument")


def _read_spaced(text: str, start: int, after: int) -> AssignedValue | None:
    """Return the value after a space: `--password x9!k`, `ENV TOKEN x9…`, `PASSWORD 'x9!k'` of SQL."""
    space = _SPACE.match(text, after)
    if space is None:
        return None
    is_flag = text.startswith("-", start)
    if opening := _OPENING.match(text, space.end()):
        is_sql = text[start:after].upper() == "PASSWORD" and opening["quote"] == "'"
        is_named = (
            is_flag or is_sql or text[start:after] == "PSK" or _DEFINITION.search(text[max(0, start - 16) : start])
        )
        value = _read_quoted(text, opening)
        return value._replace(style="quoted" if is_named else "spaced") if value else None
    if text.startswith("-", space.end()):
        return None
    value = _read_bare(text, space.end(), "flag" if is_flag else "spaced")
    return value if value and (is_flag or text[value.end : value.end + 1] in _WORD_ENDS) else None


def _read_quoted(text: str, opening: re.Match[str]) -> AssignedValue | None:
    quote, start = opening["quote"], opening.end()
    closing = opening["escape"] + _CLOSING.get(quote, quote)
    limit = min(len(text), start + MAX_QUOTED_CHARACTERS)
    end = text.find(closing, start, limit)
    while end > 0 and not opening["escape"] and text[end - 1] == "\\" and text[end - 2 : end - 1] != "\\":
        end = text.find(closing, end + 1, limit)
    line = text.find("\n", start, limit)
    if end < 0 or (0 <= line < end and len(quote) == 1):  # no closing quote: the text was cut
        return _read_bare(text, start, "inline")
    prefix = opening["prefix"].lower()
    is_pattern = "r" in prefix and any(character in text[start:end] for character in "[(\\")
    if end == start or is_pattern or ("f" in prefix and "{" in text[start:end]):
        return None
    return AssignedValue(start, end, "quoted")


def _read_bare(text: str, at: int, style: Style) -> AssignedValue | None:
    value = _BARE[style].match(text, at)
    if value is None:
        return None
    end = value.end()
    if style in ("flag", "shell") and _NEXT_ARGUMENT.match(text, end):
        return AssignedValue(at, end, style)
    last = text[end : end + 1]
    while end > at and text[end - 1] in ".,;:)]}*>\"'`":
        if text[end - 1] == "." and last in _INNER_ENDS:
            break  # not the end of a sentence
        end -= 1
    end -= 2 if text.endswith("\\n", at, end) else 0
    return AssignedValue(at, end, style) if end > at else None


def _style(text: str, start: int, match: re.Match[str], *, is_closed: bool) -> Style:
    """Return the notation of a value without quotes; `match` is the separator."""
    if match["bar"]:
        return "cell"
    if match["below"]:
        return "below"
    if match[0] == "=" and not is_closed:
        name, before = text[start : match.start()], text[start - 1 : start]
        is_listed = before in ("?", "&", ";") or (before == "=" and name.islower())  # `--from-literal=password=…`
        if is_listed or name.isupper() or name.startswith("-") or _is_pair(text, start, match.end()):
            return "shell"
    if match["field"]:
        return "line"
    head = text[max(0, start - MAX_NAME_CHARACTERS) : start]
    is_first = _LINE_START.search(head if len(head) < MAX_NAME_CHARACTERS else f".{head}")
    return "line" if is_first and _LINE_REST.match(text, match.end()) else "inline"


def _is_pair(text: str, start: int, at: int) -> bool:
    """Return True if a value stands among pairs with spaces between them: `host=a password=b port=1`."""
    value = _BARE["shell"].match(text, at)
    if value is None or "(" in value[0] or value[0].endswith(","):
        return False
    return bool(_PAIR_AFTER.match(text, value.end()) or _PAIR_BEFORE.search(text[max(0, start - 100) : start]))
