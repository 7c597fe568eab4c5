"""
Passwords in the arguments of programs, where no name announces them.

| command | password |
| --- | --- |
| `curl -u admin:x9!k https://…` | after the user and a colon |
| `mysql -u root -px9!k` | without a space after `-p` |
| `sshpass -p x9!k ssh …`, `redis-cli -a x9!k`, `ldapsearch -w x9!k` | the next argument |
| `smbclient -U admin%x9!k` | after the user and a percent sign |
| `echo x9!k | docker login --password-stdin` | the text of `echo` |
| `CREATE USER app IDENTIFIED BY 'x9!k'`, `SET PASSWORD FOR app = 'x9!k'` | the quoted text |
| `smtp.login("app", "x9!k")`, `auth=("app", "x9!k")` | the second argument |
| `ConvertTo-SecureString "x9!k"`, `requirepass x9!k` | the next argument |
| `machine host login app password x9!k`, `db:5432:app:app:x9!k` | the last field of `.netrc` and `.pgpass` |
| `docker run -u 1000:1000`, `mkdir -p build` | none |
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from weft.masking.spans import SecretSpan, positions
from weft.masking.values import is_placeholder, shape_of

_ARGUMENT = r"[\"']?(?P<value>[^\s\"'`|;]{2,200})"
_USER_PASSWORD = re.compile(
    r"[\s\"'](?:-u|--user|--proxy-user|-U|-a|--auth)[ \t=]{1,4}[\"']?[^\s\"':]{1,100}:(?P<value>[^\s\"'`]{1,200})"
)
_ATTACHED = re.compile(rf"\s-p(?![ \t]){_ARGUMENT}")
_SEPARATE = re.compile(rf"\s-p[ \t]{{0,4}}{_ARGUMENT}")
_PASSWORD = re.compile(r"[ \t=]{0,4}[\"']?(?P<value>[^\s\"'`|;]{4,200})")
_USER = re.compile(r"\s(?:-[uU]|--user|--username)[ \t=]{1,4}[^\s\"'|;]{1,100}[ \t]{0,4}(?:\\\r?\n[ \t]{0,20})?\Z")
"""User and password of any program: `mongorestore -u app -p x9!k`, but not `docker run -u app -p 8080:80`."""
_FLAGS: dict[str, re.Pattern[str]] = {
    **dict.fromkeys(("curl", "xh", "http", "https"), _USER_PASSWORD),
    **dict.fromkeys(("mysql", "mysqldump", "mysqladmin", "mariadb", "mariadb-dump", "7z", "7za"), _ATTACHED),
    **dict.fromkeys(
        ("sshpass", "docker login", "podman login", "az login", "cqlsh", "mongo", "mongosh", "mongodump"), _SEPARATE
    ),
    "redis-cli": re.compile(rf"\s(?:-a|--pass)[ \t]{{1,4}}{_ARGUMENT}"),
    **dict.fromkeys(("ldapsearch", "ldapadd", "ldapmodify"), re.compile(rf"\s-w[ \t]{{1,4}}{_ARGUMENT}")),
    **dict.fromkeys(("zip", "unzip"), re.compile(rf"\s-P[ \t]{{1,4}}{_ARGUMENT}")),
    "smbclient": re.compile(r"\s-U[ \t]{1,4}[\"']?[^\s%\"']{1,100}%(?P<value>[^\s\"']{1,200})"),
    "openssl": re.compile(rf"\s(?:-pass(?:in|out)?[ \t]{{1,4}}pass:|-k[ \t]{{1,4}}){_ARGUMENT}"),
    "ssh-keygen": re.compile(rf"\s-N[ \t]{{1,4}}{_ARGUMENT}"),
    "ansible-vault encrypt_string": re.compile(r"\s[\"'](?P<value>[^\"'\n]{2,200})[\"']"),
    "net use": re.compile(rf"\s/user:\S{{1,100}}[ \t]{{1,4}}{_ARGUMENT}"),
    "net user": re.compile(rf"[ \t]{{1,4}}(?!/)\S{{1,100}}[ \t]{{1,4}}(?![/*]){_ARGUMENT}"),
    "sqlplus": re.compile(r"[ \t][\w.-]{1,60}/(?P<value>[^\s\"'@/]{2,200})@"),
    **dict.fromkeys(("useradd", "usermod"), _SEPARATE),
    "mosquitto_pub": re.compile(rf"\s-P[ \t]{{1,4}}{_ARGUMENT}"),
    "mosquitto_sub": re.compile(rf"\s-P[ \t]{{1,4}}{_ARGUMENT}"),
    "gh secret set": re.compile(rf"\s(?:-b|--body)[ \t=]{{1,4}}{_ARGUMENT}"),
    "lftp": re.compile(r"\s-u[ \t]{1,4}[\"']?[^\s,\"']{1,100},(?P<value>[^\s\"']{1,200})"),
    "htpasswd": re.compile(
        rf"\s-[A-Za-z]{{0,6}}b[A-Za-z]{{0,6}}(?:[ \t]{{1,4}}[^\s\"']{{1,200}}){{2}}[ \t]{{1,4}}{_ARGUMENT}"
    ),
}
"""Pattern of the password in the arguments of a program."""
_PORTS = re.compile(r"[\d.:/-]{1,60}(?:tcp|udp)?")
_COMMAND = re.compile(r"(?:[^\n|;\\]|\\[^\n]|\\\r?\n){0,600}")
"""Rest of a command: to the end of its line, of its continuation lines, or to the next command."""
_PROSE = frozenset("flag option argument parameter switch and or to is as the for with".split())
_ECHO = re.compile(
    r"[ \t]{1,4}(?:-[neE]{1,3}[ \t]{1,4})?[\"']?(?:[\w.-]{1,60}:(?=[^\n|]{4,200}\|[ \w/]{0,40}chpasswd))?"
    r"(?P<value>[^\s\"'|]{4,200})[\"']?[ \t]{0,4}\|(?P<next>[^\n|]{1,200})"
)
"""Text of `echo`, and the program that reads it; `chpasswd` reads `user:password`."""
_READERS = ("--password-stdin", "--with-token", "sudo -S", "sudo --stdin", "passwd --stdin", "chpasswd", "secret set")
_IDENTIFIED = re.compile(
    r"[ \t]{1,4}(?:WITH[ \t]{1,4}\S{1,40}[ \t]{1,4})?BY[ \t]{1,4}['\"](?P<value>[^'\"\n]{1,200})['\"]", re.IGNORECASE
)
_PRAGMA = re.compile(r"[ \t]{1,4}key[ \t]{0,4}=[ \t]{0,4}['\"](?P<value>[^'\"\n]{1,200})['\"]", re.IGNORECASE)
_SET_PASSWORD = re.compile(
    r"(?:[ \t]{1,4}FOR[ \t]{1,4}\S{1,100})?[ \t]{0,4}=[ \t]{0,4}(?:PASSWORD\()?['\"](?P<value>[^'\"\n]{1,200})['\"]",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"[\"'][^\"'\n]{1,100}[\"'][ \t]{0,4},[ \t]{0,4}[bu]?[\"'](?P<value>[^\"'\n]{4,200})[\"'][ \t]{0,4}\)"
)
_SECURE_STRING = re.compile(
    r"(?:[ \t]{1,4}-\w{1,20}){0,4}[ \t]{1,4}[\"'](?P<value>[^\"'\n]{1,200})[\"']", re.IGNORECASE
)
_REDIS = re.compile(r"[ \t]{1,4}[\"']?(?P<value>[^\s\"']{4,200})[\"']?(?=[ \t]{0,4}(?:\n|\Z))")
_STATEMENTS = {
    "identified": _IDENTIFIED,
    "pragma": _PRAGMA,
    "set password": _SET_PASSWORD,
    "login(": _PAIR,
    "auth=(": _PAIR,
    "convertto-securestring": _SECURE_STRING,
    "requirepass": _REDIS,
    "masterauth": _REDIS,
}
"""Pattern of the text after a word."""
_CALLS = (
    "networkcredential(", "passwordcredentials(", "plaincredentials(", "basicauth(",
    "basic_auth(", "getconnection(", "mysqli(", "mysqli_connect(",
    "new pdo(", "dbi->connect(", "dbconnect(",
)  # fmt: skip
_ARGUMENTS = re.compile(
    r"(?:[^()\"'\n]{0,80}[\"'][^\"'\n]{0,200}[\"'][ \t]{0,4},){1,2}[ \t]{0,4}"
    r"[\"'](?P<value>[^\"'\n]{4,200})[\"'][ \t]{0,4}[,)]"
)
"""Address, user and password of a call, the first or the first two quoted: `new PDO('mysql:…', 'app', 'x9!k')`."""
_CHARACTERS = re.compile(r'"(?P<value>[^"\n]{4,200})\Z')
_PASSWORD_FIELD = re.compile(
    r"\b(?:machine[ \t\n]{1,8}\S{1,100}|default)[ \t\n]{1,8}login[ \t\n]{1,8}\S{1,100}[ \t\n]{1,8}\Z"
)
_FIELD = re.compile(r"[ \t\n]{1,8}(?P<value>(?:(?!\\n)[^\s\"'`]){1,200})")
_PGPASS = re.compile(r":(?:\d{2,5}|\*):[\w*-]{1,64}:[\w.@-]{1,64}:(?P<value>[^\s:\"']{4,200})(?=\s|\Z)")
_MAIL_RELAY = re.compile(
    r"(?m:^)\[[\w.-]{1,100}\]:\d{1,5}[ \t]{1,20}[\w.+-]{1,64}@[\w.-]{1,100}:(?P<value>[^\s:]{4,200})(?=\s|\Z)"
)
"""Line of a table of mail relays: `[smtp.example.com]:587 app@example.com:x9!k`."""
_WIFI = re.compile(r"WIFI:(?:[TSH]:[^;\n]{0,64};){0,3}P:(?P<value>(?:[^;\\\n]|\\[^\n]){4,128})")
_PGPASS_HOST = re.compile(r"(?:\A|[\s\"'`])[\w.*-]{1,60}\Z")


def find_arguments(text: str, folded: str) -> Iterator[SecretSpan]:
    """Yield passwords in commands; `folded` is the text in lower case, of the same length."""
    for match in _iter_matches(text, folded):
        if not is_placeholder(match["value"]) and match["value"] not in _PROSE:
            yield SecretSpan(*match.span("value"), "a password")


def _iter_matches(text: str, folded: str) -> Iterator[re.Match[str]]:
    yield from _iter_flags(text)
    yield from _iter_echoes(text)
    yield from _iter_statements(text, folded)
    for at in positions(text, "password"):
        match = _FIELD.match(text, at + len("password"))
        if match and _PASSWORD_FIELD.search(text[max(0, at - 250) : at]):
            yield match
    for mark, pattern in (("]:", _MAIL_RELAY), ("WIFI:", _WIFI)):
        yield from pattern.finditer(text) if mark in text else ()
    for match in _PGPASS.finditer(text):
        if _PGPASS_HOST.search(text[max(0, match.start() - 61) : match.start()]):
            yield match


def _iter_flags(text: str) -> Iterator[re.Match[str]]:
    for program, pattern in _FLAGS.items():
        end = 0
        for at in positions(text, f"{program} "):
            if at < end or text[at - 1 : at].isalnum():
                continue
            command = _COMMAND.match(text, at + len(program))
            if command:
                end = command.end()
                yield from pattern.finditer(text, *command.span())
    for at in positions(text, " -p"):
        match = _PASSWORD.match(text, at + 3)
        is_secret = match and shape_of(match["value"]) in ("mixed", "random") and not _PORTS.fullmatch(match["value"])
        if match and is_secret and _USER.search(text, max(0, at - 150), at):
            yield match


def _iter_echoes(text: str) -> Iterator[re.Match[str]]:
    for program in ("echo", "printf"):
        for at in positions(text, f"{program} "):
            match = _ECHO.match(text, at + len(program))
            if match and any(map(match["next"].__contains__, _READERS)):
                yield match


def _iter_statements(text: str, folded: str) -> Iterator[re.Match[str]]:
    for word, pattern in _STATEMENTS.items():
        for at in positions(folded, word):
            is_sql = word != "identified" or any(
                map(folded[max(0, at - 300) : at].__contains__, ("user", "grant", "alter"))
            )
            if is_sql and (match := pattern.match(text, at + len(word))):
                yield match
    for word in _CALLS:
        for at in positions(folded, word):
            match = _ARGUMENTS.match(text, at + len(word))
            if match and shape_of(match["value"]) in ("mixed", "random"):
                yield match
    for at in positions(text, '".toCharArray('):
        match = _CHARACTERS.search(text, max(0, at - 201), at)
        if match and shape_of(match["value"]) in ("mixed", "random"):
            yield match
