"""Extraction from Chinese text by rules, with and without a tagger."""

import pytest
from extracting import aliases, extract, make_chunk, names, stated_relations

from weft.extract.chinese.names import find_tagged_names
from weft.extract.phrases import find_names
from weft.extract.rules import RuleExtractor
from weft.extract.sentences import Sentence, read_sentences
from weft.records import Document, TaggedWord

KINDS = {"P": "person", "L": "place", "O": "organisation", "W": "work", "Z": "name", "n": "noun", "x": "other"}


class ScriptedTagger:
    """Knows some words; every other character is a word of its own."""

    name = "scripted-1"

    def __init__(self, **kinds):
        self._kinds = {word: KINDS[kind] for kind, words in kinds.items() for word in words.split()}

    def tag(self, text):
        found, at = [], 0
        while at < len(text):
            word = max((w for w in self._kinds if text.startswith(w, at)), key=len, default=text[at])
            found.append(TaggedWord(start=at, end=at + len(word), kind=self._kinds.get(word, "other")))
            at += len(word)
        return found


def read(text, *, title="", **kinds):
    """Return the extraction of one text by rules and a tagger that knows these words."""
    document = Document(source="x", title=title, text=text)
    return RuleExtractor(ScriptedTagger(**kinds)).extract(document, [make_chunk(text)])[0]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("他来了。你呢？好！走吧；再见", ["他来了。", "你呢？", "好！", "走吧；", "再见"]),
        ("她问：「好嗎？」沒人回答。", ["她问：「好嗎？」", "沒人回答。"]),
        ("他说“行。”然后走了。", ["他说“行。”", "然后走了。"]),
        ("后来……没有人知道。", ["后来……", "没有人知道。"]),
        ("真的吗？！是的。", ["真的吗？！", "是的。"]),
        ("电影《救命！》上映了。", ["电影《救命！》上映了。"]),
    ],
)
def test_chinese_sentences_end_at_their_marks(text, sentences):
    """Closing quotes belong to the sentence; a mark inside a title ends nothing."""
    assert [sentence.text for sentence in read_sentences(text, form="text")] == sentences


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("图检索（Graph Retrieval）是一种方法。", [("Graph Retrieval", "图检索")]),
        ("知识图谱（Knowledge Graph，简称KG）是语义网络。", [("Knowledge Graph", "知识图谱"), ("KG", "知识图谱")]),
        ("知識圖譜（英語：Knowledge Graph）很有用。", [("Knowledge Graph", "知识图谱")]),
        ("Graph Retrieval（图检索）很快。", [("图检索", "graph retrieval")]),
        ("量子纠缠，又称量子缠结，是一种现象。", [("量子缠结", "量子纠缠")]),
        ("薯片，又名洋芋片、土豆片，是一种零食。", [("洋芋片", "薯片"), ("土豆片", "薯片")]),
        ("所谓注意力机制，是指一种方法，又称注意力模型。", []),
        ("台積電，簡稱積電，是一家公司。", [("積電", "台积电")]),
    ],
)
def test_other_names_are_read(text, pairs):
    """Translations and abbreviations in brackets, `又称` and its like, in both scripts."""
    assert sorted(aliases(extract(text, title="Notes", form="text"))) == sorted(pairs)


@pytest.mark.parametrize(
    "text", ["时间线（UTC）如下。", "大小为二十（GB）。", "结果很好（见下文）。", "他被称为天才。"]
)
def test_remarks_are_no_other_names(text):
    """Units, remarks, and praise without quotation marks."""
    assert aliases(extract(text, title="Notes", form="text")) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("图检索是一种检索方法。", "图检索"),
        ("所谓图检索，是指利用图寻找文档。", "图检索"),
        ("圖檢索是指利用圖尋找文件。", "圖檢索"),
        ("会话存储指的是保存状态的组件。", "会话存储"),
        ("《红楼梦》，又名《石头记》，是一部小说。", "红楼梦"),
    ],
)
def test_definitions_make_entities(text, name):
    """Without a tagger, in the middle of any document."""
    assert name in names(extract(text, title="Notes", form="text"), "definition")


def test_a_first_sentence_gives_its_subject_other_names():
    """Sentences without a verb, and epithets in quotation marks, are included."""
    text = "袁隆平，生于北京，中国工程院院士，被誉为“杂交水稻之父”。"

    assert aliases(extract(text, title="袁隆平", form="text")) == [("杂交水稻之父", "袁隆平")]


def test_a_text_without_title_is_about_what_it_defines():
    """The rule is the same as in English."""
    extraction = extract("量子纠缠是一种量子现象。", title="", form="text")

    assert [n.name for n in extraction.candidates if n.about] == ["量子纠缠"]


def test_titles_of_works_are_names_at_once():
    """Book-title marks leave no doubt, with or without a tagger."""
    assert names(extract("他读过《阿Q正传》。", title="Notes", form="text"), "name") == ["阿Q正传"]


def test_japanese_is_not_tagged():
    """The tagger knows Chinese: it takes `名前`, a word for a name, for a person. A single kana makes no Japanese."""
    assert names(read("カフェの名前はエレファント。", P="名前"), "name") == []
    assert names(read("王建国喜欢茶の味。", P="王建国"), "name") == ["王建国"]


def test_a_tagger_proposes_names_with_types():
    """Persons, places and organisations stand alone; nouns in a row are terms, which need a second document."""
    text = "张勇在杭州创办阿里巴巴，使用知识图谱。复旦大学"
    extraction = read(text, P="张勇", L="杭州", O="阿里巴巴 复旦大学", n="知识 图谱")

    typed = [(n.name, n.kind, n.type) for n in extraction.candidates]
    assert ("张勇", "name", "person") in typed
    assert ("杭州", "name", "place") in typed
    assert ("阿里巴巴", "name", "") in typed  # nothing in the name says what it is
    assert ("复旦大学", "name", "organisation") in typed
    assert ("知识图谱", "term", "") in typed


@pytest.mark.parametrize(
    ("text", "name", "kind", "type"),
    [
        ("谢杏芳夺冠。", "谢杏芳", "P", "person"),
        ("约翰·汉考克签字。", "约翰·汉考克", "P", "person"),
        ("满意度高达。", "高达", "P", ""),
        ("曾巩弟来了，曾巩走了。", "曾巩弟", "P", ""),
        ("安大略人口。", "安大略", "P", ""),
        ("滋贺县下雪。", "滋贺县", "L", "place"),
        ("在弗吉尼亚州。", "尼亚州", "L", ""),
        ("马达加斯加下雪。", "马达加斯", "L", ""),
        ("大城市下雪。", "大城市", "L", ""),
        ("哈佛学院招生。", "哈佛学院", "O", "organisation"),
        ("国家法院裁定。", "国家法院", "O", ""),
        ("世纪之交。", "世纪", "O", ""),
    ],
)
def test_a_chinese_name_has_a_type_only_if_its_characters_are_typical(text, name, kind, type):
    """A word that is also a verb, a part of a longer name or a general noun has none."""
    assert {n.type for n in read(text, **{kind: name}).candidates if n.name == name} == {type}


def test_a_gloss_in_brackets_makes_no_name_of_a_word():
    """In a text with code `模板 (template)` only explains a word."""
    text = "见 `a`。模板 (template) 与单页应用 (SPA) 不同，单页应用更快。在于减少源文件 (lazy loading) 的数量。"
    found = {n.name for n in read(text).candidates if n.kind == "abbreviation"}
    assert {"单页应用", "SPA"} <= found
    assert not found & {"模板", "template", "于减少源文件"}


def test_a_name_of_three_characters_is_completed():
    """The model often leaves off the last one; a small word behind a name is none."""
    assert names(read("由马化腾于深圳创立。", P="马化", L="深圳"), "name") == ["马化腾", "深圳"]
    assert names(read("马云说过。", P="马云"), "name") == ["马云"]


def test_mixed_names_are_terms():
    """A Latin name with a noun behind it, and a proper noun with its kind."""
    sentence = Sentence("我们调用OAuth服务和麒麟芯片。")
    tagged = ScriptedTagger(n="服务 芯片", Z="OAuth 麒麟").tag(sentence.text)

    found = {(name.text, name.kind) for name in find_tagged_names(sentence, tagged, find_names(sentence))}
    assert {("OAuth服务", "term"), ("OAuth", "name"), ("麒麟芯片", "name")} <= found


def test_what_a_name_is_given_as_is_not_cut():
    """`原名周树人` is one name whatever the tagger makes of it."""
    found = names(read("鲁迅，原名周树人，浙江人。", title="鲁迅", P="鲁迅 周树", L="浙江"), "name", "abbreviation")

    assert found == ["周树人", "浙江"]


def test_a_full_and_a_short_name_are_other_names_of_the_title():
    """`腾讯控股有限公司` for `腾讯`, `莫高窟` for `敦煌莫高窟`."""
    full = read("腾讯控股有限公司于1998年成立。", title="腾讯", O="腾讯控股有限公司")
    short = read("莫高窟坐落于敦煌。", title="敦煌莫高窟", L="莫高窟 敦煌")

    assert aliases(full) == [("腾讯控股有限公司", "腾讯")]
    assert aliases(short) == [("莫高窟", "敦煌莫高窟")]


@pytest.mark.parametrize(
    ("text", "triple"),
    [
        ("澳大利亚的首都是堪培拉。", ("堪培拉", "capital_of", "澳大利亚")),
        ("堪培拉是澳大利亚的首都。", ("堪培拉", "capital_of", "澳大利亚")),
        ("腾讯由马云于1998年在深圳创立。", ("腾讯", "founded_by", "马云")),
        ("饿了么由阿里巴巴收购。", ("饿了么", "acquired_by", "阿里巴巴")),
        ("阿里巴巴收购了饿了么。", ("饿了么", "acquired_by", "阿里巴巴")),
        ("騰訊總部位於深圳。", ("腾讯", "located_in", "深圳")),
        ("马云1964年出生于杭州。", ("马云", "born_in", "杭州")),
        ("《茶馆》的作者是老舍。", ("茶馆", "written_by", "老舍")),
        ("《茶馆》是老舍创作的话剧。", ("茶馆", "written_by", "老舍")),
        ("梁思成，建筑学家，妻子是林徽因。", ("梁思成", "married_to", "林徽因")),
        ("悉尼由美国建筑师格里芬设计。", ("悉尼", "designed_by", "格里芬")),
    ],
)
def test_common_statements_are_relations(text, triple):
    """Kept in one direction, in both scripts."""
    known = {
        "P": "马云 老舍 林徽因 梁思成 格里芬",
        "L": "澳大利亚 堪培拉 深圳 杭州 悉尼 美国",
        "O": "腾讯 騰訊 饿了么 阿里巴巴",
        "x": "创作 收购 设计",
    }

    assert triple in stated_relations(read(text, title="Notes", **known))


@pytest.mark.parametrize("text", ["堪培拉位于悉尼与墨尔本之间。", "悉尼的首都不是堪培拉吗", "微信由团队在深圳开发。"])
def test_what_is_not_said_is_no_relation(text):
    """Between two places is in neither; a place does nothing."""
    assert stated_relations(read(text, title="Notes", L="堪培拉 悉尼 墨尔本 深圳", O="微信")) == []


def test_the_name_of_the_extractor_says_who_reads_chinese():
    """Documents are then read again after the extra is installed."""
    assert RuleExtractor(ScriptedTagger()).name == f"{RuleExtractor().name}+scripted-1"


def test_languages_currencies_and_measures_are_no_names():
    """The tagger calls them proper nouns."""
    extraction = read("搜索中文页面的召回率以欧元计。", Z="中文 召回率 欧元", n="页面")

    assert names(extraction, "name") == []
    assert names(extraction, "term") == ["中文页面"]
