"""
Names and terms in Chinese text, from the output of a word segmenter.

| tagged words | result |
| --- | --- |
| 格里芬/person | name 格里芬, type `person` |
| 周树/person 彬/noun | name 周树彬: most persons have three characters |
| 麒麟/name 芯片/noun | names 麒麟 and 麒麟芯片 |
| 数据/noun 模型/noun | term 数据模型 |
| `OAuth` 服务/noun | term OAuth服务 |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from weft.extract.chinese.definitions import find_other_names
from weft.extract.lexicon import ZH_STOPS
from weft.extract.phrases import MAX_TERM_CHARACTERS, Name, is_label
from weft.extract.sentences import MAX_SENTENCE_CHARACTERS, Sentence
from weft.records import TaggedWord
from weft.text.normalise import HAN, KANA, is_unspaced
from weft.text.simplified import simplify

MAX_NAME_CHARACTERS = 20
"""Maximum length of a name; a longer one is a misread clause."""

MIN_TERM_CHARACTERS = 3
"""Minimum length of a term; a shorter one is too general."""

MIN_JAPANESE_KANA = 3
"""Number of kana from which a sentence is Japanese. A Chinese sentence may contain a decorative `の`."""

FUNCTION_CHARACTERS = (
    "说說是在和与與及之等的了曾也又就于於由对對从從至任为為同以有将將被把让讓向给給跟或但而且则則即因所其该該此这這那他她们們不没沒还還都只"
    "很最更已便着著过過来來去上下中里裡外内內前后後时時人者家称稱名字号號作写寫生卒死任兼率领領受获獲得出入到回先再才"
)
"""Characters that may follow the name of a person and are not part of it."""

_HAN = re.compile(f"[{HAN}]")
_KANA = re.compile(f"[{KANA}]")
_HAN_ONLY = re.compile(f"[{HAN}·]{{2,}}")
_GIVEN = re.compile(f"(?![{FUNCTION_CHARACTERS}])[{HAN}]")
_COMMON = re.compile("[文语語元币幣率账賬额額值量级級类類型制法学學]")
_NAMED = frozenset({"person", "place", "organisation", "work", "name"})
_IN_TERM = frozenset({"noun", "name"})
_EMPTY = frozenset(
    "时候 时间 地方 问题 情况 方面 原因 结果 作用 内容 方法 方式 过程 部分 人员 工作 活动 事情 东西 意义 关系 特点 人们"
    " 名称 名字 数量 大量 主要 目前 当时 同时 其中 之间 以上 以下".split()
)
"""Nouns that are not names."""


def has_han(text: str) -> bool:
    """Return whether a text contains a Chinese character."""
    return _HAN.search(text) is not None


def is_chinese(text: str) -> bool:
    """Return whether a text is Chinese: it contains Chinese characters and is not Japanese."""
    return has_han(text) and len(_KANA.findall(text[:MAX_SENTENCE_CHARACTERS])) < MIN_JAPANESE_KANA


def find_tagged_names(sentence: Sentence, words: Sequence[TaggedWord], names: Sequence[Name]) -> list[Name]:
    """
    Return `names` and the names that the tagger found in a sentence, in order.

    Persons, places, organisations, works and other proper nouns are names with a type. Two or more nouns in a row, and
    a Latin name followed by a noun (`OAuth服务`), are terms.

    """
    words = [_as_noun(sentence.text, word) for word in words]
    taken = [(name.start, name.end) for name in names if name.kind != "quoted"]
    quoted = [(name.start, name.end) for name in names if name.kind == "quoted"]
    aliases = [
        (item.start, item.start + len(item.name))
        for item in find_other_names(sentence.text, names, end=MAX_SENTENCE_CHARACTERS)
    ]
    quoted += aliases
    found = [_known(name, words) if is_unspaced(sentence.text) else name for name in names]
    for name in [
        *_proper(sentence.text, _complete(sentence.text, words)),
        *_terms(sentence.text, words),
        *_mixed(sentence.text, words, names),
    ]:
        is_inside = any(start <= name.start and name.end <= end for start, end in [*taken, *quoted])
        crosses = any(start < name.end and name.start < end for start, end in quoted)
        if not is_inside and not crosses:
            found.append(name)
    return sorted(found, key=lambda name: (name.start, -name.end))


def _as_noun(text: str, word: TaggedWord) -> TaggedWord:
    """Return a language, currency, measure or field of study as a noun; the tagger marks them as proper nouns."""
    is_common = word.kind == "name" and _COMMON.match(text, word.end - 1, word.end)
    return replace(word, kind="noun") if is_common else word


def _known(name: Name, words: Sequence[TaggedWord]) -> Name:
    """Return a Latin phrase or identifier as a name if the tagger marks it as a name: `Milvus`."""
    if name.kind not in ("phrase", "identifier"):
        return name
    is_named = any(word.kind in _NAMED for word in words if word.start < name.end and name.start < word.end)
    return replace(name, kind="name") if is_named else name


def _complete(text: str, words: Sequence[TaggedWord]) -> list[TaggedWord]:
    """Return the words with a single character appended to a person of two, unless it is a function character."""
    found: list[TaggedWord] = []
    for word, after in zip_longest(words, words[1:]):
        is_short = word.kind == "person" and word.end - word.start == 2
        if is_short and after and after.end - after.start == 1 and _GIVEN.match(text, after.start):
            word = replace(word, end=after.end)
        found.append(word)
    return found


def _proper(text: str, words: Sequence[TaggedWord]) -> Iterator[Name]:
    for word in words:
        name = text[word.start : word.end]
        if word.kind not in _NAMED or len(name) > MAX_NAME_CHARACTERS or not _HAN_ONLY.fullmatch(name):
            continue
        if simplify(name) in _EMPTY or is_label(simplify(name)):
            continue
        yield Name(name, word.start, word.end, "name", "" if word.kind == "name" else word.kind)


def _terms(text: str, words: Sequence[TaggedWord]) -> Iterator[Name]:
    run: list[TaggedWord] = []
    for word in [*words, None]:
        if word is not None and word.kind in _IN_TERM and _HAN_ONLY.fullmatch(text[word.start : word.end]):
            run.append(word)
            continue
        if word is not None and word.kind in _IN_TERM and run and word.end - word.start == 1:
            run.append(word)  # the `窟` of `石窟`
            continue
        if len(run) > 1:
            name = text[run[0].start : run[-1].end]
            if MIN_TERM_CHARACTERS <= len(name) <= MAX_TERM_CHARACTERS and not ZH_STOPS.intersection(simplify(name)):
                # a proper noun and its kind: `麒麟芯片`
                is_name = [word.kind for word in run] == ["name", "noun"]
                yield Name(name, run[0].start, run[-1].end, "name" if is_name else "term")
        run = []


def _mixed(text: str, words: Sequence[TaggedWord], names: Sequence[Name]) -> Iterator[Name]:
    """Yield Latin names with the noun after them: `GPT-4o模型`."""
    starts = {word.start: word for word in words if word.kind == "noun"}
    for name in names:
        noun = starts.get(name.end)
        if name.kind in ("identifier", "phrase") and noun and not _HAN.search(name.text):
            yield Name(text[name.start : noun.end], name.start, noun.end, "term")
