"""Store maintenance: `weft stats`, `namespaces`, `check`, `repair`, `backup`, `compact`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli.confirmation import require_consent
from weft.cli.options import Session, verb
from weft.cli.output import print_json, print_table
from weft.cli.terminal import one_line, say
from weft.text.plurals import counted

if TYPE_CHECKING:
    from weft.records import Problem, StoreStats
    from weft.store.base import Store

MAX_TOP_ENTITIES = 10
"""Maximum number of entities printed by `weft stats`."""
MAX_TYPES = 12
"""Maximum number of entity types or relation types printed by `weft stats`."""


@verb()
def stats(session: Session) -> None:
    """Print statistics of the namespace."""
    from weft.admin.calibration_state import describe
    from weft.cli.receipts import usage_line
    from weft.config import shown
    from weft.context.serialise import census_to_dict, confidence_to_dict, stats_to_dict, usage_to_dict
    from weft.records import Usage

    with session.open_database() as (settings, database):
        store = database.store(settings.store.namespace)
        found = stats_to_dict(store.stats())
        found["facts"], _ = store.facts.count()
        found |= census_to_dict(store.graph.census(), store.graph.top_entities(limit=MAX_TOP_ENTITIES))
        found |= {"namespace": store.namespace, "db": shown(settings.store.db)}
        found["broken_links"] = store.graph.count_broken_links()
        found["bytes"] = database.size()
        found["confidence"] = confidence_to_dict(store.calibration())
        lines = {"confidence": describe(store.calibration(), chunks=found["chunks"])[0]}
        found["notes"] = list(database.notes)
        if runs := store.spending.runs():
            usage = sum((run.usage for run in runs), Usage())
            found["llm"] = {"runs": len(runs), **usage_to_dict(usage)}
            lines["llm"] = f"{usage_line(usage)}, in {counted(len(runs), 'run')}"
    if session.as_json:
        print_json(found)
    else:
        _print_stats(found, lines)


def _print_stats(found: dict[str, Any], lines: dict[str, str]) -> None:
    """Print one line per statistic; `lines` has the text for values that are not printed plainly."""
    for key, value in found.items():
        if key == "models":
            for model in value:
                state = "active" if model["active"] else "in preparation (weft reembed)"
                say(f"model: {model['name']}, dimension {model['dimension']}, {state}")
        elif key == "confidence":
            say(f"confidence: {lines[key]}")
        elif key == "llm":
            say(f"language model: {lines[key]}")
        elif key in ("entity_types", "relation_types"):
            about = " (estimated)" if found["types_are_estimated"] else ""
            _print_types(key.replace("_", " ") + about, value)
        elif key == "top_entities":
            named = (f"{item['name']} ({item['type']})" if item["type"] else item["name"] for item in value)
            say(one_line(f"top entities: {', '.join(named) or 'none'}"))
        elif key not in ("notes", "types_are_estimated"):
            label = key.replace("_", " ")
            say(f"{label}: {value:,}" if isinstance(value, int) else f"{label}: {value}")


def _print_types(title: str, counts: dict[str, int]) -> None:
    """Print the most frequent types on one line."""
    often = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    more = f" and {counted(len(often) - MAX_TYPES, 'more type')}" if len(often) > MAX_TYPES else ""
    listed = ", ".join(f"{type} {count:,}" for type, count in often[:MAX_TYPES])
    say(one_line(f"{title}: {listed or 'none'}{more}"))


@verb()
@click.option("--drop", metavar="NAME", help="Delete a namespace and everything in it.")
@click.option("-y", "--yes", is_flag=True, help="Delete without confirmation.")
def namespaces(session: Session, drop: str | None, yes: bool) -> None:
    """List and drop namespaces."""
    from weft.context.serialise import stats_to_dict

    with session.open(notes_namespace=False) as engine:
        if drop is not None:
            if not yes:
                require_consent(f"delete everything in namespace {drop!r}?")
            if not engine.database.drop(drop):
                raise click.ClickException(f"unknown namespace {drop!r}: run `weft namespaces` to list all namespaces")
            return
        rows = [(name, _reachable_stats(engine.database.store(name))) for name in engine.database.namespaces()]
    if session.as_json:
        found = [(name, {"error": stats} if isinstance(stats, str) else stats_to_dict(stats)) for name, stats in rows]
        print_json([{"namespace": name, **fields} for name, fields in found])
    else:
        counts = [(stats, "") if isinstance(stats, str) else (stats.documents, stats.chunks) for _, stats in rows]
        lines = [(name, *cells) for (name, _), cells in zip(rows, counts, strict=True)]
        print_table(("namespace", "documents", "chunks"), lines)


def _reachable_stats(store: Store) -> StoreStats | str:
    """Return the statistics of a namespace, or the error if its node of a cluster does not answer."""
    from weft.errors import StoreUnavailable

    try:
        return store.stats()
    except StoreUnavailable as error:
        return str(error)


@verb()
@click.option("--deep", is_flag=True, help="Also compare the read indexes with a full scan.")
@click.option("--links", is_flag=True, help="List links of the namespace that lead to no document instead.")
def check(session: Session, deep: bool, links: bool) -> int:
    """Check the store for inconsistencies. Exits with 1 if there are any."""
    if links:
        return _check_links(session)
    with session.open(notes_namespace=False) as engine:
        problems = engine.database.check()
        if deep and not any(problem.repairable for problem in problems):  # a scan of damaged data proves nothing
            problems += engine.database.compare()
    if session.as_json:
        print_json(
            [{"where": p.where, "what": p.what, "repairable": p.repairable, "command": p.command} for p in problems]
        )
    else:
        _print_problems(problems)
    return 1 if problems else 0


def _check_links(session: Session) -> int:
    """Print the links that lead to no document; return 1 if there are any."""
    with session.open() as engine:
        broken = engine.store.graph.broken_links()
    if session.as_json:
        print_json([{"source": link.source, "line": link.line, "target": link.target} for link in broken])
    else:
        for link in broken:
            say(one_line(f"{link.source}:{link.line}: {link.target}"))
        if not broken:
            say("no broken links found")
    return 1 if broken else 0


@verb()
def repair(session: Session) -> int:
    """Rebuild derived data, then check the store. Exits with 1 if problems remain."""
    from weft.errors import StoreCorrupt

    try:
        with session.open(notes_namespace=False) as engine:
            done = engine.database.repair()
            problems = engine.database.check()
    except StoreCorrupt as error:  # the hint of the error is `weft repair`, which has just failed
        hint = "restore a backup, or index the documents into a new file"
        raise StoreCorrupt(str(error), hint=hint) from error
    if session.as_json:
        print_json(
            {"done": done, "problems": [{"where": p.where, "what": p.what, "command": p.command} for p in problems]}
        )
    else:
        for line in done:
            say(line)
        _print_problems(problems, label="remaining: ")
    return 1 if problems else 0


def _print_problems(problems: list[Problem], *, label: str = "") -> None:
    """Print each problem with the command that fixes it, if there is one."""
    for problem in problems:
        command = "weft repair" if problem.repairable else problem.command
        say(f"{label}{problem.where}: {problem.what}" + (f" ({command})" if command else ""))
    if not problems:
        say("no problems found")


@verb()
@click.argument("target", type=click.Path(path_type=Path, dir_okay=False))
def backup(session: Session, target: Path) -> None:
    """
    Write a consistent copy of the store file.

    Others may read and write meanwhile. Back up a server with its own tools, or a namespace with
    `weft copy --to FILE`.
    """
    with session.open(notes_namespace=False) as engine:
        engine.database.backup(target)
    if session.verbosity >= 0:
        say(f"wrote {target} ({target.stat().st_size:,} bytes)", err=True)


@verb()
def compact(session: Session) -> None:
    """Reclaim free space and erase deleted text."""
    with session.open(notes_namespace=False) as engine:
        engine.database.compact()
