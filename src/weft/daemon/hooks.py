"""
Answers to hooks: what a session start or a prompt adds to the context of the model, or nothing.

| left out | why |
| --- | --- |
| everything, for a prompt without content (`go on`, `fix the bug`) | any passage would be a guess |
| passages unless the search is sure (`ok`) and one is strong | a weak passage would be added again and again |
| passages of the session itself, and those added to it before | the model has them |
| passages that only repeat the prompt | they tell nothing |
| passages and facts of other projects, unless the scope is `all` | they may be another client's |
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from weft.daemon.block import Block, Item, build_block
from weft.daemon.events import folder_of, session_of
from weft.daemon.prompt_filter import (
    adds_content,
    concerns_prompt,
    has_content,
    is_single_question,
    pick_excerpt,
    touches_topic,
)
from weft.daemon.state import State
from weft.engine.engine import Engine
from weft.errors import InputError
from weft.extract.names import name_key
from weft.extract.user_rules import rule_topic
from weft.extract.user_statements import SUBJECT, project_of, project_subject
from weft.load.conversations.projects import FOLDER, PROJECT, find_project
from weft.masking.mask import mask_secrets
from weft.records import Evidence, Fact, Filter, Recall, Result
from weft.text.plurals import counted

TOP_K = 5
MAX_PASSAGES = 5
MAX_FACTS = 8
"""Maximum number of facts for a prompt; a session start may add twice as many."""
MAX_PROMPT_CHARACTERS = 4000
MAX_EXCERPT_CHARACTERS = 200
MIN_SHARE_OF_BEST = 0.6
"""Lowest score of a passage, as a share of the best one, if the best is in the session already."""
MIN_CONFIDENCE = 0.6
"""Lowest confidence of a search whose passages are added; chosen on half of `benchmarks/memory/injections.py`."""
MIN_SCORE = 0.5
"""Lowest score of the best passage; a passage that only keywords find has less."""
MIN_RUNNING_SCORE = 0.8
"""The same in a session that has turns in the memory, for prompts that are not a single question."""
COMMON_PREDICATES = frozenset({"likes", "prefers", "usually", "decided", "remember"})
"""Predicates whose words are in prompts on any subject."""
MAX_FACT_PRIORITY = 1
"""Facts of a lower rank are about the user in general; a session start has them."""
MAX_SESSIONS = 256
"""Sessions whose passages are remembered, so that none is added twice."""


class Recaller:
    """Answers hooks from one engine, and remembers what each session was given."""

    def __init__(self, engine: Engine, state: State) -> None:
        self._engine, self._state = engine, state
        self._given: OrderedDict[str, set[str]] = OrderedDict()
        self._lock = threading.Lock()

    def answer(self, event: str, given: Mapping[str, Any], *, budget: int, scope: str) -> Block:
        """Return what the host adds to the model's context, in `budget` characters. Raises `InputError`."""
        match event:
            case "session-start":
                found = self._start(given, scope=scope)
            case "prompt":
                found = self._prompt(given, scope=scope)
            case _:
                raise InputError(f"unknown event {event[:40]!r}", hint="use session-start, prompt, stop or turn")
        return build_block(found, budget=budget)

    def count_given(self, event: str, given: Mapping[str, Any], shown: Block) -> None:
        """Remember what a session was given. An answer that came too late was not: the next prompt may get it."""
        self._remember(session_of(given), [item.id for item in shown.items])
        self._state.set(
            "recall", f"{event}: {counted(len(shown.items), 'item')}, {counted(len(shown.text), 'character')}"
        )

    def _start(self, given: Mapping[str, Any], *, scope: str) -> list[Item]:
        """Return the facts about the user and the project. A session that is resumed may have lost them."""
        subjects = [SUBJECT]
        if place := _place(given, scope):
            subjects.append(project_subject(place))
        facts: list[Fact] = []
        for subject in subjects:
            recall = self._engine.memory.recall(subject)
            facts += [item.fact for item in recall.facts if item.fact.subject == name_key(subject)]
        return [_fact_item(fact) for fact in facts[: 2 * MAX_FACTS]]

    def _prompt(self, given: Mapping[str, Any], *, scope: str) -> list[Item]:
        prompt = given.get("prompt")
        if not isinstance(prompt, str) or not prompt.strip():
            raise InputError("the event has no text 'prompt'", hint="pass the JSON that the host writes to its hooks")
        text = mask_secrets(prompt[:MAX_PROMPT_CHARACTERS])
        if not has_content(text):
            return []
        place, session = _place(given, scope), session_of(given)
        key = FOLDER if scope == "folder" else PROJECT
        where = Filter(
            metadata_if_present=((key, place),) if scope != "all" else (),
            metadata_excluded=(("conversation", session),) if session else (),
        )
        known = self._known(session)
        result = self._engine.query(text, top_k=TOP_K, where=where, exact=True)
        pieces = _select(result, text, known=known, least=self._least_score(text, session)) if _is_sure(result) else []
        recall = self._engine.memory.recall(text, about=[project_subject(find_project(place))] if place else ())
        recalled = self._facts(recall, place=place, scope=scope, session=session)
        told = [fact for fact in recalled if _concerns(fact, text)]
        facts = [fact for fact in (*told, *_contrasts(told, recalled)) if fact.id not in known]
        return [
            *(_fact_item(fact) for fact in facts[:MAX_FACTS]),
            *(_passage_item(piece, text, here=place) for piece in pieces[:MAX_PASSAGES]),
        ]

    def _facts(self, recall: Recall, *, place: str, scope: str, session: str) -> list[Fact]:
        """Return the recalled facts that concern the prompt, belong to the scope, and are not from the session."""
        found = [
            item.fact for item in recall.facts if item.priority <= MAX_FACT_PRIORITY or rule_topic(item.fact.predicate)
        ]
        origins = self._engine.reader.facts.origins([fact.id for fact in found]) if found else {}
        ids = sorted({id for sources in origins.values() for id in sources if id})
        stated = {document.id: document.metadata for document in self._engine.reader.documents(ids)}
        key = FOLDER if scope == "folder" else PROJECT

        def is_told(fact: Fact, id: str) -> bool:
            """Return True if a document, or the user by hand (an empty id), tells the session something."""
            known = stated.get(id, {})
            is_own = bool(session) and known.get("conversation") == session
            return not is_own and (scope == "all" or fact.subject == SUBJECT or known.get(key, place) == place)

        def is_in_scope(fact: Fact) -> bool:
            named = project_of(fact.subject_name)
            return scope == "all" or not named or named == find_project(place)

        return [
            fact
            for fact in found
            if is_in_scope(fact) and any(is_told(fact, id) for id in origins.get(fact.id, ()) or ("",))
        ]

    def _least_score(self, prompt: str, session: str) -> float:
        """Return the lowest score of the best passage. A prompt of a captured session brings its own context."""
        if self._engine.settings.search.fusion != "weighted":
            return 0.0  # other scores have another scale
        if not session or is_single_question(prompt):
            return MIN_SCORE
        where = Filter(metadata=(("conversation", session),))
        return MIN_RUNNING_SCORE if self._engine.reader.find_documents(where, limit=1) else MIN_SCORE

    def _known(self, session: str) -> set[str]:
        with self._lock:
            return set(self._given.get(session, ()))

    def _remember(self, session: str, ids: Iterable[str]) -> None:
        if not session:
            return
        with self._lock:
            self._given.setdefault(session, set()).update(ids)
            self._given.move_to_end(session)
            while len(self._given) > MAX_SESSIONS:
                self._given.popitem(last=False)


def _is_sure(result: Result) -> bool:
    return result.status == "ok" and result.confidence >= MIN_CONFIDENCE


def _select(result: Result, prompt: str, *, known: set[str], least: float) -> list[Evidence]:
    """
    Return the passages that tell the model something new, if one has the `least` score.

    Those of a timeline share no words with the prompt.
    """
    evidence = result.evidence
    kept = [piece for piece in evidence if _digest(piece.chunk.text) not in known]
    if result.method == "timeline":
        return kept
    if kept and kept[0] is not evidence[0]:
        kept = [piece for piece in kept if piece.score >= MIN_SHARE_OF_BEST * evidence[0].score]
    kept = [piece for piece in kept if adds_content(piece.chunk.text, prompt)]
    return kept if any(piece.score >= least for piece in kept) else []


def _place(given: Mapping[str, Any], scope: str) -> str:
    """Return the project of an event, or its folder with that scope; empty if it names no folder."""
    folder = folder_of(given)
    return folder if scope == "folder" else find_project(folder)


def _concerns(fact: Fact, prompt: str) -> bool:
    topic = rule_topic(fact.predicate)
    return touches_topic(topic, prompt) if topic else concerns_prompt(_fact_text(fact, prompt), prompt)


def _contrasts(told: Sequence[Fact], recalled: Sequence[Fact]) -> list[Fact]:
    """Return the other halves of rules: `always use pnpm` for `never use npm`, if both were stated at one time."""
    values = {(fact.subject, fact.valid_from): fact.value for fact in told if rule_topic(fact.predicate)}
    return [
        fact
        for fact in recalled
        if fact not in told
        and rule_topic(fact.predicate)
        and fact.valid_from is not None
        and values.get((fact.subject, fact.valid_from), fact.value) != fact.value
    ]


def _fact_text(fact: Fact, prompt: str) -> str:
    """Return the words of a fact that may concern a prompt; `I like that` does not concern all that one likes."""
    subject = "" if fact.subject == SUBJECT or project_of(fact.subject_name) else fact.subject_name
    predicate = "" if fact.predicate in COMMON_PREDICATES and not is_single_question(prompt) else fact.predicate
    return f"{subject} {predicate.replace('_', ' ')} {fact.value}"


def _fact_item(fact: Fact) -> Item:
    named = project_of(fact.subject_name)
    subject = "" if fact.subject == SUBJECT else "this project" if named else fact.subject_name
    predicate = (fact.spelling or fact.predicate).replace("_", " ")
    said = f"{predicate}: {fact.value}"
    if predicate.startswith("rule ") and fact.value in ("always", "never"):
        said = f"{fact.value} {predicate.removeprefix('rule ')}"
    text = f"{subject or 'the user'} – {said}"
    return Item(id=fact.id, text=text, time=fact.valid_from or fact.created)


def _passage_item(piece: Evidence, prompt: str, *, here: str) -> Item:
    project = piece.document.metadata.get(PROJECT)
    where = f" (project {project})" if project and project != here else ""
    time = piece.chunk.end_time
    return Item(
        id=_digest(piece.chunk.text),
        text=pick_excerpt(piece.chunk.text, prompt, size=MAX_EXCERPT_CHARACTERS),
        time=None if time is None else _to_time(time),
        source=f"{piece.citation}{where}",
    )


def _to_time(microseconds: int) -> datetime:
    return datetime.fromtimestamp(microseconds / 1_000_000, tz=timezone.utc)


def _digest(text: str) -> str:
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]
