"""
Secrets with a format of their own: prefixed keys, JSON Web Tokens, PEM blocks, URLs with passwords, random words.

| text | secret |
| --- | --- |
| `ghp_…`, `sk-ant-api03-…`, `AKIA…`, `xoxb-…` | a key with a prefix of its issuer |
| `eyJhbGciOi….eyJzdWIi….…` | a JSON Web Token |
| `-----BEGIN PRIVATE KEY----- …` | the lines of the key |
| `postgres://app:x9!k@db/app` | the password |
| `Authorization: Bearer x9…` | the credentials |
| 40 characters of base64 with digits and both cases | a key |
| `sk-learn-contrib`, a hash, a UUID, a path, `sha512-…` | none |
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from weft.masking.spans import SecretSpan, positions
from weft.masking.values import has_words, is_placeholder, is_random_word, shape_of

MAX_PEM_CHARACTERS = 20_000
MAX_CONTEXT_CHARACTERS = 1000
"""Characters before a random word that are searched for the address it belongs to."""
MAX_SHORT_PREFIX = 4
"""Prefixes of this length are common in ordinary names; more characters must follow."""
MIN_AFTER_SHORT_PREFIX = 20
MIN_LETTERS = 30
"""Minimum number of lower-case letters after a prefix, if there is nothing else; they must form no words."""
MAX_RANDOM_WORD = 128
"""Longer words are data, not keys."""
MIN_CREDENTIAL_CHARACTERS = 8

_PREFIXES = frozenset((
    # language models
    "sk-", "hf_", "api_org_", "gsk_", "xai-", "pplx-", "r8_", "nvapi-", "lsv2_", "tvly-", "fc-", "pcsk_", "csk-",
    "jina_", "e2b_", "fw_", "pa-", "key_", "crsr_", "bb_live_", "m0-", "wandb_v1_", "pk-lf-",
    # code hosts and package registries
    "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-",
    "glffct-", "glsoat-", "glimt-", "glagent-", "gloas-", "GR1348941", "npm_", "pypi-", "rubygems_", "cio",
    "dckr_pat_", "dckr_oat_", "CLOJARS_", "ATATT3", "ATCTT3", "ATBB", "BBDC-", "CCIPAT_", "bkua_", "sqp_", "squ_",
    "sqa_",
    # clouds and hosting
    "AIza", "ya29.", "GOCSPX-", "dop_v1_", "doo_v1_", "dor_v1_", "HRKU-", "rnd_", "nfp_", "nfc_", "nfo_", "vcp_",
    "fo1_", "fm1_", "fm2_", "dapi", "pul-", "hvs.", "hvb.", "hvr.", "dp.pt.",
    "dp.scim.", "dp.st.", "dp.ct.", "dp.sa.", "ops_",
    "tskey-", "LTAI", "AKID", "AQVN", "sbp_", "sb_secret_", "napi_", "pscale_tkn_", "pscale_pw_", "pscale_oauth_",
    "cfk_", "cfut_", "cfat_", "ico-", "dnkey-", "AGE-SECRET-KEY-1", "ABSK", "CFPAT-", "figd_", "PMAK-",
    # payment and shops
    "sk_", "rk_", "pk_", "whsec_", "shpat_", "shpca_", "shppa_", "shpss_", "sq0atp-", "sq0csp-", "sq0idp-", "EAAA",
    "FLWSECK_", "FLWSECK-", "shippo_live_", "EZAK", "EZTK", "duffel_live_", "duffel_test_", "shippo_test_",
    "FLWPUBK_TEST-", "rzp_live_", "ak_live_",
    # messages, mail, monitoring, work
    "xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "xoxe.xoxp-", "SG.",
    "key-", "re_", "xkeysib-", "xsmtpsib-", "NRAK-", "NRJS-", "NRAA-", "NRII-", "glsa_", "glc_", "sntrys_", "sntryu_",
    "hcaik_", "dt0c01.", "dt0s16.", "phc_", "phx_", "lin_api_", "lin_oauth_", "secret_", "ntn_", "tfp_", "pat-na1-",
    "pat-eu1-", "sl.", "rdme_", "pnu_", "pnb_", "fio-u-", "sdk-", "EAACEdEose0cBA", "EAAB", "EAAC", "EAAM",
    "s-s4t2ud-", "s-s4t2af-", "p8e-", "sm_aat_", "sm_pat_", "sm_sat_", "acc_", "v2_", "weft_", "CfDJ8",
))  # fmt: skip
"""Prefixes of keys, by their issuers. The rest of the key is random characters."""
_LENGTHS = sorted({len(prefix) for prefix in _PREFIXES}, reverse=True)
_TAIL = re.compile(r"[A-Za-z0-9_-]{12,512}(?:[.=+/~][A-Za-z0-9_=+/~.-]{1,1024})?={0,2}")
_LONG_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.$~-]{15,}")
_FIXED = re.compile(
    r"(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA|A3T[A-Z0-9])[A-Z0-9]{16}"  # AWS access key id
    r"|(?:AC|SK)[0-9a-f]{32}"  # Twilio
    r"|[0-9a-f]{32}-us[0-9]{1,2}"  # Mailchimp
    r"|oy2[a-z0-9]{43}"  # NuGet
    r"|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"  # Airtable
    r"|[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}"  # Discord
    r"|[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,80}"  # Terraform Cloud
    r"|[A-Za-z0-9_.-]{3}[0-9]Q~[\w~.-]{31,36}"  # Azure client secret
    r"|API-[A-Z0-9]{26}"  # Octopus Deploy
    r"|pat\.[\w-]{22}\.[0-9A-Za-z]{24}\.[0-9A-Za-z]{20}"  # Harness
    r"|v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"  # Cloudflare Origin CA
    r"|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"  # 1Password
    r"|access-(?:sandbox|development|production)-[0-9a-f-]{36}"  # Plaid
)
"""Keys without a long prefix, as whole words."""
_TELEGRAM = re.compile(r":A[\w-]{34}(?![\w-])")
_TELEGRAM_BOT = re.compile(r"[0-9]{8,10}\Z")
_GOOGLE_REFRESH = re.compile(r"1//0[\w-]{30,200}")
_WEBHOOKS = (
    ("hooks.slack.com/", re.compile(r"(?:services|workflows|triggers)/(?P<value>[\w/]{16,200})")),
    ("discord.com/api/webhooks/", re.compile(r"[0-9]{5,30}/(?P<value>[\w-]{30,120})")),
    ("discordapp.com/api/webhooks/", re.compile(r"[0-9]{5,30}/(?P<value>[\w-]{30,120})")),
    ("webhook.office.com/webhookb2/", re.compile(r"(?P<value>[\w@/-]{30,300})")),
    ("chat.googleapis.com/v1/spaces/", re.compile(r"[^\s\"'<>]{0,200}?[?&]key=(?P<value>[^\s\"'<>]{10,300})")),
)
_ADDRESSES = (
    ("hooks.zapier.com/hooks/catch/", re.compile(r"(?P<value>[\w/]{10,80})")),
    ("infura.io/", re.compile(r"(?:ws/)?v3/(?P<value>[0-9a-f]{32})")),
    ("alchemy.com/", re.compile(r"(?:nft/)?v[23]/(?P<value>[\w-]{20,64})")),
)
_BARE_LOGIN = re.compile(r"(?:\A|[\s\"'`:=])[\w.+-]{1,64}[:/](?P<value>[^\s\"'`/@]{4,200})\Z")
"""User and password before the host of an address without a scheme: `app:x9!k@tcp(db:3306)/app`, `app/x9!k@//db`."""
_JWT = re.compile(r"eyJ[A-Za-z0-9_.=-]{20,10000}")
_USER_INFO = re.compile(r"(?P<user>[^\s/?#@:\"'<>`]{0,128}):(?P<rest>[^\s\"'<>`]{1,300})")
_USER_ONLY = re.compile(r"(?P<value>[A-Za-z0-9_-]{16,200})@[A-Za-z0-9]")
_PORT = re.compile(r"\d{1,5}[/?#]")
_HOST = re.compile(r"(?:[A-Za-z0-9_\[$%{(-]|\Z)")
_HEADER = re.compile(r"[\"'\\ \t]{0,4}[:=,][\"'\\ \t]{0,6}")
_SCHEME = re.compile(
    r"(?P<scheme>bearer|basic|[a-z][a-z-]{1,30})(?:[ \t]{1,4}|[ \t]?=[ \t]?|%20)[\"']?"
    r"(?:token=[\"']?|key=[\"']?)?(?P<value>(?!\+|https?:)[A-Za-z0-9_.~+/=:|-]{6,4000})",
    re.IGNORECASE,
)
_SCHEMES = frozenset("bearer basic apikey api-key token digest negotiate".split())
_FOLDER = re.compile(r"/?[a-z]{2,12}/")
"""Beginning of a path, such as `/home/`."""
_RANDOM = re.compile(r"[A-Za-z0-9+/_-]{32,}")
_DATA_LINE = re.compile(r"[\s\"'bru>#*+,]{0,20}[A-Za-z0-9+/_-]{32,}={0,2}[\"',;+\\ \t]{0,4}(?:\r?\n|\\n|\Z)")
_URL_END = re.compile(r"[\s\"'<>]")
_UUID_INSIDE = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-|[0-9A-Za-z]{6}(?:-[0-9A-Za-z]{4}){5}-")
"""A UUID, and the same of a logical volume: `66Ojcd-ULtu-1cZa-Tywo-mx0d-RF4O-ysA9jK`."""
_BREAK = r"(?:\\r)?\\n|(?:%0D)?%0A"
_LINE_BEFORE = re.compile(rf"[A-Za-z0-9+/=]{{16,80}}(?:{_BREAK})\Z")
_LINE_AFTER = re.compile(rf"={{0,2}}(?:{_BREAK})[A-Za-z0-9+/=]{{16}}")
_PUBLIC_BLOCK = re.compile(
    r"-----BEGIN (?:CERTIFICATE|X509|PUBLIC|RSA PUBLIC|PGP (?:PUBLIC|SIGNATURE|MESSAGE)|SSH SIG|DH)[A-Z ]{0,40}-----"
)
"""Beginning of a block of public data."""
_PUBLIC_NAME = re.compile(
    r"(?:public_?key|sha-?\d{1,3}|md5|checksum|digest|fingerprint|etag)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?\Z",
    re.IGNORECASE,
)
_CHECKSUM_START = re.compile(r"sha(?:1|224|256|384|512)-")
_CHECKSUM = re.compile(r"(?:sha-?(?:1|224|256|384|512)|md5|h1|integrity)[-:= ]\Z", re.IGNORECASE)
_ESCAPES = ("\\n", "\\r")
_PEM_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-[23]: [^\n]{1,40}")
_PEM_LINE = re.compile(
    r"(?:\\[nr]|[\s>|\"',+#*]){0,12}(?:[A-Za-z0-9+/=]{16,}|(?:Proc-Type|DEK-Info|Comment|Version|Encryption|Public-Lines"
    r"|Private-Lines|Private-MAC)[:][^\n\\]{0,200})"
)
_DIGITS = re.compile(r"[2-6]\d{3}(?:[ -]?\d){9,15}")


def find_formatted(text: str, folded: str) -> Iterator[SecretSpan]:
    """Yield the secrets that their format gives away; `folded` is the text in lower case, of the same length."""
    yield from _find_private_keys(text)
    yield from _find_urls(text)
    yield from _find_schemes(text, folded)
    yield from _find_words(text)
    yield from _find_tokens(text)
    yield from _find_webhooks(text, folded)
    yield from _find_cards(text)
    yield from _find_random(text)


def is_card_number(text: str) -> bool:
    """Return True if a text has the digits of a payment card: its length, issuer and Luhn checksum."""
    digits = "".join(filter(str.isdigit, text))
    issuer, length = int(digits[:4] or 0), len(digits)
    is_issued = (
        (length == 16 and (4000 <= issuer < 5000 or 5100 <= issuer < 5600 or 2221 <= issuer <= 2720))
        or (
            length == 16 and (issuer == 6011 or 6440 <= issuer < 6600 or 3528 <= issuer < 3590 or 6200 <= issuer < 6300)
        )
        or (length == 15 and digits.startswith(("34", "37")))
        or (length == 14 and digits.startswith(("30", "36", "38")))
    )
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2]]
    return is_issued and (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def _find_private_keys(text: str) -> Iterator[SecretSpan]:
    """Yield the lines between the marks of private keys. A key without an end mark ends with its last line."""
    if "PRIVATE KEY" not in text and "PuTTY-User" not in text:
        return
    done = 0
    for begin in _PEM_BEGIN.finditer(text):
        start = begin.end()
        if start < done:
            continue
        end = done = _private_key_end(text, start)
        while start < end and (text[start].isspace() or text.startswith(_ESCAPES, start)):
            start += 2 if text[start] == "\\" else 1
        while end > start and (text[end - 1].isspace() or text.endswith(_ESCAPES, start, end)):
            end -= 1 if text[end - 1].isspace() else 2
        if end > start:
            yield SecretSpan(start, end, "a private key")


def _private_key_end(text: str, start: int) -> int:
    close = text.find("-----END", start, start + MAX_PEM_CHARACTERS)
    if close >= 0 and (" " not in text[start:close].strip() or _PEM_LINE.match(text, start)):
        return close
    end = start
    while line := _PEM_LINE.match(text, end):
        end = line.end()
    return end


def _find_urls(text: str) -> Iterator[SecretSpan]:
    """Yield passwords and tokens before the host of a URL."""
    for at in positions(text, "://"):
        start = at + 3
        if match := _USER_INFO.match(text, start):
            size = _password_size(match["rest"])
            if size and not is_placeholder(match["rest"][:size]):
                yield SecretSpan(match.start("rest"), match.start("rest") + size, "a password")
        elif (alone := _USER_ONLY.match(text, start)) and shape_of(alone["value"]) == "random":
            yield SecretSpan(*alone.span("value"), "a token")

    for mark in ("@tcp(", "@unix(", "@//"):
        for at in positions(text, mark):
            if match := _BARE_LOGIN.search(text[max(0, at - 300) : at]):
                size = len(match["value"])
                if not is_placeholder(match["value"]):
                    yield SecretSpan(at - size, at, "a password")


def _password_size(rest: str) -> int:
    """
    Return the length of a password, given the URL after `user:`; 0 if that is a port.

    | after `user:` | password |
    | --- | --- |
    | `x9@k@db/app` | `x9@k`: the last `@` before the path |
    | `x/9@db/app` | `x/9`: the only `@` |
    | `8080/path@x` | none |
    """
    size = rest.rfind("@", 0, rest.find("/") if "/" in rest else len(rest))
    size = size if size > 0 else rest.find("@")
    if size <= 0 or _PORT.match(rest) or not _HOST.match(rest, size + 1):
        return 0
    return size


def _find_schemes(text: str, folded: str) -> Iterator[SecretSpan]:
    for at in positions(folded, "authorization"):
        header = _HEADER.match(text, at + len("authorization"))
        if header:
            yield from _find_credential(text, header.end())
    for at in positions(folded, "bearer"):
        yield from _find_credential(text, at)


def _find_credential(text: str, at: int) -> Iterator[SecretSpan]:
    """Yield the credentials of an authorization scheme that begins at a position."""
    match = _SCHEME.match(text, at)
    if match is None:
        return
    value, shape = match["value"].rstrip("."), shape_of(match["value"])
    scheme = match["scheme"].lower()
    is_basic = scheme == "basic" and shape == "word" and not value.islower()
    is_known = scheme in _SCHEMES and shape in ("mixed", "random")
    if len(value) >= MIN_CREDENTIAL_CHARACTERS and (is_basic or is_known or shape == "random"):
        yield SecretSpan(match.start("value"), match.start("value") + len(value), "a token")


def _find_words(text: str) -> Iterator[SecretSpan]:
    """Yield keys with a prefix or a fixed form."""
    for word in _LONG_WORD.finditer(text):
        start = word.start()
        if text[start - 1 : start] == "\\" and text[start] in "nrt":  # an escape in JSON
            start += 1
        if "EXAMPLE" in word[0] or _CHECKSUM.search(text[max(0, start - 12) : start]):
            continue
        if _FIXED.fullmatch(text, start, word.end()):
            yield SecretSpan(start, word.end(), "an API key")
            continue
        size = next((size for size in _LENGTHS if text[start : start + size] in _PREFIXES), 0)
        tail = _TAIL.match(text, start + size) if size else None
        has_any = tail and (
            any(c.isdigit() or c.isupper() for c in tail[0]) or (tail[0].isalpha() and len(tail[0]) >= MIN_LETTERS)
        )
        if tail and size <= MAX_SHORT_PREFIX and (len(tail[0]) < MIN_AFTER_SHORT_PREFIX or has_words(tail[0])):
            continue  # `sk_X509_pop_free`
        if tail and has_any and shape_of(tail[0]) in ("mixed", "random"):
            yield SecretSpan(start, start + size + len(tail[0].rstrip(".+/~")), "an API key")


def _find_random(text: str) -> Iterator[SecretSpan]:
    """Yield long random words outside public blocks."""
    blocks = [
        (found.start(), text.find("-----END", found.end(), found.end() + MAX_PEM_CHARACTERS))
        for found in _PUBLIC_BLOCK.finditer(text)
    ]
    blocks.reverse()
    for match in _RANDOM.finditer(text):
        start, end = match.span()
        while blocks and blocks[-1][1] < start:
            blocks.pop()
        if blocks and blocks[-1][0] < start:
            continue
        before = text[max(0, start - MAX_CONTEXT_CHARACTERS) : start]
        if before.endswith("\\") and text[start] in "nrt":
            start, before = start + 1, before + text[start]
        if before.endswith("%") and text.startswith("0A", start):
            start, before = start + 2, before + "0A"
        while folder := _FOLDER.match(text, start, end):
            start = folder.end()
        word = text[start:end]
        if len(word) <= MAX_RANDOM_WORD and is_random_word(word) and not _is_public(text, before, start, end):
            yield SecretSpan(start, end + (2 if text.startswith("==", end) else text.startswith("=", end)), "a key")


def _is_public(text: str, before: str, start: int, end: int) -> bool:
    """Return True if a random word is part of a path, a URL, a checksum, a public key or a block of data."""
    if before.endswith((".", "base64,", "#", "?B?", "?b?")) or text[start:end].startswith("AAAA"):
        return True
    if _CHECKSUM.search(before[-12:]) or _CHECKSUM_START.match(text, start) or _UUID_INSIDE.search(text, start, end):
        return True
    if _LINE_BEFORE.search(before[-90:]) or _LINE_AFTER.match(text, end):
        return True
    if _PUBLIC_NAME.search(before[-40:]):
        return True
    address = max(before.rfind("://"), before.rfind("arn:"))
    if address >= 0 and not _URL_END.search(before, address):
        return True
    line = text.rfind("\n", max(0, start - 40), start) + 1 or (0 if start < 40 else -1)
    if line < 0 or not _DATA_LINE.match(text, line):
        return False
    previous = text.rfind("\n", max(0, line - 1 - MAX_CONTEXT_CHARACTERS), max(0, line - 1)) + 1
    following = text.find("\n", end, end + 8) + 1
    is_first = not line or not _DATA_LINE.match(text, previous)
    return not (is_first and not (following and _DATA_LINE.match(text, following)))


def _find_tokens(text: str) -> Iterator[SecretSpan]:
    """Yield JSON Web Tokens, and tokens of Google and Telegram."""
    end = 0
    for at in positions(text, "eyJ"):
        match = _JWT.match(text, at) if at >= end else None
        end = match.end() if match else end
        if match and "." in match[0]:
            yield SecretSpan(at, at + len(match[0].rstrip(".")), "a token")
    for at in positions(text, "1//0"):
        if match := _GOOGLE_REFRESH.match(text, at):
            yield SecretSpan(*match.span(), "a token")
    for at in positions(text, ":A"):
        bot = _TELEGRAM_BOT.search(text[max(0, at - 10) : at])
        if bot and (match := _TELEGRAM.match(text, at)):
            yield SecretSpan(at - len(bot[0]), match.end(), "a token")


def _find_webhooks(text: str, folded: str) -> Iterator[SecretSpan]:
    for address, pattern in (*_WEBHOOKS, *_ADDRESSES):
        for at in positions(folded, address):
            if match := pattern.match(text, at + len(address)):
                yield SecretSpan(*match.span("value"), "a token")


def _find_cards(text: str) -> Iterator[SecretSpan]:
    for match in _DIGITS.finditer(text):
        start, end = match.span()
        is_whole = not (text[start - 1 : start].isalnum() or text[start - 1 : start] in tuple(".-_/"))
        if (
            is_whole
            and not (text[end : end + 1].isalnum() or text[end : end + 1] in tuple("-_/"))
            and is_card_number(match[0])
        ):
            yield SecretSpan(start, end, "a card number")
