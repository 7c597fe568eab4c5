"""
Calibration of the confidence of `weft query`, measured and fitted.

    python benchmarks/quality/confidence.py [--embedder local/minilm-l6 --sets hotpot-train,cacm] [--write]
    python benchmarks/quality/confidence.py --fit       # values for the embedder's card and rank/gate.py

Each corpus gets its own questions and the questions of every other set, which it cannot answer. The read path has its
default settings. The output is the area under the ROC curve of the confidence for each pair of sets, pooled over
foreign pairs (other topics or languages) and over near pairs. A second table compares the confidence with the share of
answerable questions; own and foreign questions have equal weight. `--write` puts table and plot into docs/quality.md
and docs/confidence.png.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from sets import NAMES, open_set

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import DOCS, make_parser, publish

from weft.config import SearchOptions
from weft.engine.engine import Engine
from weft.rank.calibrate import fit_curve, roc_area
from weft.rank.gate import KEYWORD_WITH_COSINE
from weft.search.judge import confidence_scores
from weft.search.question.embed import embed_question
from weft.search.question.read import read_question
from weft.search.search_context import SearchContext

KINDS = {
    "hotpot-train": "general", "musique-train": "general", "2wiki-dev": "general", "xquad-en": "general",
    "cacm": "science", "scifact-train": "science", "xquad-zh": "chinese", "cmrc-trial": "chinese",
}  # fmt: skip
SAME = {"xquad-en", "xquad-zh"}
"""The same passages in two languages: what is asked on the other one is answered there."""

NEAR_ONLY = "2wiki-dev"
"""Left out of the pool of foreign pairs, to which it would add nothing but easy ones."""

Pair = tuple[str, str]
"""Whose questions, on whose corpus."""


def is_foreign(pair: Pair) -> bool:
    """Return True if a pair is in the pool: general against science, Chinese against English, in both directions."""
    return KINDS[pair[0]] != KINDS[pair[1]] and set(pair) != SAME and NEAR_ONLY not in pair


def is_near(pair: Pair) -> bool:
    """Return True if both sets of a pair have similar topics and the same language."""
    return KINDS[pair[0]] == KINDS[pair[1]] and pair[0] != pair[1]


def is_other(pair: Pair) -> bool:
    """Return True if the corpus does not answer the questions of a pair."""
    return pair[0] != pair[1] and set(pair) != SAME


# ── asking ──────────────────────────────────────────────────────────────────────────────────────


def ask_all(names: Sequence[str], *, embedder: str, limit: int) -> dict[Pair, np.ndarray]:
    """Return the confidence of every question of every set on every corpus."""
    questions = {}
    for name in names:
        with open_set(name, embedder=embedder) as (_, cases):
            questions[name] = [case.text for case in cases[:limit]]
    found = {}
    for corpus in names:
        with open_set(corpus, embedder=embedder) as (engine, _):
            for asked in names:
                found[asked, corpus] = np.array([engine.query(text).confidence for text in questions[asked]])
    return found


def measure_all(names: Sequence[str], *, embedder: str, limit: int) -> dict[Pair, list[tuple[str, float, float]]]:
    """Return question, best cosine (NaN if unreliable) and best keyword share for the same pairs."""
    questions, found = {}, {}
    for name in names:
        with open_set(name, embedder=embedder) as (_, cases):
            questions[name] = [case.text for case in cases[:limit]]
    for corpus in names:
        with open_set(corpus, embedder=embedder) as (engine, _):
            for asked in names:
                found[asked, corpus] = [(text, *measure_one(engine, text)) for text in questions[asked]]
    return found


def measure_one(engine: Engine, text: str) -> tuple[float, float]:
    question = read_question(text)
    query = embed_question(question, embedder=engine.embedder, wants_vector=True, wants_keyword=True)
    options = SearchOptions(top_k=1, pool=1)
    search = SearchContext(store=engine.store, embedder=engine.embedder, options=options)
    cosine, share = confidence_scores(query, search)
    return np.nan if cosine is None else cosine, share or 0.0


# ── the table and the plot ──────────────────────────────────────────────────────────────────────


def table(names: Sequence[str], found: dict[Pair, np.ndarray]) -> list[str]:
    """Return areas, one row per corpus; near pairs in italics, the same text in another language in brackets."""
    lines = ["| corpus ↓ · questions → | " + " | ".join(names) + " | own: no match / low |"]
    lines.append("| --- |" + " --- |" * (len(names) + 1))
    for corpus in names:
        own, cells = found[corpus, corpus], []
        for asked in names:
            cells.append(f"{roc_area(own, found[asked, corpus]):.3f}")
            if asked == corpus or not is_other((asked, corpus)):
                cells[-1] = "·" if asked == corpus else f"({cells[-1]})"
            elif is_near((asked, corpus)):
                cells[-1] = f"*{cells[-1]}*"
        turned = f"{(own < 0.1).mean():.1%} / {((own >= 0.1) & (own < 0.5)).mean():.1%}"
        lines.append(f"| {corpus} | " + " | ".join(cells) + f" | {turned} |")
    return lines


def pool(found: dict[Pair, np.ndarray], among: Callable[[Pair], bool]) -> tuple[np.ndarray, np.ndarray]:
    """Return the confidences of own and of foreign questions of some pairs."""
    pairs = [pair for pair in found if among(pair)]
    corpora = sorted({corpus for _, corpus in pairs})
    return np.concatenate([found[c, c] for c in corpora]), np.concatenate([found[pair] for pair in pairs])


def reliability(own: np.ndarray, foreign: np.ndarray) -> list[tuple[float, float, float]]:
    """
    Return mean confidence, share of own questions and share of all questions for ten bins; both classes have equal
    weight.
    """
    values = np.r_[own, foreign]
    is_own = np.r_[np.ones(len(own)), np.zeros(len(foreign))]
    weights = np.r_[np.full(len(own), 0.5 / len(own)), np.full(len(foreign), 0.5 / len(foreign))]
    bins = np.minimum((values * 10).astype(int), 9)
    rows = []
    for number in range(10):
        inside = bins == number
        total = weights[inside].sum()
        if total:
            rows.append(
                ((weights * values)[inside].sum() / total, (weights * is_own)[inside].sum() / total, float(total))
            )
    return rows


def report(names: Sequence[str], found: dict[Pair, np.ndarray], *, embedder: str) -> list[str]:
    own, foreign = pool(found, is_foreign)
    rows = reliability(*pool(found, is_other))
    error = sum(abs(mean - share) * weight for mean, share, weight in rows)
    return [
        *table(names, found),
        "",
        f"AUC of `{embedder}` over pairs of a corpus and the questions of another set:",
        "",
        "| pairs | number | AUC, pooled | AUC, worst pair | worst pair |",
        "| --- | --- | --- | --- | --- |",
        areas("foreign", found, is_foreign),
        areas("near", found, is_near),
        "",
        "| confidence | own questions | foreign questions |",
        "| --- | --- | --- |",
        *(f"| below {at:.2f} | {(own < at).mean():.1%} | {(foreign < at).mean():.1%} |" for at in (0.1, 0.5)),
        "",
        f"Reliability over all pairs (expected calibration error {error:.3f}):",
        "",
        "| mean confidence | " + " | ".join(f"{mean:.2f}" for mean, _, _ in rows) + " |",
        "| --- |" + " --- |" * len(rows),
        "| share of own questions | " + " | ".join(f"{share:.2f}" for _, share, _ in rows) + " |",
        "| share of all questions | " + " | ".join(f"{weight:.1%}" for _, _, weight in rows) + " |",
    ]


def areas(label: str, found: dict[Pair, np.ndarray], among: Callable[[Pair], bool]) -> str:
    """Return a table row: number of pairs, pooled area, area of the worst pair, its name."""
    each = {pair: roc_area(found[pair[1], pair[1]], found[pair]) for pair in found if among(pair)}
    worst = min(each, key=lambda pair: each[pair])
    pooled = roc_area(*pool(found, among))
    return f"| {label} | {len(each)} | {pooled:.4f} | {each[worst]:.3f} | {worst[0]} on {worst[1]} |"


def plot(found: dict[Pair, np.ndarray], *, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(8, 3.4))
    left.plot([0, 1], [0, 1], color="0.8", linewidth=1)
    shown = {"all pairs": (is_other, "C0"), "foreign pairs": (is_foreign, "0.6"), "near pairs": (is_near, "C1")}
    for label, (among, colour) in shown.items():
        rows = reliability(*pool(found, among))
        left.plot([row[0] for row in rows], [row[1] for row in rows], "o-", color=colour, label=label, markersize=4)
    left.set(xlabel="confidence", ylabel="share that is answered", xlim=(0, 1), ylim=(0, 1))
    left.legend(frameon=False, fontsize=8)
    own, foreign = pool(found, is_foreign)
    edges = np.linspace(0, 1, 21)
    for values, label in ((own, "own questions"), (foreign, "foreign questions")):
        weights = np.full(len(values), 1 / len(values))
        right.hist(values, bins=edges, weights=weights, histtype="step", label=label, linewidth=1.5)
    right.set(xlabel="confidence", ylabel="share of the questions", yscale="log", xlim=(0, 1))
    for at in (0.1, 0.5):
        right.axvline(at, color="0.8", linewidth=1)
    right.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


# ── fitting ─────────────────────────────────────────────────────────────────────────────────────


def fit(names: Sequence[str], *, embedder: str, limit: int) -> None:
    """Print the curves fitted to all questions."""
    found = measure_all(names, embedder=embedder, limit=limit)
    rows = {pair: np.array([(cosine, share) for _, cosine, share in items]) for pair, items in found.items()}
    far = [pair for pair in rows if is_foreign(pair) and "chinese" not in (KINDS[pair[0]], KINDS[pair[1]])]
    own = np.concatenate([rows[name, name] for name in sorted({corpus for _, corpus in far})])
    foreign = np.concatenate([rows[pair] for pair in far])
    both = logistic(own, foreign)
    print(f"log-odds = {both[0]:.2f} + {both[1]:.2f} cosine + {both[2]:.2f} share")
    floor = -(both[0] + both[2] * KEYWORD_WITH_COSINE.middle) / both[1]
    print(f"floor {floor:.3f}, slope {both[1]:.1f}, beside {both[2]:.1f}")
    words = fit_curve(own[:, 1], foreign[:, 1], ridge=1e-6)
    print(f"words alone: middle {words.middle:.3f}, slope {words.slope:.1f}")
    near = [pair for pair in rows if is_near(pair) and KINDS[pair[0]] == "chinese"]
    if near:
        own = np.concatenate([rows[corpus, corpus] for _, corpus in near])
        foreign = np.concatenate([rows[pair] for pair in near])
        pairs = fit_curve(own[:, 1], foreign[:, 1], ridge=1e-6)
        print(f"pairs of characters alone: middle {pairs.middle:.3f}, slope {pairs.slope:.1f}")


def logistic(own: np.ndarray, foreign: np.ndarray) -> np.ndarray:
    """Return logistic weights, bias first; both classes have equal weight."""
    inputs = np.concatenate([own, foreign])
    inputs = np.c_[np.ones(len(inputs)), inputs]
    labels = np.r_[np.ones(len(own)), np.zeros(len(foreign))]
    counts = np.r_[np.full(len(own), 0.5 / len(own)), np.full(len(foreign), 0.5 / len(foreign))]
    weights = np.zeros(inputs.shape[1])
    for _ in range(100):
        chance = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (counts * (labels - chance)) - 1e-6 * weights
        curve = (inputs * (counts * chance * (1 - chance))[:, None]).T @ inputs + 1e-6 * np.eye(len(weights))
        weights += np.linalg.solve(curve, slope)
    return weights


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--embedder", default="local/granite-30m")
    parser.add_argument("--sets", default=",".join(NAMES), help="Names of sets, separated by commas.")
    parser.add_argument("--limit", type=int, default=150, help="Questions of each set.")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    names, given = arguments.sets.split(","), {"embedder": arguments.embedder, "limit": arguments.limit}
    if arguments.fit:
        fit(names, **given)
    else:
        found = ask_all(names, **given)
        lines = report(names, found, embedder=arguments.embedder)
        publish("confidence", "\n".join(lines), write=arguments.write)
        if arguments.write:
            plot(found, path=DOCS / "confidence.png")


if __name__ == "__main__":
    main()
