"""
Relations in Chinese sentences. Text is converted to simplified characters first.

| sentence | relation |
| --- | --- |
| `澳大利亚的首都是堪培拉` | 澳大利亚 `has_capital` 堪培拉 |
| `堪培拉是澳大利亚的首都` | 堪培拉 `capital_of` 澳大利亚 |
| `华为由任正非创立` | 华为 `founded_by` 任正非 |
| `鲁迅创作了《呐喊》` | 呐喊 `written_by` 鲁迅 |
| `敦煌位于甘肃` | 敦煌 `located_in` 甘肃 |
| `敦煌位于甘肃附近` | none: only near it |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from weft.extract.phrases import Name, is_term
from weft.extract.relation_types import types_by_word
from weft.extract.subjects import Subject
from weft.text.normalise import HAN
from weft.text.simplified import simplify

MAX_TITLE_CHARACTERS = 10
"""Maximum length of a title between `由` and a name: `美国建筑师`."""

MAX_ADVERBIAL_CHARACTERS = 24
"""Maximum length of a date or place between an agent and the verb."""

_ROLES = types_by_word("zh_role")
"""Relation of X to Y in `X的…是Y`."""

_OF = types_by_word("zh_of")
"""Relation of X to Y in `X是Y的…`."""

_VERBS = types_by_word("zh_done")
"""Relation of a thing to the agent of the verb."""

_VERB = "|".join(_VERBS)
_ROLE = re.compile(f"(?P<of>的)?(?P<role>{'|'.join(_ROLES)})(?:是|为|叫做?|名叫)")
_IS_OF = re.compile(f"的(?P<role>{'|'.join(_OF)})(?![{HAN}]{{0,4}}(?:是|为))")
_BY = re.compile("由")
_BY_VERB = re.compile(
    f"(?:等人?|(?:带领的)?团队|先生|女士|集团|公司)?(?:[于在][^，。；、《》]{{1,{MAX_ADVERBIAL_CHARACTERS}}}?)?(?:共同|联合|正式|首先|负责)?(?P<verb>{_VERB})"
)
_DID = re.compile(f"(?P<verb>{_VERB})(?:了|的)?(?=[《“「{HAN}A-Za-z])")
_IS_DONE = re.compile(f"(?:于[^，。；]{{1,12}})?(?P<verb>{_VERB})的")
_PLACE = re.compile("(?P<located>(?:总部)?(?:位于|坐落于|坐落在|地处))|(?P<born>(?:出)?生于|诞生于|出生在)")
_CLAUSE = re.compile("[，。；]")
_NEARBY = re.compile("[^，。；]{0,12}(?:之间|附近|以[东南西北]|边境|交界)")
_AND = re.compile(r"[、和与及]\s?")
_ASIDE = re.compile(r"(?:\s?[(（][^()（）]{0,160}[)）])?\s?")
_OPENS = re.compile(_ASIDE.pattern + "[，,]?")
_DATE = re.compile(r"[\d\s年月日前公元世纪]{0,16}")


class StatedRelation(NamedTuple):
    """Relation `type` from `source` to `target`."""

    source: str
    target: str
    type: str


def find_chinese_relations(text: str, names: Sequence[Name], *, subject: Subject | None) -> Iterator[StatedRelation]:
    """Yield the relations of a sentence, by patterns of high precision."""
    if not any(len(name.text) > 1 for name in names) and subject is None:
        return
    reader = _Reader(simplify(text), text, names, subject)
    yield from reader.roles()
    yield from reader.done_by()
    yield from reader.places()


class _Reader:
    """A sentence with its names and subject."""

    def __init__(self, plain: str, text: str, names: Sequence[Name], subject: Subject | None) -> None:
        self._plain, self._text = plain, text
        self._names = [name for name in names if name.kind != "term"]
        is_clear = subject is not None and subject.kind in ("topic", "name", "quoted", "pronoun")
        self._subject = subject if is_clear else None

    def roles(self) -> Iterator[StatedRelation]:
        """Yield relations by role: `X的首都是Y`, `…，妻子是Y`, `X是Y的首都`."""
        for match in _ROLE.finditer(self._plain):
            source = self._before(match.start()) if match["of"] else self._about(match.start())
            for target in self._after(match.end()) if source else ():
                yield StatedRelation(source, target, _ROLES[match["role"]])
        for match in _IS_OF.finditer(self._plain):
            owner = next((name for name in self._names if name.end == match.start()), None)
            if owner and owner.start and self._plain[owner.start - 1] == "是":
                source = self._before(owner.start - 1)
                if source:
                    yield StatedRelation(source, owner.text, _OF[match["role"]])

    def done_by(self) -> Iterator[StatedRelation]:
        """Yield relations by verb: `X由Y创立`, `Y创立了X`, `X是Y创立的`."""
        for by in _BY.finditer(self._plain):
            source = self._before(by.start()) or self._about(by.start())
            first = next((name for name in self._names if self._acts(name, by.end())), None)
            for agent in self._listed(first.start) if first and source else ():
                if verb := _BY_VERB.match(self._plain, self._last(agent).end):
                    yield StatedRelation(source, agent.text, _VERBS[verb["verb"]])
        for agent in self._names:
            done = _IS_DONE.match(self._plain, agent.end)
            is_predicate = agent.start > 0 and self._plain[agent.start - 1] == "是"
            if done and is_predicate and (source := self._before(agent.start - 1)):
                yield StatedRelation(source, agent.text, _VERBS[done["verb"]])
            elif (did := _DID.match(self._plain, agent.end)) and (thing := self._name_at(did.end())):
                yield StatedRelation(thing.text, agent.text, _VERBS[did["verb"]])

    def places(self) -> Iterator[StatedRelation]:
        """Yield relations to places: `X位于Y`, `X1950年出生于Y`."""
        for match in _PLACE.finditer(self._plain):
            before = _DATE.match(self._plain[: match.start()][::-1])
            start = match.start() - (before.end() if before else 0)
            source = self._before(start) or self._about(start)
            place = None if _NEARBY.match(self._plain, match.end()) else self._name_at(match.end())
            while source and place and place.type in ("place", "organisation", ""):
                yield StatedRelation(source, place.text, "located_in" if match["located"] else "born_in")
                place = self._name_at(place.end)  # `陕西西安`

    def _acts(self, name: Name, by: int) -> bool:
        """Return True if a name after `由` is the agent: `格里芬` in `由美国建筑师格里芬设计`."""
        is_near = by <= name.start <= by + MAX_TITLE_CHARACTERS and not _CLAUSE.search(self._plain, by, name.start)
        return is_near and name.type != "place" and _BY_VERB.match(self._plain, self._last(name).end) is not None

    def _last(self, name: Name) -> Name:
        return list(self._listed(name.start))[-1]

    def _before(self, end: int) -> str:
        """Return the name that ends at `end`, ignoring brackets; empty if none does."""
        if self._subject and _OPENS.fullmatch(self._plain, self._subject.end, end):
            return self._subject.name
        name = next(
            (name for name in self._names if name.end <= end and _ASIDE.fullmatch(self._plain, name.end, end)), None
        )
        return name.text if name else ""

    def _about(self, start: int) -> str:
        """Return the subject of the sentence if a clause begins at `start`; otherwise an empty text."""
        opens = start > 0 and self._plain[start - 1] in "，,；;"
        return self._subject.name if self._subject and opens else ""

    def _name_at(self, start: int) -> Name | None:
        return next((name for name in self._names if name.start == start), None)

    def _listed(self, start: int) -> Iterator[Name]:
        """Yield the name that begins at `start` and those listed after it."""
        name = self._name_at(start)
        while name:
            yield name
            joint = _AND.match(self._plain, name.end)
            name = self._name_at(joint.end()) if joint else None

    def _after(self, start: int) -> list[str]:
        """Return the names that begin at `start`, or the term up to the end of the clause."""
        if listed := [name.text for name in self._listed(start)]:
            return listed
        run = re.compile(f"[{HAN}·]{{2,8}}(?=[，。；,;]|$)").match(self._plain, start)
        return [self._text[run.start() : run.end()]] if run and is_term(run.group()) else []
