r"""
Grammar of citation questions: kind, paper or author or concept, and years of publication.

| question | kind | name | years |
| --- | --- | --- | --- |
| `which papers cite BERT since 2019` | `citing` | BERT | from 2019 |
| `who cited the paper Attention Is All You Need?` | `citing` | the paper Attention Is All You Need | |
| `who has cited Devlin et al.` | `citing` | Devlin et al | |
| `how many citations does BERT have` | `citing` | BERT | |
| `what does BERT cite` | `references` | BERT | |
| `papers cited by BERT` | `references` | BERT | |
| `papers that build on RAG` | `builds_on` | RAG | |
| `publications of Jane Doe` | `written_by` | Jane Doe | |
| `citation network of RAG` | `builds_on` | RAG | |
| `papers by Jane Doe from 2001 to 2005` | `written_by` | Jane Doe | 2001 to 2005 |
| `papers co-cited with BERT` | `cocited` | BERT | |
| `papers that share concepts with BERT` | `shared` | BERT | |
| `which paper introduced the concept of attention` | `introduces` | attention | |
| `2019年之后引用BERT的论文有哪些` | `citing` | BERT | from 2020 |
| `BERT的参考文献` | `references` | BERT | |
| `an exciting reference` | none: cues are whole words | | |
| `does BERT cite anything useful` | none: the whole question must match | | |
| `关于图神经网络的论文` | none: a topic, not an author | | |

A question with years has two readings: without the years, and unchanged, since a name may contain a year. The graph
decides which reading has an answer.

The grammar is the table `_FORMS`. `X` is the name; the parts in curly braces are shared sub-patterns:

    {_ANY}{_CITE}\s+X      "which papers" | "who"      "cite" | "cites" | "reference" …      name
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from weft.records import CitationKind, CitationQuestion
from weft.text.normalise import squeeze

MAX_QUESTION_CHARACTERS = 1000
"""Maximum length of a citation question."""


_PAPER = r"(?:papers?|articles?|works?|publications?|documents?|stud(?:y|ies)|research|preprints?|literature)"
_ASK = (
    r"(?:(?:please|can\ you|could\ you)\s+)?(?:(?:find|show|list|give|get|name|(?:search|look)\s+for)\s+)?"
    r"(?:(?:me|us)\s+)?(?:(?:all|any|some|every)\s+)?(?:of\s+)?(?:the\s+)?"
)
_WHICH = (
    r"(?:(?:which|what|how\s+many|are\s+there(?:\s+any)?|is\s+there(?:\s+an?)?)\s+)?(?:(?:other|later|earlier)\s+)?"
)
_LINK = r"(?:(?:that|which|who|have|has|are|were|is|was|also|often|frequently|first|been)\s+){0,4}"
_PAPERS = rf"{_ASK}{_WHICH}{_PAPER}\s+{_LINK}"
_WHO = r"(?:who|what)\s+(?:(?:else|also|has|have|is|are|was|were|gets?|often|first|been)\s+){0,3}"
_ANY = rf"(?:{_PAPERS}|{_WHO})"
_CITE = r"(?:cit(?:e|es|ed|ing)|referenc(?:e|es|ed|ing)|refer(?:s|red|ring)?\s+to)"
_CONCEPT = r"(?:the\s+)?(?:(?:concepts?|ideas?|notions?|terms?)\s+(?:of\s+)?)?"
_BUILD = (
    r"(?:buil(?:d|ds|t|ding)\s+(?:up)?on(?:\s+top\s+of)?|based\s+(?:up)?on|extend(?:s|ed|ing)?|deriv(?:e|es|ed)\s+from"
    r"|follow(?:s|ed|ing)?\s+up\s+on|improv(?:e|es|ed|ing)\s+(?:up)?on)"
)
_WRITE = r"(?:write|wrote|written|publish|published|author|authored)"

_ZH_PAPER = r"(?:论文|文章|文献|工作|研究|著作|成果)"
_ZH_WHICH = r"(?:有?(?:哪些|什么|哪几篇|哪一篇|哪篇|多少篇?|哪几个))"
_ZH_LIST = r"(?:请)?(?:帮我)?(?:列出|查找|找出|找到|搜索|给出|查询|检索)?(?:一下)?(?:所有|全部)?的?"
_ZH_END = r"(?:(?:都)?(?:有哪些|是什么|是哪些|有什么|是谁))?"
_ZH_WITH = r"(?:与|和|跟|同)"
_ZH_TOGETHER = r"(?:一起|共同|同时|一同)"

# Kind, whether only citation questions have this form (`CitationQuestion.explicit`), form with `X` for the name.
# The first form that matches the whole question wins.
_FORMS: tuple[tuple[CitationKind, bool, str], ...] = (
    ("cocited", True, rf"{_ANY}(?:co-?cited|cited\s+(?:together|jointly|along(?:side)?))\s+(?:with\s+)?X"),
    ("cocited", True, rf"{_ASK}co-?citations?\s+(?:of|with|for)\s+X"),
    (
        "shared",
        True,
        rf"{_ANY}(?:shar(?:e|es|ing)|with|having)\s+(?:the\s+|some\s+)?(?:same\s+|common\s+|shared\s+)?"
        r"(?:concepts?|ideas?|topics?|keywords?)\s+(?:with|as|of)\s+X",
    ),
    (
        "references",
        True,
        rf"(?:what\s+(?:are|is)\s+)?{_ASK}(?:references?|reference\s+list|bibliography)\s+(?:of|in|from|for)\s+X",
    ),
    ("references", True, rf"{_ANY}(?:cited|referenced)\s+(?:by|in)\s+X"),
    ("references", True, rf"(?:{_ASK}(?:{_PAPER}\s+)?)?cited\s+by\s+X"),
    (
        "references",
        True,
        rf"(?:what|whom|which\s+(?:other\s+)?{_PAPER}|what\s+{_PAPER})\s+(?:does|did|do|is|are|has|have)\s+X\s+"
        rf"(?:cited?|citing|referenced?|referencing|refer\s+to)",
    ),
    ("references", True, r"X['’]s?\s+(?:references|bibliography|reference\s+list)"),
    ("references", True, rf"X\s+(?:cites|references|refers\s+to)\s+(?:what|whom|which\s+{_PAPER})"),
    ("citing", True, rf"{_ANY}{_CITE}\s+X"),
    ("references", True, rf"{_ASK}{_PAPER}\s+(?:that\s+|which\s+)?X\s+(?:cites|cited|references|refers\s+to)"),
    (
        "citing",
        True,
        rf"(?:who|what|where|by\s+whom|which\s+{_PAPER})\s+(?:is|was|are|were|has)\s+X\s+(?:been\s+)?"
        r"(?:cited|referenced)(?:\s+by)?",
    ),
    ("citing", True, rf"X\s+(?:(?:is|was)\s+)?(?:cited|referenced)\s+by(?:\s+(?:what|whom|who|which\s+{_PAPER}))?"),
    ("citing", True, rf"{_ASK}(?:citations?\s+(?:of|to|for)|citing\s+{_PAPER}\s+(?:of|for))\s+X"),
    (
        "citing",
        True,
        r"how\s+many\s+(?:citations|references)\s+(?:does|did|do|has|have)\s+X\s+(?:have|had|got|get|receive|received)",
    ),
    (
        "citing",
        True,
        r"how\s+(?:often|many\s+times)\s+(?:is|was|are|were|has|have)\s+X\s+(?:been\s+)?(?:cited|referenced)",
    ),
    ("builds_on", True, rf"{_PAPERS}{_BUILD}\s+X"),
    ("builds_on", False, rf"{_WHO}{_BUILD}\s+X"),
    (
        "builds_on",
        False,
        rf"{_ASK}(?:follow-?\s?ups?(?:\s+{_PAPER})?|successors?|descendants?)\s+(?:of|to|on)\s+X",
    ),
    (
        "introduces",
        True,
        rf"{_PAPERS}(?:introduc(?:e|es|ed|ing)|propos(?:e|es|ed|ing)|defin(?:e|es|ed|ing))\s+{_CONCEPT}X",
    ),
    ("introduces", False, rf"{_WHO}introduc(?:es|ed)\s+{_CONCEPT}X"),
    ("introduces", False, rf"where\s+(?:was|were)\s+{_CONCEPT}X\s+(?:first\s+)?introduced"),
    ("written_by", True, rf"{_PAPERS}(?:(?:co-?)?(?:written|authored|published)\s+)?by\s+X"),
    (
        "written_by",
        False,
        rf"(?:what|which\s+{_PAPER}|what\s+{_PAPER})\s+(?:did|has|have|does|was|were)\s+X\s+(?:co-?)?{_WRITE}",
    ),
    ("written_by", False, r"X['’]s?\s+(?:papers|articles|publications)"),
    ("written_by", False, rf"{_ASK}publications\s+of\s+X"),
    ("builds_on", True, rf"{_ASK}citation\s+(?:network|graph|tree)\s+(?:of|for|around)\s+X"),
    ("cocited", True, rf"{_ZH_LIST}{_ZH_WITH}X{_ZH_TOGETHER}被?引用(?:了|过)?的?{_ZH_PAPER}?{_ZH_END}"),
    ("cocited", True, rf"{_ZH_WHICH}{_ZH_PAPER}{_ZH_WITH}X{_ZH_TOGETHER}被引用(?:了|过)?"),
    ("cocited", True, rf"{_ZH_WITH}X共被引的?{_ZH_PAPER}?{_ZH_END}"),
    ("cocited", True, rf"X的共被引{_ZH_PAPER}?{_ZH_END}"),
    (
        "shared",
        True,
        rf"{_ZH_LIST}{_ZH_WITH}X(?:具?有)?(?:共享|共有|共同|相同)的?(?:概念|主题|关键词)的?{_ZH_PAPER}?{_ZH_END}",
    ),
    ("shared", True, rf"{_ZH_WHICH}{_ZH_PAPER}{_ZH_WITH}X(?:具?有)?(?:共享|共有|共同|相同)的?(?:概念|主题|关键词)"),
    ("citing", True, rf"{_ZH_LIST}引用(?:了|过)?X的{_ZH_PAPER}{_ZH_END}"),
    ("citing", True, rf"(?:{_ZH_WHICH}{_ZH_PAPER}?|谁)都?引用(?:了|过)?X"),
    ("references", True, rf"{_ZH_LIST}被X所?引用(?:了|过)?的{_ZH_PAPER}{_ZH_END}"),
    ("citing", True, rf"X被(?:{_ZH_WHICH}|谁)?{_ZH_PAPER}?所?引用(?:了|过)?"),
    ("citing", True, rf"X的(?:施引文献|被引文献|被引论文|被引情况|引用者){_ZH_END}"),
    ("references", True, rf"{_ZH_LIST}X的(?:参考文献|引文|参考书目)(?:列表)?{_ZH_END}"),
    ("references", True, rf"X都?(?:引用|参考)(?:了|过)?{_ZH_WHICH}{_ZH_PAPER}?"),
    ("references", True, rf"{_ZH_LIST}X所?引用(?:了|过)?的{_ZH_PAPER}{_ZH_END}"),
    ("builds_on", True, rf"{_ZH_LIST}(?:基于|建立在|以)X(?:为基础|基础之?上|之上)?的(?:后续)?{_ZH_PAPER}{_ZH_END}"),
    ("builds_on", True, rf"{_ZH_WHICH}{_ZH_PAPER}是?(?:基于|建立在|扩展了?|改进了?)X(?:之上|的?基础之?上|的)?"),
    ("builds_on", True, rf"{_ZH_LIST}X的后续{_ZH_PAPER}{_ZH_END}"),
    (
        "introduces",
        True,
        rf"{_ZH_LIST}(?:首次|最早|首先)?(?:提出|引入|介绍)(?:了|过)?X(?:这?一?个?的?概念)?的{_ZH_PAPER}{_ZH_END}",
    ),
    (
        "introduces",
        True,
        rf"{_ZH_WHICH}{_ZH_PAPER}(?:首次|最早|首先)?(?:提出|引入|介绍)(?:了|过)?X(?:这?一?个?的?概念)?",
    ),
    ("introduces", False, r"谁(?:首次|最早|首先)?(?:提出|引入)(?:了|过)?X(?:这?一?个?的?概念)?"),
    ("written_by", False, r"作者(?:是|为)X的(?:论文|文章|著作|文献)"),
    ("written_by", False, rf"X都?(?:写|发表|撰写)(?:了|过)?{_ZH_WHICH}(?:论文|文章|著作|文献)?"),
    ("written_by", False, rf"{_ZH_LIST}由?X所?(?:写|发表|撰写|合著)?的(?:论文|文章|著作){_ZH_END}"),
)


def _pattern(form: str) -> re.Pattern[str]:
    """Return the pattern of a form. It matches single spaces only: repeated spaces would make matching quadratic."""
    return re.compile(form.replace("X", "(?P<name>.+?)").replace(r"\s+", " "), re.IGNORECASE)


_PATTERNS = tuple((kind, explicit, _pattern(form)) for kind, explicit, form in _FORMS)

_YEAR = r"(1[0-9]{3}|20[0-9]{2})"
_YEARS = re.compile(
    rf" (?:(?:published|written|dated|from) )?(?:(?:between|from) {_YEAR} (?:and|to|until|till|-|–) {_YEAR}"
    rf"|(after|since|from|before|until|till|up to|in|during) (?:the )?(?:year )?{_YEAR}(s)?)"
    rf"(?= ?$| (?:by|that|which|citing|cited|written|authored|published)\b)"
    rf"|(?:在|于|从|自)?{_YEAR}年?(?:到|至|和|与|-|–|—|~){_YEAR}年?(?:之间|期间|间)?"
    rf"|(?:在|于|从|自)?{_YEAR}年(代)?(之后|以后|后|之前|以前|前|以来|起|开始)?",
    re.IGNORECASE,
)
_QUOTES = "\"'“”‘’«»„「」『』《》〈〉"
_NAME_PREFIX = re.compile(
    rf"^(?:the\s+)?{_PAPER}\s+(?:(?:called|titled|entitled|named)\s+)?(?=\S)|^(?:这篇|那篇)?论文(?=\S)", re.I
)
_NAME_SUFFIX = re.compile(r"(?<=\S)\s+(?:paper|article)$|(?<=\S)(?:这篇|那篇|一)文?(?:论文|文)$", re.I)
_OTHER_AUTHORS = re.compile(r",? (?:et al|and (?:colleagues|coworkers|others))\.?(?: \(?[0-9]{4}\)?)?$", re.I)
_TOPIC_CUE = re.compile(r"(?:关于|有关|涉及|讨论|最新|相关)")
_TRADITIONAL = str.maketrans(
    "論獻參於與幾誰發擴礎這後據過寫進關題鍵詞個優", "论献参于与几谁发扩础这后据过写进关题键词个优"
)


@lru_cache(maxsize=256)
def read_citation(text: str) -> tuple[CitationQuestion, ...]:
    """Return the readings of a citation question, the one without its years first; empty for another question."""
    text = squeeze(text).rstrip("?？!！.。 ")
    if not text or len(text) > MAX_QUESTION_CHARACTERS:
        return ()
    found: dict[CitationQuestion, None] = {}
    for rest, since, until in _without_years(text):
        question = _read(rest, since=since, until=until)
        if question is not None:
            found[question] = None
    return tuple(found)


def first_author(name: str) -> str:
    """Return the author of a reference such as `Devlin et al.` or `Devlin et al. (2019)`; empty for other names."""
    match = _OTHER_AUTHORS.search(name)
    return name[: match.start()] if match else ""


def split_names(name: str) -> list[str]:
    """Return the parts of an enumeration: `A, B and C`, `甲、乙和丙`."""
    parts = re.split(r" ?[,;，；、] ?(?:and |or )?| (?:and|or|&) |[和与及]", squeeze(name), flags=re.IGNORECASE)
    return [part.strip(f" {_QUOTES}") for part in parts if part.strip(f" {_QUOTES}")]


def _read(text: str, *, since: int | None, until: int | None) -> CitationQuestion | None:
    plain = text.translate(_TRADITIONAL)  # each character is replaced by one character, so offsets stay valid
    for kind, explicit, pattern in _PATTERNS:
        match = pattern.fullmatch(plain)
        if match is None:
            continue
        names = tuple(dict.fromkeys(_spellings(text[slice(*match.span("name"))])))
        if not names or (kind == "written_by" and _TOPIC_CUE.match(names[0].translate(_TRADITIONAL))):
            continue
        return CitationQuestion(kind=kind, names=names, since=since, until=until, explicit=explicit)
    return None


def _spellings(name: str) -> Iterator[str]:
    """Yield a name as written, then without `the paper` around it."""
    name = name.strip(f" ,:{_QUOTES}")
    if name:
        yield name
        bare = _NAME_SUFFIX.sub("", _NAME_PREFIX.sub("", name)).strip(f" ,:{_QUOTES}")
        if bare:
            yield bare


def _without_years(text: str) -> Iterator[tuple[str, int | None, int | None]]:
    """Yield (question without years, first year, last year), then the unchanged question without a range of years."""
    plain = text.translate(_TRADITIONAL)
    for match in reversed(list(_YEARS.finditer(plain))):
        since, until = _bounds(match)
        yield squeeze(text[: match.start()] + text[match.end() :]), since, until
        break
    yield text, None, None


def _bounds(match: re.Match[str]) -> tuple[int | None, int | None]:
    first, last, word, year, decade, from_zh, to_zh, year_zh, decade_zh, word_zh = match.groups()
    if first or from_zh:
        return tuple(sorted((int(first or from_zh), int(last or to_zh))))  # type: ignore[return-value]
    start = int(year or year_zh)
    end = start // 10 * 10 + 9 if decade or decade_zh else start
    match squeeze((word or word_zh or "in").lower()):
        case "after" | "之后" | "以后" | "后":
            return end + 1, None
        case "since" | "from" | "以来" | "起" | "开始":
            return start, None
        case "before" | "之前" | "以前" | "前":
            return None, start - 1
        case "until" | "till" | "up to":
            return None, end
        case _:
            return start, end
