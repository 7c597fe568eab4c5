"""Bytes of unknown encoding to clean text."""

from __future__ import annotations

import codecs
import re

# The longer marks first: a UTF-32 mark begins with the UTF-16 one.
BYTE_ORDER_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

MIN_VALID_PER_BROKEN = 4
"""How many whole characters beyond ASCII make up for a broken one in damaged UTF-8."""
MIN_CJK_SHARE = 0.7
"""Of the non-ASCII characters, how many must be Chinese for text to pass as GB18030."""
MAX_ASCII_TRAILS = 0.4
"""Of those characters, how many may end in an ASCII byte. In Latin-1 misread as GB18030 most do: `ül`."""
MIN_RUN = 2
"""How many of those characters stand together on average. `Größe` misread has one: `Gr鲞e`."""

_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\v\f\r\x1b") + b"\x7f"
_BREAKS = re.compile("[\v\f\x85\u2028\u2029]")
_UNWANTED = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
_EMBEDDED = re.compile("(?<=;base64,)[A-Za-z0-9+/=]{200,}")
_CJK = re.compile("[\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff\uff00-\uffef]")
_NON_ASCII_RUN = re.compile("[^\x00-\x7f]+")
_HIGH_BYTES = bytes(range(0x80, 0x100))


def decode(data: bytes) -> str:
    """
    Return the text of some bytes, cleaned; never raises.

    The encoding is guessed by `detect_encoding`; bytes that do not fit it become U+FFFD.
    """
    return clean(data.decode(detect_encoding(data), errors="replace"))


def detect_encoding(data: bytes) -> str:
    """
    Return the codec that most likely wrote the bytes.

    A byte order mark decides; else UTF-8 if the bytes are nearly valid, GB18030 if they read as Chinese,
    and Windows-1252 for the rest. The beginning of a longer text goes through `cut_sample` first.
    """
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return encoding
    if _decode_strictly(data, encoding="utf-8") is not None or _is_damaged_utf_8(data):
        return "utf-8"
    chinese = _decode_strictly(data, encoding="gb18030")
    return "gb18030" if chinese is not None and _reads_as_chinese(chinese) else "cp1252"


def clean(text: str) -> str:
    r"""
    Return the text with `\\n` for every line end and without control characters and lone surrogates.

    Tabs stay. Vertical tabs, form feeds and the Unicode line separators become spaces, so that
    `split("\\n")` and `splitlines` see the same lines, which are also those an editor counts. Of a file that is
    embedded in the text as `data:image/png;base64,` the content becomes `…`: it is no text.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _EMBEDDED.sub("…", text) if ";base64," in text else text
    return _UNWANTED.sub("", _BREAKS.sub(" ", text)).removeprefix("\ufeff")


def has_byte_order_mark(data: bytes) -> bool:
    """Tell whether the bytes say themselves which Unicode encoding they are in."""
    return any(data.startswith(mark) for mark, _ in BYTE_ORDER_MARKS)


def control_share(data: bytes) -> float:
    """Return which share of the bytes, from 0 to 1, no text in a one-byte or UTF-8 encoding holds."""
    return 1 - len(data.translate(None, _CONTROLS)) / len(data) if data else 0.0


def cut_sample(data: bytes) -> bytes:
    """Return the beginning of some text without a last character or line that may have been cut."""
    return data[: data.rfind(b"\n") + 1] or data.rstrip(_HIGH_BYTES)


def _decode_strictly(data: bytes, *, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _is_damaged_utf_8(data: bytes) -> bool:
    foreign = "".join(_NON_ASCII_RUN.findall(data.decode("utf-8", errors="replace")))
    broken = foreign.count("\ufffd")
    return len(foreign) - broken >= MIN_VALID_PER_BROKEN * broken > 0


def _reads_as_chinese(text: str) -> bool:
    runs: list[str] = _NON_ASCII_RUN.findall(text)
    foreign = "".join(runs)
    trails = len(foreign.encode("gb18030").translate(None, _HIGH_BYTES))
    return (
        len(foreign) >= MIN_RUN * max(1, len(runs))
        and len(_CJK.findall(foreign)) >= MIN_CJK_SHARE * len(foreign)
        and trails <= MAX_ASCII_TRAILS * len(foreign)
    )
