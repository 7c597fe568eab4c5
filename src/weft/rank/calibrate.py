"""Logistic fit of the curves of a `Calibration` to labelled questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weft.records import Calibration, Curve

Values: TypeAlias = NDArray[np.float64]

MAX_NEWTON_STEPS = 100
"""Limit of Newton iterations; five or six are usual."""


def fit_curve(
    own: Values, foreign: Values, *, ridge: float, own_odds: Values | None = None, foreign_odds: Values | None = None
) -> Curve | None:
    """
    Return the logistic curve that separates own questions from foreign ones, or None if its slope is not positive.

    Own questions are answerable in the namespace, foreign ones are not; both classes have equal weight. `own_odds` and
    `foreign_odds` are known log-odds; the log-odds of the curve are added to them. `ridge` penalises the slope per
    standard deviation within a class and keeps it finite for separable classes.
    """
    values = np.concatenate([own, foreign])
    known = np.concatenate([_or_zeros(own_odds, own), _or_zeros(foreign_odds, foreign)])
    is_own = np.r_[np.ones(len(own)), np.zeros(len(foreign))]
    counts = np.r_[np.full(len(own), 0.5 / len(own)), np.full(len(foreign), 0.5 / len(foreign))]
    centre = (own.mean() + foreign.mean()) / 2
    scale = max(float(np.sqrt((own.var() + foreign.var()) / 2)), 1e-6)
    inputs = np.c_[np.ones(len(values)), (values - centre) / scale]
    penalty = np.array([0.0, ridge])

    def loss(weights: Values) -> float:
        odds = inputs @ weights + known
        return float((counts * (np.logaddexp(0, odds) - is_own * odds)).sum() + 0.5 * (penalty * weights**2).sum())

    weights = np.zeros(2)
    for _ in range(MAX_NEWTON_STEPS):
        chances = 1 / (1 + np.exp(-np.clip(inputs @ weights + known, -60, 60)))
        gradient = inputs.T @ (counts * (is_own - chances)) - penalty * weights
        curvature = (inputs * (counts * chances * (1 - chances))[:, None]).T @ inputs + np.diag(penalty + 1e-9)
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while size > 1e-6 and loss(weights + size * step) > loss(weights):
            size /= 2  # far from the optimum, Newton's step overshoots
        weights = weights + size * step
        if float(np.abs(size * step).max()) < 1e-9:
            break
    slope = float(weights[1]) / scale
    return Curve(middle=float(centre) - float(weights[0]) / slope, slope=slope) if slope > 0 else None


def mean_calibration(calibrations: Sequence[tuple[Calibration, int]]) -> Calibration:
    """Return the calibration whose log-odds are the mean of those of several namespaces, by number of chunks."""
    total = sum(chunks for _, chunks in calibrations)

    def mean(curves: Sequence[Curve]) -> Curve:
        shares = [chunks / total for _, chunks in calibrations]
        slope = sum(share * curve.slope for share, curve in zip(shares, curves, strict=True))
        offset = sum(share * curve.slope * curve.middle for share, curve in zip(shares, curves, strict=True))
        return Curve(middle=offset / slope, slope=slope)

    found = [calibration for calibration, _ in calibrations]
    return replace(
        found[0],
        cosine=mean([calibration.cosine for calibration in found]),
        beside=mean([calibration.beside for calibration in found]),
        words=mean([calibration.words for calibration in found]),
        pairs=mean([calibration.pairs for calibration in found]),
        probes=sum(calibration.probes for calibration in found),
        area=sum(calibration.area * chunks for calibration, chunks in calibrations) / total,
        chunks=sum(calibration.chunks for calibration in found),
    )


def roc_area(own: Values, foreign: Values) -> float:
    """Return the area under the ROC curve, 0 to 1. Ties count half; an empty class gives 0."""
    if not len(own) or not len(foreign):
        return 0.0
    ranked = np.sort(foreign)
    below, up_to = np.searchsorted(ranked, own, side="left"), np.searchsorted(ranked, own, side="right")
    return float((below + up_to).sum() / (2 * len(own) * len(foreign)))


def select_typical(values: Values, *, share: float) -> NDArray[np.intp]:
    """
    Return the ascending indices of the rows with the smallest sums of standardised columns, a `share` of all rows.

    A missing value (NaN) counts as the column mean.

    """
    known = np.where(np.isnan(values), 0.0, 1.0)
    counts = np.maximum(known.sum(axis=0), 1.0)
    filled = np.nan_to_num(values)
    apart = (filled - filled.sum(axis=0) / counts) * known
    deviations = np.sqrt((apart**2).sum(axis=0) / counts)
    sums = (apart / np.where(deviations > 0, deviations, 1.0)).sum(axis=1)
    return np.sort(np.argsort(sums, kind="stable")[: round(share * len(values))])


def _or_zeros(odds: Values | None, like: Values) -> Values:
    return np.zeros(len(like)) if odds is None else odds
