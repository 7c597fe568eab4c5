"""Human-readable results of a query: status, evidence, explanation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from weft.cli.output import console, escape
from weft.cli.terminal import one_line, say, visible
from weft.context.serialise import choice_to_dict
from weft.records import Choice, Context, Evidence, PathStep, RelationAnswer, Result
from weft.search.channel_table import explain_channel
from weft.text.analyzer import query_terms, terms
from weft.text.plurals import counted

SNIPPET_CHARACTERS = 420
"""Maximum number of characters of a chunk printed by `weft query`; --full prints all."""


def print_result(result: Result, *, explain: bool, full: bool) -> None:
    """Print the status of a result, its evidence and the connected passages."""
    out = console()
    print_status(out, result)
    wanted = set(query_terms(result.query))
    if result.relations is not None:
        _print_relations(out, result.relations)
    for rank, piece in enumerate(result.evidence, start=1):
        _print_evidence(out, rank, piece, wanted=wanted, explain=explain, full=full)
    if result.connected:
        out.print("\n[bold]Connected[/]")
    for rank, piece in enumerate(result.connected, start=1):
        _print_evidence(out, rank, piece, wanted=wanted, explain=explain, full=full, is_connected=True)
    if explain:
        _print_explanation(out, result)


def print_status(out: Console, result: Result) -> None:
    """Print the status of a result with its notes, without the evidence."""
    linked = f" and {len(result.connected)} connected" if result.connected else ""
    head = f"{counted(len(result.evidence), 'result')}{linked} · {result.method} · confidence {result.confidence:.2f}"
    style = {"ok": "green", "degraded": "yellow", "low_confidence": "yellow"}.get(result.status, "red")
    is_answered = result.evidence or result.status != "no_match"
    out.print(f"[{style}]{result.status.replace('_', ' ')}[/] · {head}" if is_answered else "[red]no match[/]")
    if result.degraded:
        out.print(f"[yellow]degraded:[/] {escape(result.degraded)}")
    for note in result.notes:
        out.print(f"[dim]note: {escape(note)}[/]")
    if result.rejected:
        out.print(f"[dim]closest, not shown: {escape(result.rejected.citation)}[/]")


def warn_budget(context: Context) -> None:
    """Print to stderr that no result fits into the budget."""
    say(f"nothing fits into the budget, {context.omitted:,} omitted: raise --budget", err=True)


def explain_evidence(piece: Evidence, *, is_connected: bool = False) -> str:
    """Return one line with the channels that found a chunk, their ranks and scores."""
    parts = []
    for channel, hit in sorted(piece.channels.items()):
        label, measure = explain_channel(channel)
        parts.append(f"{label} #{hit.rank} ({measure} {hit.score:.3f})")
    if is_connected and piece.graph is not None:
        parts.insert(0, f"neighbour of {piece.graph.start}")
    parts += [f"rare exact name match: {name}" for name in piece.names]
    if piece.rerank is not None:
        score = "not judged" if piece.rerank.score is None else f"reranker {piece.rerank.score:.3f}"
        parts.append(f"re-ranked from #{piece.rerank.former_rank} ({score})")
    return "why: " + ", ".join(parts) if parts else "why: unknown"


def path_text(steps: Sequence[PathStep]) -> str:
    """Return a path in one line: `Auth Service —depends_on(8)→ OAuth Provider —mentioned in→ docs/oauth.md:12-30`."""
    if not steps:
        return ""
    parts = [one_line(steps[0].source)]
    for step in steps:
        weight = f"({step.weight:g})" if step.weight else ""
        parts.append(f"—{step.type}{weight}→ {one_line(step.target)}")
    return " ".join(parts)


def choice_text(choice: Choice) -> str:
    """Return a rule and its features in one line: `citation (language: en; citation: citing; degree: 3)`."""
    parts = []
    for name, value in choice_to_dict(choice)["features"].items():
        if value:
            shown = ", ".join(value) if isinstance(value, list) else "yes" if value is True else str(value)
            parts.append(f"{name}: {shown}")
    return f"{choice.rule} ({'; '.join(parts)})"


def shorten(text: str, *, wanted: set[str], size: int = SNIPPET_CHARACTERS) -> str:
    """Return the part of a chunk that contains the most query terms, cut at word boundaries."""
    if len(text) <= size:
        return text
    starts = [0, *(match.end() for match in re.finditer(r"[.!?。！？]\s*|\n+", text))]

    def count_wanted(start: int) -> int:
        return len(wanted & set(terms(text[start : start + size])))

    start = max(starts, key=lambda s: (count_wanted(s), -s))
    cut = text[start : start + size]
    if start + size < len(text):
        cut = (cut[: cut.rindex(" ")] if " " in cut[size // 2 :] else cut) + " …"
    return ("… " if start else "") + cut.strip()


def mark(text: str, wanted: set[str]) -> Text:
    """Return the text with words in bold that share a term with the question. Markup in it stays text."""
    marked = Text(visible(text))
    for match in re.finditer(r"[^\W_]+(?:[-'’_.][^\W_]+)*", marked.plain):
        word = match.group()
        is_content = len(word) > 3 or not word.islower() or not word.isascii()  # not "the", "who", "is"
        if is_content and wanted & set(terms(word)):
            marked.stylize("bold", *match.span())
    return marked


def _print_relations(out: Console, answer: RelationAnswer) -> None:
    """Print the related things, each with its relation, its citation and the sentence that states it."""
    if answer.items:
        first = f"{answer.offset + 1}-{answer.offset + len(answer.items)}" if answer.offset else len(answer.items)
        out.print(f"\n[bold]{first} of {answer.total:,}[/]  {escape(' and '.join(answer.names))}")
    for item in answer.items:
        path = path_text(item.path) if len(item.path) > 1 else ""
        relation = "" if path else item.relation.replace("_", " ")
        out.print(f"- [bold]{escape(item.name)}[/]  [dim]{escape(relation)}[/]  [cyan]{escape(item.citation)}[/]")
        for line in (path, one_line(item.sentence)):
            if line:
                out.print(f"  [dim]{escape(line)}[/]")
    for citation in answer.passages:
        out.print(f"- [cyan]{escape(citation)}[/]")


def _print_evidence(
    out: Console,
    rank: int,
    piece: Evidence,
    *,
    wanted: set[str],
    explain: bool,
    full: bool,
    is_connected: bool = False,
) -> None:
    where = " › ".join((piece.document.title, *piece.chunk.heading))
    lost = "  [yellow]file not found[/]" if piece.document.is_lost else ""
    out.print(f"\n[bold]{rank}. {escape(where)}[/]  [cyan]{escape(piece.citation)}[/]{lost}  [dim]{piece.score:.3f}[/]")
    text = piece.chunk.text if full else shorten(piece.chunk.text, wanted=wanted)
    width = min(out.width, 100) - 4
    for line in text.split("\n"):
        for part in mark(line, wanted).wrap(out, width):
            out.print(Text("   ") + part if part.plain.strip() else "")
    if explain:
        out.print(f"   [dim]{escape(explain_evidence(piece, is_connected=is_connected))}[/]")
    if (explain or is_connected) and piece.graph is not None and piece.graph.path:
        out.print(f"   [dim]path: {escape(path_text(piece.graph.path))}[/]")


def _print_explanation(out: Console, result: Result) -> None:
    why = f" ({result.reason})" if result.reason else ""
    found = ", ".join(f"{count} by {channel}" for channel, count in result.counts.items()) or "nothing"
    times = ", ".join(f"{name} {value:.1f} ms" for name, value in result.timings.items())
    out.print(f"\n[dim]method {escape(result.method)}{escape(why)}; hits before fusion: {found}[/]")
    if result.choice is not None:
        out.print(f"[dim]chosen by the rule {escape(choice_text(result.choice))}[/]")
    if result.graph is not None:
        named = ", ".join(result.graph.recognised) or "none"
        how = "entities close in meaning" if result.graph.found_by == "meaning" else "entities recognised"
        end = f"graph skipped: {result.graph.skipped}" if result.graph.skipped else f"trust {result.graph.trust:.2f}"
        out.print(f"[dim]{how}: {escape(named)}; {escape(end)}[/]")
    if result.rerank is not None:
        judged = f"{counted(result.rerank.count, 'chunk')} judged by {result.rerank.model}"
        out.print(f"[dim]{escape(f'not re-ranked: {result.rerank.skipped}' if result.rerank.skipped else judged)}[/]")
    for reason, count in result.dropped.items():
        out.print(f"[dim]omitted, {count}: {escape(reason)}[/]")
    out.print(f"[dim]status {result.status}, confidence {result.confidence:.3f}; {times}[/]")
