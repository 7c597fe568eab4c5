"""How things look: JSON on request, colours on a terminal, plain text in a pipe."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich import markup
from rich.console import Console
from rich.table import Table
from rich.text import Text

from weft.cli.terminal import hand_over, one_line, say, visible
from weft.context.serialise import choice_to_dict
from weft.errors import InputError
from weft.records import Choice, Context, Evidence, PathStep, Receipt, Result, Usage
from weft.text.analyzer import query_terms, terms

SNIPPET = 420
"""Characters of a chunk shown by `weft query`; --full shows all."""


def console(*, err: bool = False) -> Console:
    """Return a console for stdout, or for stderr. In a pipe it is plain and does not wrap."""
    made = Console(highlight=False, emoji=False, stderr=err)
    plain = Console(highlight=False, emoji=False, stderr=err, no_color=True, width=1_000_000)
    return made if made.is_terminal else plain


def escape(value: object) -> str:
    """Return a name or value for a line of console markup, in which it is shown as it is."""
    return markup.escape(one_line(value))


def print_json(value: Any) -> None:
    """Print a value as JSON, readable and in its own script."""
    hand_over(json.dumps(value, ensure_ascii=False, indent=2), nl=True)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under headings: a table on a terminal, tab-separated in a pipe."""
    out = console()
    if not out.is_terminal:
        for row in [columns, *rows]:
            say("\t".join(map(one_line, row)))
        return
    table = Table(*columns, box=None, header_style="bold", pad_edge=False)
    for row in rows:
        table.add_row(*map(escape, row))
    out.print(table)


def print_result(result: Result, *, explain: bool, full: bool) -> None:
    """Print the evidence as a person wants to read it."""
    out = console()
    print_status(out, result)
    wanted = set(query_terms(result.query))
    for rank, piece in enumerate(result.evidence, start=1):
        _print_evidence(out, rank, piece, wanted=wanted, explain=explain, full=full)
    if explain:
        _print_explanation(out, result)


def print_status(out: Console, result: Result) -> None:
    """Print what came of a question and why, without the evidence."""
    count = len(result.evidence)
    head = f"{count} result{'s' if count != 1 else ''} · {result.method} · confidence {result.confidence:.2f}"
    style = {"ok": "green", "degraded": "yellow", "low_confidence": "yellow"}.get(result.status, "red")
    is_answered = result.evidence or result.status != "no_match"
    out.print(f"[{style}]{result.status.replace('_', ' ')}[/] · {head}" if is_answered else "[red]no match[/]")
    if result.degraded:
        out.print(f"[yellow]degraded:[/] {escape(result.degraded)}")
    for note in result.notes:
        out.print(f"[dim]note: {escape(note)}[/]")
    if result.rejected:
        out.print(f"[dim]closest, not shown: {escape(result.rejected.citation)}[/]")


def say_nothing_fits(context: Context) -> None:
    """Say on stderr that there is something to show, and no room for any of it."""
    say(f"nothing fits into the budget, {context.omitted:,} left out: raise --budget", err=True)


def _print_evidence(out: Console, rank: int, piece: Evidence, *, wanted: set[str], explain: bool, full: bool) -> None:
    where = " › ".join((piece.document.title, *piece.chunk.heading))
    out.print(f"\n[bold]{rank}. {escape(where)}[/]  [cyan]{escape(piece.citation)}[/]  [dim]{piece.score:.3f}[/]")
    text = piece.chunk.text if full else shorten(piece.chunk.text, wanted=wanted)
    width = min(out.width, 100) - 4
    for line in text.split("\n"):
        for part in Text.from_markup(mark(line, wanted)).wrap(out, width):
            out.print(Text("   ") + part if part.plain.strip() else "")
    if explain:
        out.print(f"   [dim]{escape(explain_evidence(piece))}[/]")
        if piece.graph is not None and piece.graph.path:
            out.print(f"   [dim]path: {escape(path_text(piece.graph.path))}[/]")


def explain_evidence(piece: Evidence) -> str:
    """Say in words which channels found a chunk, at what rank, with what score."""
    names = {"vector": "closest in meaning", "keyword": "by its words", "graph": "through the graph"}
    measures = {"vector": "cosine", "keyword": "BM25", "graph": "activation"}
    parts = [
        f"{names.get(channel, channel)} #{hit.rank} ({measures.get(channel, 'score')} {hit.score:.3f})"
        for channel, hit in sorted(piece.channels.items())
    ]
    parts += [f"alone or almost alone in holding “{name}”" for name in piece.names]
    if piece.rerank is not None:
        said = "not judged" if piece.rerank.score is None else f"reranker {piece.rerank.score:.3f}"
        parts.append(f"re-ranked from #{piece.rerank.former_rank} ({said})")
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
    """Return a rule and what it saw in one line: `citation (language: en; citation: citing; degree: 3)`."""
    parts = []
    for name, value in choice_to_dict(choice)["features"].items():
        if value:
            shown = ", ".join(value) if isinstance(value, list) else "yes" if value is True else str(value)
            parts.append(f"{name}: {shown}")
    return f"{choice.rule} ({'; '.join(parts)})"


def _print_explanation(out: Console, result: Result) -> None:
    why = f" ({result.reason})" if result.reason else ""
    found = ", ".join(f"{count} by {channel}" for channel, count in result.counts.items()) or "nothing"
    times = ", ".join(f"{name} {value:.1f} ms" for name, value in result.timings.items())
    out.print(f"\n[dim]method {escape(result.method)}{escape(why)}; found before fusion: {found}[/]")
    if result.choice is not None:
        out.print(f"[dim]chosen by the rule {escape(choice_text(result.choice))}[/]")
    if result.graph is not None:
        named = ", ".join(result.graph.recognised) or "none"
        how = "entities close in meaning" if result.graph.found_by == "meaning" else "entities recognised"
        end = f"graph skipped: {result.graph.skipped}" if result.graph.skipped else f"trust {result.graph.trust:.2f}"
        out.print(f"[dim]{how}: {escape(named)}; {escape(end)}[/]")
    if result.rerank is not None:
        judged = f"{result.rerank.count} chunks judged by {result.rerank.model}"
        out.print(f"[dim]{escape(f'not re-ranked: {result.rerank.skipped}' if result.rerank.skipped else judged)}[/]")
    for reason, count in result.dropped.items():
        out.print(f"[dim]left out, {count}: {escape(reason)}[/]")
    out.print(f"[dim]status {result.status}, confidence {result.confidence:.3f}; {times}[/]")


def shorten(text: str, *, wanted: set[str], size: int = SNIPPET) -> str:
    """Return the part of a chunk that holds most of the wanted terms, cut at words."""
    if len(text) <= size:
        return text
    starts = [0, *(match.end() for match in re.finditer(r"[.!?。！？]\s*|\n+", text))]

    def worth(start: int) -> int:
        return len(wanted & set(terms(text[start : start + size])))

    start = max(starts, key=lambda s: (worth(s), -s))
    cut = text[start : start + size]
    if start + size < len(text):
        cut = (cut[: cut.rindex(" ")] if " " in cut[size // 2 :] else cut) + " …"
    return ("… " if start else "") + cut.strip()


def mark(text: str, wanted: set[str]) -> str:
    """Return console markup in which words that share a term with the question are bold."""

    def emphasise(match: re.Match[str]) -> str:
        word = match.group()
        telling = len(word) > 3 or not word.islower() or not word.isascii()  # not "the", "who", "is"
        return f"[bold]{word}[/]" if telling and wanted & set(terms(word)) else word

    return re.sub(r"[^\W_]+(?:[-'’_.][^\W_]+)*", emphasise, markup.escape(visible(text)))


def usage_line(usage: Usage) -> str:
    """Return in one line what a language model was asked, or would be."""
    share = usage.cached / max(1, usage.calls + usage.cached)
    cost = "price not known" if usage.unpriced else f"${usage.cost:.4f}"
    line = f"{usage.calls:,} calls, {usage.tokens_in:,} tokens in, {usage.tokens_out:,} out, {cost}, "
    line += f"{usage.seconds:.1f} s; {usage.cached:,} chunks known already ({share:.0%})"
    failed = ", ".join(f"{kind} {count:,}" for kind, count in sorted(usage.failures.items()))
    return f"{line}; {failed}" if failed else line


def embedding_line(usage: Usage, *, is_dry: bool = False) -> str:
    """Return in one line what an embedder behind an endpoint was asked, or would be; another one costs nothing."""
    if usage == Usage():
        return "costs nothing: nothing is sent"
    about = "about " if is_dry else ""
    cost = "price not known, models.prices tells it" if usage.unpriced else f"{about}${usage.cost:.4f}"
    estimated = "about " if usage.guessed else ""
    line = f"{usage.calls:,} requests, {estimated}{usage.tokens_in:,} tokens, {cost}"
    line += "" if is_dry else f", {usage.seconds:.1f} s"
    line += " (the endpoint does not count tokens, they are estimated)" if usage.guessed and not is_dry else ""
    failed = ", ".join(f"{kind} {count:,}" for kind, count in sorted(usage.failures.items()))
    return f"{line}; {failed}" if failed else line


DONE = ("embedded", "remembered", "deleted")


def print_receipt(receipt: Receipt, *, is_dry: bool = False) -> None:
    """Print to stderr what a run did and what it cost, or would do."""
    embedded, remembered, deleted = ("would embed", "would remember", "would delete") if is_dry else DONE
    done = f"{'would index' if is_dry else 'indexed'} {receipt.documents:,} documents "
    done += f"({receipt.added:,} new, {receipt.changed:,} changed, "
    done += f"{receipt.unchanged:,} unchanged), {receipt.chunks:,} chunks in {receipt.seconds:.1f} s"
    say(done, err=True)
    say(f"{embedded} {receipt.embedded:,} texts, {receipt.cached:,} from the cache", err=True)
    if receipt.embedding != Usage() or (is_dry and receipt.embedded):
        say(f"embedder: {embedding_line(receipt.embedding, is_dry=is_dry)}", err=True)
    if receipt.usage != Usage():
        say(f"language model: {usage_line(receipt.usage)}", err=True)
    if receipt.facts:
        say(f"{remembered} {receipt.facts:,} facts that the documents state", err=True)
    if receipt.pruned:
        say(f"{deleted} {receipt.pruned:,} documents whose file is gone", err=True)
    reasons: dict[str, list[str]] = {}
    for item in receipt.skipped:
        what = f"{item.source}: {item.detail}" if item.detail else item.source
        reasons.setdefault(item.reason, []).append(one_line(what))
    for reason, names in sorted(reasons.items()):
        more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
        say(f"skipped {len(names):,}, {reason}: {'; '.join(names[:3])}{more}", err=True)
    for note in receipt.notes:
        say(f"note: {note}", err=True)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that others see the old one or the new one, never half of it."""
    target = path.resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if target.exists() and not target.is_file():  # a pipe or a device is written to, not replaced
            target.write_bytes(data)
            return
        part.write_bytes(data)
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"cannot write {str(path)!r}: {reason}", hint="check the folder and its permissions"
        ) from error
    finally:
        with suppress(OSError):
            part.unlink()
