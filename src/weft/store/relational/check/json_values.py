"""Whether the JSON in columns can be read, and what is put in its place where it cannot."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from weft.errors import StoreCorrupt
from weft.records import Problem
from weft.store.relational.calibration import parse_calibration
from weft.store.relational.jobs import STATES, parse_result
from weft.store.relational.json_columns import read_list, read_object, unreadable
from weft.store.relational.keys import parse_key
from weft.store.relational.session import Namespace, Row, Session
from weft.store.relational.spending import parse_usage
from weft.text.searchable_metadata import searched_terms
from weft.text.split import indexed_text

KEYS = "table api_key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """What cannot be read in a namespace. Documents are given by their numbers, with the numbers of chunks."""

    sources: Mapping[int, tuple[str, str]]
    """Id and source of each document."""
    metadata: list[int]
    headings: dict[int, list[int]]
    terms: dict[int, list[int]]
    calibration: bool
    runs: list[Row]
    jobs: list[Row]

    @property
    def in_documents(self) -> bool:
        """Whether documents are damaged, so that nothing can be compared with what they say."""
        return bool(self.metadata or self.headings or self.terms)

    def problems(self, name: str) -> list[Problem]:
        """Return a problem for each."""
        where = f"namespace {name!r}"
        return [Problem(where=where, what=f"{what} cannot be read", repairable=True) for what in _say(self)]


def find_unreadable(db: Session, namespace: Namespace) -> Unreadable:
    """Read all JSON of a namespace; return what cannot be read."""
    key = {"namespace": namespace}
    sources: dict[int, tuple[str, str]] = {}
    metadata: list[int] = []
    for number, id, source, text in db.stream("all_metadata", key):
        sources[number] = (id, source)
        if not _can(_read_metadata, text):
            metadata.append(number)
    headings, terms = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    for document, number, heading, words in db.stream("all_headings_and_terms", key):
        if heading != "[]" and not _can(_read_heading, heading):
            headings[document].append(number)
        if not _can(_read_terms, words):
            terms[document].append(number)
    return Unreadable(
        sources=sources,
        metadata=metadata,
        headings=dict(headings),
        terms=dict(terms),
        calibration=not all(_can(parse_calibration, row[0]) for row in db.run("calibration_of", key)),
        runs=[row for row in db.run("list_llm_runs", key) if not _can(parse_usage, row[3])],
        jobs=[row for row in db.stream("all_jobs", key) if not _can(_read_job, *row[2:])],
    )


def mend_unreadable(db: Session, namespace: Namespace, name: str) -> list[str]:
    """Derive again what cannot be read, or leave it out; return what was done, and what is lost."""
    damage, key = find_unreadable(db, namespace), {"namespace": namespace}
    for number in damage.metadata:
        db.run("set_metadata", {**key, "number": number, "metadata": _from_labels(db, namespace, number)})
        db.run("forget_content_hash", {**key, "id": damage.sources[number][0]})
    for chunk in (chunk for chunks in damage.headings.values() for chunk in chunks):
        db.run("set_heading", {**key, "number": chunk, "heading": "[]"})
    for number, chunks in damage.terms.items():
        _derive_terms(db, namespace, number, chunks)
    if damage.calibration:
        db.run("delete_calibration", key)
    for id, at, model, _ in damage.runs:
        db.run("write_llm_run", {**key, "id": id, "at": at, "model": model, "usage": "{}"})
    db.run("delete_jobs", {**key, "ids": json.dumps([row[0] for row in damage.jobs])})
    return [f"{name}: {what} could not be read; {instead}" for what, instead in _say(damage).items()]


def find_unreadable_keys(db: Session) -> list[Problem]:
    """Return the keys of doors that cannot be read."""
    return [Problem(where=KEYS, what=f"{_key(row)} cannot be read", repairable=True) for row in _bad_keys(db)]


def mend_keys(db: Session) -> list[str]:
    """Revoke the keys that cannot be read, since nobody knows what they should open; return what was done."""
    found = _bad_keys(db)
    now = datetime.fromtimestamp(db.one("read_clock"), timezone.utc).isoformat()
    for id, name, digest, *_ in found:
        values = {"id": id, "name": name, "digest": digest, "namespaces": "[]", "access": "read"}
        db.run("write_key", {**values, "created": now, "revoked": now})
    return [f"{_key(row)} could not be read; it is revoked, `weft keys create` makes another" for row in found]


# ── inside ──────────────────────────────────────────────────────────────────────────────────────


def _can(read: Callable[..., object], *values: Any) -> bool:
    try:
        read(*values)
    except StoreCorrupt:
        return False
    return True


def _read_metadata(text: str) -> None:
    read_object(text, what="metadata")


def _read_heading(text: str) -> None:
    if not all(isinstance(title, str) for title in read_list(text, what="headings")):
        raise unreadable("headings")


def _read_terms(text: str) -> None:
    if not all(type(count) is int and count > 0 for count in read_object(text, what="terms").values()):
        raise unreadable("terms")


def _read_job(state: str, result: str) -> None:
    """What a job is about is for its worker to read, who says where it cannot."""
    if state not in STATES:
        raise unreadable("state")
    if state == "done":
        parse_result(result)


def _bad_keys(db: Session) -> list[Row]:
    return [row for row in db.run("list_keys") if not _can(parse_key, row)]


def _key(row: Row) -> str:
    return f"the key {row[0]!r} ({row[1]!r})" if row[1] else f"the key {row[0]!r}"


def _say(damage: Unreadable) -> dict[str, str]:
    """Return what cannot be read, each with what a repair puts in its place."""
    return dict(_iter_said(damage))


def _iter_said(damage: Unreadable) -> Iterator[tuple[str, str]]:
    again = "`weft index` will read the document again"
    for number in damage.metadata:
        instead = f"it is what the document was filtered by, all of it as text, and {again}"
        yield f"the metadata of {damage.sources[number][1]!r}", instead
    for number, chunks in damage.headings.items():
        yield f"headings of {_chunks(chunks)} of {_source(damage, number)}", f"they are left out; {again}"
    for number, chunks in damage.terms.items():
        yield f"terms of {_chunks(chunks)} of {_source(damage, number)}", "they are derived from the text again"
    if damage.calibration:
        yield "the fitted calibration", "that of the embedder is in force, `weft calibrate` fits it again"
    for id, _, model, _ in damage.runs:
        yield f"what the run {id!r} of {model!r} cost", "it counts as nothing"
    for _, source, state, *_ in damage.jobs:
        what = "what came of the job" if state == "done" else "the job"
        yield f"{what} of {source!r}", "it is dropped" + ("" if state == "done" else f"; {again}")


def _source(damage: Unreadable, number: int) -> str:
    return repr(damage.sources[number][1]) if number in damage.sources else "a document that is gone"


def _chunks(numbers: list[int]) -> str:
    return "1 chunk" if len(numbers) == 1 else f"{len(numbers):,} chunks"


def _from_labels(db: Session, namespace: Namespace, document: int) -> str:
    """Return metadata made of what a document is filtered by, which is all of it as text."""
    values: dict[str, list[str]] = defaultdict(list)
    for key, value in db.run("labels_of", {"namespace": namespace, "document": document}):
        values[key].append(value)
    made: dict[str, Any] = {key: found[0] if len(found) == 1 else found for key, found in values.items()}
    return json.dumps(made, ensure_ascii=False, sort_keys=True)


def _derive_terms(db: Session, namespace: Namespace, document: int, chunks: list[int]) -> None:
    """Write the terms of chunks of a document as indexing it derives them; none where the document is gone."""
    key = {"namespace": namespace}
    rows = db.run("document_texts", {**key, "document": document})
    metadata = read_object(rows[0][1], what="metadata") if rows else {}
    texts = (
        indexed_text(title, tuple(read_list(heading, what="headings")), text) for title, _, _, heading, text in rows
    )
    derived = dict(zip((row[2] for row in rows), searched_terms(texts, metadata=metadata), strict=True))
    for number in chunks:
        terms = derived.get(number, {})
        values = json.dumps(dict(terms), ensure_ascii=False, sort_keys=True)
        db.run("set_terms", {**key, "number": number, "terms": values, "length": sum(terms.values())})
