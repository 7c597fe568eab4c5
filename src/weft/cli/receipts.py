"""Human-readable receipts of indexing: documents, texts, tokens, cost."""

from __future__ import annotations

from collections.abc import Iterator

from weft.cli.terminal import one_line, say
from weft.records import Receipt, Usage
from weft.text.plurals import counted

MAX_LISTED_SKIPS = 3
"""Maximum number of skipped files listed per reason."""


def usage_line(usage: Usage) -> str:
    """Return the calls, tokens and cost of a language model in one line."""
    share = usage.cached / max(1, usage.calls + usage.cached)
    cost = "unknown price" if usage.unpriced else f"${usage.cost:.4f}"
    line = f"{counted(usage.calls, 'call')}, {usage.tokens_in:,} tokens in, {usage.tokens_out:,} out, {cost}, "
    line += f"{usage.seconds:.1f} s; {counted(usage.cached, 'chunk')} from the cache ({share:.0%})"
    return line + _failures(usage)


def embedding_line(usage: Usage, *, is_dry: bool = False) -> str:
    """Return the requests, tokens and cost of a remote embedder in one line. A local embedder has no cost."""
    if usage == Usage():
        return "no cost: nothing is sent"
    about = "about " if is_dry else ""
    cost = "unknown price, set models.prices" if usage.unpriced else f"{about}${usage.cost:.4f}"
    estimated = "about " if usage.guessed else ""
    line = f"{counted(usage.calls, 'request')}, {estimated}{usage.tokens_in:,} tokens, {cost}"
    line += "" if is_dry else f", {usage.seconds:.1f} s"
    line += " (tokens are estimated, the endpoint does not report them)" if usage.guessed and not is_dry else ""
    return line + _failures(usage)


def print_receipt(receipt: Receipt, *, is_dry: bool = False) -> None:
    """Print the work and the cost of a run or a dry run to stderr."""
    would = "would " if is_dry else ""
    done = f"{'would index' if is_dry else 'indexed'} {counted(receipt.documents, 'document')} "
    done += f"({receipt.added:,} new, {receipt.changed:,} changed, "
    done += f"{receipt.unchanged:,} unchanged), {counted(receipt.chunks, 'chunk')} in {receipt.seconds:.1f} s"
    say(done, err=True)
    texts = counted(receipt.embedded, "text")
    if receipt.embedded or receipt.cached:
        say(f"{would}embed{'' if would else 'ded'} {texts}, {receipt.cached:,} from the cache", err=True)
    if receipt.embedding != Usage() or (is_dry and receipt.embedded):
        say(f"embedder: {embedding_line(receipt.embedding, is_dry=is_dry)}", err=True)
    if receipt.usage != Usage():
        say(f"language model: {usage_line(receipt.usage)}", err=True)
    if receipt.facts:
        facts = counted(receipt.facts, "fact")
        say(f"{would}add{'' if would else 'ed'} {facts} stated in the documents", err=True)
    if receipt.broken_links:
        say(f"{counted(receipt.broken_links, 'broken link')} (weft check --links)", err=True)
    if receipt.pruned:
        pruned = counted(receipt.pruned, "document")
        say(f"{would}delete{'' if would else 'd'} {pruned} without a file", err=True)
    for line in _skips(receipt):
        say(line, err=True)
    if not (receipt.documents or receipt.skipped or receipt.pruned):
        say("note: there is no file to index", err=True)
    for note in receipt.notes:
        say(f"note: {note}", err=True)


def _skips(receipt: Receipt) -> Iterator[str]:
    """Yield one line per reason, with the first files."""
    reasons: dict[str, list[str]] = {}
    for item in receipt.skipped:
        name = f"{item.source}: {item.detail}" if item.detail else item.source
        reasons.setdefault(item.reason, []).append(one_line(name))
    for reason, names in sorted(reasons.items()):
        more = f" and {len(names) - MAX_LISTED_SKIPS:,} more" if len(names) > MAX_LISTED_SKIPS else ""
        yield f"skipped {len(names):,}, {reason}: {'; '.join(names[:MAX_LISTED_SKIPS])}{more}"


def _failures(usage: Usage) -> str:
    failed = ", ".join(f"{kind} {count:,}" for kind, count in sorted(usage.failures.items()))
    return f"; {failed}" if failed else ""
