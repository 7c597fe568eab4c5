"""Patterns for plain text match what the general ones match."""

from hypothesis import given
from hypothesis import strategies as st

from weft.extract import names, phrases, sentences
from weft.text import analyzer

LATIN = st.text("aBé ß9_.-'’&:/@\\+#,(–")
MARKED = st.text("ab: [](){}`*~_<>$\\!-/htps0")


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


@given(MARKED)
def test_text_without_the_characters_of_markup_has_none(text):
    """Nothing is searched in it."""
    if "://" not in text and not sentences._MARKUP.search(text):
        assert sentences._INLINE.search(text) is None
