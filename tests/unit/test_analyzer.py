"""Index terms of a text, and questions that find the text they were taken from."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.text.analyzer import MAX_TERM_CHARACTERS, count_terms, query_terms, terms


def finds(question, text):
    """Tell whether every term of a question is one of the text's."""
    searched = query_terms(question)
    return bool(searched) and set(searched) <= set(terms(text))


@pytest.mark.parametrize(
    "question, text",
    [
        ("gpt-4o", "we tried GPT-4o today"),
        ("gpt", "gpt-4o"),
        ("4o", "gpt-4o"),
        ("C++", "written in C++."),
        ("C++", "C++17 and later"),
        ("C#", "C#/F# on .NET"),
        ("F#", "C#/F# on .NET"),
        ("c#", "a C#-based tool"),
        ("arXiv:2501.03236", "see arXiv:2501.03236."),
        ("2501.03236", "see arXiv:2501.03236"),
        ("arxiv", "arXiv:2501.03236"),
        ("ERR_CONN_RESET", "failed: ERR_CONN_RESET"),
        ("reset", "ERR_CONN_RESET"),
        ("html", "parseHTML"),
        ("parse html", "parseHTML"),
        ("request", "XMLHttpRequest"),
        ("bayes", "naïveBayes"),
        ("US", "in the U.S."),
        ("U.S.A.", "the USA and the U.S.A."),
        ("dont", "I don't"),
        ("don’t", "I don't"),
        ("john", "John's book"),
        ("neill", "O'Neill"),
        ("homme", "l'homme"),
        ("accord", "D’accord"),
        ("arte", "commedia dell'arte"),
        ("lego", "Lego™ bricks"),
        ("running", "he runs"),
        ("ＧＰＴ－４ｏ", "gpt-4o"),
        ("cafe", "Café"),
        ("Strasse", "STRAßE"),
        ("hyphen", "hy\u00adphen"),
    ],
)
def test_words_and_identifiers_are_found_whole_and_in_parts(question, text):
    """Case, width, accents and marks are ignored."""
    assert finds(question, text)


@pytest.mark.parametrize("question, text", [("2501.03236", "arXiv:2501.03236v2"), ("1.2.3", "v1.2.3")])
def test_a_dotted_number_is_a_term_inside_a_longer_one(question, text):
    """Versions and paper ids are quoted with and without what stands around them."""
    assert question in query_terms(question)
    assert question in terms(text)


@pytest.mark.parametrize(
    "question, text",
    [
        ("gen-itgc", "重跑gen-itgc后检查"),
        ("重跑", "重跑gen-itgc后检查"),
        ("后", "重跑gen-itgc后检查"),
        ("密钥", "把密钥放在环境变量里"),
        ("钥", "把密钥放在环境变量里"),
        ("ﾀｶ", "カタカナ"),
        ("ひら", "ひらがな"),
        ("국어", "한국어를 배운다"),
        ("葛城", "葛\U000e0100城市"),
        ("ภาษาไทย", "ฉันพูดภาษาไทยได้"),
        ("ພາສາ", "ຂ້ອຍເວົ້າພາສາລາວ"),
    ],
)
def test_a_word_is_found_inside_a_run_without_spaces(question, text):
    """Pairs of characters stand in for words; ASCII glued to them is apart."""
    assert finds(question, text)


@pytest.mark.parametrize(
    "word",
    ["हिन्दी", "नमस्ते", "தமிழ்", "తెలుగు", "বাংলা", "സന്ധ്യ", "Größe", "Привет", "ὁδός", "العربية", "שלום", "ქართული", "አማርኛ"],
)
def test_a_word_of_a_spaced_script_stays_in_one_piece(word):
    """Vowel signs and other marks belong to their letters."""
    assert len(terms(word)) == 1
    assert finds(word, f"… {word}, {word}!")
    assert terms(word) == terms(unicodedata.normalize("NFD", word))


def test_vowel_signs_tell_words_apart():
    """`कि` and `की` are two words, though both are one consonant with a sign."""
    assert not finds("कि", "की")
    assert not finds("คา", "คี")


def test_optional_vowels_do_not():
    """Arabic and Hebrew are searched as they are mostly written: without."""
    assert finds("كتاب", "كِتَاب")
    assert finds("שָׁלוֹם", "שלום")


def test_joiners_do_not_tear_words():
    """A zero-width joiner is not a space."""
    assert finds("می\u200cخواهم", "میخواهم")


def test_every_emoji_can_be_searched():
    """A sequence is found by its members; a flag is one thing; skin tones make no difference."""
    assert terms("👩‍💻") == ["👩", "💻"]
    assert finds("👍", "👍🏽")
    assert finds("👍🏽", "👍")
    assert finds("🇸🇪", "🇩🇪🇸🇪")
    assert not finds("🇪🇸", "🇩🇪🇸🇪")
    assert terms("❤️ ⭐ ⏰") == ["❤", "⭐", "⏰"]


def test_a_question_of_two_characters_asks_for_the_pair_alone():
    """Single characters are too common; the bigram is selective."""
    assert query_terms("密钥") == ["密钥"]
    assert query_terms("密") == ["密"]
    assert terms("密钥") == ["密", "钥", "密钥"]


@pytest.mark.parametrize(
    "text", ["", " ", "*", "\x00", "¨", "--", "'", "\ud800", "\u200d\ufe0f", "。！", "()[]{}"], ids=repr
)
def test_text_without_letters_has_no_terms(text):
    """Punctuation, lone marks and broken characters are nothing to search for."""
    assert terms(text) == []
    assert query_terms(text) == []


def test_the_end_of_a_long_path_is_found():
    """A run longer than any identifier is read as its parts, all of them."""
    path = "https://example.com/" + "/".join(f"folder{n}" for n in range(40)) + "/how-to-mend-a-kettle.html"

    assert finds("kettle", path)
    assert max(map(len, terms("x" * 5000 + "-" + "y" * 5000))) == MAX_TERM_CHARACTERS


def test_terms_count_as_often_as_they_occur():
    """BM25 needs the frequency, and a question each term once."""
    assert count_terms("dog Dogs dog's") == {"dog": 3}
    assert query_terms("dog Dogs dog's") == ["dog"]


@given(st.text())
def test_a_text_is_found_by_itself(text):
    """For any text, no error is raised, terms are short and not empty, and no question term is missing."""
    found = terms(text)

    assert set(query_terms(text)) <= set(found)
    assert all(0 < len(term) <= 4 * MAX_TERM_CHARACTERS for term in found)


@given(st.text(), st.text())
def test_texts_apart_do_not_influence_each_other(first, second):
    """A space ends every run, so terms only add up."""
    assert terms(f"{first} | {second}") == terms(first) + terms(second)


@given(st.text(alphabet=st.characters(categories=["L", "Mn", "Mc", "Nd", "Po", "Zs", "Cf", "So"])))
def test_composed_and_decomposed_texts_have_the_same_terms(text):
    """An accent is an accent, however a file system wrote it."""
    assert terms(unicodedata.normalize("NFD", text)) == terms(unicodedata.normalize("NFC", text))


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["a", "a-", "1", "1.", "'", "l'", "aB", "密", "密a", "i\u0308", "_", "C#", "👍🏽", "कि", "-._:/@&", "a ", "\u0308"],
)
def test_a_megabyte_of_anything_takes_seconds(piece):
    """No input makes the patterns try again and again."""
    text = piece * (1_000_000 // len(piece))
    start = time.process_time()
    terms(text)

    assert time.process_time() - start < 10
