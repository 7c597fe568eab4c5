"""
Relation types that a question asks for.

| question | types |
| --- | --- |
| `who directed Heat` | `directed_by`, `directed` |
| `what breaks if Redis goes down` | `depended_on_by`, `used_by`, `called_by`, `affects`, … |
| `谁依赖登录服务` | the same, and `depends_on`, `uses`, … |
| `who calls Command.invoke`, `谁调用 Command.invoke` | `called_by` |
| `what does Command.invoke call` | `calls` |
| `which tests cover the parser` | `tested_by` |
| `why was parser.py changed` | `changed_in`, `caused_by`, `caused` |
| `how do I bake bread` | none |
"""

from __future__ import annotations

import re

from weft.text.simplified import simplify

_DEPENDENTS = (
    "depended_on_by used_by called_by read_by implemented_by affects concerns "
    "imported_by inherited_by overridden_by tested_by"
)
_CUES: tuple[tuple[str, str, str], ...] = (
    (r"\b(?:direct(?:ors?|ed|s)|film-?makers?)\b", "导演|执导", "directed_by directed"),
    (
        r"\b(?:writers?|wrote|writ(?:es|ten)|authors?|novelist|poet)\b",
        "作者|写|创作|编剧|所著",
        "written_by wrote",
    ),
    (r"\b(?:produc(?:ers?|ed|es))\b", "制片|制作", "produced_by produced"),
    (r"\b(?:compos(?:ers?|ed|es))\b", "作曲|谱曲", "composed_by composed"),
    (r"\b(?:perform(?:ers?|ed|s)|sang|singers?|sung|artists?)\b", "演唱|歌手", "performed_by performed"),
    (
        r"\b(?:found(?:ers?|ed|s)|creat(?:ors?|ed|es)|established)\b",
        "创立|创建|创始|创办|建立|成立",
        "founded_by founded created_by created",
    ),
    (
        r"\b(?:design(?:ers?|ed|s)|architects?|develop(?:ers?|ed|s))\b",
        "设计|开发|研发",
        "designed_by designed developed_by developed",
    ),
    (r"\b(?:publish(?:ers?|ed)|edit(?:ors?|ed))\b", "出版|编辑", "published_by published edited_by edited"),
    (r"\b(?:stars?|starring|starred|actors?|actress|cast)\b", "主演|演员|饰演", "stars stars_in"),
    (
        r"\b(?:mother|father|parents?|grand\w*|child(?:ren)?|sons?|daughters?|\w+-in-law|uncle|aunt)\b",
        "母亲|父亲|父母|儿子|女儿|子女|孩子",
        "child_of parent_of",
    ),
    (
        r"\b(?:spouse|husband|wife|married|marry|widow(?:er)?|\w+-in-law)\b",
        "妻子|丈夫|配偶|夫人|嫁",
        "married_to",
    ),
    (
        r"\b(?:siblings?|brothers?|sisters?|uncle|aunt|sister-in-law)\b",
        "兄弟|姐妹|哥哥|弟弟|姐姐|妹妹",
        "sibling_of",
    ),
    (r"\b(?:born|birth\w*|native)\b", "出生|生于|诞生|哪里人", "born_in birthplace_of"),
    (r"\b(?:died|death|deathplace|buried|killed)\b", "去世|逝世|死", "died_in deathplace_of"),
    (
        r"\b(?:where|located|country|city|place|region|state|capital)\b",
        "哪里|在哪|何处|何地|位于|国家|城市|首都|首府|省会|总部",
        "located_in capital_of has_capital",
    ),
    (r"\b(?:members?|belongs?|band|team)\b", "成员|属于|隶属", "member_of has_member part_of"),
    (
        r"\b(?:owns?|owners?|owned|responsible|maintain(?:s|er|ed)?|in charge)\b",
        "负责|拥有|维护|归谁",
        "owned_by owns maintained_by maintains",
    ),
    (
        r"\bwhat (?:happens|breaks|would|if)\b|\b(?:if|when|after) (?:we|you|i|they|one) "
        r"(?:change|replace|remove|drop|lose|switch)"
        r"|\bif [^?]{1,80} (?:changes|breaks|is (?:changed|renamed|removed|deleted))\b"
        r"|\b(?:impact\w*|affect\w*|downstream|blast radius|outage|goes down)\b"
        r"|\b(?:who|what|which)(?: \w+){0,2} (?:depends?|rel(?:y|ies)) (?:up)?on\b",
        "影响|后果|谁依赖",
        _DEPENDENTS,
    ),
    (
        r"\b(?:depends?|rel(?:y|ies)) (?:up)?on\b|\b(?:needs?|requires?|upstream|uses?)\b",
        "依赖|需要|使用",
        "depends_on uses calls reads_from",
    ),
    (
        r"\b(?:who|what|which(?: \w+){0,2}|that|functions?|methods?|places?|classes) calls?\b|\bcallers? of\b"
        r"|\bis [^?]{1,80} called\b|\bcall sites?\b|\bcalled by\b",
        "谁调用|谁在调用|被谁调用|哪些[^？?]{0,10}调用|哪里调用|在哪[^？?]{0,4}调用|调用者|调用方|被调用",
        "called_by",
    ),
    (
        r"\b(?:does|do|did) [^?]{1,80} call\b|\bcalled by\b|\bcallees? of\b",
        "调用了?(?:什么|哪些|谁|哪个)",
        "calls",
    ),
    (
        r"\b(?:who|what|which(?: \w+){0,2}|that|modules?|files?) imports?\b"
        r"|\bis [^?]{1,80} imported\b|\bimporters? of\b",
        "谁导入|哪些[^？?]{0,10}导入|被[^？?]{0,6}导入|谁引入|哪些[^？?]{0,10}引入",
        "imported_by",
    ),
    (r"\b(?:does|do|did) [^?]{1,80} import\b|\bimports of\b", "导入了?(?:什么|哪些)", "imports"),
    (
        r"\b(?:subclass(?:es)?|subtypes?|derived class(?:es)?|child class(?:es)?) of\b|\bsubclass(?:es)?\b"
        r"|\b(?:who|what|which(?: \w+){0,2}|that|classes) (?:inherits?|extends?|derives?|implements?)\b",
        "子类|派生类|谁继承|哪些[^？?]{0,10}继承|继承自",
        "inherited_by",
    ),
    (
        r"\b(?:base|parent|super) ?class(?:es)?\b|\b(?:does|do|did) [^?]{1,80} (?:inherit|extend|derive)\b",
        "父类|基类|超类",
        "inherits",
    ),
    (r"\boverr(?:ides?|idden)\b", "重写|覆写", "overrides overridden_by"),
    (
        r"\btests? (?:that )?(?:covers?|for|of|exercises?|checks?)\b|\b(?:who|what|which) tests?\b"
        r"|\bis [^?]{1,80} tested\b|\btested by\b|\btest coverage\b",
        "哪些测试|测试用例|谁测试|被[^？?]{0,6}测试|测试覆盖",
        "tested_by",
    ),
    (r"\b(?:does|do|did) [^?]{1,80} test\b", "测试了?(?:什么|哪些)", "tests"),
    (r"\bwhere is [^?]{1,80} (?:defined|implemented|declared)\b", "在哪[^？?]{0,4}定义|定义在哪", "defined_in"),
    (
        r"\b(?:was|were|has|have|been|who|what|commits?) changed\b|\bchanged together\b|\bhistory of\b"
        r"|\b(?:who|which commit|what commit|when) (?:introduced|added|removed|changed|touched)\b",
        "谁改|谁修改|何时修改|为什么修改|提交记录|修改历史",
        "changed_in",
    ),
    (r"\b(?:which|what) (?:commits?|change) (?:fix\w*|clos\w*|resolv\w*)\b", "哪个提交修复", "fixed_in"),
    (r"\brevert(?:s|ed)?\b", "回滚|撤销提交", "reverts reverted_in"),
    (r"\b(?:caus\w*|why)\b", "原因|为什么", "caused_by caused"),
    (r"\b(?:cit(?:e|es|ed|ing|ation\w*)|references?)\b", "引用|参考文献", "cites cited_by"),
    ("", "收购|并购", "acquired_by acquired"),
    ("", "发明", "invented_by invented"),
    ("", "发现", "discovered_by discovered"),
    ("", "推出|提出", "created_by created"),
    (r"\b(?:replac\w+|supersed\w+|instead of)\b", "取代", "supersedes superseded_by"),
)
"""English pattern, Chinese pattern (both for lower case), relation types."""
_ENGLISH, _CHINESE = (
    tuple((re.compile(cue[language]), frozenset(cue[2].split())) for cue in _CUES if cue[language])
    for language in (0, 1)
)

CODE_TYPES = frozenset(
    "calls called_by imports imported_by inherits inherited_by overrides overridden_by tests tested_by defines "
    "defined_in depended_on_by".split()
)
"""Relation types of source code, from both ends. A question for one of them may name code by a plain word."""

MAX_QUESTION_CHARACTERS = 2000
"""Maximum number of characters of a question that are searched."""


def relation_types(text: str) -> frozenset[str]:
    """Return the relation types that a question asks for, in the direction from the entities in the question."""
    plain = simplify(text[:MAX_QUESTION_CHARACTERS]).lower()
    patterns = _ENGLISH if plain.isascii() else _ENGLISH + _CHINESE
    return frozenset().union(*[types for pattern, types in patterns if pattern.search(plain)])
