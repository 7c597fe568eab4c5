"""Whether another embedder would suit the text of a namespace better: by the scripts it is written in."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import replace

from weft.config import Settings
from weft.models.base import Embedder
from weft.models.use_multilingual import CARD, EXTRA, NAME, is_installed
from weft.records import ModelCard, Receipt
from weft.store.base import Store
from weft.text.normalise import scripts

GOOD_PART = 0.2
"""Share of the text in scripts the embedder does not know from which another one is recommended."""

SAMPLE = 200
"""Chunks that are looked at: the share of a fifth is then off by 0.06 at most, nineteen times in twenty."""


def measure_scripts(store: Store, *, limit: int = SAMPLE) -> dict[str, float]:
    """Return the share of each script in the text of a namespace, from a sample of its chunks; all count alike."""
    total: Counter[str] = Counter()
    for chunk in store.sample(limit=limit):
        total.update(scripts(chunk.text))
    whole = sum(total.values())
    return {name: share / whole for name, share in sorted(total.items())}


def recommend(store: Store, *, card: ModelCard, db: str = "") -> tuple[str, str]:
    """
    Return what is wrong with the embedder for this text and the commands that mend it; empty where nothing is.

    Nothing is said of scripts that the multilingual embedder does not know either. `db` goes into the commands.
    """
    if "*" in card.scripts or card.degraded:
        return "", ""
    found = {name: share for name, share in measure_scripts(store).items() if name not in card.scripts}
    helped = {name: share for name, share in found.items() if name in CARD.scripts}
    if sum(helped.values()) < GOOD_PART:
        return "", ""
    names = ", ".join(sorted(helped, key=lambda name: (-helped[name], name)))
    problem = f"{sum(helped.values()):.0%} of the text is in scripts that {card.name} does not know ({names})"
    install = "" if is_installed() else f"pip install 'weft[{EXTRA}]' && "
    where = f" --db {shlex.quote(db)}" if db else ""
    where += f" --namespace {shlex.quote(store.namespace)}" if store.namespace != "default" else ""
    return problem, f"{install}weft reembed{where} --embedder {NAME}"


def advised(receipt: Receipt, *, store: Store, embedder: Embedder | None, settings: Settings) -> Receipt:
    """Return a receipt with what is known by now of how well the embedder suits the text."""
    if embedder is None:
        return receipt
    db = settings.store.db if "store.db" in settings.origins else ""
    problem, commands = recommend(store, card=embedder.card, db=db)
    return replace(receipt, notes=(f"{problem}; better: {commands}",)) if problem else receipt
