"""
Check of the JSON columns, and their reset.

A value that cannot be parsed was edited by hand. `repair` does not guess it; it resets the value, so that everything
else can be read and derived again:

    metadata, headings, terms    empty; `weft index` reads the document again
    calibration, jobs            deleted
    usage of a run               empty
    API key                      revoked
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, NamedTuple

from weft.errors import StoreCorrupt
from weft.records import Problem
from weft.store.relational.calibration import parse_calibration
from weft.store.relational.jobs import STATES, parse_result
from weft.store.relational.json_columns import read_list, read_object, unreadable
from weft.store.relational.keys import parse_key
from weft.store.relational.session import Namespace, Row, Session
from weft.store.relational.spending import parse_usage
from weft.text.plurals import counted

KEYS = "table api_key"
REINDEX = "`weft index` reads the document again"


class Statement(NamedTuple):
    """A named SQL statement with its parameters."""

    name: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A value, or the values of one document, that cannot be parsed."""

    what: str
    outcome: str
    """State after the reset, for the report of `repair`."""
    reset: Sequence[Statement]
    in_document: bool = False
    """True if the value belongs to a document. Data derived from documents can then not be checked."""

    def problem(self, where: str) -> Problem:
        """Return the finding of `check`."""
        return Problem(where=where, what=f"{self.what} cannot be read", repairable=True)


def find_unreadable(db: Session, namespace: Namespace) -> list[Unreadable]:
    """Parse all JSON values of a namespace; return those that cannot be parsed."""
    return [*_find_in_documents(db, namespace), *_find_in_other_tables(db, namespace)]


def reset_unreadable(db: Session, namespace: Namespace, name: str) -> list[str]:
    """Reset the values of a namespace that cannot be parsed; return a line for each."""
    return [f"{name}: {line}" for line in _reset(db, find_unreadable(db, namespace))]


def find_unreadable_keys(db: Session) -> list[Problem]:
    """Return a problem for each API key that cannot be parsed."""
    return [key.problem(KEYS) for key in _find_keys(db)]


def revoke_unreadable_keys(db: Session) -> list[str]:
    """Revoke the API keys that cannot be parsed, because their rights are unknown; return a line for each."""
    return _reset(db, _find_keys(db))


# ── private ─────────────────────────────────────────────────────────────────────────────────────


def _find_in_documents(db: Session, namespace: Namespace) -> Iterator[Unreadable]:
    key = {"namespace": namespace}
    sources: dict[int, str] = {}
    forget_hash: dict[int, Statement] = {}
    metadata: list[int] = []
    for number, id, source, text in db.stream("all_metadata", key):
        sources[number] = repr(source)
        forget_hash[number] = Statement("forget_content_hash", {**key, "id": id})
        if not _can_parse(_parse_metadata, text):
            metadata.append(number)
    headings, terms = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    for document, number, heading, words in db.stream("all_headings_and_terms", key):
        if heading != "[]" and not _can_parse(_parse_heading, heading):
            headings[document].append(number)
        if not _can_parse(_parse_terms, words):
            terms[document].append(number)
    for number in metadata:
        reset = [Statement("set_metadata", {**key, "number": number, "metadata": "{}"}), forget_hash[number]]
        what = f"the metadata of {sources[number]}"
        yield Unreadable(what=what, outcome=f"it is empty, {REINDEX}", reset=reset, in_document=True)
    for document, chunks in headings.items():
        # No content hash is deleted: without a heading that it had, the document is found to be damaged.
        reset = [Statement("set_heading", {**key, "number": chunk, "heading": "[]"}) for chunk in chunks]
        what = f"headings of {_count(chunks)} of {sources.get(document, 'a missing document')}"
        yield Unreadable(what=what, outcome=f"they are empty, {REINDEX}", reset=reset, in_document=True)
    for document, chunks in terms.items():
        values = {**key, "terms": "{}", "length": 0}
        reset = [Statement("set_terms", {**values, "number": chunk}) for chunk in chunks]
        reset += [forget_hash[document]] if document in forget_hash else []
        what = f"terms of {_count(chunks)} of {sources.get(document, 'a missing document')}"
        yield Unreadable(what=what, outcome=f"they are empty, {REINDEX}", reset=reset, in_document=True)


def _find_in_other_tables(db: Session, namespace: Namespace) -> Iterator[Unreadable]:
    key = {"namespace": namespace}
    if not all(_can_parse(parse_calibration, value) for (value,) in db.run("calibration_of", key)):
        outcome = "it is deleted, `weft calibrate` fits it again"
        yield Unreadable(what="the fitted calibration", outcome=outcome, reset=[Statement("delete_calibration", key)])
    for id, at, model, usage in db.run("list_llm_runs", key):
        if not _can_parse(parse_usage, usage):
            values = {**key, "id": id, "at": at, "model": model, "usage": "{}"}
            what = f"the cost of the run {id!r} of {model!r}"
            yield Unreadable(what=what, outcome="it counts as 0", reset=[Statement("write_llm_run", values)])
    for id, source, state, result in db.stream("all_jobs", key):
        if not _can_parse(_parse_job, state, result):
            what = f"the result of the job of {source!r}" if state == "done" else f"the job of {source!r}"
            outcome = "it is deleted" if state == "done" else f"it is deleted, {REINDEX}"
            reset = [Statement("delete_jobs", {**key, "ids": json.dumps([id])})]
            yield Unreadable(what=what, outcome=outcome, reset=reset)


def _find_keys(db: Session) -> list[Unreadable]:
    now = datetime.fromtimestamp(db.one("read_clock"), timezone.utc).isoformat()
    return [_unreadable_key(row, now=now) for row in db.run("list_keys") if not _can_parse(parse_key, row)]


def _unreadable_key(row: Row, *, now: str) -> Unreadable:
    id, name, digest, *_ = row
    values = {"id": id, "name": name, "digest": digest, "namespaces": "[]", "access": "read"}
    return Unreadable(
        what=f"the key {id!r} ({name!r})" if name else f"the key {id!r}",
        outcome="it is revoked, `weft keys create` creates another",
        reset=[Statement("write_key", {**values, "created": now, "revoked": now})],
    )


def _reset(db: Session, found: Sequence[Unreadable]) -> list[str]:
    for value in found:
        for statement in value.reset:
            db.run(statement.name, statement.values)
    return [f"{value.what} could not be read; {value.outcome}" for value in found]


def _can_parse(parse: Callable[..., object], *values: Any) -> bool:
    try:
        parse(*values)
    except StoreCorrupt:
        return False
    return True


def _parse_metadata(text: str) -> None:
    read_object(text, what="metadata")


def _parse_heading(text: str) -> None:
    if not all(isinstance(title, str) for title in read_list(text, what="headings")):
        raise unreadable("headings")


def _parse_terms(text: str) -> None:
    if not all(type(count) is int and count > 0 for count in read_object(text, what="terms").values()):
        raise unreadable("terms")


def _parse_job(state: str, result: str) -> None:
    """Check state and result. The worker checks the payload and reports its errors."""
    if state not in STATES:
        raise unreadable("state")
    if state == "done":
        parse_result(result)


def _count(chunks: Sequence[int]) -> str:
    return counted(len(chunks), "chunk")
