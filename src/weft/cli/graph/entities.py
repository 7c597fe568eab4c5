"""`weft entity …`, `weft neighbours`, `weft path`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from weft.cli.confirmation import require_consent
from weft.cli.options import Session, common_options, verb
from weft.cli.output import path_text, print_json, print_table
from weft.cli.progress import CountBar
from weft.cli.terminal import one_line, say
from weft.context.serialise import entity_to_dict, readers_to_dict, step_to_dict
from weft.records import Entity

if TYPE_CHECKING:
    from weft.engine.similar_names import Similar


@click.group()
@common_options
def entity() -> None:
    """List, show, merge and name entities."""


@verb("list")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="At most so many.")
def list_entities(session: Session, limit: int) -> None:
    """List the entities most chunks mention, then those that facts alone know."""
    with session.open() as engine:
        found = engine.entities.top(limit=limit)
    if session.as_json:
        print_json([entity_to_dict(item) for item in found])
    else:
        print_table(("name", "type", "chunks", "mentions"), [(e.name, e.type, e.chunks, e.mentions) for e in found])


@verb()
@click.argument("name")
def show(session: Session, name: str) -> None:
    """Show an entity: its names, description, relations and where it is mentioned."""
    with session.open() as engine:
        view = engine.entities.show(name)
        places = {piece.chunk_id: engine.cite(piece.chunk_id) for piece in view.mentions}
    if session.as_json:
        found = entity_to_dict(view.entity)
        found["alias_reasons"] = dict(zip(view.entity.aliases, view.entity.reasons, strict=True))
        found["extractors"] = list(view.extractors)
        found["relations"] = [{**step_to_dict(step), "extractors": list(step.extractors)} for step in view.relations]
        found["mentions"] = [
            {"citation": places[m.chunk_id], "count": m.count, "about": m.about} for m in view.mentions
        ]
        print_json(found)
        return
    kind = f" ({view.entity.type})" if view.entity.type else ""
    say(one_line(f"{view.entity.name}{kind}  {view.entity.id}"))
    for other, reason in zip(view.entity.aliases, view.entity.reasons, strict=True):
        say(one_line(f"also: {other}  ({reason}; undo: weft entity unmerge {shlex.quote(other)})"))
    if view.entity.description:
        say(one_line(view.entity.description))
    say(f"mentioned {view.entity.mentions} times in {view.entity.chunks} chunks")
    is_mixed = any(set(found) - {"rules"} for found in (view.extractors, *(step.extractors for step in view.relations)))
    if is_mixed:
        say(f"read by: {', '.join(view.extractors)}")
    for step in view.relations:
        who = f"  ({', '.join(step.extractors)})" if is_mixed and step.extractors else ""
        say(one_line(f"  —{step.type}({step.weight:g})→ {step.target}{who}"))
    for mention in view.mentions:
        say(one_line(f"  {'described in' if mention.about else 'mentioned in'} {places[mention.chunk_id]}"))


@verb()
@click.argument("name")
@click.argument("into")
def merge(session: Session, name: str, into: str) -> None:
    """Make NAME another name of INTO; `weft entity unmerge NAME` takes it back."""
    with session.open() as engine:
        _report(session, engine.entities.merge(name, into))


@verb()
@click.argument("name")
def unmerge(session: Session, name: str) -> None:
    """Take back that NAME is another name of something, whoever said so."""
    with session.open() as engine:
        _report(session, engine.entities.unmerge(name))


@verb()
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="At most so many pairs.")
@click.option("--merge", "is_merging", is_flag=True, help="Merge all that is listed.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def similar(session: Session, limit: int, is_merging: bool, yes: bool) -> None:
    """
    List pairs of entities that may be one, because their names are a slip apart, the likeliest first.

    They are guesses, and often wrong ones: nothing is merged without --merge, which asks first.
    """
    with session.open() as engine:
        total = engine.store.graph.count()[0]
        with CountBar("comparing names", total=total, unit="names", quiet=session.verbosity < 0) as bar:
            found = engine.entities.similar(limit=limit, on_step=bar.advance)
        if not session.as_json:
            _print_similar(found)
        if is_merging and found and not yes:
            question = f"merge {len(found):,} names, each into the second of its pair?"
            require_consent(question, done="merged", does="merges")
        merged = engine.entities.merge_similar(found) if is_merging else []
    undo = {pair.entity.id: f"weft entity unmerge {shlex.quote(name)}" for pair, name in merged}
    if session.as_json:
        print_json([{**_similar_to_dict(pair), "undo": undo.get(pair.entity.id)} for pair in found])
    elif session.verbosity >= 0:
        _say_merged(merged, undo)
        if not found:
            say("no two names are a slip apart", err=True)
        elif not is_merging:
            say("nothing is merged: `weft entity merge NAME INTO` merges one pair, --merge all of these", err=True)


@verb()
@click.argument("name")
@click.argument("other")
def alias(session: Session, name: str, other: str) -> None:
    """Give the entity NAME the other name OTHER."""
    with session.open() as engine:
        _report(session, engine.entities.alias(name, other))


@verb()
@click.argument("name")
@click.argument("to")
def rename(session: Session, name: str, to: str) -> None:
    """Change how the entity NAME is shown."""
    with session.open() as engine:
        _report(session, engine.entities.rename(name, to))


@verb()
@click.argument("name")
@click.option("--hops", type=click.IntRange(1, 3), default=1, show_default=True, help="How far.")
@click.option("--min-weight", type=click.FloatRange(1, 10), default=1.0, show_default=True, help="Weakest relation.")
def neighbours(session: Session, name: str, hops: int, min_weight: float) -> None:
    """List the entities around NAME, nearest and strongest first, over the 50 strongest relations of each."""
    with session.open() as engine:
        found = engine.entities.neighbours(name, hops=hops, min_weight=min_weight)
        last = [path[-1] for path in engine.entities.in_words([n.path for _, n in found])]
    readers = [readers_to_dict(step) for step in last]
    if session.as_json:
        rows = zip(found, readers, strict=True)
        print_json([{**entity_to_dict(e), "hops": n.hops, "weight": n.weight, **who} for (e, n), who in rows])
        return
    # a column for those who read the relations, where somebody else than the rules did
    heads = ("name", "type", "hops", "relation", "weight", *(("read by",) if any(readers) else ()))
    table = [
        (e.name, e.type, n.hops, step.type, f"{n.weight:g}", ", ".join(step.extractors))[: len(heads)]
        for (e, n), step in zip(found, last, strict=True)
    ]
    print_table(heads, table)


@verb()
@click.argument("source")
@click.argument("target")
@click.option("--max-hops", type=click.IntRange(1, 6), default=4, show_default=True, help="How far to look.")
def path(session: Session, source: str, target: str, max_hops: int) -> int:
    """Print the best path between two entities; exit code 3 if there is none."""
    with session.open() as engine:
        steps = engine.entities.path(source, target, max_hops=max_hops)
    if session.as_json:
        print_json(None if steps is None else [step_to_dict(step) for step in steps])
    else:
        say("no path" if steps is None else path_text(steps) or "the same entity")
    return 3 if steps is None else 0


def _print_similar(found: Sequence[Similar]) -> None:
    heads = ("name", "chunks", "into", "chunks", "why", "related to both")
    print_table(heads, [(p.entity.name, p.entity.chunks, p.into.name, p.into.chunks, p.why, p.shared) for p in found])


def _similar_to_dict(pair: Similar) -> dict[str, Any]:
    ends = {"entity": entity_to_dict(pair.entity), "into": entity_to_dict(pair.into)}
    return {**ends, "why": pair.why, "shared": pair.shared}


def _say_merged(merged: Sequence[tuple[Similar, str]], undo: Mapping[str, str]) -> None:
    for pair, _ in merged:
        say(one_line(f"merged {pair.entity.name} into {pair.into.name}; undo: {undo[pair.entity.id]}"), err=True)


def _report(session: Session, found: Entity) -> None:
    if session.as_json:
        print_json(entity_to_dict(found))
    elif session.verbosity >= 0:
        also = f", also {', '.join(found.aliases)}" if found.aliases else ""
        say(one_line(f"{found.name}{also}: {found.mentions} mentions in {found.chunks} chunks"), err=True)


for command in (list_entities, show, similar, merge, unmerge, alias, rename):
    entity.add_command(command)
