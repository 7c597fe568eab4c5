"""Facts into a namespace and out of it, as files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from weft.errors import InputError
from weft.exchange.fact_lines import from_fact_lines, to_fact_lines
from weft.exchange.forms import FactForm
from weft.exchange.json_values import iter_values
from weft.exchange.memory_facts import from_memory_facts, to_memory_facts
from weft.exchange.read import read_text, recognise_form
from weft.records import Fact, FactEntity, FactReceipt, GivenFact, KeptFact, Remembered
from weft.search.facts.audit import iter_facts
from weft.store.base import Store

if TYPE_CHECKING:
    from weft.engine.engine import Engine

PAGE = 1000


def find_fact_form(text: str) -> FactForm | None:
    """Return the form of a file of facts by its first value, or None."""
    first = next((value for _, value in iter_values(text, skip=lambda place, reason: None)), None)
    if isinstance(first, dict) and ({"subject", "predicate", "id"} <= first.keys() or "entity" in first):
        return "facts"
    return "memory" if recognise_form(text) == "memory" else None


def import_facts(
    engine: Engine, path: str | Path, *, form: FactForm | None = None, source: str = "file"
) -> FactReceipt:
    """
    Read facts from a file into the namespace, wholly or not at all.

    `facts` is what `export_facts` writes, and comes back as it was; `memory` is stated anew, by `source`. Without a
    form it is recognised. What hygiene refuses, and lines of a memory that cannot be read, are listed.
    """
    text = read_text(Path(path))
    form = form or find_fact_form(text)
    if form is None:
        raise InputError(f"{path} holds no facts in a form that is known", hint="facts or memory: say which")
    if form == "facts":
        entities, kept = from_fact_lines(text)
        if not (entities or kept):
            raise InputError(f"there is nothing in {path}")
        done = engine.memory.restore(kept, entities=entities)
        return _receipt(form, [_say(item.fact) for item in kept], done, entities=entities)
    given = from_memory_facts(text, source=source)
    if not (given.entities or given.facts):
        reason = f": {given.skipped[0]}" if given.skipped else ""
        raise InputError(f"nothing in {path} could be read as memory{reason}")
    done = engine.memory.add_many(given.facts, entities=given.entities)
    said = [_say(item) for item in given.facts]
    return _receipt(form, said, done, entities=given.entities, skipped=given.skipped)


def export_facts(engine: Engine, *, form: FactForm = "facts") -> Iterator[str]:
    """
    Yield the lines of a file with the facts of the namespace.

    `facts` has all of them by id, with their whole life; `memory` those that are staged or confirmed and have not
    ended, oldest first.
    """
    store = engine.store
    with store.reading():
        if form == "memory":
            facts = sorted(engine.memory.standing(), key=lambda fact: (fact.created, fact.id))
            yield from to_memory_facts(iter_entities(store), facts)
        else:
            yield from to_fact_lines(iter_entities(store), _iter_kept(store))


def iter_entities(store: Store) -> Iterator[FactEntity]:
    """Yield the entities of facts by key."""
    after = ""
    while page := store.facts.entities_after(after, limit=PAGE):
        yield from page
        after = page[-1].key


def _iter_kept(store: Store) -> Iterator[KeptFact]:
    for fact in iter_facts(store):
        ids = [id for id in store.facts.origins([fact.id]).get(fact.id, ()) if id]
        sources = tuple(document.source for document in store.documents(ids))
        yield KeptFact(fact=fact, history=tuple(store.facts.history(fact.id)), documents=sources)


def _receipt(
    form: str,
    said: Sequence[str],
    done: Sequence[Remembered],
    *,
    entities: Sequence[FactEntity],
    skipped: Sequence[str] = (),
) -> FactReceipt:
    counts = {outcome: sum(item.outcome == outcome for item in done) for outcome in ("added", "strengthened", "known")}
    refused = [f"{what}: {item.reason}" for what, item in zip(said, done, strict=True) if item.reason]
    return FactReceipt(form=form, entities=len(entities), refused=tuple(refused), skipped=tuple(skipped), **counts)


def _say(fact: Fact | GivenFact) -> str:
    """Name a fact without its value, which may be a secret."""
    subject = fact.subject_name if isinstance(fact, Fact) else fact.subject
    return f"{subject[:80]} {fact.predicate[:80]}"
