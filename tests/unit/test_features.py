"""Features of a question: cue words are whole words, ids are not words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.search.question.read import read_question


@pytest.mark.parametrize(
    "text",
    [
        "LangGraph vs CrewAI",
        "LangGraph vs. CrewAI",
        "compare the two stores",
        "a comparison of stores",
        "what is the difference between paging and swapping",
        "is Redis faster than SQLite",
        "Redis和SQLite的区别",
        "对比Redis与SQLite",
        "比较Redis和SQLite",
        "Redis與SQLite的差異",
    ],
)
def test_comparisons_are_seen(text):
    """In English and Chinese."""
    assert read_question(text).features.comparison


@pytest.mark.parametrize(
    "text", ["canvas", "the vsync rate", "incomparable views", "比较好的方法", "TVs", "who was older"]
)
def test_cues_of_comparison_are_whole_words(text):
    """`vs` inside a word compares nothing, and 比较 before an adjective means rather."""
    assert not read_question(text).features.comparison


@pytest.mark.parametrize(
    "text",
    ["overview of caches", "a survey of memory", "summarise the incidents", "图检索综述", "介绍一下缓存", "現狀"],
)
def test_overviews_are_seen(text):
    """In English and Chinese."""
    assert read_question(text).features.overview


@pytest.mark.parametrize("text", ["the surveyor", "overviewing", "introductions", "who reviewed it"])
def test_cues_of_an_overview_are_whole_words(text):
    """A surveyor surveys nothing here."""
    assert not read_question(text).features.overview


@pytest.mark.parametrize(
    "text, ids",
    [
        ("what is SR-052?", ("SR-052",)),
        ("ERR_CONN_RESET after deploy", ("ERR_CONN_RESET",)),
        ("see https://arxiv.org/abs/2501.03236v2.", ("arXiv:2501.03236",)),
        ("paper 2501.03236 and INC-2041", ("arXiv:2501.03236", "INC-2041")),
        ("doi:10.1145/363011.363155", ("doi:10.1145/363011.363155",)),
        ("重跑gpt-4o之后", ("gpt-4o",)),
        ("two-hop questions from 1965-1970 and/or later, 3.14", ()),
        ("plain words", ()),
    ],
)
def test_ids_are_found(text, ids):
    """Paper ids are canonical; hyphenated words, years and numbers are not ids."""
    assert read_question(text).features.ids == ids


def test_quoted_text_is_found():
    """In the quotes of several languages."""
    assert read_question('who said "to be" or “not to be” in 《哈姆雷特》?').features.quoted == (
        "to be",
        "not to be",
        "哈姆雷特",
    )


def test_a_citation_question_is_seen():
    """Chinese is supported; a word that contains a cue is no cue."""
    assert read_question("who cites MAGMA").features.citation == "citing"
    assert read_question("MAGMA的参考文献").features.citation == "references"
    assert read_question("an exciting reference").features.citation == ""


def test_the_language_is_that_of_most_letters():
    """Numbers have none."""
    assert read_question("who cites MAGMA").features.language == "en"
    assert read_question("哪些论文引用了MAGMA").features.language == "zh"
    assert read_question("кто это").features.language == "cyrillic"
    assert read_question("42").features.language == ""


@given(st.text(max_size=300))
def test_any_text_has_features(text):
    """Quoted text is never empty."""
    seen = read_question(text).features

    assert all(seen.quoted)
    assert all(seen.ids)
