"""
Frames of Chinese questions about relations.

| frame | example |
| --- | --- |
| who V X | `哪些服务依赖会话存储` |
| X V what | `登录服务依赖什么`, `敦煌位于哪里` |
| X by whom V | `登录服务由谁负责`, `echo 在哪里被调用` |
| V X 的 things | `依赖会话存储的服务有哪些` |
| X 的 N | `登录服务的负责人是谁`, `谁是登录服务的负责人` |
| X is whose N | `登录服务是谁的子公司` |
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from typing import NamedTuple

from weft.extract.relation_types import INVERSE, WORDS, split_words
from weft.text.simplified import simplify

MAX_FILLER_CHARACTERS = 10
"""Maximum number of characters between a question word and the verb: `哪些内部服务直接依赖`."""

MAX_PHRASE_CHARACTERS = 6
"""Maximum number of characters of a Chinese verb or noun."""

_ASK = re.compile("(?:请问|请|帮我|列出|查找|找出|给出|查询|所有|全部){1,4}")
_WHO = re.compile("(?:都?有)?(?:谁|什么|哪些|哪个|哪几个|哪家)(?:都|会|在|正在|直接|间接)?")
_WHAT_AT_END = re.compile("(?:谁|(?:什么|哪些|哪个|哪几个|哪家|哪里|哪儿|何处|何地|哪座|哪)[^，。的]{0,8})$")
_AGENT = re.compile("(?:谁|(?:什么|哪些|哪个|哪几个|哪家|哪里|哪儿|何处|哪)[^，。]{0,8})?")
_BY = re.compile("[被由归在]")
_ADVERBS = re.compile("(?:直接或间接地?|间接地?|直接地?|都|会|正在|主要|也|所){1,3}$")
_ADVERBS_FIRST = re.compile("(?:直接或间接地?|间接地?|直接地?|都|会|正在|主要|也){1,3}")
_PARTICLE = re.compile("[了过着] ?")
_PARTICLE_AT_END = re.compile("[了过着于自在的]$")
_END = re.compile("(?:是谁|是什么|有哪些|是哪些|有什么|是哪里|在哪里|在哪儿|是哪个|有谁|是哪家)$")
_THING_AT_END = re.compile("的[^，。的]{1,6}$")
_WHOSE_AT_END = re.compile("是(?:谁|什么|哪[^，。的]{0,6})$")
_WHO_IS = re.compile("(?:谁|什么|哪个|哪些)是 ?")
_OF_AT_END = re.compile(" ?的(?:直接|所有|全部)?$")
_BETWEEN = (
    re.compile(
        " ?(?:之间)?的?(?:(?:是|有)?(?:什么|怎样的?|何种|何|哪些)(?:样的)?)?(?:关系|联系|关联)"
        "(?:是什么|如何|是怎样的)?$"
    ),
    re.compile(" ?(?:之间)?是?(?:怎么|如何|怎样)(?:关联|联系|连接|相关|相连)(?:起来|在一起)?的?$"),
)
_AND = re.compile(" ?(?:和|与|跟|同) ?")


class ChineseReading(NamedTuple):
    """A reading: relation types from the name, the name and, if a connection is asked for, the other name."""

    types: tuple[str, ...]
    name: str
    other: str = ""


class _Phrases(NamedTuple):
    verbs: Mapping[str, tuple[str, ...]]
    nouns: Mapping[str, tuple[str, ...]]


def read_chinese_relation(text: str) -> Iterator[ChineseReading]:
    """Yield the readings of a question about relations; none for another question."""
    plain = simplify(text)
    if len(plain) != len(text):
        plain = text
    for pattern in _BETWEEN:
        end = pattern.search(plain)
        joint = _AND.search(plain, 1, end.start()) if end else None
        if end and joint and joint.end() < end.start():
            yield ChineseReading((), text[: joint.start()], text[joint.end() : end.start()])
            return
    asked = _ASK.match(plain)
    start = asked.end() if asked else 0
    for types, first, last in _frames(plain, start):
        if first < last:
            yield ChineseReading(types, text[first:last])


def _frames(plain: str, start: int) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Yield types and the position of the name."""
    yield from _who_does(plain, start)
    yield from _does_what(plain, start)
    yield from _by_whom(plain, start)
    yield from _things_that(plain, start)
    yield from _nouns_of(plain, start)


def _who_does(plain: str, start: int) -> Iterator[tuple[tuple[str, ...], int, int]]:
    who = _WHO.match(plain, start)
    for at in range(who.end(), who.end() + MAX_FILLER_CHARACTERS) if who else ():
        for types, end in _verbs_at(plain, at):
            yield _inverses(types), end, len(plain)


def _does_what(plain: str, start: int) -> Iterator[tuple[tuple[str, ...], int, int]]:
    for what in _WHAT_AT_END.finditer(plain):
        for types, at in _verbs_before(plain, what.start()):
            yield types, start, at


def _by_whom(plain: str, start: int) -> Iterator[tuple[tuple[str, ...], int, int]]:
    for types, at in _verbs_before(plain, len(plain)):
        for by in _BY.finditer(plain, max(start + 1, at - MAX_FILLER_CHARACTERS - 2), at):
            if _AGENT.fullmatch(plain, by.end(), at) or _AGENT.fullmatch(plain, by.end(), max(by.end(), at - 1)):
                yield _inverses(types) if by.group() != "在" or plain[at - 1] == "被" else types, start, by.start()


def _things_that(plain: str, start: int) -> Iterator[tuple[tuple[str, ...], int, int]]:
    end = _END.search(plain)
    thing = _THING_AT_END.search(plain, start, end.start() if end else len(plain))
    adverbs = _ADVERBS_FIRST.match(plain, start)
    for types, at in _verbs_at(plain, adverbs.end() if adverbs else start) if thing else ():
        yield _inverses(types), at, thing.start() if thing else 0


def _nouns_of(plain: str, start: int) -> Iterator[tuple[tuple[str, ...], int, int]]:
    who = _WHO_IS.match(plain, start)
    start = who.end() if who else start
    end = _END.search(plain)
    stop = end.start() if end and not who else len(plain)
    stops = (stop, stop - 1) if plain[stop - 1 : stop] == "都" else (stop,)  # `都有哪些`, but `首都`
    nouns = _phrases().nouns
    for stop, length in product(stops, range(MAX_PHRASE_CHARACTERS, 0, -1)):
        at = stop - length
        types = nouns.get(plain[at:stop], ()) if at > start else ()
        of = _OF_AT_END.search(plain, start, at) if types else None
        if of:
            whose = _WHOSE_AT_END.search(plain, start, of.start())
            yield (_inverses(types), start, whose.start()) if whose else (types, start, of.start())


def _verbs_at(plain: str, at: int) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the types of the verbs that begin at a position, and the position after each, longest first."""
    verbs = _phrases().verbs
    for end in range(min(at + MAX_PHRASE_CHARACTERS, len(plain)), at, -1):
        if types := verbs.get(plain[at:end]):
            particle = _PARTICLE.match(plain, end)
            yield types, particle.end() if particle else end


def _verbs_before(plain: str, end: int) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the types of the verbs that end at a position, and the start of each with its adverbs, longest first."""
    verbs = _phrases().verbs
    particle = _PARTICLE_AT_END.search(plain, 0, end)
    for stop in (end, particle.start()) if particle else (end,):
        for at in range(max(0, stop - MAX_PHRASE_CHARACTERS), stop):
            if types := verbs.get(plain[at:stop]):
                adverbs = _ADVERBS.search(plain, max(0, at - MAX_PHRASE_CHARACTERS), at)
                yield types, adverbs.start() if adverbs else at


def _inverses(types: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(INVERSE[type] for type in types)


@cache
def _phrases() -> _Phrases:
    verbs: dict[str, list[str]] = defaultdict(list)
    nouns: dict[str, list[str]] = defaultdict(list)
    for type, words in WORDS.items():
        others = WORDS[INVERSE[type]]
        for table, phrases in (
            (verbs, f"{words.zh_verbs},{others.zh_done}"),
            (nouns, f"{words.zh_role},{words.zh_nouns},{others.zh_of}"),
        ):
            for phrase in split_words(phrases):
                for spelling in {phrase, simplify(phrase)}:
                    table[spelling].append(type)
    return _Phrases(
        *({phrase: tuple(dict.fromkeys(types)) for phrase, types in each.items()} for each in (verbs, nouns))
    )
