"""
Types of entities: the closed list of type nouns, and the type of a noun found in a text.

| noun | type |
| --- | --- |
| `film`, `service`, `city` | the same |
| `novelist`, `daughter`, `admiral` | `person` |
| `driver`, `producer` | none: person or program; `model` is a `model` |
| `organization`, `软件公司` | `organisation`, `公司` |
| `oldest`, `bundle`, `vague` | none |
"""

from __future__ import annotations

from functools import lru_cache

from weft.extract.lexicon import RANKS, RELATIVES, word_set
from weft.extract.names import singular

PERSON = "person"

_TYPES = word_set(
    # organisations
    "organisation company team university college school academy museum church band orchestra club agency "
    "department ministry committee party army brand publisher bank airline studio label union hospital "
    # places
    "place country state city town village municipality district county province region island river lake mountain "
    "sea bay valley desert building castle palace bridge tower stadium station airport road street park "
    # works
    "work film movie book novel story play poem song album single opera series show episode painting sculpture game "
    "magazine newspaper journal paper article website blog documentary musical manga comic soundtrack "
    # events and other kinds of the world
    "event war battle festival tournament championship competition election award prize treaty law ceremony "
    "language species genus plant animal bird fish disease drug chemical element mineral planet star galaxy food dish "
    "religion currency sport holiday instrument ship aircraft car engine weapon vehicle genre "
    # software and data
    "service system product platform software application app program tool library framework package module plugin "
    "extension component server client database store cache queue index engine compiler interpreter runtime editor "
    "browser protocol format standard specification api interface endpoint function method class decorator macro hook "
    "directive operator controller scheduler resource object type field property attribute parameter option flag "
    "variable command metric event algorithm model dataset benchmark pattern technique architecture distribution "
    "device processor network cluster node container image file repository website gateway proxy "
    # documents and work
    "document page decision incident runbook guide tutorial glossary reference policy procedure process project "
    "feature concept"
)
_SYNONYMS = {
    "organization": "organisation", "movie": "film", "app": "application", "programme": "program",
    "plug-in": "plugin", "data-set": "dataset", "manager": "",
}  # fmt: skip
_PERSONS = (
    RANKS
    | RELATIVES
    | word_set(
        "person people man woman boy girl actor actress author writer novelist poet playwright journalist singer "
        "songwriter rapper musician guitarist drummer pianist composer conductor dancer choreographer director "
        "filmmaker producer screenwriter cinematographer model comedian presenter broadcaster artist painter sculptor "
        "architect photographer designer engineer inventor scientist physicist chemist biologist mathematician "
        "astronomer economist historian philosopher theologian linguist psychologist physician doctor surgeon nurse "
        "lawyer judge politician president senator minister chancellor governor mayor diplomat ambassador activist "
        "soldier officer general admiral commander captain pilot astronaut explorer businessman businesswoman "
        "entrepreneur banker industrialist footballer cricketer golfer swimmer cyclist boxer wrestler athlete player "
        "coach driver skater skier jockey priest monk nun saint pope cardinal archbishop rabbi nobleman noblewoman "
        "monarch ruler leader teacher professor educator academic scholar student developer programmer maintainer"
    )
)
AMBIGUOUS_PERSONS = word_set("broadcaster driver judge leader model player producer ruler student teacher")
"""Persons, but also machines, programs and algorithms."""
PERSON_NOUNS = _PERSONS - AMBIGUOUS_PERSONS
_CHINESE_TYPES = (
    "公司 集团 企业 大学 学院 中学 城市 首都 河流 山脉 湖泊 岛屿 国家 省份 作家 小说家 诗人 画家 导演 演员 歌手 "
    "科学家 物理学家 数学家 化学家 政治家 军事家 企业家 工程师 建筑师 运动员 小说 电影 电视剧 话剧 歌曲 专辑 游戏 "
    "软件 操作系统 数据库 算法 模型 协议 框架 技术 方法 组件 服务 药物 植物 动物 疾病 语言 货币 组织 机构 团队 系统 "
    "工具 平台 网站 杂志 报纸 车站 函数 指令 接口 插件 程序 应用 格式 标准 库 宏 芯片 页面 文档 概念"
).split()


@lru_cache(maxsize=4096)
def entity_type(noun: str) -> str:
    """Return the type that a noun denotes; empty if it is not in the closed list."""
    folded = " ".join(noun.strip().lower().split())
    if not folded.isascii():
        return max((kind for kind in _CHINESE_TYPES if folded.endswith(kind)), key=len, default="")
    head = folded.rpartition(" ")[2]
    for form in (head, singular(head)):
        if form in PERSON_NOUNS:
            return PERSON
        if form in _TYPES or form in _SYNONYMS:
            return _SYNONYMS.get(form, form)
    return ""
