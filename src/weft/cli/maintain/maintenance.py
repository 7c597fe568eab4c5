"""Verbs that look after a store: stats, namespaces, check, repair, backup, compact."""

from __future__ import annotations

from pathlib import Path

import click

from weft.admin.calibrate import describe
from weft.cli.confirmation import require_consent
from weft.cli.options import Session, verb
from weft.cli.output import print_json, print_table, usage_line
from weft.cli.terminal import one_line, say
from weft.config import shown
from weft.context.serialise import census_to_dict, confidence_to_dict, stats_to_dict, usage_to_dict
from weft.engine.language_models import spent
from weft.errors import StoreCorrupt
from weft.records import Problem

TOP = 10
"""Entities that `weft stats` names."""
MAX_TYPES = 12


@verb()
def stats(session: Session) -> None:
    """Say what the namespace holds."""
    with session.open() as engine:
        found = stats_to_dict(engine.stats())
        remembered = engine.memory.stats()
        found["facts"] = remembered["facts"]
        found["recall_cache"] = {"entries": remembered["cached"]} | {n: remembered[n] for n in ("hits", "misses")}
        found |= census_to_dict(engine.store.graph.census(), engine.store.graph.top_entities(limit=TOP))
        found |= {"namespace": engine.store.namespace, "db": shown(engine.settings.store.db)}
        found["bytes"] = engine.database.size()
        found["confidence"] = confidence_to_dict(engine.store.calibration())
        confidence, _ = describe(engine.store.calibration(), chunks=found["chunks"])
        found["notes"] = list(engine.database.notes)
        runs, usage = spent(engine.store)
        found |= {"llm": {"runs": runs, **usage_to_dict(usage)}} if runs else {}
    if session.as_json:
        print_json(found)
        return
    for key, value in found.items():
        if key == "models":
            for model in value:
                state = "answers" if model["active"] else "being prepared (weft reembed)"
                say(f"model: {model['name']}, dimension {model['dimension']}, {state}")
        elif key == "confidence":
            say(f"confidence: {confidence}")
        elif key == "recall_cache":
            say(f"recall cache: {', '.join(f'{count:,} {name}' for name, count in value.items())}")
        elif key == "llm":
            say(f"language model: {usage_line(usage)}, in {runs:,} runs")
        elif key in ("entity_types", "relation_types"):
            _print_types(key.replace("_", " "), value)
        elif key == "top_entities":
            named = (f"{item['name']} ({item['type']})" if item["type"] else item["name"] for item in value)
            say(one_line(f"top entities: {', '.join(named) or 'none'}"))
        elif key != "notes":
            shown_key = key.replace("_", " ")
            say(f"{shown_key}: {value:,}" if isinstance(value, int) else f"{shown_key}: {value}")


def _print_types(title: str, counts: dict[str, int]) -> None:
    """Print the most frequent types on one line."""
    often = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    more = f" and {len(often) - MAX_TYPES:,} more types" if len(often) > MAX_TYPES else ""
    listed = ", ".join(f"{type} {count:,}" for type, count in often[:MAX_TYPES])
    say(one_line(f"{title}: {listed or 'none'}{more}"))


@verb()
@click.option("--drop", metavar="NAME", help="Delete a namespace with everything in it.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def namespaces(session: Session, drop: str | None, yes: bool) -> None:
    """List the namespaces of the store, or drop one."""
    with session.open() as engine:
        if drop is not None:
            if not yes:
                require_consent(f"delete everything in namespace {drop!r}?")
            if not engine.database.drop(drop):
                raise click.ClickException(f"there is no namespace {drop!r}")
            return
        names = engine.database.namespaces()
        rows = [(name, engine.database.store(name).stats()) for name in names]
    if session.as_json:
        print_json([{"namespace": name, **stats_to_dict(found)} for name, found in rows])
    else:
        print_table(("namespace", "documents", "chunks"), [(n, s.documents, s.chunks) for n, s in rows])


@verb()
@click.option(
    "--deep", is_flag=True, help="Compare what read indexes beside the file find with what a scan finds, too."
)
def check(session: Session, deep: bool) -> int:
    """Look for contradictions in the store; exit code 1 if there are any."""
    with session.open() as engine:
        problems = engine.database.check()
        if deep and not any(problem.repairable for problem in problems):  # else there is nothing to compare with
            problems += engine.database.compare()
    if session.as_json:
        found = [{"where": p.where, "what": p.what, "repairable": p.repairable, "command": p.command} for p in problems]
        print_json(found)
    for problem in problems if not session.as_json else ():
        say(_said(problem))
    if not problems and not session.as_json:
        say("sound")
    return 1 if problems else 0


@verb()
def repair(session: Session) -> int:
    """Derive again what can be derived, then check."""
    try:
        with session.open() as engine:
            done = engine.database.repair()
            problems = engine.database.check()
    except StoreCorrupt as error:  # its hint is this very command
        hint = "restore a backup, or index the documents into a new file"
        raise StoreCorrupt(str(error), hint=hint) from error
    if session.as_json:
        print_json(
            {"done": done, "problems": [{"where": p.where, "what": p.what, "command": p.command} for p in problems]}
        )
    else:
        for line in [*done, *(f"left: {_said(problem)}" for problem in problems)]:
            say(line)
        if not problems:
            say("sound")
    return 1 if problems else 0


def _said(problem: Problem) -> str:
    """Return a problem with the command that mends it, if there is one."""
    command = "weft repair" if problem.repairable else problem.command
    return f"{problem.where}: {problem.what}" + (f" ({command})" if command else "")


@verb()
@click.argument("target", type=click.Path(path_type=Path, dir_okay=False))
def backup(session: Session, target: Path) -> None:
    """
    Write a consistent copy of the store to TARGET while others read and write.

    It is for files: a server is backed up by its own tools, or namespace by namespace with `weft copy --to FILE`.
    """
    with session.open() as engine:
        engine.database.backup(target)
    if session.verbosity >= 0:
        say(f"wrote {target} ({target.stat().st_size:,} bytes)", err=True)


@verb()
def compact(session: Session) -> None:
    """Give free space back; in a file no trace of deleted text is left."""
    with session.open() as engine:
        engine.database.compact()
