"""
Definitions and aliases in Chinese sentences. Text is converted to simplified characters first.

| sentence | result |
| --- | --- |
| `知识图谱是一种数据模型。` | 知识图谱 has type 数据模型 |
| `华为是总部位于深圳的通信设备公司。` | 华为 has type 通信设备公司, if 华为 is a clear name |
| `鲁迅，原名周樟寿，是…` | 周樟寿 is an alias of 鲁迅 |
| `袁隆平被誉为“杂交水稻之父”` | 杂交水稻之父 is an alias: it is quoted |
| `知识图谱（Knowledge Graph，简称KG）` | Knowledge Graph and KG are aliases |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from weft.extract.lexicon import NO_ACRONYMS, SMALL_WORDS
from weft.extract.phrases import Name, is_term, is_usable
from weft.text.normalise import CJK, HAN
from weft.text.simplified import simplify

MAX_ASIDES = 4
"""Maximum number of brackets and insertions between a name and its definition."""

MAX_ALIAS_DISTANCE = 200
"""Maximum distance of an alias from its name, in characters."""

_ALIAS_CUES = (
    "又称之?为?|又名|又叫做?|也叫做?|也称之?为?|亦称|亦作|或称|简称为?|俗称为?|俗名|原名|本名|旧称|古称|古名|初名"
    "|别名|别称为?|通称|全称|全名|英文名?称?为?|英语|缩写为?|学名|被称为|被誉为"
)
_QUOTED_CUES = ("被称为", "被誉为")
"""Cues that introduce a name only in quotation marks: `被誉为“杂交水稻之父”`."""
_ASIDE = re.compile(rf"\s?[(（][^()（）]{{0,160}}[)）]|[，,](?:{_ALIAS_CUES})[^，,。；;]{{1,60}}(?=[，,])")
_IS = re.compile(r"\s?[，,]?(?P<clear>是指|指的是|是一[种个款家位部座项类条本套名所支篇首])|\s?[，,]?(?P<plain>是)")
_END = re.compile("[，。；、,;：:（(]")
_NOUN = re.compile(f"[{CJK}]{{2,6}}")
_CLASSES = (
    "公司 集团 企业 大学 学院 中学 城市 首都 河流 山脉 湖泊 岛屿 国家 省份 作家 小说家 诗人 画家 导演 演员 歌手 "
    "科学家 物理学家 数学家 化学家 政治家 军事家 企业家 工程师 建筑师 运动员 小说 电影 电视剧 话剧 歌曲 专辑 游戏 "
    "软件 操作系统 数据库 算法 模型 协议 框架 技术 方法 组件 服务 药物 植物 动物 疾病 语言 货币 组织 机构 团队 系统 "
    "工具 平台 网站 杂志 报纸 车站"
).split()
"""Types at the end of a phrase of more than six characters: `全球通信设备公司` is a `公司`."""

_CUE = re.compile(rf"(?P<cue>{_ALIAS_CUES})[:：]?\s?[“‘「《\"]?\s?")
_RUN = re.compile(f"[{HAN}·]{{2,12}}")
_LIST = re.compile(r"[”’」》\"]?(?:[、]|\s?(?:和|及|或|以及|或称|又称)\s?)[“‘「《\"]?")
_STOP = re.compile("[，,。；;（）()、“”「」《》]|是|和|及|或|，")
_BRACKET = re.compile(r"\s?[(（]([^()（）]{1,160})[)）]")
_LEAD = re.compile(rf"(?:{_ALIAS_CUES}|英语|法语|德语|日语|拉丁语|俄语)\s?[:：]?\s?")
_LATIN = re.compile(r"[A-Za-z][\w.&+'-]*(?: [\w.&+'-]+){0,5}")
_BETWEEN = re.compile(rf"(?:{_ASIDE.pattern}){{0,3}}\s?[，,]?")


class OtherName(NamedTuple):
    """An alias, its offset, and the cue before it."""

    name: str
    start: int
    cue: str


def find_chinese_type(text: str, end: int, *, is_clear_name: bool) -> tuple[int, str] | None:
    """
    Return the offset of `是` after a name that ends at `end`, and the type; None without a definition.

    Brackets and aliases may come in between. A plain `是` defines only a clear name, or a name followed by brackets or
    aliases.
    """
    text = simplify(text)
    at = end
    for _ in range(MAX_ASIDES):
        if not (aside := _ASIDE.match(text, at)):
            break
        at = aside.end()
    match = _IS.match(text, at)
    if not match or (match["plain"] and at == end and not is_clear_name):
        return None
    phrase = _END.split(text[match.end() : match.end() + 60])[0]
    noun = phrase.rpartition("的")[2].strip()
    if not _NOUN.fullmatch(noun):
        noun = next((kind for kind in _CLASSES if noun.endswith(kind)), "")
    return match.start(), noun


def is_clear_definition(text: str, at: int) -> bool:
    """Return True if the verb at `at` is a clear definition: `是一种`, `是指`, not a plain `是`."""
    match = _IS.match(simplify(text), at)
    return match is not None and match["clear"] is not None


def find_other_names(text: str, names: Sequence[Name], *, end: int) -> Iterator[OtherName]:
    """Yield the names after `又称`, `原名`, `简称` … before `end`, including lists."""
    plain = simplify(text)
    starts = {name.start: name for name in names if name.kind != "term"}
    for match in _CUE.finditer(plain, 0, end):
        at = match.end()
        while at < len(plain):
            opened = at - 1 if text[at - 1 : at] in '“‘「《"' else at
            if match["cue"] in _QUOTED_CUES and opened == at:
                break
            name, stop = _name_at(text, plain, at, starts.get(opened))
            if not name:
                break
            yield OtherName(name, opened, match["cue"])
            joint = _LIST.match(plain, stop)
            if not joint:
                break
            at = joint.end()


def find_other_names_at(text: str, names: Sequence[Name], *, at: int) -> Iterator[OtherName]:
    """Yield the aliases directly after a name that ends at `at`, or after brackets and a comma."""
    plain = simplify(text)
    for other in find_other_names(text, names, end=min(len(text), at + MAX_ALIAS_DISTANCE)):
        cue = plain.rfind(other.cue, at, other.start)
        if cue >= 0 and _BETWEEN.fullmatch(plain, at, cue):
            yield other


def find_names_in_brackets(text: str) -> Iterator[tuple[int, list[str]]]:
    """
    Yield (offset of the bracket, names in it): `（Knowledge Graph，简称KG）` contains two names.

    A part is a name if it is written in Latin letters like one, or follows a cue.
    """
    for match in _BRACKET.finditer(text):
        found = []
        for part in re.split("[,;，；/]", match[1]):
            bare = part.strip()
            lead = _LEAD.match(simplify(bare))
            name = bare[lead.end() :].strip(" “”「」《》") if lead else bare
            if _is_latin(name) or (lead and _RUN.fullmatch(name) and is_usable(name)):
                found.append(name)
        if found:
            yield match.start(), found


def _name_at(text: str, plain: str, at: int, known: Name | None) -> tuple[str, int]:
    """Return the name that begins at `at` and its end; ("", at) without one."""
    stop = _STOP.search(plain, at)
    end = stop.start() if stop else len(plain)
    whole = text[at:end].strip()
    if known and known.end >= end:
        return known.text, known.end
    if _RUN.fullmatch(whole) and is_term(plain[at:end].replace("·", "")):
        return whole, end
    if known:
        return known.text, known.end
    return (whole, end) if _is_latin(whole) else ("", at)


def _is_latin(text: str) -> bool:
    """Return True if a text is a name of one to six capitalised Latin words."""
    if not _LATIN.fullmatch(text) or text.lower() in NO_ACRONYMS:
        return False
    return is_usable(text) and all(word[0].isupper() or word in SMALL_WORDS for word in text.split())
