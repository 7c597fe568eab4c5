"""Import and export of facts as files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from weft.errors import InputError
from weft.exchange.fact_lines import from_fact_lines, to_fact_lines
from weft.exchange.file_formats import FactForm
from weft.exchange.json_values import iter_values
from weft.exchange.memory_facts import from_memory_facts, to_memory_facts
from weft.exchange.read import read_text, recognise_form
from weft.records import Fact, FactEntity, FactReceipt, GivenFact, KeptFact, Remembered
from weft.search.facts.audit import iter_facts
from weft.store.base import Store

if TYPE_CHECKING:
    from weft.engine.engine import Engine

PAGE_ENTITIES = 1000


def find_fact_form(text: str) -> FactForm | None:
    """Return the format of a fact file, detected by its first value; None if it is unknown."""
    first = next((value for _, value in iter_values(text, skip=lambda place, reason: None)), None)
    if isinstance(first, dict) and ({"subject", "predicate", "id"} <= first.keys() or "entity" in first):
        return "facts"
    return "memory" if recognise_form(text) == "memory" else None


def import_facts(
    engine: Engine, path: str | Path, *, form: FactForm | None = None, source: str = "file"
) -> FactReceipt:
    """
    Import facts from a file in one transaction.

    The format `facts` is written by `export_facts` and restored unchanged. Facts of the format `memory` are added with
    this `source`. By default the format is detected. The receipt lists refused facts and unreadable lines.
    """
    text = read_text(Path(path))
    form = form or find_fact_form(text)
    if form is None:
        raise InputError(f"unknown format of the fact file {path}", hint="pass --format facts or --format memory")
    if form == "facts":
        entities, kept = from_fact_lines(text)
        if not (entities or kept):
            raise InputError(f"{path} is empty", hint="pass a file written by `weft fact export`")
        done = engine.memory.restore(kept, entities=entities)
        return _receipt(form, [_describe(item.fact) for item in kept], done, entities=entities)
    parsed = from_memory_facts(text, source=source)
    if not (parsed.entities or parsed.facts):
        reason = f": {parsed.skipped[0]}" if parsed.skipped else ""
        raise InputError(f"{path} has no readable facts{reason}", hint="pass a file written by `weft fact export`")
    done = engine.memory.add_many(parsed.facts, entities=parsed.entities)
    described = [_describe(item) for item in parsed.facts]
    return _receipt(form, described, done, entities=parsed.entities, skipped=parsed.skipped)


def export_facts(engine: Engine, *, form: FactForm = "facts") -> Iterator[str]:
    """
    Yield the lines of a file with the facts of the namespace.

    The format `facts` has all facts by id with their history; `memory` has live facts whose validity has not ended,
    oldest first.
    """
    store = engine.store
    with store.reading():
        if form == "memory":
            facts = sorted(engine.memory.standing(), key=lambda fact: (fact.created, fact.id))
            yield from to_memory_facts(iter_entities(store), facts)
        else:
            yield from to_fact_lines(iter_entities(store), _iter_kept(store))


def iter_entities(store: Store) -> Iterator[FactEntity]:
    """Yield the entities of facts in the order of their keys."""
    after = ""
    while page := store.facts.entities_after(after, limit=PAGE_ENTITIES):
        yield from page
        after = page[-1].key


def _iter_kept(store: Store) -> Iterator[KeptFact]:
    for fact in iter_facts(store):
        ids = [id for id in store.facts.origins([fact.id]).get(fact.id, ()) if id]
        sources = tuple(document.source for document in store.documents(ids))
        yield KeptFact(fact=fact, history=tuple(store.facts.history(fact.id)), documents=sources)


def _receipt(
    form: str,
    described: Sequence[str],
    done: Sequence[Remembered],
    *,
    entities: Sequence[FactEntity],
    skipped: Sequence[str] = (),
) -> FactReceipt:
    counts = {outcome: sum(item.outcome == outcome for item in done) for outcome in ("added", "strengthened", "known")}
    refused = [f"{what}: {item.reason}" for what, item in zip(described, done, strict=True) if item.reason]
    return FactReceipt(form=form, entities=len(entities), refused=tuple(refused), skipped=tuple(skipped), **counts)


def _describe(fact: Fact | GivenFact) -> str:
    """Return a fact as text without its value, which may be a secret."""
    subject = fact.subject_name if isinstance(fact, Fact) else fact.subject
    return f"{subject[:80]} {fact.predicate[:80]}"
