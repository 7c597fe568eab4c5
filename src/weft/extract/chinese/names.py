"""
Names and terms in Chinese text, from the output of a word segmenter.

| tagged words | result |
| --- | --- |
| 格里芬/person | name 格里芬, type `person` |
| 周树/person 彬/noun | name 周树彬: most persons have three characters |
| 麒麟/name 芯片/noun | names 麒麟 and 麒麟芯片 |
| 数据/noun 模型/noun | term 数据模型 |
| `OAuth` 服务/noun | term OAuth服务 |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from weft.extract.chinese.definitions import find_other_names
from weft.extract.lexicon import ZH_GENERIC_ENDINGS
from weft.extract.phrases import MAX_TERM_CHARACTERS, Name, is_generic_term, is_label, is_term
from weft.extract.sentences import MAX_SENTENCE_CHARACTERS, Sentence
from weft.records import TaggedWord
from weft.text.normalise import HAN, KANA, is_unspaced
from weft.text.simplified import simplify

MAX_NAME_CHARACTERS = 20
"""Maximum length of a name; a longer one is a misread clause."""

MIN_TERM_CHARACTERS = 3
"""Minimum length of a term; a shorter one is too general."""

MIN_JAPANESE_KANA = 3
"""Number of kana from which a sentence is Japanese. A Chinese sentence may contain a decorative `の`."""

FUNCTION_CHARACTERS = (
    "说說是在和与與及之等的了曾也又就于於由对對从從至任为為同以有将將被把让讓向给給跟或但而且则則即因所其该該此这這那他她们們不没沒还還都只"
    "很最更已便着著过過来來去上下中里裡外内內前后後时時人者家称稱名字号號作写寫生卒死任兼率领領受获獲得出入到回先再才"
)
"""Characters that may follow the name of a person and are not part of it."""

_HAN = re.compile(f"[{HAN}]")
_KANA = re.compile(f"[{KANA}]")
_HAN_ONLY = re.compile(f"[{HAN}·]{{2,}}")
_GIVEN = re.compile(f"(?![{FUNCTION_CHARACTERS}])[{HAN}]")
_COMMON = re.compile("[文语語元币幣率账賬额額值量级級类類型制法学學]")
_NAMED = frozenset({"person", "place", "organisation", "work", "name"})
_IN_TERM = frozenset({"noun", "name"})
_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪"
    "范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤温康施文牛樊葛邢安齐易乔伍庞颜倪"
    "庄聂章鲁岳翟殷詹申欧耿关兰焦俞左柳甘祝包宁尚符舒阮柯纪梅童凌毕单季裴霍涂成苗谷盛曲翁冉骆蓝路游辛靳欧管柴蒙鲍华喻祁蒲"
    "房滕屈饶解牟艾尤阳时穆农司卓古吉缪简车项连芦麦褚娄窦戚岑景党宫费卜冷晏席卫米柏宗瞿桂全佟应臧闵苟邬边卞姬师和仇栾隋商"
    "刁沙荣巫寇桑郎甄丛仲虞敖巩明佘池查麻苑迟邝"
)
"""First characters of the names of most Chinese persons."""
_TRANSLITERATION = frozenset(
    "阿埃艾爱安昂奥巴白拜班邦鲍贝本比彼宾波伯博布查德达大戴丹道登邓迪蒂丁杜敦顿多厄恩尔法范菲费芬冯弗福夫富盖冈高戈哥格葛"
    "根古哈海罕汉豪赫黑亨胡华霍基吉季加贾简杰金卡凯坎康考柯科克肯孔库夸昆拉莱赖兰朗劳勒雷黎李里丽利莉连列林琳刘龙隆卢鲁路"
    "露伦罗洛吕马玛麦迈曼梅门蒙米密敏明摩莫默姆慕穆纳娜南内尼年涅宁牛纽农努诺欧帕潘庞培佩彭蓬皮平珀普齐奇契恰强乔切琴青丘"
    "琼让热日荣儒瑞若撒萨塞赛桑瑟森沙山尚绍舍申圣施什士史舒斯松苏索塔泰坦唐陶特腾提田廷通图托瓦万旺威韦维魏温文沃乌武西希锡"
    "夏香肖谢辛欣雄休修雪逊雅亚延扬杨尧耶叶伊因英永尤于约越云泽曾扎詹张哲珍芝治朱祖佐·"
)
"""Characters of which transliterated names consist."""
_PLACE_ENDINGS = tuple("省市县区州国山河湖江海岛峰路镇村湾洲城府郡都京桥港宫塔寺园街道关谷原漠洋岭")
_ORGANISATION_ENDINGS = tuple(
    "公司 集团 企业 大学 学院 中学 小学 银行 医院 法院 研究院 研究所 协会 学会 委员会 联盟 联合会 基金会 "
    "组织 机构 局 部 厅 署 社 队 党 军 团 厂 馆 俱乐部 乐队 工作室 实验室 政府 议会 国会 王朝".split()
)
MIN_CLEAR_CHARACTERS = 4
"""Length from which a place or an organisation needs no typical ending."""


def has_han(text: str) -> bool:
    """Return True if a text contains a Chinese character."""
    return _HAN.search(text) is not None


def is_chinese(text: str) -> bool:
    """Return True if a text is Chinese: it contains Chinese characters and is not Japanese."""
    return has_han(text) and len(_KANA.findall(text[:MAX_SENTENCE_CHARACTERS])) < MIN_JAPANESE_KANA


def find_tagged_names(sentence: Sentence, words: Sequence[TaggedWord], names: Sequence[Name]) -> list[Name]:
    """
    Return `names` and the names that the tagger found in a sentence, in order.

    Persons, places, organisations, works and other proper nouns are names with a type. Two or more nouns in a row, and
    a Latin name followed by a noun (`OAuth服务`), are terms.

    """
    words = [_as_noun(sentence.text, word) for word in words]
    taken = [(name.start, name.end) for name in names if name.kind != "quoted"]
    quoted = [(name.start, name.end) for name in names if name.kind == "quoted"]
    aliases = [
        (item.start, item.start + len(item.name))
        for item in find_other_names(sentence.text, names, end=MAX_SENTENCE_CHARACTERS)
    ]
    quoted += aliases
    found = [_known(name, words) if is_unspaced(sentence.text) else name for name in names]
    for name in [
        *_proper(sentence.text, _complete(sentence.text, words)),
        *_terms(sentence.text, words),
        *_mixed(sentence.text, words, names),
    ]:
        is_inside = any(start <= name.start and name.end <= end for start, end in [*taken, *quoted])
        crosses = any(start < name.end and name.start < end for start, end in quoted)
        if not is_inside and not crosses:
            found.append(name)
    return sorted(found, key=lambda name: (name.start, -name.end))


def _as_noun(text: str, word: TaggedWord) -> TaggedWord:
    """Return a language, currency, measure or field of study as a noun; the tagger marks them as proper nouns."""
    is_common = word.kind == "name" and _COMMON.match(text, word.end - 1, word.end)
    return replace(word, kind="noun") if is_common else word


def _known(name: Name, words: Sequence[TaggedWord]) -> Name:
    """Return a Latin phrase or identifier as a name if the tagger marks it as a name: `Milvus`."""
    if name.kind not in ("phrase", "identifier"):
        return name
    is_named = any(word.kind in _NAMED for word in words if word.start < name.end and name.start < word.end)
    return replace(name, kind="name") if is_named else name


def _complete(text: str, words: Sequence[TaggedWord]) -> list[TaggedWord]:
    """Return the words with a single character appended to a person of two, unless it is a function character."""
    found: list[TaggedWord] = []
    for word, after in zip_longest(words, words[1:]):
        is_short = word.kind == "person" and word.end - word.start == 2
        if is_short and after and after.end - after.start == 1 and _GIVEN.match(text, after.start):
            word = replace(word, end=after.end)
        found.append(word)
    return found


def _proper(text: str, words: Sequence[TaggedWord]) -> Iterator[Name]:
    for word in words:
        name = text[word.start : word.end]
        if word.kind not in _NAMED or len(name) > MAX_NAME_CHARACTERS or not _HAN_ONLY.fullmatch(name):
            continue
        if simplify(name) in ZH_GENERIC_ENDINGS or is_label(simplify(name)):
            continue
        yield Name(name, word.start, word.end, "name", "" if word.kind == "name" else word.kind)


def is_clear_name(name: str, kind: str) -> bool:
    """Return True if the characters of a tagged name are typical for its kind: `person`, `place` …, or empty."""
    name = simplify(name)
    if not is_term(name.replace("·", "")[:MAX_TERM_CHARACTERS]) or is_generic_term(name):
        return False
    if kind == "person":
        is_foreign = len(name) > 2 and _TRANSLITERATION.issuperset(name)
        return is_foreign or (name[0] in _SURNAMES and len(name) <= MIN_CLEAR_CHARACTERS)
    if kind == "place":
        is_foreign = len(name) > 2 and _TRANSLITERATION.issuperset(name)
        return is_foreign or len(name) >= MIN_CLEAR_CHARACTERS or name.endswith(_PLACE_ENDINGS)
    if kind == "organisation":
        return len(name) >= MIN_CLEAR_CHARACTERS or name.endswith(_ORGANISATION_ENDINGS)
    return kind == "work" or len(name) > 2


def _terms(text: str, words: Sequence[TaggedWord]) -> Iterator[Name]:
    run: list[TaggedWord] = []
    for word in [*words, None]:
        if word is not None and word.kind in _IN_TERM and _HAN_ONLY.fullmatch(text[word.start : word.end]):
            run.append(word)
            continue
        if word is not None and word.kind in _IN_TERM and run and word.end - word.start == 1:
            run.append(word)  # the `窟` of `石窟`
            continue
        if len(run) > 1:
            name = text[run[0].start : run[-1].end]
            if len(name) >= MIN_TERM_CHARACTERS and is_term(name) and not is_generic_term(name):
                # a proper noun and its kind: `麒麟芯片`
                is_name = [word.kind for word in run] == ["name", "noun"]
                yield Name(name, run[0].start, run[-1].end, "name" if is_name else "term")
        run = []


def _mixed(text: str, words: Sequence[TaggedWord], names: Sequence[Name]) -> Iterator[Name]:
    """Yield Latin names with the noun after them: `GPT-4o模型`."""
    starts = {word.start: word for word in words if word.kind == "noun"}
    for name in names:
        noun = starts.get(name.end)
        if name.kind in ("identifier", "phrase") and noun and not _HAN.search(name.text):
            yield Name(text[name.start : noun.end], name.start, noun.end, "term")
