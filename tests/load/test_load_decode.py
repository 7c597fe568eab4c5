"""Bytes of unknown encoding become clean text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.text.decode import clean, control_share, cut_sample, decode, detect_encoding

CHINESE = "数据库服务由平台团队负责，出现故障时请联系值班工程师。"
TRADITIONAL = "資料庫服務由平臺團隊負責，出現故障時請聯絡值班工程師。"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "gb18030", "gbk"])
def test_chinese_survives_every_encoding_it_is_written_in(encoding: str) -> None:
    """The same words come back from Unicode with and without a mark, and from the national encodings."""

    assert decode(CHINESE.encode(encoding)) == CHINESE
    assert decode(TRADITIONAL.encode("gbk")) == TRADITIONAL


@pytest.mark.parametrize("text", ["café", "Größe", "Müller\n", "“so” – été", "Straße, Füße, Größe", "ÄÖÜ"])
def test_western_text_is_not_taken_for_chinese(text: str) -> None:
    """Latin letters with accents are also valid GB18030, and must not be read as such."""

    assert decode(text.encode("cp1252")) == text


def test_a_utf_16_file_without_little_end_first_is_read_by_its_mark() -> None:
    """Both byte orders have a mark."""

    assert decode(b"\xfe\xff" + "größer".encode("utf-16-be")) == "größer"


def test_one_broken_byte_does_not_garble_a_file_in_utf_8() -> None:
    """A file cut in the middle of a character is still in UTF-8."""

    assert decode(CHINESE.encode()[:-1] + b"\nend") == CHINESE[:-1] + "\ufffd\nend"


def test_control_characters_and_lone_surrogates_are_removed() -> None:
    """Tabs and line ends are kept."""

    assert clean("a\x00b\x1b[0m\tc\ud800d\x9f\r\ne\rf") == "ab[0m\tcd\ne\nf"


def test_unicode_line_separators_are_not_line_ends() -> None:
    """Editors do not count them, so line numbers would be off if we did."""

    assert clean("a\u2028b\x0cc\x85d").splitlines() == ["a b c d"]


@given(st.binary(max_size=200))
def test_any_bytes_decode(data: bytes) -> None:
    """Decoding never raises, and cleaning what is clean changes nothing."""

    text = decode(data)

    assert clean(text) == text.removeprefix("\ufeff")
    assert 0 <= control_share(data) <= 1
    text.encode("utf-8")


@given(st.integers(min_value=0, max_value=200))
def test_a_sample_cut_inside_a_character_is_still_utf_8(size: int) -> None:
    """The beginning of a long line may end in the middle of a character."""

    data = ('{"text": "' + CHINESE * 10).encode()[: 10 + size]

    assert detect_encoding(cut_sample(data)) == "utf-8"


def test_embedded_files_are_no_text() -> None:
    """A pasted picture would be dozens of chunks; a short value may be a key somebody looks for."""
    picture, key = "iVBORw0KGgo" * 300, "c2VjcmV0" * 5

    assert clean(f"![](data:image/png;base64,{picture}=) a") == "![](data:image/png;base64,…) a"
    assert clean(f"a;base64,{key}") == f"a;base64,{key}"
