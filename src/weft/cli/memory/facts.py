"""Commands `weft fact …`, `weft recall`, `weft audit`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli.errors import NO_MATCH
from weft.cli.memory.fact_files import export_file, import_file
from weft.cli.options import Session, common_options, verb
from weft.cli.output import print_json, print_table
from weft.cli.terminal import one_line, say
from weft.text.plurals import counted

if TYPE_CHECKING:
    from weft.records import Fact, GivenFact, Recall, Remembered


def to_time(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """Return the time of an option. Raise `click.BadParameter` if the text is not a time."""
    if not value:
        return None
    from weft.exchange.fact_objects import read_time

    try:
        return read_time(value)
    except ValueError:
        raise click.BadParameter(
            f"invalid time {value!r}: use a form such as 2026-01-31 or 2026-01-31T12:00:00Z"
        ) from None


@click.group()
@common_options
def fact() -> None:
    """Add, confirm, reject, expire, forget and list facts."""


@verb()
@click.argument("subject", required=False)
@click.argument("predicate", required=False)
@click.argument("value", required=False)
@click.option("--object", "object_name", default="", metavar="NAME", help="Entity as the object, instead of VALUE.")
@click.option("--confidence", type=click.FloatRange(0, 1), default=1.0, show_default=True, help="Confidence.")
@click.option(
    "--source",
    default="user_edit",
    show_default=True,
    help="Source of the fact: user_edit, file, system, conversation …",
)
@click.option("--valid-from", metavar="TIME", callback=to_time, help="Start of validity (default: now).")
@click.option("--valid-to", metavar="TIME", callback=to_time, help="End of validity.")
@click.option("--note", default="", help="Free text stored with the fact.")
@click.option("--description", default="", help="Short description of SUBJECT.")
@click.option("--supersedes", default="", metavar="ID", help="Id of the fact to supersede when this one is confirmed.")
@click.option("--from", "file", type=click.File("r", encoding="utf-8"), help="JSON Lines file of facts; '-' for stdin.")
def add(
    session: Session,
    subject: str | None,
    predicate: str | None,
    value: str | None,
    object_name: str,
    file: Any,
    **rest: Any,
) -> int:
    """
    Add a fact: SUBJECT PREDICATE VALUE, or SUBJECT PREDICATE --object NAME.

    A fact is staged until it is confirmed, by you or by a rule in the settings. Adding it again strengthens it. Empty
    facts, boilerplate and likely secrets are refused; the exit code is then 1.

    Each line of --from is an object with subject, predicate, and object or value. Optional keys: confidence, source,
    valid_from, valid_to, note, description, supersedes.
    """
    if file is not None:
        given = _read_file(file)
    elif not subject or not predicate or not (value or object_name):
        raise click.UsageError("the fact is incomplete: pass SUBJECT PREDICATE VALUE, or --object NAME, or --from FILE")
    else:
        from weft.records import GivenFact

        given = [GivenFact(subject=subject, predicate=predicate, value=value or "", object=object_name, **rest)]
    with session.open(must_exist=False) as engine:
        done = engine.memory.add_many(given)
    _report(session, done, is_one=file is None)
    return int(file is None and done[0].outcome == "refused")


@verb()
@click.argument("id")
def confirm(session: Session, id: str) -> None:
    """Confirm the fact ID. It supersedes the fact that --supersedes names."""
    with session.open() as engine:
        _print_fact(session, engine.memory.confirm(id))


@verb()
@click.argument("id")
@click.option("--reason", default="", help="Reason, stored in the history.")
def reject(session: Session, id: str, reason: str) -> None:
    """Reject the fact ID. It is never recalled; only you can add it again."""
    with session.open() as engine:
        _print_fact(session, engine.memory.reject(id, reason=reason))


@verb()
@click.argument("id")
@click.option("--at", metavar="TIME", callback=to_time, help="End of validity (default: now).")
def expire(session: Session, id: str, at: datetime | None) -> None:
    """Set the end of validity of the fact ID."""
    with session.open() as engine:
        _print_fact(session, engine.memory.expire(id, at=at))


@verb()
@click.argument("ids", nargs=-1, metavar="[ID...]")
@click.option(
    "--entity", "entities", multiple=True, metavar="NAME", help="Entity to remove with all its facts (repeatable)."
)
def forget(session: Session, ids: tuple[str, ...], entities: tuple[str, ...]) -> None:
    """Remove facts with their history. `weft compact` then erases them from the file."""
    if not ids and not entities:
        raise click.UsageError("the fact is missing: pass an ID, or --entity NAME")
    with session.open() as engine:
        count = engine.memory.forget(*ids, entities=entities)
    if session.as_json:
        print_json({"forgotten": count})
    elif session.verbosity >= 0:
        say(f"forgot {counted(count, 'fact')}", err=True)


@verb()
@click.argument("id")
def history(session: Session, id: str) -> None:
    """Print the history of the fact ID, and the documents that state it."""
    from weft.context.serialise import event_to_dict

    with session.open() as engine:
        events, sources = engine.memory.history(id), engine.memory.sources([id])[id]
    if session.as_json:
        print_json([event_to_dict(event) for event in events])
    else:
        rows = [(event.at.isoformat(), event.action, event.detail, event.other) for event in events]
        print_table(("at", "action", "detail", "other"), rows)
        if sources:
            print_table(("stated in",), [(source,) for source in sources])


@verb("list")
@click.argument("subject", default="")
def list_facts(session: Session, subject: str) -> None:
    """List the facts of SUBJECT, or all facts, in order of id."""
    from weft.context.serialise import fact_to_dict

    with session.open() as engine:
        found = list(engine.memory.list(subject))
        sources = engine.memory.sources([item.id for item in found])
    if session.as_json:
        print_json([{**fact_to_dict(item), "stated_in": sources[item.id]} for item in found])
    else:
        rows = [(f.id, f.status, f.subject_name, f.predicate, f.value, f"{f.confidence:g}", f.source) for f in found]
        print_table(("id", "status", "subject", "predicate", "value", "confidence", "source"), rows)


@verb(takes_several=True)
@click.argument("text")
@click.option("--as-of", metavar="TIME", callback=to_time, help="Facts valid at this time (default: now).")
@click.option("--budget", type=click.IntRange(1), help="Maximum tokens of the output (default: context.budget).")
@click.option("--explain", is_flag=True, help="Print start entities and the factors of every score.")
def recall(session: Session, text: str, as_of: datetime | None, budget: int | None, explain: bool) -> int:
    """
    Print the facts relevant to a text. Exits with 3 if there are none.

    Facts about the project of the working folder count as facts about the user do.
    """
    from weft.cli.results import warn_budget
    from weft.context.serialise import recall_to_dict
    from weft.extract.user_statements import project_subject
    from weft.load.conversations.projects import find_project

    project = find_project(session.folder or str(Path.cwd()))
    with session.open() as engine:
        found = engine.memory.recall(text, as_of=as_of, about=[project_subject(project)])
        context = engine.memory.context(found, budget=budget)
    if session.as_json:
        print_json(recall_to_dict(found, context))
    else:
        if found.degraded:
            say(f"degraded: {found.degraded}", err=True)
        say(context.text if found.facts else "no match", nl=not found.facts)
        if found.facts and not context.text:
            warn_budget(context)
        if explain:
            explain_recall(found)
    return NO_MATCH if found.status == "no_match" else 0


@verb()
def audit(session: Session) -> None:
    """
    List facts that need review, and documents with secrets.

    Reasons: secret, boilerplate, contradiction, never confirmed. `weft forget --secrets` erases the secrets.
    """
    from weft.admin.stored_secrets import iter_secret_documents
    from weft.context.serialise import fact_to_dict

    with session.open() as engine:
        found = engine.memory.audit()
        documents = [
            (item, f"it contains a secret ({', '.join(item.kinds)})") for item in iter_secret_documents(engine)
        ]
    if session.as_json:
        facts = [{**fact_to_dict(item.fact), "reason": item.reason} for item in found]
        print_json([*facts, *({"id": item.id, "document": item.name, "reason": reason} for item, reason in documents)])
        return
    rows = [(i.fact.id, i.fact.subject_name, i.fact.predicate, i.reason) for i in found]
    print_table(("id", "subject", "predicate", "reason"), rows)
    if documents:
        print_table(("id", "document", "reason"), [(item.id, item.name, reason) for item, reason in documents])


def _read_file(file: Any) -> list[GivenFact]:
    from weft.errors import InputError

    try:
        return list(_read_lines(file))
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file.name} is not UTF-8: {error}; nothing was written",
            hint="convert the file to UTF-8, for example with iconv",
        ) from error


def _read_lines(file: Any) -> Iterator[GivenFact]:
    """Yield the facts of JSON Lines. Raise `InputError` with the line number for an invalid line."""
    from weft.errors import InputError
    from weft.exchange.fact_objects import read_statement
    from weft.exchange.json_values import parse_json

    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        try:
            yield read_statement(parse_json(line))
        except ValueError as error:
            raise InputError(
                f"line {number}: {error}; nothing was written",
                hint="run `weft fact add --help` to list the keys of a line",
            ) from error


def _report(session: Session, done: list[Remembered], *, is_one: bool) -> None:
    from weft.context.serialise import remembered_to_dict

    if session.as_json:
        shown = [remembered_to_dict(item) for item in done]
        print_json(shown[0] if is_one else shown)
        return
    for item in done:
        if item.reason:
            say(f"refused: {item.reason}", err=True)
        for other in item.contradicts:
            say(f"contradicts {other.id}: {_statement(other)}", err=True)
        if is_one and item.fact:
            say(f"{item.fact.id}  {item.outcome}, {item.fact.status}")
    if not is_one and session.verbosity >= 0:
        counts = {outcome: sum(i.outcome == outcome for i in done) for outcome in ("added", "strengthened", "known")}
        counted = ", ".join(f"{count:,} {outcome}" for outcome, count in counts.items())
        say(f"{counted}, {sum(i.outcome == 'refused' for i in done):,} refused", err=True)


def _print_fact(session: Session, found: Fact) -> None:
    from weft.context.serialise import fact_to_dict

    if session.as_json:
        print_json(fact_to_dict(found))
    elif session.verbosity >= 0:
        until = f", until {found.valid_to.isoformat()}" if found.valid_to else ""
        say(f"{found.id}  {found.status}{until}: {_statement(found)}", err=True)


def _statement(found: Fact) -> str:
    return one_line(f"{found.subject_name} {found.predicate} {found.value}")


def explain_recall(found: Recall) -> None:
    """Print the start entities of a recall and the factors of every score."""
    say("")
    for anchor in found.anchors:
        say(one_line(f"start: {anchor.entity.name}, {anchor.how}"))
    for piece in found.facts:
        product = " · ".join(f"{name} {value:.4g}" for name, value in piece.factors.items())
        where = f"hop {piece.hop}, match {piece.match:g}, {piece.fact.status}, {piece.fact.id}"
        path = "".join(f"{_statement(fact)} → " for fact in piece.path)
        say(f"{piece.score:.4f} = {product}  ({where}) {path}{_statement(piece.fact)}")


for command in (add, confirm, reject, expire, forget, history, list_facts, import_file, export_file):
    fact.add_command(command)
