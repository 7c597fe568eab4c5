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
_TRANSLITERATION = frozenset(
    "阿埃艾爱安昂奥巴白拜班邦鲍贝本比彼宾波伯博布查德达大戴丹道登邓迪蒂丁杜敦顿多厄恩尔法范菲费芬冯弗福夫富盖冈高戈哥格葛"
    "根古哈海罕汉豪赫黑亨胡华霍基吉季加贾简杰金卡凯坎康考柯科克肯孔库夸昆拉莱赖兰朗劳勒雷黎李里丽利莉连列林琳刘龙隆卢鲁路"
    "露伦罗洛吕马玛麦迈曼梅门蒙米密敏明摩莫默姆慕穆纳娜南内尼年涅宁牛纽农努诺欧帕潘庞培佩彭蓬皮平珀普齐奇契恰强乔切琴青丘"
    "琼让热日荣儒瑞若撒萨塞赛桑瑟森沙山尚绍舍申圣施什士史舒斯松苏索塔泰坦唐陶特腾提田廷通图托瓦万旺威韦维魏温文沃乌武西希锡"
    "夏香肖谢辛欣雄休修雪逊雅亚延扬杨尧耶叶伊因英永尤于约越云泽曾扎詹张哲珍芝治朱祖佐·"
)
"""Characters of which transliterated names consist."""
_PLAIN_SURNAMES = frozenset(
    "王李张刘陈杨赵马吴周徐孙朱胡郭何罗郑梁谢宋唐许韩冯邓曹彭曾肖董袁潘蒋蔡程苏魏吕丁沈姚卢姜崔钟谭陆汪范廖贾韦邹孟薛闫"
    "贺顾郝龚邵覃戴倪庄聂岳詹欧耿焦俞祝阮柯骆"
)
"""Surnames that are rarely the first character of another word: not `高`, `向`, `叶`."""
_LONG_SURNAMES = _PLAIN_SURNAMES | frozenset("黄林高夏钱史毛方万孔尹龙白温杜余")
"""Surnames that are rarely the first character of another word of three characters."""
_PLACE_ENDINGS = tuple("省市县区州国山河湖江海岛峰路镇村湾洲府郡都港街关岭")
_COMMON_PLACES = tuple("分区 地区 市区 县府 政府 全国 各国 外国 两国 列国 帝国 王国".split())
_ORGANISATION_ENDINGS = tuple(
    "公司 集团 企业 大学 学院 中学 小学 银行 医院 法院 研究院 研究所 协会 学会 委员会 联盟 联合会 基金会 "
    "组织 机构 局 厅 署 出版社 报社 通讯社 队 党 空军 陆军 海军 厂 "
    "俱乐部 乐队 工作室 实验室 政府 议会 国会 电视台 骑士团".split()
)
_COMMON_OWNERS = tuple(
    "国家 特区 联邦 地方 中央 当地 民间 私人 国有 跨国 临时 反对 执政 国际 全国 各级 上市 关联 投资 军事 理工 自治区 "
    "重点 工业 技术 商业 科技 艺术 旗下 省 市 县".split()
)
"""Words before the kind of an organisation that do not make it a name: `国家法院`."""
_DEPLOYMENTS = ("部署",)
"""Endings of verbs that look like offices: `部署` is no `署`."""
_NOT_FIRST = frozenset("任如由在与和对从为被今诸各本该大小主两每某其")
"""First characters of a misread name: `任邮电部`, `诸属国`, `大城市`."""
_NO_PERSONS = tuple("氏家朝族人王帝后派军")
_NO_PLACES = ("文", "语", "族", "人", "派", "伊斯兰")
MIN_OWNER_CHARACTERS = 2
"""Minimum number of characters before the kind of an organisation."""
MAX_SHORT_PLACE = 2
"""A transliterated place of at most this many characters needs a typical ending."""


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
    """
    Return True if the characters of a tagged name are typical for its kind.

    | kind | typical | not typical |
    | --- | --- | --- |
    | `person` | `约翰·汉考克`, `谢杏芳`, `刘瑾` | `向西`, `函子`, and `安大略`, which may be a place |
    | `place` | `滋贺县`, `意大利` | `英国卷`, `联合政府` |
    | `organisation` | `哈佛学院`, `英国政府` | `世纪`, `国家法院` |
    """
    name = simplify(name)
    if not is_term(name.replace("·", "")[:MAX_TERM_CHARACTERS]) or is_generic_term(name) or name[0] in _NOT_FIRST:
        return False
    is_foreign = _TRANSLITERATION.issuperset(name)
    match kind:
        case "person" if "·" in name:
            return "·" not in (name[0], name[-1]) and name[0] in _TRANSLITERATION
        case "person":
            surnames = {2: _PLAIN_SURNAMES, 3: _LONG_SURNAMES}.get(len(name), frozenset())
            return name[0] in surnames and not is_foreign and not name.endswith(_NO_PERSONS)
        case "place" if is_foreign:
            return len(name) > MAX_SHORT_PLACE and not name.endswith(_NO_PLACES)
        case "place":
            return name.endswith(_PLACE_ENDINGS) and not name.endswith(_COMMON_PLACES)
        case "organisation":
            owner = next((name[: -len(end)] for end in _ORGANISATION_ENDINGS if name.endswith(end)), "")
            is_one = not any(character in owner for character in "和与及") and not name.endswith(_DEPLOYMENTS)
            return is_one and len(owner) >= MIN_OWNER_CHARACTERS and not owner.endswith(_COMMON_OWNERS)
        case _:
            return kind == "work"


def shown_type(name: Name, sentence: str, text: str) -> str:
    """
    Return the type of a name of a text; empty if a Chinese name may be of another type, or a part of a longer name.

    One in ten types of the tagger is wrong or more; no type is better than a wrong one.
    """
    if not name.type or not has_han(name.text):
        return name.type
    before, after = sentence[max(0, name.start - 1) : name.start], sentence[name.end : name.end + 1]
    is_part = name.text[0] in _TRANSLITERATION and before in _TRANSLITERATION  # `弗吉|尼亚州`
    is_cut = name.text[-1] in _TRANSLITERATION and after in _TRANSLITERATION  # `马达加斯|加`
    if is_part or is_cut or not is_clear_name(name.text, name.type):
        return ""
    is_completed = name.type == "person" and len(name.text) == len("曾巩弟")
    return "" if is_completed and text.count(name.text) < text.count(name.text[:-1]) else name.type


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
