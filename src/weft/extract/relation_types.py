"""
Relation types and their words: the only vocabulary of relations.

Sentences, fields, parsers, questions and docs read these tables. A type describes one direction, X → Y:

| field of `depends_on` | for | example |
| --- | --- | --- |
| `verbs`, `asked` | parsers of sentences; questions | `What does X depend on?`, `What depends on Y?` |
| `nouns` | questions; Y is a dependency of X | `What are the dependencies of X?` |
| `where` | questions with `where` | `Where was X born?` |
| `cue`, `subject_cue`, `triggers` | sentences | `X depends on Y.` |
| `fields` | front matter, records, table columns | `requires: Y` |
| `zh_*` | the same in Chinese | `X依赖Y`, `X的作者是Y` |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationWords:
    """Words of a relation type from X to Y. Lists are separated by commas."""

    verbs: str = ""
    """Verbs of X in the base form, with preposition; irregular ones as `write/wrote/written`."""
    asked: str = ""
    """Further verbs, in questions only, as they have other meanings too; phrases with `be` as `be part of`."""
    nouns: str = ""
    """What Y is to X, in the singular: `owner` for `owned_by`."""
    where: str = ""
    """Participles or verbs of X in a question for the place Y: `Where was X born?`"""
    broad: str = ""
    """Other types that the same question asks for."""
    fields: str = ""
    """Fields whose values are Y."""
    lemmas: str = ""
    """Further lemmas of verbs, with preposition, as parsers give them."""
    cue: str = ""
    """Pattern between X and Y in a sentence, right after X."""
    subject_cue: str = ""
    """Pattern before Y; X stands right before it, or is the subject of the sentence, with a copula in between."""
    triggers: str = ""
    """Words of which a sentence with one of these patterns contains one, separated by spaces."""
    role: str = ""
    """Participle before `by Y`: `written` for `written_by`."""
    label: str = ""
    """Label of a line with Y as its value: `Owner:`."""
    zh_verbs: str = ""
    """Chinese verbs between X and Y in questions."""
    zh_nouns: str = ""
    """What Y is to X in Chinese questions, besides `zh_role`."""
    zh_cue: str = ""
    """Pattern between X and Y of a Chinese sentence."""
    zh_role: str = ""
    """Words for Y in `X的…是Y`."""
    zh_of: str = ""
    """Words for X in `X是Y的…`."""
    zh_done: str = ""
    """Verbs of Y with X as the object: `Y创立了X`, `X由Y创立`."""
    zh_managed: str = ""
    """Verbs after `由Y` or `归Y`: `X由Y负责`."""


class RelationType(NamedTuple):
    """A relation type in the direction in which it is stored, and its inverse."""

    name: str
    words: RelationWords
    inverse: str
    inverse_words: RelationWords


_W = RelationWords

RELATION_TYPES: tuple[RelationType, ...] = (
    RelationType(
        "acquired_by", _W(nouns="acquirer,buyer", zh_done="收购,并购"),
        "acquired", _W(asked="acquire,buy/bought/bought", nouns="acquisition"),
    ),
    RelationType(
        "affects", _W(verbs="affect", asked="impact,influence", fields="affects", zh_verbs="影响"),
        "affected_by", _W(),
    ),
    RelationType(
        "applies_to", _W(verbs="apply to", fields="applies_to", zh_verbs="适用于,应用于"),
        "has_application", _W(nouns="application"),
    ),
    RelationType(
        "authored_by", _W(nouns="author", broad="written_by", zh_nouns="作者,提交者"),
        "authored", _W(asked="author", broad="wrote", zh_verbs="提交"),
    ),
    RelationType(
        "born_in",
        _W(
            asked="be born in,be native to", nouns="birthplace,place of birth", where="born", lemmas="bear_in",
            subject_cue=r"born (?:on )?(?:[\w, ]{0,30} )?in", triggers="born",
            zh_verbs="出生于,出生在,诞生于,生于", zh_role="出生地",
        ),
        "birthplace_of", _W(asked="be birthplace of"),
    ),
    RelationType(
        "calls",
        _W(
            verbs="call", asked="invoke", nouns="callee", fields="calls", cue="calls", triggers="calls",
            zh_verbs="调用", zh_cue="调用",
        ),
        "called_by", _W(nouns="caller,call site", where="called,invoked", zh_nouns="调用者,调用方"),
    ),
    RelationType(
        "capital_of",
        _W(
            asked="be capital of,be capital city of", subject_cue=r"capital (?:city )?of", triggers="capital",
            zh_of="首都,首府,省会",
        ),
        "has_capital", _W(nouns="capital,capital city", zh_role="首都,首府,省会"),
    ),
    RelationType(
        "caused_by",
        _W(
            nouns="cause,root cause", fields="caused_by", cue=r"(?:is|was|were) caused by", triggers="caused",
            zh_nouns="原因,起因",
        ),
        "caused", _W(verbs="cause", asked="lead to/led to/led to,trigger", zh_verbs="导致,引起,造成"),
    ),
    RelationType(
        "changes", _W(asked="change,modify,touch", zh_verbs="修改,更改,改动"),
        "changed_in", _W(nouns="change", where="changed,modified"),
    ),
    RelationType(
        "child_of",
        _W(
            asked="be child of,be son of,be daughter of,be descendant of", nouns="parent,father,mother",
            subject_cue=r"(?:son|daughter|child) of", triggers="son daughter child", zh_role="母亲,父亲",
            zh_nouns="父母,爸爸,妈妈", zh_of="儿子,女儿",
        ),
        "parent_of",
        _W(
            asked="be parent of,be father of,be mother of", nouns="child/children,son,daughter",
            subject_cue=r"(?:father|mother) of", triggers="father mother", zh_role="儿子,女儿",
            zh_nouns="孩子,子女", zh_of="母亲,父亲",
        ),
    ),
    RelationType(
        "cites",
        _W(
            verbs="cite", asked="reference,refer to/referred to/referred to", nouns="reference",
            fields="cites,references", zh_verbs="引用", zh_nouns="参考文献",
        ),
        "cited_by", _W(nouns="citation"),
    ),
    RelationType(
        "composed_by", _W(nouns="composer", role="composed", zh_role="作曲", zh_done="作曲", zh_nouns="作曲家,作曲者"),
        "composed", _W(verbs="compose"),
    ),
    RelationType(
        "concerns", _W(
            verbs="concern", asked="be about", nouns="subject", fields="component,product,project,service,services",
            zh_verbs="涉及,关于",
        ),
        "concern_of", _W(nouns="concern"),
    ),
    RelationType(
        "created_by",
        _W(nouns="creator,maker", fields="created_by", role="created", zh_done="推出,提出", zh_nouns="创造者"),
        "created", _W(verbs="create", asked="make/made/made", nouns="creation"),
    ),
    RelationType(
        "defines", _W(asked="define,declare", zh_verbs="定义,声明"),
        "defined_in", _W(asked="be defined in,be declared in", where="defined,declared,implemented"),
    ),
    RelationType(
        "depends_on",
        _W(
            verbs="depend on,rely on,depend upon,rely upon", asked="require",
            nouns="dependency,requirement,prerequisite",
            broad="uses,calls,imports,inherits,reads_from,implements", fields="depends_on,dependencies,requires",
            cue=r"(?:depends?|rel(?:y|ies)) (?:up)?on", triggers="depend depends rely relies",
            zh_verbs="依赖于,依赖,需要", zh_nouns="依赖,依赖项", zh_cue="依赖于?",
        ),
        "depended_on_by",
        _W(
            nouns="dependent,dependant,consumer",
            broad="used_by,called_by,imported_by,inherited_by,read_by,implemented_by", zh_nouns="依赖者,依赖方",
        ),
    ),
    RelationType(
        "describes", _W(asked="describe,document,explain", zh_verbs="描述,说明"),
        "described_by", _W(nouns="description", where="described,documented"),
    ),
    RelationType(
        "designed_by", _W(nouns="designer,architect", role="designed", zh_role="设计师", zh_done="设计"),
        "designed", _W(verbs="design"),
    ),
    RelationType(
        "developed_by", _W(nouns="developer", role="developed", zh_role="开发商", zh_done="研发,开发",
            zh_nouns="开发者"),
        "developed", _W(verbs="develop"),
    ),
    RelationType(
        "died_in",
        _W(
            verbs="die in", nouns="place of death", where="die,buried",
            subject_cue=r"died (?:on )?(?:[\w, ]{0,30} )?in", triggers="died", zh_verbs="去世于,逝世于,死于,病逝于",
        ),
        "deathplace_of", _W(asked="be deathplace of"),
    ),
    RelationType(
        "directed_by",
        _W(
            nouns="director,film director", fields="director,directed_by", role="directed", zh_role="导演",
            zh_done="执导,导演",
        ),
        "directed", _W(verbs="direct"),
    ),
    RelationType(
        "discovered_by", _W(nouns="discoverer", zh_done="发现", zh_nouns="发现者"),
        "discovered", _W(asked="discover", nouns="discovery"),
    ),
    RelationType(
        "edited_by", _W(nouns="editor", role="edited", zh_nouns="编辑,主编"),
        "edited", _W(verbs="edit", zh_verbs="编辑,主编"),
    ),
    RelationType(
        "fixes", _W(asked="fix,resolve,close", zh_verbs="修复,解决"),
        "fixed_in", _W(nouns="fix", where="fixed,resolved,closed"),
    ),
    RelationType(
        "founded_by",
        _W(
            nouns="founder,co-founder", fields="founded_by", role="founded", zh_role="创始人,创办人,创立者",
            zh_done="创立,创办,创建,建立",
        ),
        "founded", _W(verbs="found", asked="establish,co-found", broad="created"),
    ),
    RelationType("has_company", _W(nouns="company", fields="company", zh_nouns="公司"), "company_of", _W()),
    RelationType("has_manager", _W(nouns="manager", fields="manager", zh_nouns="经理,主管"), "manager_of",
        _W(asked="manage")),
    RelationType(
        "has_organisation", _W(nouns="organisation", fields="organisation", zh_nouns="组织"), "organisation_of", _W()
    ),
    RelationType(
        "has_organization", _W(nouns="organization", fields="organization", zh_nouns="机构"), "organization_of", _W()
    ),
    RelationType("has_team", _W(nouns="team", fields="team", zh_nouns="团队"), "team_of", _W()),
    RelationType(
        "implements",
        _W(verbs="implement", fields="implements", cue=r"implements?", triggers="implement implements",
            zh_verbs="实现"),
        "implemented_by", _W(nouns="implementation,implementer", zh_nouns="实现,实现者"),
    ),
    RelationType(
        "imports", _W(asked="import", nouns="import", zh_verbs="导入,引入"),
        "imported_by", _W(nouns="importer", where="imported", zh_nouns="导入者"),
    ),
    RelationType(
        "inherits",
        _W(
            asked="inherit from,inherit,extend,subclass,derive from",
            nouns="base class,base,parent class,superclass,super class", zh_verbs="继承自,继承",
            zh_nouns="父类,基类,超类",
        ),
        "inherited_by", _W(nouns="subclass,child class,derived class,subtype", zh_nouns="子类,派生类"),
    ),
    RelationType(
        "introduces", _W(asked="introduce", zh_verbs="首次提出,介绍"),
        "introduced_by", _W(where="introduced"),
    ),
    RelationType(
        "invented_by", _W(nouns="inventor", zh_role="发明者,发明人", zh_done="发明"),
        "invented", _W(asked="invent", nouns="invention"),
    ),
    RelationType(
        "links_to", _W(verbs="link to", asked="point to,link", nouns="link,outgoing link,outbound link",
            zh_verbs="链接到,链接,指向"),
        "linked_from",
        _W(asked="be linked from", nouns="backlink,incoming link,inbound link", where="linked",
            zh_nouns="反向链接,入链"),
    ),
    RelationType(
        "located_in",
        _W(
            asked="be located in,be situated in,be based in,lie in/lay in/lain in,be in", nouns="location,headquarters",
            where="located,situated,based", fields="located_in", lemmas="base_in,locate_in,situate_in",
            subject_cue=r"(?:located|situated|based) in", triggers="located situated based",
            zh_verbs="位于,坐落于,坐落在,地处", zh_role="总部", zh_nouns="位置,所在地",
        ),
        "location_of", _W(asked="be location of"),
    ),
    RelationType(
        "maintained_by",
        _W(
            nouns="maintainer", fields="maintained_by,maintainer,maintainers", role="maintained", label="Maintainer",
            zh_nouns="维护者,维护人",
        ),
        "maintains", _W(verbs="maintain", broad="owns", zh_verbs="维护"),
    ),
    RelationType(
        "member_of",
        _W(
            asked="be member of,belong to", fields="member_of", subject_cue=r"members? of",
            triggers="member members", zh_nouns="所属",
        ),
        "has_member", _W(nouns="member", fields="members", zh_nouns="成员"),
    ),
    RelationType(
        "overrides", _W(asked="override/overrode/overridden", zh_verbs="重写,覆写"),
        "overridden_by", _W(nouns="override", where="overridden"),
    ),
    RelationType(
        "owned_by",
        _W(
            verbs="belong to", nouns="owner,parent company", fields="owned_by,owner,owners", cue=r"belongs? to",
            triggers="belong belongs", role="owned", label="Owner", zh_role="母公司",
            zh_nouns="负责人,所有者,拥有者,负责团队", zh_of="子公司", zh_managed="负责,维护,拥有,管理,所有",
        ),
        "owns",
        _W(
            verbs="own", asked="be responsible for,be in charge of", nouns="property,subsidiary", broad="maintains",
            fields="owns", zh_verbs="拥有,负责,管理",
        ),
    ),
    RelationType(
        "part_of",
        _W(
            asked="be part of,be component of,be integral part of,belong to", nouns="parent,whole",
            fields="belongs_to,parent,part_of", cue=r"(?:is|are|was|were) (?:an? )?(?:integral )?part of",
            subject_cue="part of", triggers="part", broad="member_of,section_of", zh_verbs="属于,隶属于", zh_cue="属于",
            zh_of="一部分",
        ),
        "has_part",
        _W(
            asked="contain,include,consist of,comprise", nouns="part,component", broad="has_section,has_member",
            zh_verbs="包含,包括", zh_nouns="组成部分,组件",
        ),
    ),
    RelationType(
        "performed_by", _W(nouns="performer,singer", role="performed", zh_done="演唱", zh_nouns="歌手,演唱者"),
        "performed", _W(verbs="perform", asked="sing/sang/sung"),
    ),
    RelationType(
        "produced_by", _W(nouns="producer", role="produced", zh_done="制作", zh_nouns="制片人,制作人"),
        "produced", _W(verbs="produce"),
    ),
    RelationType(
        "published_by", _W(nouns="publisher", fields="publisher", role="published", zh_role="出版社", zh_done="出版"),
        "published", _W(verbs="publish"),
    ),
    RelationType(
        "published_in",
        _W(asked="be published in,appear in", nouns="venue,journal", where="published", zh_verbs="发表于,发表在",
            zh_nouns="期刊"),
        "venue_of", _W(),
    ),
    RelationType(
        "reads_from",
        _W(verbs="read from/read from/read from", asked="read/read/read", cue=r"reads? from",
            triggers="read reads", zh_verbs="读取"),
        "read_by", _W(nouns="reader", zh_nouns="读取者"),
    ),
    RelationType(
        "reverts", _W(asked="revert,undo/undid/undone", zh_verbs="回滚,撤销"),
        "reverted_in", _W(nouns="revert", where="reverted"),
    ),
    RelationType(
        "section_of", _W(asked="be section of"),
        "has_section", _W(nouns="section,subsection", zh_nouns="章节,小节"),
    ),
    RelationType(
        "stars", _W(verbs="star", asked="feature", nouns="star,actor,actress,cast,lead actor", zh_done="主演",
            zh_nouns="演员"),
        "stars_in", _W(verbs="star in", asked="act in,appear in", zh_verbs="主演,出演"),
    ),
    RelationType(
        "supersedes",
        _W(
            verbs="replace,supersede", asked="obsolete", nouns="predecessor", fields="replaces,supersedes",
            cue=r"(?:replace[sd]?|supersede[sd]?)",
            triggers="replace replaces replaced supersede supersedes superseded",
            zh_verbs="取代,替代,替换", zh_cue="取代",
        ),
        "superseded_by",
        _W(nouns="successor,replacement", fields="superseded_by", zh_nouns="继任者,替代品,后继"),
    ),
    RelationType(
        "tests", _W(asked="test,cover,exercise", zh_verbs="测试,覆盖"),
        "tested_by", _W(nouns="test,test case,unit test", where="tested,covered", zh_nouns="测试,测试用例"),
    ),
    RelationType(
        "uses",
        _W(verbs="use", asked="utilise,utilize", fields="uses", cue=r"uses?", triggers="use uses",
            zh_verbs="使用,用到", zh_cue="使用"),
        "used_by", _W(nouns="user", fields="used_by", where="used", zh_nouns="使用者,用户"),
    ),
    RelationType(
        "writes_to",
        _W(verbs="write to/wrote to/written to", cue=r"writes? to", triggers="write writes", zh_verbs="写入"),
        "written_to_by", _W(),
    ),
    RelationType(
        "written_by",
        _W(
            nouns="author,writer", fields="author,authors,written_by", role="written", label="Author",
            broad="authored_by", zh_role="作者,编剧", zh_done="编剧,创作,撰写,写成,续写,著",
        ),
        "wrote", _W(verbs="write/wrote/written", asked="pen", broad="authored", zh_verbs="写,编写"),
    ),
)  # fmt: skip
"""Relation types in the direction in which they are stored: `A owns B` becomes `B owned_by A`."""

SYMMETRIC_TYPES: Mapping[str, RelationWords] = MappingProxyType({
    "co_occurs_with": _W(),
    "married_to": _W(
        verbs="marry", asked="be married to", nouns="spouse,husband,wife/wives,partner,consort,widow",
        lemmas="marry_to",
        subject_cue=r"(?:married(?: to)?|(?:wife|husband|widow|spouse|(?:a|the) consort) of)",
        triggers="married wife husband widow spouse consort", zh_role="妻子,丈夫,配偶", zh_of="妻子,丈夫",
    ),
    "related_to": _W(
        asked="relate to,be related to,see also/see also/see also", nouns="related page",
        fields="related,related_to,see_also", zh_verbs="关联,相关于",
    ),
    "sibling_of": _W(
        asked="be sibling of,be brother of,be sister of", nouns="sibling,brother,sister",
        subject_cue=r"(?:brother|sister) of", triggers="brother sister",
        zh_role="哥哥,弟弟,姐姐,妹妹", zh_nouns="兄弟,姐妹,兄弟姐妹", zh_of="哥哥,弟弟,姐姐,妹妹",
    ),
})  # fmt: skip
"""Relation types that are the same in both directions."""

STORED: Mapping[str, str] = MappingProxyType({pair.name: pair.inverse for pair in RELATION_TYPES})
"""Inverse of each type that is stored as it is."""

INVERSE: Mapping[str, str] = MappingProxyType(
    {**STORED, **{other: name for name, other in STORED.items()}, **{name: name for name in SYMMETRIC_TYPES}}
)
"""Relation type in the opposite direction. `INVERSE[INVERSE[kind]] == kind`."""

WORDS: Mapping[str, RelationWords] = MappingProxyType(
    {pair.name: pair.words for pair in RELATION_TYPES}
    | {pair.inverse: pair.inverse_words for pair in RELATION_TYPES}
    | dict(SYMMETRIC_TYPES)
)
"""Words of each relation type, in both directions."""


def split_words(words: str) -> list[str]:
    """Return the elements of a list of words."""
    return [word for word in words.split(",") if word]


def types_by_word(field: str) -> dict[str, str]:
    """Return the relation type of each word in one field of `RelationWords`."""
    return {word: type for type, words in WORDS.items() for word in split_words(getattr(words, field))}


FIELDS: Mapping[str, str] = MappingProxyType(types_by_word("fields"))
"""Relation type of each field whose values are names."""

LEMMAS: Mapping[str, str] = MappingProxyType(
    {word.partition("/")[0].replace(" ", "_"): type for word, type in types_by_word("verbs").items()}
    | types_by_word("lemmas")
)
"""Relation type of each verb, by lemma and preposition."""

# ── questions ───────────────────────────────────────────────────────────────────────────────────

CODE_TYPES = frozenset(
    "calls called_by imports imported_by inherits inherited_by overrides overridden_by tests tested_by defines "
    "defined_in depended_on_by".split()
)
"""Relation types of source code, from both ends. A question for one of them may name code by a plain word."""

_DEPENDENTS = (
    "depended_on_by used_by called_by read_by implemented_by affects concerns "
    "imported_by inherited_by overridden_by tested_by"
)
QUESTION_CUES: tuple[tuple[str, str, str], ...] = (
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
"""Words that suggest relation types: English and Chinese pattern, both for lower case, and the types."""
