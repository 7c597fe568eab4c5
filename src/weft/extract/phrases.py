"""
Names in a sentence: links, capitalised phrases, identifiers, quoted titles, Chinese terms.

| sentence | names |
| --- | --- |
| `However, Jane Doe met the Duke of York in May.` | `Jane Doe`, `Duke of York` |
| `Set session.ttl_seconds before INC-2041.` | identifiers `session.ttl_seconds`, `INC-2041` |
| `He wrote "The Long Way Home" in 1961.` | quoted `The Long Way Home` |
| `John Boyle, 15th Earl of Cork, died.` | `John Boyle, 15th Earl of Cork` |
| `RUN THE TESTS AGAIN` | none: all words are in capitals |
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from weft.extract.lexicon import (
    CONNECTORS,
    DATES,
    DEMONYMS,
    EPITHETS,
    HONORIFICS,
    LABELS,
    NO_ACRONYMS,
    ORGANISATION_NOUNS,
    RANKS,
    SMALL_WORDS,
    STARTERS,
    TITLES,
    ZH_FUNCTION_WORDS,
    ZH_GENERIC_ENDINGS,
    ZH_STOPS,
)
from weft.extract.names import SIGN, is_plain, name_key
from weft.extract.sentences import OUTER_MARKS, Sentence
from weft.text.normalise import CJK
from weft.text.record_numbers import KINDS
from weft.text.simplified import simplify

NameKind: TypeAlias = Literal["link", "identifier", "phrase", "quoted", "term", "name"]

MAX_NAME_CHARACTERS = 80
"""Maximum length of a name; longer names are dropped."""
MAX_PHRASE_WORDS = 8
"""Maximum number of words of a phrase; a longer run of capitalised words is a headline."""
MAX_TERM_CHARACTERS = 8
"""Maximum length of a CJK term; a longer run is a clause."""

_TOKEN = re.compile(f"[{CJK}]+|[^\\W{CJK}]+(?:[-'’.&][^\\W{CJK}]+)*{SIGN}")
_PLAIN_TOKEN = re.compile(r"\w+(?:[-'’.&]\w+)*")
"""`_TOKEN` for Latin text without signs. It takes a third of the time."""
_CAPITALS = re.compile("[A-Z]{2}")
_RUN = re.compile(f"[{CJK}]+")
_BESIDE_LATIN = re.compile(r"(?:^ ?[A-Za-z0-9<`])|[A-Za-z0-9>`] ?$")
_ZH_MODALS = ("应该", "可以", "需要", "必须", "可能", "不会", "将会")
_ZH_ADVERBIAL_ENDINGS = "时中后前里来等"
_QUOTED = re.compile('“([^“”]+)”|"([^"]+)"|「([^「」]+)」|『([^『』]+)』|《([^《》]+)》')
_ORDINAL = re.compile(r"\d{1,2}(?:st|nd|rd|th)")
_YEAR = re.compile(r"1\d{3}|20\d\d")
_COMPOUND = re.compile(
    r"\w+-to-\w+|.*-(?:\w+(?:ed|ing|ible|able|ive|ific|ant|ent)|language|born|style|speaking|like|side|free|safe|only|wide|stable|first"
    r"|ready|aware|native|neutral|agnostic|level|friendly|proof)"
)
"""Adjective with a name in it: `ABI-compatible`, `C-side`, `Java-based`, `English-to-French`."""
_HYPHENATED = re.compile("[a-z0-9]+(?:-[a-z0-9]+)+")
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]")
_SIGNED = re.compile(r".*\+\+|[A-Z]#")
_ACRONYM = re.compile(r"[A-Z][A-Za-z0-9&]{0,7}$")
_REQUIREMENTS = frozenset({"MUST", "NOT", "SHALL", "SHOULD"})
"""Words of RFC 2119, which are in capitals."""
_PLURAL_ACRONYM = re.compile(r"[A-Z]{2,6}s")
_ACRONYM_AFTER = re.compile(r"/[A-Z]{1,5}\b")
_ACRONYM_BEFORE = re.compile(r"\b[A-Z]{1,5}/$")
_EXTENSIONS = "py|sql|jsonl|json|md|csv|tsv|yaml|yml|toml|ts|js|go|rs|java|cpp|h|sh|html|txt|xml|ini|cfg|lock|log"
_IDENTIFIER = re.compile(
    r"[A-Z][A-Z0-9]{1,9}-\d+[A-Za-z]?"  # INC-2041
    r"|[a-z][a-z0-9]*-\d[a-z0-9]*(?:\.\d+)*(?:-[a-z0-9]+)*"  # gpt-4o, dep-0611
    r"|\w*[^\W_]_+[^\W_]\w*(?:\.\w+)*"  # ERR_CONN_RESET, snake_case, reconcile_pending.sql
    r"|[a-z]\w*(?:\.\w+)*\.\w*[^\W_]_\w+"  # session.ttl_seconds
    r"|[a-z]{2,}[A-Z]\w*"  # camelCase
    rf"|\w[\w-]*\.(?:{_EXTENSIONS})"  # deploy-log.jsonl
)
_CODE = re.compile(r"[\w.$/@][\w.$/:@-]{1,59}(?=(?:\(\))?$|\s?[=:(]|\s)")
_VERSION = re.compile(r"v?\d+(?: \d+)*[a-z]?|v\d\w*(?: \w+)*")
_NOT_AN_IDENTIFIER = re.compile(
    r"(?:mid|pre|post|non|late|early|top|day|step|age|page|part|circa|c|severity|tier|level|layer|phase|stage|option|item"
    r"|line|section|chapter|grade|class|type|under|over|up)-\d",
    re.IGNORECASE,
)
_ARTICLE_CODE = re.compile(r"(?:an?|the)_[^\W_]+", re.IGNORECASE)
"""Identifier that begins with an article: `a_type` would have the key of the word `type`."""
_NOT_A_FIRST_CHARACTER = frozenset(")]}>,;:!?|&=*+^")
"""Characters that a quoted name does not begin with. In code, they follow a closing quote."""
_BEFORE_PERSONS = TITLES | DEMONYMS
_DASHES = ("-", "–", "—")
_LABEL_ENDS = (*_DASHES, ":", "：")
_TIME_BEFORE = re.compile(r"\d:\d\d\s+$")
_CONTRACTION = re.compile(r"['’](?:d|ll|m|re|t|ve)$")
_GAPS = frozenset({" ", "- ", "-", " & ", "& "})
_SENTENCE_MARKS = frozenset(':"“‘«(（•–—→›»▸>')
_PATH_AFTER = re.compile(r"/[a-z][a-z0-9_.-]*(?![A-Za-z])")
_PATH_BEFORE = re.compile(r"(?<![\w.])[a-z][a-z0-9_.-]*/$")
_KEY = re.compile(r"(?:F\d{1,2}|[Cc]trl|[Cc]md|Alt|Esc|Enter|Tab|Shift|Backspace|Fn)")
"""Key of a keyboard."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name with its position in the sentence."""

    text: str
    start: int
    end: int
    kind: NameKind
    type: str = ""
    """`person`, `place` … if known."""


class _Token(NamedTuple):
    text: str
    start: int
    end: int


def find_names(sentence: Sentence) -> list[Name]:
    """
    Return the links, identifiers, capitalised phrases and quoted texts of a sentence, in order.

    Names do not overlap, except with a quoted text that begins in lower case.
    """
    marked = [name for mark in sentence.marks if (name := _marked_name(mark.kind, mark.name, mark.start, mark.end))]
    taken = [(mark.start, mark.end) for mark in sentence.marks if mark.kind not in OUTER_MARKS]
    quoted = [name for name in find_quoted(sentence.text) if not _overlaps(taken, name.start, name.end)]
    taken = sorted([*taken, *((name.start, name.end) for name in quoted if not name.text[0].islower())])
    is_latin = is_plain(sentence.text)
    pattern = _PLAIN_TOKEN if is_latin and "+" not in sentence.text and "#" not in sentence.text else _TOKEN
    tokens = [_Token(match.group(), *match.span()) for match in pattern.finditer(sentence.text)]
    free = [token for token in tokens if not _overlaps(taken, token.start, token.end)] if taken else tokens
    found = [*marked, *quoted]
    plain: list[_Token] = []
    is_mixed = not is_latin and bool(_RUN.search(sentence.text))  # in Chinese text a hyphenated Latin word is a name
    for token in free:
        if is_identifier(token.text) or (is_mixed and _HYPHENATED.fullmatch(token.text)):
            found.append(Name(token.text, token.start, token.end, "identifier"))
        else:
            plain.append(token)
    if not _CAPITALS.search(sentence.text) or not _is_shouted(plain):
        labels = {mark.start: mark.end for mark in sentence.marks if mark.kind in OUTER_MARKS}
        found += _find_phrases(sentence.text, plain, labels)
    return sorted(found, key=lambda name: (name.start, -name.end))


def find_quoted(text: str) -> list[Name]:
    """Return the texts in quotation marks or book-title marks of at most 8 words."""
    found = []
    for match in _QUOTED.finditer(text):
        inner = match.group(match.lastindex or 0)
        bare = inner.strip().rstrip(",.;:!?，。；：！？").strip()
        if (
            is_usable(bare)
            and bare[0] not in _NOT_A_FIRST_CHARACTER
            and 0 < count_words(bare) <= MAX_PHRASE_WORDS
            and not is_common(bare)
        ):
            found.append(Name(bare, match.start(), match.end(), "quoted"))
    return found


def find_terms(text: str) -> list[str]:
    """Return the CJK terms of a heading or title; a run beside a Latin word is a part of a phrase."""
    runs = (match for match in _RUN.finditer(text) if not _BESIDE_LATIN.search(text[: match.start()][-2:]))
    terms = (match.group() for match in runs if not _BESIDE_LATIN.match(text[match.end() :][:2]))
    return [term for term in terms if is_term(term) and not is_generic_term(term)]


def is_generic_term(term: str) -> bool:
    """Return True if a Chinese term is a general noun or an adverbial: `使用情况`, `事件触发时`."""
    plain = simplify(term)
    return plain.endswith(ZH_GENERIC_ENDINGS) or (len(plain) > 2 and plain[-1] in _ZH_ADVERBIAL_ENDINGS)


def is_term(run: str) -> bool:
    """Return True if a run of CJK characters may be a term: 2 to 8 characters, no particles and pronouns."""
    if not 2 <= len(run) <= MAX_TERM_CHARACTERS:
        return False
    plain = simplify(run)
    if plain.startswith(ZH_FUNCTION_WORDS) or plain.endswith(_ZH_MODALS):
        return False
    return not ZH_STOPS.intersection(plain) and plain[0] not in "一二三四五六七八九十两几第"


@lru_cache(maxsize=16384)
def is_identifier(word: str) -> bool:
    """Return True if a word is an id or a name from code: `INC-2041`, `gpt-4o`, `lw_sid`; not a bare version."""
    if word.isalpha() and (word.islower() or word.istitle()):
        return False
    return len(word) <= MAX_NAME_CHARACTERS and bool(_IDENTIFIER.fullmatch(word)) and not _NOT_AN_IDENTIFIER.match(word)


def code_name(code: str) -> str:
    """Return the name in a piece of code: `a.b` of `a.b = 3`; empty for a command or an expression."""
    match = _CODE.match(code)
    if not match or len(code) > 200:
        return ""
    name = match.group().rstrip(".:/-")
    name = name[1:] if name[:1] == "$" and name.isupper() else name  # a variable of the shell
    rest = code[match.end() :].strip()
    is_named = not rest or rest == "()" or (rest[0] in "=:" and not name.startswith("-"))
    return name if is_named and 3 <= len(name) <= 60 and any(map(str.isalpha, name)) else ""


@lru_cache(maxsize=16384)
def is_usable(name: str) -> bool:
    """Return True if a name can be an entity: its key is not a number, a version or a single letter."""
    key = name_key(name)
    if not key or len(name) > MAX_NAME_CHARACTERS or "\n" in name or _ARTICLE_CODE.fullmatch(name):
        return False
    is_version = _VERSION.fullmatch(key.rstrip("+#"))
    return not (key.replace(" ", "").isdigit() or is_version or (len(key) == 1 and not _RUN.match(key)))


def is_common(name: str) -> bool:
    """Return True if a name consists of common words only: `However`, `In May`, `Overview`."""
    parts = name.lower().split()
    return all(part in STARTERS or part in DATES or part in LABELS or part in SMALL_WORDS for part in parts)


def is_generic(heading: str) -> bool:
    """Return True if a heading consists of labels only: `Context`, `Root cause`, `背景`."""
    return all(part in LABELS for part in re.sub(r"\s?[(（].*$", "", heading).lower().split())


def is_label(name: str) -> bool:
    """Return True if a heading may occur in any document: `Known Issues`, `What We Do`."""
    parts = name.lower().split()
    return not parts or parts[0] in STARTERS or parts[0] in LABELS or parts[-1] in LABELS


def is_proper(name: str) -> bool:
    """Return True if a text is written like a name: `Login Flow`, `INC-2041`, `会话存储`, but not `Sharp edges`."""
    parts = name.split()
    if not parts or len(parts) > MAX_PHRASE_WORDS or not is_usable(name) or is_common(parts[0]):
        return False
    if _RUN.fullmatch(name):
        return is_term(name)
    return all(part in SMALL_WORDS or is_identifier(part) or part[0].isupper() for part in parts)


def inner_names(name: str) -> Iterator[str]:
    """Yield the names inside a long name: the part after `of the`, and a person without rank or title."""
    head, _, tail = name.rpartition(" of the ")
    if head and " " in tail:
        yield tail
    person, comma, _ = name.partition(", ")
    if comma and " " in person:
        yield person
    if bare := without_title(name):
        yield bare


def without_title(name: str) -> str:
    """Return `Fulgencio Batista` for `Cuban President Fulgencio Batista`; empty without a title."""
    words = name.split()
    first = next((i for i, word in enumerate(words) if word.lower().rstrip(".") not in _BEFORE_PERSONS), len(words))
    has_title = any(word.lower().rstrip(".") in TITLES for word in words[:first])
    is_full = len(words) - first > 1 and words[first] not in SMALL_WORDS and words[first + 1] not in SMALL_WORDS
    return " ".join(words[first:]) if has_title and is_full else ""


def count_words(text: str) -> int:
    """Return the number of words; two CJK characters count as one word."""
    return sum((len(token) + 1) // 2 if _RUN.match(token) else 1 for token in _TOKEN.findall(text))


# ── helper functions ────────────────────────────────────────────────────────────────────────────


def _marked_name(kind: str, name: str, start: int, end: int) -> Name | None:
    if kind == "link":
        return Name(name, start, end, "link") if name else None
    if kind == "term":
        return Name(name, start, end, "term") if is_usable(name) and count_words(name) <= MAX_PHRASE_WORDS else None
    named = code_name(name) if kind == "code" else ""
    return Name(named, start, end, "identifier") if named else None


def _overlaps(taken: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    index = bisect_right(taken, (start, end))
    return any(a < end and start < b for a, b in taken[max(0, index - 1) : index + 1])


def _is_shouted(tokens: Sequence[_Token]) -> bool:
    """Return True if most words are in capitals. Capitals then do not mark names."""
    letters = [token.text for token in tokens if token.text.isalpha() and len(token.text) > 1 and token.text.isascii()]
    return len(letters) > 2 and sum(map(str.isupper, letters)) > len(letters) * 0.6


def _find_phrases(text: str, tokens: Sequence[_Token], labels: Mapping[int, int]) -> Iterator[Name]:
    """Yield the capitalised phrases. `labels` are the ends of bold texts and labels of links, by their start."""
    at, count = 0, len(tokens)
    while at < count:
        word = tokens[at].text
        if word.islower() or not _is_capitalised(word):
            at += 1
            continue
        stop = _end_of_run(text, tokens, at, labels)
        run = list(tokens[at:stop])
        if at and _YEAR.fullmatch(tokens[at - 1].text):  # `a 1961 Italian Western film`
            run = run[next((i for i, token in enumerate(run) if token.text.lower() not in DEMONYMS), len(run)) :]
        is_label_start = labels.get(tokens[at].start, 0) > tokens[stop - 1].end  # `**Override config folder**`
        run = _trim(run, opens=is_label_start or _opens(text, tokens, at))
        if run and not _is_fragment(text, run):
            start = run[0].start - (text[max(0, run[0].start - 2) : run[0].start] in (".", " .", "(."))  # `.NET`
            name = _bare_name(text[start : run[-1].end])
            if is_usable(name) and not is_common(name):
                yield Name(name, start, start + len(name), "phrase")
        at = stop


def _is_fragment(text: str, run: Sequence[_Token]) -> bool:
    """
    Return True if a run is a part of a path, of a longer name or of a key combination.

    | text | fragment | no fragment |
    | --- | --- | --- |
    | `Lib/test/support` | `Lib` | `Linux/macOS` |
    | `Elegant Key/Value Cookies` | `Elegant Key`, `Value Cookies` | `Windows 10/11` |
    | `Ctrl+Click` | `Ctrl`, `Click` | `C++` |
    | `CI/CD` | `CI`, `CD` | `Sass/Less` |
    """
    start, end = run[0].start, run[-1].end
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if (after[:1] == "+" and after[1:].isalnum()) or (before[1:] == "+" and before[:1].isalnum()):
        return True
    if len(run) > 1:
        return (after[:1] == "/" and after[1:].isalpha()) or (before[1:] == "/" and before[:1].isalpha())
    if run[0].text.isupper() and (
        _ACRONYM_AFTER.match(text, end) or _ACRONYM_BEFORE.search(text, max(0, start - 6), start)
    ):
        return True
    return bool(_PATH_AFTER.match(text, end) or _PATH_BEFORE.search(text, max(0, start - 40), start))


def _end_of_run(text: str, tokens: Sequence[_Token], at: int, labels: Mapping[int, int]) -> int:
    """Return the index after the last token of the capitalised run that begins at `at`, before a longer label."""
    stop, ahead = at + 1, at + 1
    while ahead < len(tokens) and stop - at < MAX_PHRASE_WORDS * 2:
        before, token = tokens[ahead - 1], tokens[ahead]
        if labels and labels.get(token.start, 0) > token.end:
            break
        gap = text[before.end : token.start]
        if gap not in _GAPS and not (gap == ". " and _is_initial(before.text) and not _is_starter(token.text)):
            if gap != ", " or ahead > stop or not (length := _rank_length(tokens, ahead)):
                break
            stop = ahead = ahead + length
            continue
        if before.text.endswith(("'s", "’s")):
            break
        if _is_capitalised(token.text) or (ahead == stop and _is_number_of(before.text, token.text)):
            stop = ahead + 1
        elif not _connects(tokens, stop - 1, ahead):
            break
        ahead += 1
    return stop


def _is_number_of(word: str, number: str) -> bool:
    """Return True if a number belongs to the name before it: `Python 3`, `RFC 2052`; a year does not."""
    return number.isdigit() and (len(number) < 4 or (len(number) < 7 and word.isupper() and word.lower() in KINDS))


def _rank_length(tokens: Sequence[_Token], at: int) -> int:
    """Return the number of tokens of a rank at `at`: 2 for `15th Earl of …`, 1 for `Duke of …`, else 0."""
    ahead = 1 if _ORDINAL.fullmatch(tokens[at].text) else 0
    words = [token.text for token in tokens[at + ahead : at + ahead + 2]]
    is_rank = len(words) == 2 and words[0].lower() in RANKS and words[0][0].isupper()
    return ahead + 1 if is_rank and (words[1] == "of" or words[1][0].isupper()) else 0


def _connects(tokens: Sequence[_Token], last: int, at: int) -> bool:
    """Return True if the small word at `at` may continue a name whose last capitalised word is at `last`."""
    word = tokens[at].text
    if at - last > 2 or at + 1 == len(tokens):
        return False
    if word == "the":
        return at - last == 2 or tokens[at + 1].text.lower() in EPITHETS
    if word == "for":
        return any(token.text.lower() in ORGANISATION_NOUNS for token in tokens[max(0, last - 3) : last + 1])
    return word in CONNECTORS


def _trim(run: list[_Token], *, opens: bool) -> list[_Token]:
    """Return the run without dates, sentence openers and other words around the name; empty if no name is left."""
    while run and (
        run[0].text.lower() in DATES
        or _COMPOUND.fullmatch(run[0].text)
        or run[0].text.isdigit()
        or (opens and _is_starter(run[0].text))
        or not (_is_capitalised(run[0].text))
    ):
        # the next word is not at the start of the sentence, so its capital marks a name
        run = run[1:]
        opens = opens and bool(run) and not _is_capitalised(run[0].text)
    if run and run[0].text == "Be":  # `To Be Defined`
        return []
    while run and run[-1].text.lower() in DATES and run[-1].text.lower() not in ("may", "march", "friday", "sunday"):
        run = run[:-1]
    if opens and len(run) == 2 and run[1].text.isdigit():  # `Step 3`
        return []
    if len(run) == 1:
        return run if _is_single_name(run[0].text, opens=opens) else []
    is_adjective = all(token.text.lower() in DEMONYMS for token in run)
    is_shouted = all(token.text.isupper() for token in run) and any(len(token.text) > 3 for token in run)
    return run if len(run) <= MAX_PHRASE_WORDS and not is_adjective and not is_shouted else []


def _is_single_name(word: str, *, opens: bool) -> bool:
    bare = _bare_name(word)
    if _CONTRACTION.search(bare):  # `never RFC'd`
        return False
    if bare.lower() in NO_ACRONYMS or bare.lower() in DATES or _is_starter(bare) or _KEY.fullmatch(bare):
        return False
    if _is_acronym(bare) or _SIGNED.fullmatch(bare):
        return True
    return not opens and len(bare) > 2 and bare.lower() not in DEMONYMS and bare.lower() not in LABELS


def _opens(text: str, tokens: Sequence[_Token], at: int) -> bool:
    """
    Return True if any word would be capitalised here: at the start, after a colon, a quote or a full stop.

    In `` `.code(status)` - Sets the status code``, the code and the dash are not part of the sentence.
    """
    before = text[: tokens[at].start].rstrip() if at == 0 else text[tokens[at - 1].end : tokens[at].start].strip()
    if at == 0:
        return before.endswith(_LABEL_ENDS) or not any(map(str.isalpha, before))
    is_numeric = all(token.text.replace(".", "").isdigit() for token in tokens[:at]) if at < 4 else False
    is_timed = bool(_TIME_BEFORE.search(text, max(0, tokens[at].start - 8), tokens[at].start))
    return (
        is_numeric
        or is_timed
        or (bool(before) and (before[-1] in _SENTENCE_MARKS or text.endswith(" - ", 0, tokens[at].start)))
        or any(mark in before for mark in ".!?")
    )


def _is_capitalised(word: str) -> bool:
    if word in _REQUIREMENTS:
        return False
    return word[0].isupper() or (not word.islower() and word[0].islower() and bool(_INNER_CAPITAL.search(word)))


def _is_starter(word: str) -> bool:
    return word.lower() in STARTERS or word.lower().partition("'")[0].partition("’")[0] in STARTERS


def _is_initial(word: str) -> bool:
    return (len(word) == 1 and word.isupper()) or word.lower() in HONORIFICS or (len(word) > 1 and word[-2] == ".")


def _is_acronym(word: str) -> bool:
    return bool(_ACRONYM.match(word)) and sum(map(str.isupper, word)) > 1


def _bare_name(name: str) -> str:
    """Return a name without possessive, and an acronym without plural: `API` of `APIs`."""
    bare = name.removesuffix("'s").removesuffix("’s")
    return bare[:-1] if _PLURAL_ACRONYM.fullmatch(bare) else bare
