"""Commands `weft entity …`, `weft neighbours`, `weft path`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from weft.cli.confirmation import require_consent
from weft.cli.errors import NO_MATCH
from weft.cli.options import Session, common_options, verb
from weft.cli.output import print_json, print_table
from weft.cli.progress import CountBar
from weft.cli.terminal import one_line, say
from weft.text.plurals import counted

if TYPE_CHECKING:
    from weft.engine.entities import EntityView
    from weft.engine.similar_names import Similar
    from weft.records import Entity


@click.group()
@common_options
def entity() -> None:
    """List, show, merge, rename and delete entities."""


@verb("list")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="Maximum number of entities.")
def list_entities(session: Session, limit: int) -> None:
    """List entities by number of chunks, then those known only from facts."""
    from weft.context.serialise import entity_to_dict

    with session.open() as engine:
        found = engine.entities.top(limit=limit)
    if session.as_json:
        print_json([entity_to_dict(item) for item in found])
    else:
        print_table(("name", "type", "chunks", "mentions"), [(e.name, e.type, e.chunks, e.mentions) for e in found])


@verb()
@click.argument("name")
def show(session: Session, name: str) -> None:
    """Show an entity: names, description, relations and mentions."""
    with session.open() as engine:
        view = engine.entities.show(name)
        citations = {piece.chunk_id: engine.cite(piece.chunk_id) for piece in view.mentions}
    if session.as_json:
        print_json(_view_to_dict(view, citations))
    else:
        _print_view(view, citations)


@verb()
@click.argument("name")
@click.argument("into")
def merge(session: Session, name: str, into: str) -> None:
    """Merge the entity NAME into INTO. `weft entity unmerge NAME` reverts it."""
    with session.open() as engine:
        _report(session, engine.entities.merge(name, into))


@verb()
@click.argument("name")
def unmerge(session: Session, name: str) -> None:
    """Restore the alias NAME as a separate entity."""
    with session.open() as engine:
        _report(session, engine.entities.unmerge(name))


@verb()
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="Maximum number of pairs.")
@click.option("--merge", "is_merging", is_flag=True, help="Merge all listed pairs.")
@click.option("-y", "--yes", is_flag=True, help="Merge without confirmation.")
def similar(session: Session, limit: int, is_merging: bool, yes: bool) -> None:
    """
    List pairs of entities whose names differ by a typo, likeliest first.

    The pairs are guesses and often wrong. Only --merge merges them, after confirmation.
    """
    with session.open() as engine:
        total = engine.store.graph.count()[0]
        with CountBar("comparing names", total=total, unit="names", quiet=session.verbosity < 0) as bar:
            found = engine.entities.similar(limit=limit, on_step=bar.advance)
        if not session.as_json:
            _print_similar(found)
        if is_merging and found and not yes:
            question = f"merge {len(found):,} pairs, the first name into the second?"
            require_consent(question, done="merged", does="merges")
        merged = engine.entities.merge_similar(found) if is_merging else []
    undo = {pair.entity.id: f"weft entity unmerge {shlex.quote(name)}" for pair, name in merged}
    if session.as_json:
        print_json([{**_similar_to_dict(pair), "undo": undo.get(pair.entity.id)} for pair in found])
    elif session.verbosity >= 0:
        _print_merged(merged, undo)
        if not found:
            say("no names differ by a typo", err=True)
        elif not is_merging:
            say("nothing was merged: `weft entity merge NAME INTO` merges a pair, --merge all pairs", err=True)


@verb()
@click.argument("name")
@click.argument("other")
def alias(session: Session, name: str, other: str) -> None:
    """Add the alias OTHER to the entity NAME."""
    with session.open() as engine:
        _report(session, engine.entities.alias(name, other))


@verb()
@click.argument("name")
@click.argument("to")
def rename(session: Session, name: str, to: str) -> None:
    """Change the displayed name of the entity NAME."""
    with session.open() as engine:
        _report(session, engine.entities.rename(name, to))


@verb()
@click.argument("name")
def delete(session: Session, name: str) -> None:
    """Delete the entity NAME with its relations. Documents are kept."""
    from weft.context.serialise import entity_to_dict

    with session.open() as engine:
        found = engine.entities.delete(name)
    if session.as_json:
        print_json(entity_to_dict(found))
    elif session.verbosity >= 0:
        say(one_line(f"deleted {found.name}; undo: weft entity restore {shlex.quote(found.key)}"), err=True)


@verb()
@click.argument("name")
def restore(session: Session, name: str) -> None:
    """Restore the deleted entity NAME."""
    with session.open() as engine:
        _report(session, engine.entities.restore(name))


@verb(takes_several=True)
@click.argument("name")
@click.option("--hops", type=click.IntRange(1, 3), default=1, show_default=True, help="Maximum distance in hops.")
@click.option(
    "--min-weight", type=click.FloatRange(1, 10), default=1.0, show_default=True, help="Minimum relation weight."
)
def neighbours(session: Session, name: str, hops: int, min_weight: float) -> None:
    """
    List the entities related to an entity.

    Sorted by distance, then weight. Follows the 50 strongest relations of each entity.
    """
    from weft.context.serialise import entity_to_dict, readers_to_dict

    with session.open() as engine:
        found = engine.entities.neighbours(name, hops=hops, min_weight=min_weight)
        last = [path[-1] for path in engine.entities.in_words([n.path for _, n in found])]
    readers = [readers_to_dict(step) for step in last]
    if session.as_json:
        rows = zip(found, readers, strict=True)
        print_json([{**entity_to_dict(e), "hops": n.hops, "weight": n.weight, **who} for (e, n), who in rows])
        return
    # the column of extractors appears only if one other than the rules read a relation
    heads = ("name", "type", "hops", "relation", "weight", *(("read by",) if any(readers) else ()))
    table = [
        (e.name, e.type, n.hops, step.type, f"{n.weight:g}", ", ".join(step.extractors))[: len(heads)]
        for (e, n), step in zip(found, last, strict=True)
    ]
    print_table(heads, table)


@verb(takes_several=True)
@click.argument("source")
@click.argument("target")
@click.option(
    "--max-hops", type=click.IntRange(1, 6), default=4, show_default=True, help="Maximum path length in hops."
)
def path(session: Session, source: str, target: str, max_hops: int) -> int:
    """Print the best path between two entities. Exits with 3 if there is none."""
    from weft.cli.results import path_text
    from weft.context.serialise import step_to_dict

    with session.open() as engine:
        steps = engine.entities.path(source, target, max_hops=max_hops)
    if session.as_json:
        print_json(None if steps is None else [step_to_dict(step) for step in steps])
    else:
        say("no path" if steps is None else path_text(steps) or "both names are the same entity")
    return NO_MATCH if steps is None else 0


def _view_to_dict(view: EntityView, citations: Mapping[str, str]) -> dict[str, Any]:
    from weft.context.serialise import entity_to_dict, step_to_dict

    return {
        **entity_to_dict(view.entity),
        "alias_reasons": dict(zip(view.entity.aliases, view.entity.reasons, strict=True)),
        "extractors": list(view.extractors),
        "relations": [{**step_to_dict(step), "extractors": list(step.extractors)} for step in view.relations],
        "mentions": [{"citation": citations[m.chunk_id], "count": m.count, "about": m.about} for m in view.mentions],
    }


def _print_view(view: EntityView, citations: Mapping[str, str]) -> None:
    kind = f" ({view.entity.type})" if view.entity.type else ""
    say(one_line(f"{view.entity.name}{kind}  {view.entity.id}"))
    for other, reason in zip(view.entity.aliases, view.entity.reasons, strict=True):
        say(one_line(f"also: {other}  ({reason}; undo: weft entity unmerge {shlex.quote(other)})"))
    if view.entity.description:
        say(one_line(view.entity.description))
    say(f"mentioned {counted(view.entity.mentions, 'time')} in {counted(view.entity.chunks, 'chunk')}")
    is_mixed = any(set(found) - {"rules"} for found in (view.extractors, *(step.extractors for step in view.relations)))
    if is_mixed:
        say(f"read by: {', '.join(view.extractors)}")
    for step in view.relations:
        readers = f"  ({', '.join(step.extractors)})" if is_mixed and step.extractors else ""
        say(one_line(f"  —{step.type}({step.weight:g})→ {step.target}{readers}"))
    for mention in view.mentions:
        say(one_line(f"  {'described in' if mention.about else 'mentioned in'} {citations[mention.chunk_id]}"))


def _print_similar(found: Sequence[Similar]) -> None:
    heads = ("name", "chunks", "into", "chunks", "why", "related to both")
    print_table(heads, [(p.entity.name, p.entity.chunks, p.into.name, p.into.chunks, p.why, p.shared) for p in found])


def _similar_to_dict(pair: Similar) -> dict[str, Any]:
    from weft.context.serialise import entity_to_dict

    ends = {"entity": entity_to_dict(pair.entity), "into": entity_to_dict(pair.into)}
    return {**ends, "why": pair.why, "shared": pair.shared}


def _print_merged(merged: Sequence[tuple[Similar, str]], undo: Mapping[str, str]) -> None:
    for pair, _ in merged:
        say(one_line(f"merged {pair.entity.name} into {pair.into.name}; undo: {undo[pair.entity.id]}"), err=True)


def _report(session: Session, found: Entity) -> None:
    from weft.context.serialise import entity_to_dict

    if session.as_json:
        print_json(entity_to_dict(found))
    elif session.verbosity >= 0:
        also = f", also {', '.join(found.aliases)}" if found.aliases else ""
        mentions = f"{counted(found.mentions, 'mention')} in {counted(found.chunks, 'chunk')}"
        say(one_line(f"{found.name}{also}: {mentions}"), err=True)


for command in (list_entities, show, similar, merge, unmerge, alias, rename, delete, restore):
    entity.add_command(command)
