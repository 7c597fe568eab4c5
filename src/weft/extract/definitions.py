"""
Definitions (`X is a …`), types of entities and aliases in a sentence.

| sentence | result |
| --- | --- |
| `Redis is an in-memory key-value store.` | Redis has type `store` |
| `Mutiny is a 1952 American film directed by …` | Mutiny has type `film` |
| `Ada Byron, the daughter of a poet, wrote …` | Ada Byron has type `person` |
| `Feature Flags are switches read by services.` | Feature Flags have type `switch` |
| `Seats are held on Monday.` | none: no article and no name |
| `Jane Doe (born Jane Roe) is a …` | Jane Roe is an alias of Jane Doe (birth name) |
| `the Application Programming Interface (API)` | API abbreviates Application Programming Interface |
| `知识图谱（Knowledge Graph，简称KG）` | Knowledge Graph and KG are aliases of 知识图谱 |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weft.extract.chinese.definitions import (
    find_chinese_type,
    find_names_in_brackets,
    find_other_names,
    is_clear_definition,
)
from weft.extract.entity_types import AMBIGUOUS_PERSONS, PERSON, PERSON_NOUNS
from weft.extract.exclusions import is_instruction
from weft.extract.lexicon import DEMONYMS, NO_ACRONYMS, PARAMETERS, RANKS, RELATIVES, SMALL_WORDS, STARTERS, word_set
from weft.extract.names import singular
from weft.extract.phrases import Name, is_identifier, is_proper, is_term, is_usable
from weft.extract.sentences import Sentence
from weft.extract.subjects import Subject, Topic
from weft.text.normalise import CJK
from weft.text.simplified import simplify

MAX_ASIDE_CHARACTERS = 300
"""Maximum length of the text between a name and `is a`: dates of birth, other spellings."""

MAX_OPENING_WORDS = 8
"""Maximum number of words of a name at the start of a text without a title."""

_OPENING = re.compile(
    r"\s{0,4}[\"“'‘]?\s{0,4}(?P<name>[^,;()（）\"“”]{2,90}?)\s{0,4}[\"”'’]?\s{0,4}(?:[(（,].*)?$", re.DOTALL
)
_COPULA = re.compile(r"\s(?P<verb>is|was|are|were)\s+(?:(?:also|still|now)\s+)?(?P<article>(?:an?|the|one of the)\s)?")
_REFERS = re.compile(r"\s(?:refers? to|means|stands for|denotes)\s+(?:an?\s|the\s)?")
_APPOSITION = re.compile(r",\s+(?P<article>an?\s|the\s)(?=[^,]{3,120},)")
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*|[,.;:()（]")
_BOUNDARY = word_set(
    "of in by from that which who whom whose with for at on to as about between near under over into and or but "
    "than where when while since during after before until within without along across against through via per "
    "like is was are were be been being has had have can may will would directed written produced located "
    "situated based published released starring known born founded used created made set developed recorded "
    "composed built named called held played featuring consisting containing owned established considered found "
    "meaning originally best most currently also not his her its their it he she they this these those "
    "responsible available if unless because whether though although"
)
_KINDS_OF = word_set("type kind sort form variety species name pair number series group class set one")
_EMPTY = word_set(
    "one way lot few thing things result same first second third case reason problem point fact end rest only "
    "main most more time answer question bit matter other idea rule exception example difference part member "
    "option choice alternative candidate"
)
_MODIFIERS = word_set("film stage television theatre theater radio screen music opera voice movie tv black")
"""Nouns that often modify another noun: `a film and stage director`."""
_ADJECTIVES = word_set(
    "advanced asynchronous basic clean complete comprehensive concise convenient cross-platform drop-in dynamic "
    "easy-to-use efficient elegant experimental extensible extremely fast flexible free full-featured fully-featured "
    "generic general-purpose high-level high-performance high-quality large lightweight low-level mature minimal "
    "modern modular multi-platform native new open-source optional portable powerful production-ready reliable robust "
    "scalable self-contained simple small stable standalone static thread-safe tiny universal"
)
"""Adjectives that may be listed before a noun: `a simple, yet elegant, HTTP library`. None is a type."""
_JUDGING = word_set(
    "best common conventional crucial easiest essential fastest important main popular preferred recommended useful "
    "usual valuable"
)
"""Adjectives before `method` or `tool` that speak of a way to do something: `the preferred method of installation`."""
_ASIDE_IN = re.compile(r"\s?\([^()]{0,80}\)")
_PARTICIPLE = re.compile(r"[a-z-]{2,}[^e\W]ed")
_NO_PARTICIPLES = word_set("biped hundred infrared kindred moped watershed")
_PERSON_CUES = (
    DEMONYMS
    | PERSON_NOUNS
    | word_set(
        "born deceased fashion film former football baseball basketball hockey tennis chess glamour he league music "
        "professional race racing record retired she stage television who"
    )
)
"""Words of a definition that make `model` or `driver` a person."""
_AS = re.compile(
    r"(?:\b(?P<known>also known as|also called|better known as|best known as|known professionally as|known as"
    r"|a\.?k\.?a\.?|nicknamed|(?:stage|ring|pen) name(?: of)?|formerly(?: known as| called)?|abbreviated(?: as| to)?)"
    r"|\b(?P<born>born))[,:]?\s*[\"“'‘]?\s*"
)
_ASIDE = re.compile(r"\s{0,4}(?:\(.*|,?\s{0,4}(?:later|then|now)\s.*|,?\s{0,4}formerly.*)", re.DOTALL)
_ALIAS_END = re.compile(
    r"[,;:()\[\]（）\"“”]|\.(?:\s|$)|\s(?:is|was|are|were|and|or|in|who|which|from|by|when|at|on|until)\s|$"
)
_OPENING_STARTERS = STARTERS - {"the"}
_NAME_STARTERS = STARTERS - {"the", "a"}
_BRACKET = re.compile(r"\s?[(（]([^()（）]{1,80})[)）]")
_ACRONYM = re.compile(r"[A-Z][A-Za-z0-9&-]{1,9}")
_ZH_BEFORE_NAME = "的是把被在了和与及或由归从给让见将即为叫称到于用对向跟、"
"""Chinese characters that may stand before a name without belonging to it."""
_ZH_INSTRUCTIONS = ("点击", "单击", "设置", "开启", "关闭", "选择", "启用", "打开", "勾选", "输入")
_QUOTES = " \"“”'‘’*_"
_CJK_TAIL = re.compile(f"(?<![{CJK}])[{CJK}]+$")
_CJK_ALL = re.compile(f"[{CJK}]{{2,10}}")
_CJK = re.compile(f"[{CJK}]")


@dataclass(frozen=True, slots=True)
class Definition:
    """The type that a sentence gives its subject."""

    subject: Subject
    type: str
    at: int
    """Offset of the verb."""


@dataclass(frozen=True, slots=True)
class Alias:
    """Another name of an entity, with the reason."""

    name: str
    of: str
    """Main name of the alias; empty for the subject of the sentence."""
    reason: str


def find_definition(sentence: Sentence, subject: Subject | None) -> Definition | None:
    """Return the definition in a sentence: `X is a …`, `X refers to …`, `X, a …,`, `X 是一种 …`."""
    if subject is None:
        return None
    text = sentence.text
    for match in _COPULA.finditer(text, subject.end, subject.end + MAX_ASIDE_CHARACTERS):
        if not _is_aside(text[subject.end : match.start()]):
            continue
        is_plural = match["verb"] in ("are", "were") or (match["article"] or "").startswith("one")
        kind = guess_type(text[match.end() :], plural=is_plural)
        return Definition(subject, kind, match.start()) if _is_defining(subject, match, kind, text) else None
    refers, apposition = _REFERS.match(text, subject.end), _APPOSITION.match(text, subject.end)
    if refers and subject.kind != "pronoun":
        return Definition(subject, guess_type(text[refers.end() :]), refers.start())
    if apposition and subject.kind in ("topic", "name", "quoted"):
        return Definition(subject, guess_type(text[apposition.end() :]), apposition.start())
    return _find_chinese(text, subject)


def find_opening(sentence: Sentence, topic: Topic) -> Definition | None:
    """Return the definition of the topic in a first sentence, which may use another name: `Viscount was the …`."""
    match = _COPULA.search(sentence.text, 1, 200)
    first = sentence.text.split(" ", 1)[0]
    if not match or not match["article"] or not first[:1].isupper() or first.lower() in _OPENING_STARTERS:
        return None
    kind = guess_type(sentence.text[match.end() :])
    return Definition(Subject(topic.name, topic.key, match.start(), "topic"), kind, match.start()) if kind else None


def may_be_topic(found: Definition, text: str) -> bool:
    """Return True if the defined name may be the topic of an untitled text. Chinese needs a clear definition."""
    if _CJK.search(found.subject.name):
        return found.subject.kind in ("name", "term", "quoted") and is_clear_definition(text, found.at)
    return found.subject.kind == "name"


def find_defined_name(sentence: Sentence) -> tuple[str, str]:
    """
    Return the topic of the first sentence of an untitled text, and its type; empty texts if there is none.

    The topic is the text before `is a` without quotes, brackets and asides: `Life Begins in May` of `Life Begins in May
    (1937) is a comedy film`.
    """
    text = sentence.text
    match = _COPULA.search(text, 1, 240)
    if not match or not match["article"]:
        return "", ""
    name = _OPENING.match(text[: match.start()])
    found = name["name"].strip(" \"“”'‘’") if name else ""
    first = found.split(" ", 1)[0]
    if first[:1].islower() or first.lower() in _NAME_STARTERS or len(found.split()) > MAX_OPENING_WORDS:
        return "", ""
    kind = guess_type(text[match.end() :], plural=match["verb"] in ("are", "were"))
    return (found, kind) if (kind or is_proper(found)) and is_usable(found) else ("", "")


def guess_type(rest: str, *, plural: bool = False) -> str:
    """
    Return the head noun of the noun phrase at the start of `rest`, in lower case; empty if there is none.

    `1961 Italian drama film directed by …` gives `film`. Relatives (`son`, `widow`) give `person`, and so
    does `model` in `a fashion model`; in `a concurrency model` it does not.
    """
    head = before = ""
    words = [match.group() for match in _WORD.finditer(_ASIDE_IN.sub("", rest[:200]))][:24]
    for word, after in zip(words, [*words[1:], "."], strict=False):
        folded = word.lower()
        if folded == "of" and (before in _KINDS_OF or (before == "one" and plural)):
            head = before = ""
        elif folded in ("a", "an", "the", "yet") and not head:
            continue
        elif folded in _BOUNDARY or not word[0].isalnum():
            if folded in (",", "and", "or", "but") and before in _ADJECTIVES:
                head = ""
                continue
            if folded in (",", "and", "or") and (before in DEMONYMS or before in _EMPTY or before in _MODIFIERS):
                continue
            if head == "place" and folded in ("to", "for", "where"):  # `a good place to keep settings`
                return ""
            break
        elif head and (_is_participle(folded, after) or _opens_clause(folded, head)):  # `a format designed for`
            break
        else:
            is_noun = (word.isalpha() or "-" in word) and not is_identifier(word)
            head, before = (folded if is_noun else head), folded
            if plural and singular(folded) != folded:  # `switches read by services`
                break
    if head in ("method", "tool") and not _JUDGING.isdisjoint(word.lower() for word in words):
        return ""
    if head in _ADJECTIVES or (head.startswith("place") and "decimal" in (word.lower() for word in words)):
        return ""
    if head in _EMPTY or head in DEMONYMS or head in STARTERS or not head.replace("-", "").isalpha():
        return ""
    noun = singular(head) if plural else head
    if noun in AMBIGUOUS_PERSONS and not _PERSON_CUES.isdisjoint(word.lower() for word in words):
        return PERSON
    return PERSON if head in RELATIVES else noun


def find_aliases(sentence: Sentence, names: Sequence[Name], *, end: int, verb: int | None = None) -> Iterator[Alias]:
    """
    Yield the aliases of the subject of a first sentence before `end`: `also known as X`, `born X`, `又称X`.

    After the `verb`, a cue may refer to another name: in `the father of Temüjin, later known as X`, X is Temüjin.
    """
    starts = {name.start: name for name in names}
    for match in _AS.finditer(sentence.text, 0, end):
        if verb is not None and _names_another(sentence.text, names, match, verb=verb):
            continue
        at = match.end()
        found = next((starts[place] for place in (at, at + 4, at - 1, at - 2) if place in starts), None)
        text = (_whole_alias(sentence.text, found) if found else "").strip("'’ ")
        is_full = len(text.split()) > 1 or not (match["born"] or (found and found.start == at + 4))
        if text and is_full and is_usable(text):
            yield Alias(text, "", "birth name" if match["born"] else f"“{match['known']}” in the text")
    for other_name in find_other_names(sentence.text, names, end=end):
        if is_usable(other_name.name):
            yield Alias(other_name.name, "", f"“{other_name.cue}” in the text")


def _names_another(text: str, names: Sequence[Name], cue: re.Match[str], *, verb: int) -> bool:
    """Return True if a cue after the verb refers to the name before it: in brackets, or with `later`, `now`."""
    before = max((name.end for name in names if verb < name.start and name.end <= cue.start()), default=None)
    return before is not None and bool(_ASIDE.fullmatch(text[before : cue.end()]))


def _whole_alias(text: str, found: Name) -> str:
    """Return the complete alias: `Photos of a Lady` if the found name is `Photos`."""
    stop = _ALIAS_END.search(text, found.end)
    whole = text[found.start : stop.start()] if stop and found.kind == "phrase" else found.text
    return whole if len(whole.split()) <= 8 else found.text


def find_abbreviations(sentence: Sentence, names: Sequence[Name]) -> Iterator[Alias]:
    """Yield names in parentheses that abbreviate or translate the name before them: `Graph Retrieval (图检索)`."""
    ends = {name.end: name.text for name in names}
    for match in _BRACKET.finditer(sentence.text):
        before = sentence.text[max(0, match.start() - 160) : match.start()]
        inner = re.split("[,;，；]", match[1])[0].strip()
        if full := _expand(before, inner):
            yield Alias(inner, full, "abbreviation in parentheses")
        elif (short := _last_word(before)) and (_expand(inner, short) == inner):
            yield Alias(short, inner, "abbreviation of the name in parentheses")
        elif _CJK_ALL.fullmatch(inner) and is_term(simplify(inner)) and (name := ends.get(match.start())):
            yield Alias(inner, name, "translation in parentheses")
    yield from _find_translations(sentence, names)


def _find_translations(sentence: Sentence, names: Sequence[Name]) -> Iterator[Alias]:
    """Yield the names in brackets after a Chinese name: `知识图谱（Knowledge Graph，简称KG）`."""
    text = sentence.text
    bold = [mark.end for mark in sentence.marks if mark.kind == "strong"] if is_instruction(text) else []
    for start, others in find_names_in_brackets(text):
        if any(0 <= start - end <= 1 for end in bold):  # `点击**手动分析** (Manual Profiling)`: a control
            continue
        before = text[max(0, start - 160) : start]
        whole = max((name.text for name in names if name.end == start and _CJK.search(name.text)), key=len, default="")
        tail = _CJK_TAIL.search(before)
        if not whole and tail:
            whole = _last_term(tail.group(), has_text_before=tail.start() > 0)
        if whole and whole[-1] != "的" and not _is_fragment(before, whole):
            yield from (Alias(other, whole, "translation in parentheses") for other in others)


# ── helper functions ────────────────────────────────────────────────────────────────────────────


def _opens_clause(word: str, head: str) -> bool:
    """Return True if an article after a noun begins a clause: `the only store the team knows`."""
    return word == "the" and head not in STARTERS and not head.endswith("ly")


def _is_fragment(before: str, name: str) -> bool:
    """Return True if a Chinese name is the end of a longer one: `文件组件` of `单文件组件`, but not of `由文件组件`."""
    rest = before.removesuffix(name)
    return len(rest) < len(before) and _CJK.match(rest[-1:]) is not None and rest[-1] not in _ZH_BEFORE_NAME


def _is_aside(between: str) -> bool:
    """Return True if the text between a name and its verb is empty, in brackets or an apposition."""
    bare = between.strip().lstrip("\"”’'").lstrip()
    if not bare:
        return True
    if bare.count("(") > bare.count(")") or bare.count("（") > bare.count("）"):
        return False
    return bare[0] in "(（" or bare.startswith(("or ", "née ", "alias ")) or (bare[0] == "," and bare[-1] in "),）")


def _is_defining(subject: Subject, match: re.Match[str], kind: str, text: str) -> bool:
    """Return True if a copula defines its subject: `Redis is a store` does, `Seats are held` does not."""
    if subject.kind == "pronoun" or subject.name in PARAMETERS:
        return False
    if subject.kind == "quoted" and not (" " in subject.name and is_proper(subject.name)):
        return bool(_CJK_ALL.fullmatch(subject.name))
    if subject.kind == "word":  # `Maria was the daughter of …` does not define every Maria
        lower = f" {subject.name.lower()}"
        if _PARTICIPLE.fullmatch(subject.name.lower()):  # `Listed is a table of …`
            return False
        return match["verb"] == "is" and bool(match["article"]) and kind not in ("", PERSON) and lower not in text
    if match["article"]:
        is_single = subject.kind == "name" and " " not in subject.name and not is_identifier(subject.name)
        return not is_single or match["verb"] in ("is", "are")
    rest = text[match.end() :].split(" ", 1)[0].lower()
    if rest in RANKS and match["verb"] in ("is", "was"):
        return True
    is_plural_noun = match["verb"] in ("are", "were") and rest.endswith("s") and rest not in STARTERS
    return is_plural_noun and bool(kind) and (" " in subject.name or is_identifier(subject.name))


def _is_participle(word: str, after: str) -> bool:
    """Return True if a word is a participle that ends the noun phrase: `a format designed for`."""
    is_closed = after.lower() in _BOUNDARY or not after[0].isalnum()
    return is_closed and bool(_PARTICIPLE.fullmatch(word)) and word not in _NO_PARTICIPLES


def _find_chinese(text: str, subject: Subject) -> Definition | None:
    if subject.kind in ("pronoun", "word"):
        return None
    found = find_chinese_type(text, subject.end, is_clear_name=subject.kind != "term")
    return Definition(subject, found[1], found[0]) if found else None


def _expand(before: str, short: str) -> str:
    """Return the last words of `before` whose initials are `short`, ignoring small words; empty if none match."""
    if not _ACRONYM.fullmatch(short) or sum(map(str.isupper, short)) < 2 or short.lower() in NO_ACRONYMS:
        return ""
    letters = [letter.lower() for letter in short if letter.isalnum()]
    words = list(re.finditer(r"[^\W_]+", before))
    start = len(before)
    for match in reversed(words[-2 * len(letters) - 4 :]):
        word = match.group().lower()
        if letters and word[0] == letters[-1]:
            letters.pop()
            start = match.start()
        elif word not in SMALL_WORDS:
            return ""
        if not letters:
            return before[start:].strip(_QUOTES) if len(before[start:].split()) > 1 else ""
    return ""


def _last_word(before: str) -> str:
    return before.rstrip().rpartition(" ")[2]


def _last_term(run: str, *, has_text_before: bool) -> str:
    """Return the term at the end of a run of Chinese characters: `身份团队` of `由身份团队`."""
    for mark in "的是把被在了":
        run = run.rpartition(mark)[2] if mark in run[:-2] else run
    for mark in "和与及或":
        at = run.rfind(mark, 0 if has_text_before else 2, len(run) - 2)
        run = run[at + 1 :] if at >= 0 else run
    if run.startswith(_ZH_INSTRUCTIONS):  # `设置区间起始时间 (Range Start Time)` describes a control
        return ""
    if run[:1] and run[0] in "由归从给让见将即" and len(run) > 2:
        run = run[1:]
    return run if is_term(run) and run[-1] != "的" else ""
