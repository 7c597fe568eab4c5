"""Folding and script detection."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.text.normalise import MARKS, UNSPACED, fold, scripts, squeeze


@pytest.mark.parametrize(
    "text, folded",
    [
        ("Ｃａｆé", "cafe"),
        ("Straße", "strasse"),
        ("ŁÓDŹ", "łodz"),
        ("Ёлка", "елка"),
        ("ΌΔΟΣ", "οδοσ"),
        ("ﬁn", "fin"),
        ("कि", "कि"),
        ("が", "が"),
        ("한글", "한글"),
        ("كِتَابٌ", "كتاب"),
        ("كــتاب", "كتاب"),
        ("שָׁלוֹם", "שלום"),
        ("", ""),
    ],
)
def test_case_width_accents_and_optional_vowels_are_folded(text, folded):
    """Optional marks are removed; marks that make another letter are kept."""
    assert fold(text) == folded


@given(st.text(max_size=50))
def test_composed_and_decomposed_text_fold_alike(text):
    """Two files that look the same are the same."""
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text))


def test_white_space_is_squeezed():
    """Every kind of it, also at the ends."""
    assert squeeze(" a\t\n b\u3000c\u00a0 ") == "a b c"


def test_scripts_are_shares_of_the_letters():
    """Han and Hangul count twice, digits and marks not at all."""
    assert scripts("abcd 密钥 12!") == {"han": 0.5, "latin": 0.5}
    assert scripts("Привет") == {"cyrillic": 1.0}
    assert scripts("ＡＢＣ") == {"latin": 1.0}
    assert scripts("ひらがな") == {"kana": 1.0}
    assert scripts("ꓐꓑ") == {"other": 1.0}
    assert scripts("12 🙂 !") == {}


@given(st.text(min_size=1))
def test_shares_sum_to_one(text):
    """This is true for any text with letters."""
    shares = scripts(text)
    assert not shares or sum(shares.values()) == pytest.approx(1.0)


def test_marks_and_unspaced_scripts_share_no_character():
    """A character is analysed in one way only, and a mark is neither letter nor space."""
    mark, unspaced = re.compile(f"[{MARKS}]"), re.compile(f"[{UNSPACED}]")
    marks = [chr(code) for code in range(0x110000) if mark.match(chr(code))]

    assert len(marks) > 1500
    assert {unicodedata.category(character) for character in marks} == {"Mn", "Mc"}
    assert not any(unspaced.match(character) for character in marks)
