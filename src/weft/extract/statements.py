"""
Relations that a sentence states between two names, relation types and their inverses.

| sentence | relation |
| --- | --- |
| `Login Flow uses the Session Store.` | Login Flow `uses` Session Store |
| `Heat (1995) was written and directed by Michael Mann.` in `Heat` | Heat `written_by`, `directed_by` Michael Mann |
| `Rome is the capital of Italy.` in `Rome` | Rome `capital_of` Italy |
| `Owner: Identity Team` in `Auth Service` | Auth Service `owned_by` Identity Team |
| `登录服务依赖会话存储。` | 登录服务 `depends_on` 会话存储 |
| `A film starring Jane Roe, directed by John Doe` | none: `directed by` needs a clear subject |
| `She was not born in Cork.` in `Jane Doe` | none: negated |

The weight of a relation depends on its source:

| weight | source | example |
| --- | --- | --- |
| 10 | a typed field of front matter, a record or a table | `depends_on: [OAuth Provider]` |
| 8 | a link in the text of the document | `see [[INC-2041]]` gives `links_to` |
| 7 | a verb between two names in one sentence | `Login Flow uses the Session Store` |
| 6 | structure | the heading `[Retry Queue](retry.md)` is `section_of` its document |
| 1 to 5 | names in the same sentence, counted by the store | `co_occurs_with` |

Each relation is stored in one direction: `A owns B` becomes `B owned_by A`. `inverse` returns the opposite direction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from weft.extract.chinese.statements import find_chinese_relations
from weft.extract.lexicon import SMALL_WORDS, STARTERS, word_set
from weft.extract.names import key_words, name_key
from weft.extract.phrases import (
    MAX_TERM_CHARACTERS,
    Name,
    is_common,
    is_generic_term,
    is_term,
    is_usable,
    without_title,
)
from weft.extract.relation_types import INVERSE, STORED, SYMMETRIC_TYPES, WORDS, split_words
from weft.extract.sentences import Sentence
from weft.extract.subjects import Subject, Topic
from weft.text.normalise import CJK

FIELD_WEIGHT = 10.0
LINK_WEIGHT = 8.0
VERB_WEIGHT = 7.0
STRUCTURE_WEIGHT = 6.0

_ROLE_TYPES = {words.role: type for type, words in WORDS.items() if words.role}
_LABELS = {f"{words.label}:".lower(): type for type, words in WORDS.items() if words.label}
_ROLES = "|".join(_ROLE_TYPES)
# Relation type, position of the source, pattern. `next`: the source is the name right before the cue.
# `subject`: it may also be the subject of the sentence, with a copula or brackets in between.
_CUES: tuple[tuple[str, Literal["next", "subject"], str], ...] = (
    *((type, "next", words.cue) for type, words in WORDS.items() if words.cue),
    *((type, "subject", words.subject_cue) for type, words in WORDS.items() if words.subject_cue),
    ("by", "subject", rf"(?:co-)?(?:{_ROLES})(?:(?:, | and |, and )(?:co-)?(?:{_ROLES})){{0,4}} by"),
    ("by", "subject", f"(?:{'|'.join(_LABELS)})"),
)
_CUE = re.compile(
    r"\b(?:" + "|".join(f"(?P<c{index}>{pattern})" for index, (_, _, pattern) in enumerate(_CUES)) + r")(?=\s)",
    re.IGNORECASE,
)
_TRIGGERS = word_set(" ".join(words.triggers for words in WORDS.values())).union(
    _ROLE_TYPES, (f"{role}," for role in _ROLE_TYPES), _LABELS
)
_ROLE = re.compile(_ROLES, re.IGNORECASE)
_GOVERNED = re.compile(r"\b(?:by|from|in|of|on|to|via|with)\s(?:the\s)?@?$", re.IGNORECASE)
"""Preposition before a name: the subject is the noun before it."""
_ARTICLE = re.compile(r"\s+(?:(?:the|an?|our|its|both|King|Queen) )?")
_BEFORE = re.compile(
    r"\s*(?:\([^()]{0,80}\)\s*)?(?:,\s*)?(?:(?:also|directly|only|still|now|always|currently|heavily|mainly) )?"
)
_COPULAR = re.compile(
    r"(?:\s{0,4},?\s{0,4}\([^()]{0,200}\))?[\s,]{0,8}(?:is|was|are|were|has been|had been)\s|[\s,(]*$"
    r"|\s{0,4},?\s{0,4}\([^()]{0,80}$"
)
_CLAUSE = re.compile(
    r"\b(?:who|which|whose|where|when|while|but|his|her|their|he|she|they|not|never|based (?:up)?on|adapted|remake"
    r"|about|novel|play|story|whom|after|before|if|because)\b|;",
    re.IGNORECASE,
)
_AND = re.compile(r"\s*(?:,\s*and|,|and|&)\s+(?:the\s+)?")
_CONDITION = re.compile(
    r"(?:^|[,;:(]\s*|\b(?:and|or|but|that)\s)(?:if|when|whenever|where|unless|whether|suppose|assuming|imagine|once|until"
    r"|in (?:this|the following) example)\b[^,;]*$",
    re.IGNORECASE,
)
"""Start of a condition or an example that is still open: `If the Pod`."""
_BARE_VERB = re.compile(r"(?:use|depend|rely|belong|implement|read|write|replace|supersede)\b", re.IGNORECASE)
_NOUN_AFTER = re.compile(r"[ -](?P<noun>[a-z][a-z-]*)")
_AFTER_TARGET = STARTERS | SMALL_WORDS | word_set("to that which who is are was were has have via than then instead")
_BEFORE_LABEL = ".;,|*•·–—"
"""Characters after which `owner:` is a field; inside a clause it is not."""
_KIN = frozenset({"child_of", "parent_of", "sibling_of", "married_to"})
_OPENED = re.compile(r"\s{0,4},?\s{0,4}\([^()]{0,80}")
_PLAINLY = re.compile(r"\s{0,4},?\s{0,4}(?:(?:is|was|are|were)\s+)?(?:(?:\w+ly|now|also|still|an?|integral)\s+)*")
_ROLE_BEFORE_NAME = re.compile(r"\s([a-z-]+)\s(?=[A-Z])")
_LISTED = re.compile(r"\s*(?:[,.;:)]|and\b|&|$)")
_STARTS_CLAUSE = re.compile("[，,。；：:、]")
_ZH_CONDITION = re.compile("如果|假如|若|当|每当|只有|只要|除非|是否|不|可以|可能|能够|应该|需要|通过|时[，,]")
_ZH_CLAUSE_END = re.compile("(?:\\(\\))?\\s?(?:[，,。；;、：:（(]|和|与|及|$)")
_ZH_CUE = re.compile("|".join(f"(?P<{type}>{words.zh_cue})" for type, words in WORDS.items() if words.zh_cue))
_ZH_OWNED = re.compile(
    f"(?:由|归)\\s?(?P<owner>[{CJK}]{{2,8}}?|[^{CJK}，。（）()]{{2,60}}?)\\s?(?:[(（](?P<inner>[^()（）]{{1,60}})[)）])?\\s?(?:{'|'.join(split_words(WORDS['owned_by'].zh_managed))})"
)
_ZH_RUN = re.compile(f"[{CJK}]+")
_ZH_LIST = re.compile(f"[{CJK}、]{{1,60}}")


@dataclass(frozen=True, slots=True)
class Statement:
    """Relation `type` from `source` to `target`. Names are as written, or the name of the topic."""

    source: str
    target: str
    type: str


class _Cue(NamedTuple):
    types: tuple[str, ...]
    reach: str
    start: int
    end: int


def inverse(type: str) -> str:
    """Return the relation type in the opposite direction: `owned_by` → `owns`, `has_team` → `team_of`."""
    if type in INVERSE:
        return INVERSE[type]
    if type.startswith("has_"):
        return f"{type.removeprefix('has_')}_of"
    return f"has_{type.removesuffix('_of')}" if type.endswith("_of") else f"{type}_of"


def spellings(type: str) -> tuple[str, ...]:
    """Return the names under which a relation of this type or its inverse may be stored, `type` first."""
    role = type.removesuffix("_of")
    others = (INVERSE.get(type, ""), role, f"has_{role}", f"{type.removeprefix('has_')}_of")
    return tuple(dict.fromkeys((type, *(other for other in others if other and inverse(other) == type))))


def canonical(statement: Statement) -> Statement:
    """Return the statement in the stored direction: `A owns B` becomes `B owned_by A`."""
    if statement.type in STORED or statement.type not in INVERSE:
        return statement
    if statement.type in SYMMETRIC_TYPES:
        return statement
    return Statement(source=statement.target, target=statement.source, type=INVERSE[statement.type])


def in_words(statement: Statement) -> str:
    """Return the statement as a sentence: `Auth Service depends on OAuth Provider.`"""
    verb = statement.type.replace("_", " ")
    is_verb = verb.split(" ")[0].endswith("s") or verb.startswith("has ")
    verb = verb.replace("section of", "a section of")
    return f"{statement.source} {verb if is_verb else f'is {verb}'} {statement.target}."


def find_statements(
    sentence: Sentence, names: Sequence[Name], *, subject: Subject | None, topic: Topic
) -> list[Statement]:
    """
    Return the relations of a sentence, by patterns of high precision.

    Relations of a name with itself are left out.
    """
    found: list[Statement] = []
    for cue in _find_cues(sentence.text):
        if source := _find_source(sentence, cue, names, subject, topic):
            for target in _find_targets(sentence.text, cue, names):
                found += (Statement(source, target, type) for type in cue.types)
    if _ZH_RUN.search(sentence.text):
        found += _find_chinese(sentence.text, names, subject=subject, topic=topic)
        found += (Statement(*stated) for stated in find_chinese_relations(sentence.text, names, subject=subject))
    kept = dict.fromkeys(canonical(statement) for statement in found)
    return [statement for statement in kept if name_key(statement.source) != name_key(statement.target)]


# ── English ─────────────────────────────────────────────────────────────────────────────────────


def _find_cues(text: str) -> Iterator[_Cue]:
    if _TRIGGERS.isdisjoint(text.lower().replace("(", " ").replace("-", " ").split()):
        return  # skip the slow pattern: most sentences have no trigger word
    for match in _CUE.finditer(text):
        type, reach, _ = _CUES[int((match.lastgroup or "c0")[1:])]
        if type != "by":
            types: tuple[str, ...] = (type,)
        elif match.group().endswith(":"):
            types = (_LABELS[match.group().lower()],)
        else:
            types = tuple(_ROLE_TYPES[role.lower()] for role in _ROLE.findall(match.group()))
        yield _Cue(types, reach, match.start(), match.end())


def _find_source(sentence: Sentence, cue: _Cue, names: Sequence[Name], subject: Subject | None, topic: Topic) -> str:
    """Return the source of a cue: the name right before it, or the subject of the sentence; else an empty text."""
    text = sentence.text
    is_label = text[cue.end - 1] == ":"
    if cue.start == 0 or is_label:  # `Owned by …`, `Owner: …`: the source is the topic of the document
        is_field = cue.start == 0 or text[: cue.start].rstrip()[-1:] in _BEFORE_LABEL
        return topic.name if topic.key and (is_field if is_label else cue.reach == "subject") else ""
    if subject is not None and subject.kind not in ("word", "term"):
        between = text[subject.end : cue.start]
        if subject.kind == "pronoun" and sentence.role == "item":  # `It` refers to the line above the list
            return ""
        if _BEFORE.fullmatch(between) or (cue.reach == "subject" and _belongs(between, cue.types[0])):
            return subject.name
    before = next((name for name in reversed(names) if name.end <= cue.start), None)
    if before is None or not _BEFORE.fullmatch(text, before.end, cue.start) or not is_usable(before.text):
        return ""
    if _GOVERNED.search(text, max(0, before.start - 12), before.start):  # `Hedge by Ada Byron uses`
        return ""
    if cue.reach == "next" and not _is_plain_statement(text, before, cue):
        return ""
    # `a film starring X, directed by Y`: X is not the source, so a cue without a verb needs a link or quotes
    return (
        before.text if (before.kind != "quoted" if cue.reach == "next" else before.kind in ("link", "quoted")) else ""
    )


def _is_plain_statement(text: str, before: Name, cue: _Cue) -> bool:
    """
    Return True if a verb right after a name states a relation.

    | text | statement |
    | --- | --- |
    | `Login Flow uses`, `StatefulSets use` | yes |
    | `If the Login Flow uses` | no: a condition |
    | `In Kubernetes, use` | no: an imperative |
    """
    if _CONDITION.search(text, max(0, before.start - 200), before.start):
        return False
    is_bare = _BARE_VERB.match(text, cue.start, cue.end) is not None
    is_listed = text[before.end : cue.start].strip().startswith(",")
    return not is_bare or (not is_listed and before.text.endswith("s"))


def _is_whole(text: str, name: Name) -> bool:
    """Return True if a name ends its noun phrase: `uses Redis to`; not `uses Redis clusters`, `uses Redis's`."""
    after = _NOUN_AFTER.match(text, name.end)
    if after is None:
        return not text.startswith(("'s ", "’s "), name.end)
    return after["noun"] in _AFTER_TARGET - {"that"} or after["noun"].endswith("ly")


def _is_described(text: str, name: Name) -> bool:
    """Return True if the label of a link describes another thing than its page: `[[Privacy|encryption]]`."""
    label = text[name.start : name.end]
    return (
        name.kind == "link"
        and label.islower()
        and key_words(name_key(label)).isdisjoint(key_words(name_key(name.text)))
    )


def _belongs(between: str, type: str) -> bool:
    """Return True if the text between subject and cue connects them unambiguously."""
    if len(between) > 200 or not _COPULAR.match(between) or _CLAUSE.search(between):
        return False
    is_open = between.count("(") > between.count(")") and not _OPENED.fullmatch(between)
    if type in _KIN:  # `a son of X, brother of Y` is ambiguous
        is_open |= between.rstrip().endswith(",") and len(between.strip()) > 1
    return not is_open and (type != "part_of" or bool(_PLAINLY.fullmatch(between)))


def _find_targets(text: str, cue: _Cue, names: Sequence[Name]) -> Iterator[str]:
    """Yield the name after a cue and those listed after it, each with and without its title."""
    at = cue.end
    starts = {name.start: name for name in reversed(names)}
    article = _ARTICLE.match(text, at)
    following = starts.get(article.end()) if article else None
    if following is None:
        following = next((starts[place] for place in (at + 1, at + 2) if place in starts), None)
    if following and (role := _ROLE_BEFORE_NAME.match(text, following.end)) and role[1] not in STARTERS | SMALL_WORDS:
        following = starts.get(role.end(), following)  # `married to IndyCar driver Ryan Briscoe`
    if following and cue.reach == "next" and (not _is_whole(text, following) or _is_described(text, following)):
        return
    while following is not None:
        if is_usable(following.text) and not is_common(following.text):
            yield following.text
            if bare := without_title(following.text):
                yield bare
        joint = _AND.match(text, following.end)
        following = starts.get(joint.end()) if joint else None
        # `born in Cork, Hennessy came …`: a name after a bare comma may begin a clause
        if joint and following and joint.group().strip() == "," and not _LISTED.match(text, following.end):
            following = None


# ── Chinese ─────────────────────────────────────────────────────────────────────────────────────


def _find_chinese(text: str, names: Sequence[Name], *, subject: Subject | None, topic: Topic) -> Iterator[Statement]:
    for match in _ZH_CUE.finditer(text):
        source = "" if _ZH_CONDITION.search(text, 0, match.start()) else _before(text, match.start(), names, topic)
        targets = _after(text, match.end(), names) if source and match.lastgroup else []
        yield from (Statement(source, target, match.lastgroup or "") for target in targets)
    for match in _ZH_OWNED.finditer(text):
        owner = match["owner"].strip()
        target = owner if is_term(owner) or any(name.text == owner for name in names) else ""
        source = _before(text, match.start(), names, topic)
        if not source and subject is not None and subject.kind != "word":
            is_clear = subject.kind != "term" or text[subject.end : subject.end + 1] in ("（", "(")
            source = subject.name if is_clear else ""
        if source and target:
            yield Statement(source, target, "owned_by")


def _before(text: str, end: int, names: Sequence[Name], topic: Topic) -> str:
    """Return the name that ends at `end`, or the Chinese term from the start of the clause to `end`; else empty."""
    while end and text[end - 1] == " ":
        end -= 1
    if name := next((name for name in names if name.end == end and name.kind not in ("quoted", "term")), None):
        return name.text if _starts_clause(text, name.start) else ""
    start = end
    while start and end - start <= MAX_TERM_CHARACTERS and _ZH_RUN.match(text[start - 1]):
        start -= 1
    run = text[start:end]
    if topic.key and (run == "它" or re.fullmatch("[本该](?:服务|系统|组件|模块|团队|工具|项目)", run)):
        return topic.name
    return run if _starts_clause(text, start) and is_term(run) and not is_generic_term(run) else ""


def _starts_clause(text: str, at: int) -> bool:
    """Return True if nothing but punctuation stands before `at` in its clause."""
    before = text[:at].rstrip()
    return not before or bool(_STARTS_CLAUSE.match(before[-1]))


def _after(text: str, start: int, names: Sequence[Name]) -> list[str]:
    """Return the name that begins at `start`, or the Chinese terms from `start` to the end of the clause."""
    while text[start : start + 1] == " ":
        start += 1
    if name := next((name for name in names if name.start == start and name.kind != "term"), None):
        return [name.text] if _ZH_CLAUSE_END.match(text, name.end) else []
    clause = _ZH_LIST.match(text, start)
    if not clause or text[clause.end() : clause.end() + 1].isalnum():
        return []
    terms = re.split("[和与及、]", clause.group().partition("的")[0].partition("来")[0])
    return [term for term in terms if is_term(term) and not is_generic_term(term)]
