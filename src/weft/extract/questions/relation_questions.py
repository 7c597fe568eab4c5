"""
Grammar of questions about relations: the relation types, from the named thing, and its name.

| question | types | names |
| --- | --- | --- |
| `Who calls Command.invoke?` | `called_by` | Command.invoke |
| `Which services depend on Redis directly or indirectly?` | `depended_on_by`, `used_by`, … ; indirect | Redis |
| `What does the parser import?` | `imports` | the parser; parser |
| `What is the parser imported by?` | `imported_by` | the parser; parser |
| `Who is the owner of Auth Service?`, `Auth Service 的负责人是谁` | `owned_by`, … | Auth Service |
| `哪些服务依赖会话存储` | `depended_on_by`, … | 会话存储 |
| `How are Redis and Kafka connected?` | all | Redis, Kafka |
| `Why does Redis depend on Kafka?`, `Is Redis part of Kafka?` | all | Redis, Kafka |
| `What is Redis connected to, directly or indirectly?` | all; indirect | Redis |
| `how does the parser call its backend?` | none: no form of this table | |

The whole question must have a form. A form is a frame around verbs or nouns of `relation_types`. A question may have
several readings; the graph decides which of the names exists.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from weft.extract.questions.chinese_relation_questions import read_chinese_relation
from weft.extract.relation_types import INVERSE, WORDS, split_words
from weft.records import RelationQuestion
from weft.text.normalise import CJK, squeeze

MAX_QUESTION_CHARACTERS = 300
"""Maximum length of a question about relations."""

MAX_FILLERS = 5
"""Maximum number of words between the question word and the verb: `which other services directly use`."""

MAX_NAME_WORDS = 16
"""Maximum number of words of a name; the title of a page may be long."""

MAX_PHRASE_WORDS = 5
"""Maximum number of words of a verb or noun in a question."""

_QUESTION_WORDS = frozenset({"who", "what", "which", "whose", "whom"})
_COPULAS = frozenset({"is", "are", "was", "were"})
_AUXILIARIES = frozenset({"does", "do", "did", "can", "could", "will", "would", "should"})
_PERFECT = frozenset({"has", "have", "had"})
_CLAUSE_WORDS = frozenset("if when while because happen happens happened we i you they it".split())
"""Words that begin another clause, in which the verb is not the one asked for: `what happens if we change …`."""
_ASK = re.compile(
    r"(?:(?:please|can you|could you) )?(?:tell me|show me|give me|list|show|find|name) "
    r"(?:(?:all|every|any) )?(?:of )?(?:the )?",
    re.IGNORECASE,
)
_HOW_MANY = re.compile("how many ", re.IGNORECASE)
_INDIRECT = re.compile(
    r" ?,?\b(?:(?:both )?directly (?:or|and) indirectly|indirectly (?:or|and) directly|indirectly|transitively)\b",
    re.IGNORECASE,
)
_INDIRECT_CHINESE = re.compile("直接(?:或者?|和)间接地?|间接(?:或者?|和)直接地?|间接地?")
_TAIL = re.compile(
    r" (?:directly|today|now|currently|at the moment"
    r"|in (?:the|this|our) (?:code|code ?base|project|repository|docs|documentation|notes))$",
    re.IGNORECASE,
)
_RELATED = "(?:connected|related|linked|associated|tied)"
# Question up to the first name, word between the names, rest.
_BETWEEN = tuple(
    (re.compile(start, re.IGNORECASE), re.compile(joint, re.IGNORECASE), re.compile(f"{end}$", re.IGNORECASE))
    for start, joint, end in (
        ("how (?:is|are|was|were) ", " and ", f" {_RELATED}(?: (?:to each other|together))?"),
        ("how (?:is|are|was|were) ", f" {_RELATED} (?:to|with) ", ""),
        ("how (?:do|does|did) ", " (?:relate|connect|link) (?:to|with) ", ""),
        ("how (?:do|does|did) ", " and ", " (?:relate|connect|link|fit together|hang together)(?: to each other)?"),
        ("what (?:connects|links|relates|ties) ", " (?:and|to|with) ", ""),
        ("(?:what (?:is|are) )?(?:the )?(?:relation|relationship|connection|link|path)s? between ", " and ", ""),
        (
            "(?:what|which) (?:relation|relationship|connection|link)s? (?:exists?|is there|are there) between ",
            " and ",
            "",
        ),
        ("what (?:does|do|did|has|have|had) ", " (?:(?:have|got) )?to do with ", ""),
        ("(?:is|are) ", f" {_RELATED} (?:to|with) ", ""),
        ("(?:is|are) ", " and ", f" {_RELATED}"),
    )
)
_ANY = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?:what|who|which(?: [\w-]+){{1,3}}) (?:is|are|was|were) {_RELATED} (?:to|with) (?P<name>.+)",
        rf"(?:what|who|which(?: [\w-]+){{1,3}}) (?:is|are|was|were) (?P<name>.+) {_RELATED} (?:to|with)",
        r"(?:what|which(?: [\w-]+){1,3}) (?:can be reached|(?:is|are) reachable) from (?P<name>.+)",
    )
)
"""Questions for everything that a relation joins with a thing. `reached` asks for chains."""
_ANY_CHINESE = tuple(
    re.compile(form)
    for form in (
        "(?:哪些|什么)[^与和跟]{0,8}(?:与|和|跟)(?P<name>.{1,80}?)(?:相连|相关|有关|关联|有联系|相关联)",
        "(?:与|和|跟)(?P<name>.{1,80}?)(?:相连|相关|有关|关联|有联系|相关联)的.{0,8}(?:有哪些|是什么|有什么)",
    )
)
_THING = re.compile(
    r"(?:the |an? |our )?"
    r"(?:(?:pages?|notes?|documents?|files?|modules?|packages?|class(?:es)?|functions?|methods?|services?) )?",
    re.IGNORECASE,
)
_THING_AFTER = re.compile(
    r" (?:page|note|document|file|module|package|class|function|method|service|project|team)$", re.IGNORECASE
)
_ARTICLE = re.compile("(?:the|an?|our) ", re.IGNORECASE)
_QUOTES = "\"'“”‘’«»„「」『』《》〈〉` "


class _Words(NamedTuple):
    """Phrases of one language or form, each with the relation types from its subject to its object."""

    active: Mapping[str, tuple[str, ...]]
    base: Mapping[str, tuple[str, ...]]
    continuous: Mapping[str, tuple[str, ...]]
    """After a copula: `calling`, `part of`."""
    participles: Mapping[str, tuple[str, ...]]
    nouns: Mapping[str, tuple[str, ...]]
    places: Mapping[str, tuple[str, ...]]


@lru_cache(maxsize=256)
def read_relation(text: str) -> tuple[RelationQuestion, ...]:
    """Return the readings of a question about relations, the likeliest first; empty for another question."""
    plain = squeeze(text).strip().rstrip("?？!！.。 ")
    if not plain or len(plain) > MAX_QUESTION_CHARACTERS:
        return ()
    plain, indirect = _INDIRECT.subn("", plain)
    plain, indirect_chinese = _INDIRECT_CHINESE.subn("", plain)
    plain = _TAIL.sub("", plain).strip(" ,")
    has_cjk = re.search(f"[{CJK}]", plain)
    found = (*_read_any(plain), *(_read_chinese(plain) if has_cjk else _read_english(plain)))
    indirect += "reach" in plain
    readings = (
        reading
        for reading in found
        if all(names and len(names[0].split()) <= MAX_NAME_WORDS for names in reading.names)
    )
    return tuple(dict.fromkeys(reading._replace(indirect=bool(indirect or indirect_chinese)) for reading in readings))


def _read_any(text: str) -> Iterator[RelationQuestion]:
    """Yield the reading of `what is X connected to`, `与X相关的有哪些`: all relations of one thing."""
    for form in (*_ANY, *_ANY_CHINESE):
        if match := form.fullmatch(text):
            yield RelationQuestion(names=(_spellings(match["name"]),))
            return


def _reading(types: Sequence[str], name: str) -> RelationQuestion:
    broad = (other for type in types for other in split_words(WORDS[type].broad))
    return RelationQuestion(types=tuple(dict.fromkeys([*types, *broad])), names=(_spellings(name),))


def _spellings(name: str) -> tuple[str, ...]:
    """Return a name as written, then without its article, then without the word for its kind."""
    written = name.strip(_QUOTES + ",")
    bare = _ARTICLE.sub("", written, count=1) if _ARTICLE.match(written) else written
    thing = _THING.match(written)
    of_kind = written[thing.end() :] if thing else written
    found = (written, bare, of_kind, _THING_AFTER.sub("", bare), _THING_AFTER.sub("", of_kind))
    return tuple(dict.fromkeys(spelling for spelling in (each.strip(_QUOTES) for each in found) if spelling))


def _read_chinese(text: str) -> Iterator[RelationQuestion]:
    for types, name, other in read_chinese_relation(text):
        yield RelationQuestion(names=(_spellings(name), _spellings(other))) if other else _reading(types, name)


def _inverses(types: Sequence[str]) -> tuple[str, ...]:
    return tuple(INVERSE[type] for type in types)


# ── English ─────────────────────────────────────────────────────────────────────────────────────


def _read_english(text: str) -> Iterator[RelationQuestion]:
    for start, joint, end in _BETWEEN:
        opening, closing = start.match(text), end.search(text)
        between = joint.search(text, opening.end(), closing.start()) if opening and closing else None
        if opening and closing and between:
            names = text[opening.end() : between.start()], text[between.end() : closing.start()]
            yield RelationQuestion(names=tuple(map(_spellings, names)))
            return
    asked = _ASK.match(text) or _HOW_MANY.match(text)
    words = text[asked.end() :].split(" ") if asked else text.split(" ")
    lower = [word.lower() for word in words]
    opens = lower[0] in _QUESTION_WORDS
    if lower[0] == "by" and lower[1:2] and lower[1] in _QUESTION_WORDS:
        words, lower, opens = [*words[1:], "by"], [*lower[1:], "by"], True
    if lower[0] == "where":
        yield from _read_places(words, lower)
    yield from _read_pairs(words, lower)
    yield from _read_objects(words, lower, opens=opens or bool(asked))
    yield from _read_nouns(words, lower, opens=opens)
    yield from _read_subjects(words, lower, opens=opens or bool(asked))


def _read_subjects(words: Sequence[str], lower: Sequence[str], *, opens: bool) -> Iterator[RelationQuestion]:
    """Yield readings of `which services use X`, `who calls X`, `functions called by X`."""
    forms = _english()
    for at in range(1, min(len(words) - 1, MAX_FILLERS + 1)):
        before = lower[at - 1]
        if before in _CLAUSE_WORDS:
            return
        link = before in ("that", "which", "who") and at > 1
        for end in range(min(at + MAX_PHRASE_WORDS, len(words) - 1), at, -1):
            phrase, name = " ".join(lower[at:end]), " ".join(words[end:])
            if types := forms.participles.get(phrase.removesuffix(" by")) if phrase.endswith(" by") else None:
                yield _reading(types, name)
            elif before in _PERFECT and (types := forms.participles.get(phrase)):
                yield _reading(_inverses(types), name)
            elif before in _COPULAS or not (opens or link):
                if (opens or link or at == 1) and (types := forms.continuous.get(phrase)):
                    yield _reading(_inverses(types), name)
            elif types := forms.active.get(phrase) or (forms.continuous.get(phrase) if "ing" in phrase else None):
                yield _reading(_inverses(types), name)


def _read_objects(words: Sequence[str], lower: Sequence[str], *, opens: bool) -> Iterator[RelationQuestion]:
    """Yield readings of `what does X call`, `what is X called by`, `what is X part of`, `modules that X imports`."""
    for at in range(1, min(len(words) - 2, MAX_FILLERS)):
        auxiliary = lower[at]
        for start in range(len(words) - 1, max(at + 1, len(words) - MAX_PHRASE_WORDS - 1), -1):
            phrase, name = " ".join(lower[start:]), " ".join(words[at + 1 : start])
            types = _object_types(auxiliary, phrase) if opens or auxiliary in ("that", "which") else ()
            if types:
                yield _reading(types, name)


def _object_types(auxiliary: str, phrase: str) -> tuple[str, ...]:
    """Return the types from X in `… does X call`, `… is X called by`, `… that X calls`."""
    forms = _english()
    if auxiliary in _AUXILIARIES:
        return forms.base.get(phrase, ())
    if auxiliary in _PERFECT:
        return forms.participles.get(phrase, ())
    if auxiliary in ("that", "which"):
        return forms.active.get(phrase, ())
    if auxiliary not in _COPULAS:
        return ()
    passive = forms.participles.get(phrase.removesuffix(" by"), ()) if phrase.endswith(" by") else ()
    roles = forms.nouns.get(_ARTICLE.sub("", phrase).removesuffix(" of"), ()) if phrase.endswith(" of") else ()
    return (*forms.continuous.get(phrase, ()), *_inverses(passive), *_inverses(roles))


def _read_pairs(words: Sequence[str], lower: Sequence[str]) -> Iterator[RelationQuestion]:
    """Yield readings of `does X depend on Y`, `why is X called by Y`, `is X part of Y`: what relates two things?"""
    start = 1 if lower[0] == "why" else 0
    if len(lower) > start + 3 and lower[start] in _AUXILIARIES | _COPULAS and lower[start + 1] not in _CLAUSE_WORDS:
        for at in range(start + 2, len(words) - 1):
            for end in range(min(at + MAX_PHRASE_WORDS, len(words) - 1), at, -1):
                if _object_types(lower[start], " ".join(lower[at:end])):
                    names = words[start + 1 : at], words[end:]
                    yield RelationQuestion(names=tuple(_spellings(" ".join(name)) for name in names))


def _read_nouns(words: Sequence[str], lower: Sequence[str], *, opens: bool) -> Iterator[RelationQuestion]:
    """Yield readings of `who is the owner of X`, `X's owner`, `callers of X`, `which tests does X have`."""
    forms = _english()
    start = 0
    if opens:
        start = 2 if lower[1:2] and lower[1] in _COPULAS else 1
    while start < len(lower) and lower[start] in ("the", "a", "an", "all", "direct"):
        start += 1
    for end in range(min(start + MAX_PHRASE_WORDS, len(words)), start, -1):
        types = forms.nouns.get(" ".join(lower[start:end]))
        rest = lower[end:]
        if types and len(rest) > 1 and rest[0] in ("of", "for", "to", "in"):
            yield _reading(types, " ".join(words[end + 1 :]))
        elif types and len(rest) > 2 and rest[0] in _AUXILIARIES | _PERFECT and rest[-1] in ("have", "has"):
            yield _reading(types, " ".join(words[end + 1 : -1]))
    for at in range(start, len(words) - 1):
        if re.search("(?:['’]s|s['’])$", lower[at]) and (types := forms.nouns.get(" ".join(lower[at + 1 :]))):
            yield _reading(types, re.sub("['’]s?$", "", " ".join(words[start : at + 1])))


def _read_places(words: Sequence[str], lower: Sequence[str]) -> Iterator[RelationQuestion]:
    """Yield readings of `where was X born`, `where is X defined`."""
    if len(words) > 3 and lower[1] in _COPULAS | _AUXILIARIES and (types := _english().places.get(lower[-1])):
        yield _reading(types, " ".join(words[2:-1]))
    elif len(words) > 2 and lower[1] in _COPULAS:
        yield _reading(("located_in",), " ".join(words[2:]))


@cache
def _english() -> _Words:
    found: tuple[dict[str, list[str]], ...] = tuple(defaultdict(list) for _ in _Words._fields)
    active, base, continuous, participles, nouns, places = found
    for type, words in WORDS.items():
        for verb in split_words(words.verbs) + split_words(words.asked):
            if verb.startswith("be "):
                rest = verb.removeprefix("be ")
                for article in ("", "a ", "an ", "the "):
                    continuous[f"{article}{rest}"].append(type)
                continue
            simple, past, participle = _principal_parts(verb)
            for form in (simple, _third_person(simple), past):
                active[form].append(type)
            base[simple].append(type)
            participles[participle].append(type)
            continuous[_continuous(simple)].append(type)
        for noun in split_words(words.nouns):
            singular, _, plural = noun.partition("/")
            nouns[singular].append(type)
            nouns[plural or _third_person(singular)].append(type)
        for place in split_words(words.where):
            places[place].append(type)
    return _Words(*({phrase: tuple(dict.fromkeys(types)) for phrase, types in table.items()} for table in found))


def _principal_parts(verb: str) -> tuple[str, str, str]:
    """Return the base form, the past tense and the participle of a verb: `use`, `used`, `used`."""
    if "/" in verb:
        simple, past, participle = verb.split("/")
        return simple, past, participle
    first, *rest = verb.split(" ")
    ending = "d" if first.endswith("e") else "ed"
    stem = f"{first[:-1]}i" if _ends_in_consonant_y(first) else first
    past = " ".join([stem + ending, *rest])
    return verb, past, past


def _third_person(word: str) -> str:
    """Return the third person of a verb, or the plural of a noun: `rely on` → `relies on`, `class` → `classes`."""
    is_verb_phrase = word.rsplit(" ", 1)[-1] in ("on", "upon", "to", "from", "in", "of", "also")
    first, rest = word.partition(" ")[::2] if is_verb_phrase else (word, "")
    if not is_verb_phrase and re.search(r" (?:of|in) ", word):  # `place of birth`
        first, rest = word.partition(" ")[::2]
    if _ends_in_consonant_y(first):
        first = f"{first[:-1]}ies"
    else:
        first += "es" if first.endswith(("s", "x", "ch", "sh", "z")) else "s"
    return f"{first} {rest}".strip()


def _continuous(verb: str) -> str:
    """Return the continuous form of a verb: `use` → `using`, `die in` → `dying in`."""
    first, _, rest = verb.partition(" ")
    stem = f"{first[:-2]}y" if first.endswith("ie") else first[:-1] if first.endswith("e") else first
    return f"{stem}ing {rest}".strip()


def _ends_in_consonant_y(word: str) -> bool:
    return len(word) > 1 and word.endswith("y") and word[-2] not in "aeiou"
