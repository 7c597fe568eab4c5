"""Chinese in the analyzer and in names: script, width, mixed text, question words."""

import pytest

from weft.extract.names import match_names, name_key, words
from weft.text.analyzer import query_terms, split_at_question_words, terms
from weft.text.normalise import fold
from weft.text.simplified import _table, simplify


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [
        ("臺灣積體電路製造", "台湾积体电路制造"),
        ("圖檢索與知識圖譜", "图检索与知识图谱"),
        ("瞭解頭髮與發展", "了解头发与发展"),
        ("ＯＡｕｔｈ服務", "OAuth服务"),
        ("後來的皇后", "后来的皇后"),
    ],
)
def test_both_scripts_have_the_same_terms_and_keys(traditional, simplified):
    """A question in one script then finds a document in the other."""
    assert terms(traditional) == terms(simplified)
    assert query_terms(traditional) == query_terms(simplified)
    assert name_key(traditional) == name_key(simplified)


def test_folding_twice_changes_nothing():
    """No character is replaced by one that is replaced again, and each keeps its place."""
    every = "".join(map(chr, _table()))

    assert simplify(simplify(every)) == simplify(every)
    assert len(simplify(every)) == len(every) > 4000
    assert fold(fold(every)) == fold(every)


def test_a_part_of_a_text_is_folded_as_it_is_inside_the_whole():
    """Pairs of characters would not match otherwise."""
    text = "乾隆皇帝瞭解麵粉與麪包"

    assert simplify(text) == "".join(map(simplify, text))


@pytest.mark.parametrize("text", ["図書館の検索", "カタカナ", "검색", "plain text", "ÄÖÜ"])
def test_what_is_not_in_the_table_stays(text):
    """Kana, Hangul, letters, and characters that only Japanese has."""
    kept = [character for character in text if ord(character) not in _table()]

    assert [character for character in simplify(text) if character in kept] == kept


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("蓍的别名是什么", ["蓍", "别名"]),
        ("腾讯的总部在哪里", ["腾讯", "总部在"]),
        ("谁创立了华为", ["创立了华为"]),
        ("目的地是哪里", ["目的地"]),
        ("几何学是怎样发展的", ["几何学", "发展"]),
        ("是什么", ["是什么"]),
    ],
)
def test_question_words_split_a_run(question, parts):
    """Words such as `什么` end a run; a run of question words only stays as it is."""
    assert split_at_question_words(question) == parts


def test_question_words_count_in_documents():
    """Only questions omit them: a document may be about them."""
    assert "什么" in terms("什么是图检索")
    assert "什么" not in query_terms("什么是图检索")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("登录依赖OAuth服务吗？", "OAuth服务"),
        ("ＧＰＴ－４ｏ模型的上下文", "GPT-4o模型"),
        ("請問臺灣積體電路製造在哪", "台湾积体电路制造"),
        ("海梅·雷耶斯是谁", "海梅·雷耶斯"),
        ("Transformer模型的自注意力机制", "Transformer模型"),
    ],
)
def test_a_name_is_found_in_text_without_spaces(text, name):
    """By its key, whatever its script and width."""
    assert [key for key, _, _ in match_names(words(text), {name_key(name)})] == [name_key(name)]


def test_the_longest_name_wins():
    """`北京` is not matched inside the longer name of the university."""
    known = {"北京", "北京大学", "大学"}

    assert [key for key, _, _ in match_names(words("北京大学和北京的关系"), known)] == ["北京大学", "北京"]


@pytest.mark.parametrize(
    ("text", "is_found"), [("宋的首都", True), ("宋", True), ("宋体字", False), ("唐宋八大家", False)]
)
def test_a_single_character_counts_only_alone(text, is_found):
    """Otherwise a title of one character would be mentioned everywhere."""
    assert bool(match_names(words(text), {"宋"})) is is_found
