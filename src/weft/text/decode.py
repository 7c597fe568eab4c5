"""Detection of text encodings, and removal of control characters."""

from __future__ import annotations

import codecs
import re

# Longer byte order marks first: the UTF-32 mark begins with the UTF-16 mark.
BYTE_ORDER_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

MIN_VALID_PER_BROKEN = 4
"""Minimum number of valid non-ASCII characters per invalid one in UTF-8 text."""
MIN_CJK_SHARE = 0.7
"""Smallest share of CJK among the non-ASCII characters of GB18030 text."""
MAX_ASCII_TRAILS = 0.4
"""Largest share of CJK characters whose second byte is ASCII. Latin-1 text misread as GB18030 has more: `ül`."""
MIN_MEAN_RUN = 2
"""Smallest mean length of a run of CJK characters. `Größe` misread as GB18030 has runs of one: `Gr鲞e`."""

_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\v\f\r\x1b") + b"\x7f"
_BREAKS = re.compile("[\v\f\x85\u2028\u2029]")
_UNWANTED = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
_EMBEDDED = re.compile("(?<=;base64,)[A-Za-z0-9+/=]{200,}")
_CJK = re.compile("[\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff\uff00-\uffef]")
_NON_ASCII_RUN = re.compile("[^\x00-\x7f]+")
_HIGH_BYTES = bytes(range(0x80, 0x100))


def decode(data: bytes) -> str:
    """
    Return the cleaned text of `data`. Never raises.

    `detect_encoding` chooses the encoding; invalid bytes become U+FFFD.
    """
    return clean(data.decode(detect_encoding(data), errors="replace"))


def detect_encoding(data: bytes) -> str:
    """
    Return the name of the most likely codec.

    A byte order mark decides. Without one, the codec is UTF-8 if the bytes are almost valid UTF-8, GB18030 if they
    decode to Chinese, else Windows-1252. Pass the beginning of a longer file through `cut_sample` first.
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

    Tabs stay. Vertical tabs, form feeds and Unicode line separators become spaces: `split("\\n")`, `splitlines` and
    editors then count the same lines. The base64 content of a data URL becomes `…`.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _EMBEDDED.sub("…", text) if ";base64," in text else text
    return _UNWANTED.sub("", _BREAKS.sub(" ", text)).removeprefix("\ufeff")


def has_byte_order_mark(data: bytes) -> bool:
    """Return True if the bytes begin with a byte order mark."""
    return any(data.startswith(mark) for mark, _ in BYTE_ORDER_MARKS)


def control_share(data: bytes) -> float:
    """Return the share of bytes, 0 to 1, that are control characters and do not occur in 8-bit or UTF-8 text."""
    return 1 - len(data.translate(None, _CONTROLS)) / len(data) if data else 0.0


def cut_sample(data: bytes) -> bytes:
    """Return the bytes up to the last complete line, or else up to the last complete character."""
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
        len(foreign) >= MIN_MEAN_RUN * max(1, len(runs))
        and len(_CJK.findall(foreign)) >= MIN_CJK_SHARE * len(foreign)
        and trails <= MAX_ASCII_TRAILS * len(foreign)
    )
