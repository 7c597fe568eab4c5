"""Calibration of the confidence for one namespace, with probes from its chunks and foreign questions."""

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
from weft.rank.gate import judge, probability, shipped_calibration
from weft.records import Calibration, Curve, ModelCard, Question, Status, Vector, Vectors
from weft.search.confidence import fit_question, short_question_margin
from weft.search.judge import confidence_scores
from weft.search.question.embed import embed_question
from weft.search.question.read import read_question
from weft.search.search_context import SearchContext
from weft.store.base import Store
from weft.text.normalise import is_unspaced, squeeze
from weft.text.plurals import counted

if TYPE_CHECKING:
    from weft.engine.engine import Engine

DEFAULT_PROBES = 200
"""Number of questions generated from the namespace. More questions move the curves by less than 0.01."""

MIN_PROBES = 30
"""Minimum number of own probes to fit a curve."""

MIN_AREA = 0.8
"""Area under the ROC curve below which own and foreign probes count as indistinguishable."""

FOREIGN_SHARE = 0.9
"""Share of foreign questions used: the most similar tenth may have answers in the namespace."""

COSINE_RIDGE = 0.004
WORDS_RIDGE = 0.02
"""Penalties on slopes: probes are easier than questions, so unpenalised curves would be overconfident."""

WORDING = 0.7
"""Word overlap of a real question with its answer, divided by that of a probe. Measured on five open datasets."""

EMBED_PROBES = 32
"""Number of probes per call of the embedder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdicts of a calibration on the probes."""

    calibration: Calibration
    area: float
    own: Mapping[Status, int]
    foreign: Mapping[Status, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """The fitted calibration, and the calibration shipped with the embedder."""

    model: str
    own: int
    """Number of probes generated from the namespace."""
    foreign: int
    """Number of foreign questions used."""
    left_out: int
    """Number of foreign questions not used because their scores were highest."""
    shipped: Judgement
    fitted: Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class _Probe:
    """A probe with the measurements of the channels."""

    question: Question
    is_own: bool
    cosine: float | None
    share: float

    @property
    def is_unspaced(self) -> bool:
        return self.question.is_unspaced


def calibrate(
    engine: Engine,
    *,
    probes: int = DEFAULT_PROBES,
    on_step: Callable[[int, int], None] = lambda count, total: None,
) -> Calibrated:
    """
    Return a calibration fitted to the engine's namespace; `engine.store.write_calibration` stores it.

    `on_step` is called with the number of probes done since the last call and the total. Raises `InputError` if the
    namespace is too small, or own and foreign probes are indistinguishable.
    """
    store = engine.store
    embedder = engine.embedder_slot.answering(engine.reader)
    own = _own_probes(store, limit=probes)
    if len(own) < MIN_PROBES:
        raise InputError(
            f"namespace {store.namespace!r} has text for {counted(len(own), 'probe')}, but {MIN_PROBES} are needed",
            hint="add documents with weft index; until then the calibration of the embedder applies",
        )
    foreign = _foreign_probes(own)
    measured = _measure(own, foreign, store=store, embedder=embedder, on_step=on_step)
    used, left_out = _without_the_closest(measured)
    before = shipped_calibration(embedder.card if embedder else None)
    fitted = _fit(used, before)
    judgement = _judge(used, fitted)
    if fitted == before or judgement.area < MIN_AREA:
        raise InputError(
            f"own and foreign probes of namespace {store.namespace!r} are indistinguishable "
            f"(ROC AUC {judgement.area:.2f}); the calibration of the embedder is kept",
            hint="index longer prose; short texts, tables and code make poor probes",
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


# ── probes ──────────────────────────────────────────────────────────────────────────────────────


def _own_probes(store: Store, *, limit: int) -> list[str]:
    """Return a question for each chunk of a sample, without duplicates."""
    chunks = store.sample(limit=limit)
    titles = {d.id: d.title for d in store.documents(list({chunk.document_id for chunk in chunks}))}
    following = [*chunks[1:], *chunks[:1]]
    made = (
        make_probe(chunk, title=titles.get(chunk.document_id, ""), other=other.text)
        for chunk, other in zip(chunks, following, strict=True)
    )
    return list(dict.fromkeys(squeeze(text) for text in made if text))


def _foreign_probes(own: Sequence[str]) -> list[str]:
    """Return foreign questions in the languages of the own probes."""
    unspaced = sum(map(is_unspaced, own))
    chinese = foreign_questions("zh") if unspaced >= MIN_PROBES else ()
    english = foreign_questions("en") if len(own) - unspaced >= MIN_PROBES or not chinese else ()
    return [*english, *chinese]


def _measure(
    own: Sequence[str],
    foreign: Sequence[str],
    *,
    store: Store,
    embedder: Embedder | None,
    on_step: Callable[[int, int], None],
) -> list[_Probe]:
    """Measure every probe as the read path does."""
    probes: list[_Probe] = []
    texts = [*own, *foreign]
    for start in range(0, len(texts), EMBED_PROBES):
        group = texts[start : start + EMBED_PROBES]
        ready = _Embedded(embedder, group) if embedder else None
        for text in group:
            question = read_question(text)
            query = embed_question(question, embedder=ready, wants_vector=embedder is not None, wants_keyword=True)
            search = SearchContext(store=store, embedder=embedder, options=SearchOptions(top_k=1, pool=1))
            cosine, share = confidence_scores(query, search)
            probes.append(_Probe(question=question, is_own=len(probes) < len(own), cosine=cosine, share=share or 0.0))
        on_step(len(group), len(texts))
    return probes


class _Embedded:
    """An embedder with precomputed vectors of some texts."""

    def __init__(self, inner: Embedder, texts: Sequence[str]) -> None:
        self._inner = inner
        vectors = inner.embed(texts, kind="query")
        self._vectors: dict[str, Vector] = dict(zip(texts, vectors, strict=True))

    @property
    def card(self) -> ModelCard:
        return self._inner.card

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        return np.stack([self._vectors[text] for text in texts])


def _without_the_closest(probes: Sequence[_Probe]) -> tuple[list[_Probe], int]:
    """Return the probes without the highest-scoring foreign ones of each language, and the number of omitted ones."""
    used = [probe for probe in probes if probe.is_own]
    for unspaced in (False, True):
        foreign = [probe for probe in probes if not probe.is_own and probe.is_unspaced == unspaced]
        rows = np.array([(np.nan if p.cosine is None else p.cosine, p.share) for p in foreign]).reshape(-1, 2)
        used += [foreign[at] for at in select_typical(rows, share=FOREIGN_SHARE)]
    return used, len(probes) - len(used)


# ── fitting ─────────────────────────────────────────────────────────────────────────────────────


def _fit(probes: Sequence[_Probe], before: Calibration) -> Calibration:
    """Return `before` with new curves where there are enough probes to fit one."""
    spaced = [probe for probe in probes if not probe.is_unspaced]
    unspaced = [probe for probe in probes if probe.is_unspaced]
    cosine = _fit_cosine([probe for probe in probes if probe.cosine is not None], before)
    words = _fit_share(spaced, wording=WORDING)
    pairs = _fit_share(unspaced, wording=1.0)
    return replace(
        before,
        cosine=_rounded(cosine) or before.cosine,
        words=_rounded(words) or before.words,
        pairs=_rounded(pairs) or before.pairs,
    )


def _fit_cosine(probes: Sequence[_Probe], before: Calibration) -> Curve | None:
    """Return the fitted cosine curve and the old word curve. Probes share too many words with chunks to fit words."""
    own, foreign = _split(probes)
    cosines = [_values(probe.cosine or 0.0 for probe in kind) for kind in (own, foreign)]
    beside = before.beside
    odds = [_values(beside.slope * (probe.share - beside.middle) for probe in kind) for kind in (own, foreign)]
    if len(own) < MIN_PROBES or roc_area(*cosines) < MIN_AREA:
        return None
    return fit_curve(*cosines, ridge=COSINE_RIDGE, own_odds=odds[0], foreign_odds=odds[1])


def _fit_share(probes: Sequence[_Probe], *, wording: float) -> Curve | None:
    own, foreign = _split(probes)
    shares = (
        _values(wording * probe.share - short_question_margin(probe.question) for probe in own),
        _values(probe.share - short_question_margin(probe.question) for probe in foreign),
    )
    if len(own) < MIN_PROBES or roc_area(*shares) < MIN_AREA:
        return None
    return fit_curve(*shares, ridge=WORDS_RIDGE)


def _judge(probes: Sequence[_Probe], calibration: Calibration) -> Judgement:
    """Count the verdicts of the gate on the probes."""
    chances = [
        [probability(p.cosine, p.share, calibration=fit_question(calibration, p.question)) for p in kind]
        for kind in _split(probes)
    ]
    own, foreign = (Counter(map(judge, kind)) for kind in chances)
    return Judgement(calibration=calibration, area=roc_area(*map(np.array, chances)), own=own, foreign=foreign)


def _split(probes: Sequence[_Probe]) -> tuple[list[_Probe], list[_Probe]]:
    return [probe for probe in probes if probe.is_own], [probe for probe in probes if not probe.is_own]


def _values(values: Iterable[float]) -> Values:
    return np.fromiter(values, dtype=np.float64)


def _rounded(curve: Curve | None) -> Curve | None:
    """Round to the precision of the probes, so every machine stores the same curve."""
    return Curve(middle=round(curve.middle, 4), slope=round(curve.slope, 2)) if curve else None
