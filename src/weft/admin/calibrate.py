"""Fits the confidence of answers to one namespace: probes of its own chunks against questions about other things."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from weft.admin.calibration_probes import foreign_questions, make_probe
from weft.config import SearchOptions
from weft.errors import InputError
from weft.models.base import Embedder, TextKind
from weft.rank.calibrate import Values, fit_curve, roc_area, select_typical
from weft.rank.gate import best_scores, judge, probability, shipped_calibration
from weft.records import Calibration, Curve, ModelCard, Status, Vector, Vectors
from weft.search.channels import search_channels
from weft.search.confidence import fit_script, keep_meaningful
from weft.search.question.choose_method import CHANNELS
from weft.search.question.embed import embed_question
from weft.search.question.read import read_question
from weft.search.search_context import SearchContext
from weft.store.base import Store
from weft.text.normalise import is_unspaced, squeeze

if TYPE_CHECKING:
    from weft.engine.engine import Engine

PROBES = 200
"""Questions made from the namespace, unless told otherwise; more move the curves by less than a hundredth."""

FEWEST = 30
"""Own probes of a kind below which nothing is fitted to them."""

LEAST_AREA = 0.8
"""Area under ROC below which own and foreign probes count as not told apart."""

FOREIGN_SHARE = 0.9
"""Share of the foreign questions that is used: the most similar tenth may be answered here after all."""

COSINE_RIDGE = 0.004
WORDS_RIDGE = 0.02
"""How much slopes are held back, so that probes, which are easier than questions, do not make us too sure."""

WORDING = 0.7
"""A question shares about this much of the words that a probe shares with its answer. Measured on five open sets."""

OUTGROWN = 2
"""How many times as many chunks there may be as when it was fitted: among more chunks more cosines are high."""

GROUP = 32
"""Probes embedded at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a calibration makes of the probes."""

    calibration: Calibration
    area: float
    own: Mapping[Status, int]
    foreign: Mapping[Status, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """What fitting gave, beside the numbers that come with the embedder."""

    model: str
    own: int
    """Probes made from the namespace."""
    foreign: int
    """Questions about other things."""
    left_out: int
    """Foreign questions that were asked but not used, because they came closest."""
    shipped: Judgement
    fitted: Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A probe and what the channels measured."""

    text: str
    is_own: bool
    cosine: float | None
    share: float

    @property
    def is_unspaced(self) -> bool:
        return is_unspaced(self.text)


def calibrate(
    engine: Engine,
    *,
    probes: int = PROBES,
    on_step: Callable[[int, int], None] = lambda count, total: None,
) -> Calibrated:
    """
    Fit the confidence of the engine's namespace; nothing is written, `engine.store.write_calibration` does that.

    `on_step` is told how many more probes are done, and how many there are in all. Raises `InputError` where the
    namespace is too small or the probes cannot be told apart.
    """
    store = engine.store
    embedder = engine.answering_embedder()
    own = _own_probes(store, limit=probes)
    if len(own) < FEWEST:
        raise InputError(
            f"namespace {store.namespace!r} gives {len(own)} probes, {FEWEST} are needed",
            hint="index more, or keep the numbers that come with the embedder",
        )
    foreign = _foreign_probes(own)
    asked = _ask(own, foreign, store=store, embedder=embedder, on_step=on_step)
    used, left_out = _without_the_closest(asked)
    before = shipped_calibration(embedder.card if embedder else None)
    fitted = _fit(used, before)
    judgement = _judge(used, fitted)
    if fitted == before or judgement.area < LEAST_AREA:
        raise InputError(
            f"the probes of namespace {store.namespace!r} cannot be told apart (area {judgement.area:.2f}); "
            "the numbers that come with the embedder stay",
            hint="texts of a few words, tables and code give poor probes",
        )
    found = round(judgement.area, 4)
    fitted = replace(fitted, origin="fitted", probes=len(used), area=found, chunks=store.graph.size())
    return Calibrated(
        model=embedder.card.name if embedder else "none",
        own=len(own),
        foreign=len(used) - len(own),
        left_out=left_out,
        shipped=_judge(used, before),
        fitted=replace(judgement, calibration=fitted),
    )


def describe(calibration: Calibration | None, *, chunks: int) -> tuple[str, bool]:
    """Say where the confidence of a namespace comes from, and whether it has outgrown it."""
    if calibration is None:
        return "shipped with the embedder", False
    detail = f"fitted to {calibration.probes:,} probes, area {calibration.area:.3f}"
    outgrown = chunks > OUTGROWN * calibration.chunks
    return detail + (f", when there were {calibration.chunks:,} chunks" if outgrown else ""), outgrown


# ── asking ──────────────────────────────────────────────────────────────────────────────────────


def _own_probes(store: Store, *, limit: int) -> list[str]:
    """Return a question for each of the first chunks in the order of their ids, each once."""
    chunks = store.sample(limit=limit)
    titles = {d.id: d.title for d in store.documents(list({chunk.document_id for chunk in chunks}))}
    following = [*chunks[1:], *chunks[:1]]
    made = (
        make_probe(chunk, title=titles.get(chunk.document_id, ""), other=other.text)
        for chunk, other in zip(chunks, following, strict=True)
    )
    return list(dict.fromkeys(squeeze(text) for text in made if text))


def _foreign_probes(own: Sequence[str]) -> list[str]:
    """Return questions about other things in the languages of the own ones."""
    unspaced = sum(map(is_unspaced, own))
    chinese = foreign_questions("zh") if unspaced >= FEWEST else ()
    english = foreign_questions("en") if len(own) - unspaced >= FEWEST or not chinese else ()
    return [*english, *chinese]


def _ask(
    own: Sequence[str],
    foreign: Sequence[str],
    *,
    store: Store,
    embedder: Embedder | None,
    on_step: Callable[[int, int], None],
) -> list[_Asked]:
    """Measure every probe as the read path would."""
    asked: list[_Asked] = []
    texts = [*own, *foreign]
    for start in range(0, len(texts), GROUP):
        group = texts[start : start + GROUP]
        ready = _Embedded(embedder, group) if embedder else None
        for text in group:
            query = embed_question(
                read_question(text), embedder=ready, wants_vector=embedder is not None, wants_keyword=True
            )
            search = SearchContext(store=store, embedder=embedder, options=SearchOptions(top_k=1, pool=1))
            rankings = search_channels(query, CHANNELS["hybrid"], search)
            cosine, share = best_scores(keep_meaningful(query, rankings, store=store, embedder=embedder))
            asked.append(_Asked(text=text, is_own=len(asked) < len(own), cosine=cosine, share=share or 0.0))
        on_step(len(group), len(texts))
    return asked


class _Embedded:
    """An embedder that knows the vectors of some texts, which were embedded together."""

    def __init__(self, inner: Embedder, texts: Sequence[str]) -> None:
        self._inner = inner
        vectors = inner.embed(texts, kind="query")
        self._vectors: dict[str, Vector] = dict(zip(texts, vectors, strict=True))

    @property
    def card(self) -> ModelCard:
        return self._inner.card

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        return np.stack([self._vectors[text] for text in texts])


def _without_the_closest(asked: Sequence[_Asked]) -> tuple[list[_Asked], int]:
    """Return the probes without the foreign ones that come closest, in each language, and how many these are."""
    used = [probe for probe in asked if probe.is_own]
    for unspaced in (False, True):
        foreign = [probe for probe in asked if not probe.is_own and probe.is_unspaced == unspaced]
        rows = np.array([(np.nan if p.cosine is None else p.cosine, p.share) for p in foreign]).reshape(-1, 2)
        used += [foreign[at] for at in select_typical(rows, share=FOREIGN_SHARE)]
    return used, len(asked) - len(used)


# ── fitting ─────────────────────────────────────────────────────────────────────────────────────


def _fit(asked: Sequence[_Asked], before: Calibration) -> Calibration:
    """Return `before` with every curve replaced that the probes say something about."""
    spaced = [probe for probe in asked if not probe.is_unspaced]
    unspaced = [probe for probe in asked if probe.is_unspaced]
    cosine = _fit_cosine([probe for probe in asked if probe.cosine is not None], before)
    words = _fit_share(spaced, wording=WORDING)
    pairs = _fit_share(unspaced, wording=1.0)
    return replace(
        before,
        cosine=_rounded(cosine) or before.cosine,
        words=_rounded(words) or before.words,
        pairs=_rounded(pairs) or before.pairs,
    )


def _fit_cosine(asked: Sequence[_Asked], before: Calibration) -> Curve | None:
    """What the share adds stays: words that a probe has from its answer prove less than those of a question."""
    own, foreign = _split(asked)
    cosines = [_values(probe.cosine or 0.0 for probe in kind) for kind in (own, foreign)]
    beside = before.beside
    odds = [_values(beside.slope * (probe.share - beside.middle) for probe in kind) for kind in (own, foreign)]
    if len(own) < FEWEST or roc_area(*cosines) < LEAST_AREA:
        return None
    return fit_curve(*cosines, ridge=COSINE_RIDGE, own_odds=odds[0], foreign_odds=odds[1])


def _fit_share(asked: Sequence[_Asked], *, wording: float) -> Curve | None:
    own, foreign = _split(asked)
    shares = _values(wording * probe.share for probe in own), _values(probe.share for probe in foreign)
    if len(own) < FEWEST or roc_area(*shares) < LEAST_AREA:
        return None
    return fit_curve(*shares, ridge=WORDS_RIDGE)


def _judge(asked: Sequence[_Asked], calibration: Calibration) -> Judgement:
    """Count what the gate would say to the probes."""
    chances = [
        [probability(p.cosine, p.share, calibration=fit_script(calibration, is_unspaced=p.is_unspaced)) for p in kind]
        for kind in _split(asked)
    ]
    own, foreign = (Counter(map(judge, kind)) for kind in chances)
    return Judgement(calibration=calibration, area=roc_area(*map(np.array, chances)), own=own, foreign=foreign)


def _split(asked: Sequence[_Asked]) -> tuple[list[_Asked], list[_Asked]]:
    return [probe for probe in asked if probe.is_own], [probe for probe in asked if not probe.is_own]


def _values(values: Iterable[float]) -> Values:
    return np.fromiter(values, dtype=np.float64)


def _rounded(curve: Curve | None) -> Curve | None:
    """Four digits are more than the probes know, and the same on every machine."""
    return Curve(middle=round(curve.middle, 4), slope=round(curve.slope, 2)) if curve else None
