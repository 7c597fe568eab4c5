"""Patterns for plain text match what the general ones match."""

from hypothesis import given
from hypothesis import strategies as st

from weft.extract import names, phrases
from weft.text import analyzer

LATIN = st.text("aBé ß9_.-'’&:/@\\+#,(–")


def matches(pattern, text):
    return [match.group() for match in pattern.finditer(text)]


@given(LATIN)
def test_latin_texts_have_the_same_words(text):
    """The analyzer, the search of names and their keys."""
    assert names.is_plain(text)
    assert analyzer._PLAIN_WORD.findall(text) == matches(analyzer._TOKEN, text)
    assert names._word_pattern(text).findall(text) == matches(names._WORD, text)
    unsigned = text.replace("+", "").replace("#", "")
    assert matches(phrases._PLAIN_TOKEN, unsigned) == matches(phrases._TOKEN, unsigned)
