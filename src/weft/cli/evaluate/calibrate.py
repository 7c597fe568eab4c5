"""Command `weft calibrate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from weft.cli.options import Session, verb
from weft.cli.output import print_json, print_table
from weft.cli.progress import CountBar
from weft.cli.terminal import say
from weft.text.plurals import counted

if TYPE_CHECKING:
    from weft.admin.calibrate import Calibrated, Judgement
    from weft.engine.engine import Engine
    from weft.records import Curve, Status

STATUSES: tuple[Status, ...] = ("ok", "low_confidence", "no_match")
MIN_PROBES = 30
DEFAULT_PROBES = 200


@verb()
@click.option(
    "--probes",
    type=click.IntRange(MIN_PROBES),
    default=DEFAULT_PROBES,
    show_default=True,
    metavar="N",
    help="Number of questions generated from the namespace.",
)
@click.option("--dry-run", is_flag=True, help="Print the new calibration; write nothing.")
@click.option("--reset", is_flag=True, help="Delete the fitted calibration and use that of the embedder.")
def calibrate(session: Session, probes: int, dry_run: bool, reset: bool) -> None:
    """
    Fit the confidence of answers to this namespace.

    Runs questions generated from its chunks, and everyday questions about other topics. Fits thresholds for the cosine
    and for the share of matching words. Fails if the two groups cannot be separated.
    """
    with session.open() as engine:
        if reset:
            _reset(session, engine, dry_run=dry_run)
            return
        found = _fit(session, engine, probes=probes)
        if not dry_run:
            engine.store.write_calibration(found.fitted.calibration)
        namespace = engine.store.namespace
    if session.as_json:
        print_json({"namespace": namespace, **_to_dict(found), "written": not dry_run})
        return
    print_table(("", "shipped", "fitted"), _rows(found))
    if session.verbosity >= 0:
        outcome = "nothing was written" if dry_run else f"answers of {found.model} now use the fitted calibration"
        say(
            f"{counted(found.own, 'probe')} of namespace {namespace!r}, {found.foreign:,} foreign ones "
            f"({found.left_out} most similar ones omitted); {outcome}",
            err=True,
        )


def _reset(session: Session, engine: Engine, *, dry_run: bool) -> None:
    before = engine.store.calibration()
    if before and not dry_run:
        engine.store.write_calibration(None)
    if session.as_json:
        print_json({"reset": before is not None and not dry_run})
    elif session.verbosity >= 0:
        done = "would delete the calibration" if dry_run else "deleted the calibration"
        say(done if before else "there is no calibration to delete", err=True)


def _fit(session: Session, engine: Engine, *, probes: int) -> Calibrated:
    from weft.admin import calibrate as fitting

    with CountBar("asking", total=None, unit="probes", quiet=session.verbosity < 0) as bar:

        def on_step(count: int, total: int) -> None:
            bar.expect(total)
            bar.advance(count, extra=count)

        return fitting.calibrate(engine, probes=probes, on_step=on_step)


def _rows(found: Calibrated) -> list[tuple[str, ...]]:
    both = (found.shipped, found.fitted)
    names = {"cosine": "cosine", "words": "words alone", "pairs": "character pairs alone"}
    rows = [(label, *(_curve(getattr(one.calibration, name)) for one in both)) for name, label in names.items()]
    rows.append(("area under ROC", *(f"{one.area:.3f}" for one in both)))
    for kind in ("own", "foreign"):
        rows.append((f"{kind}: ok / low / no match", *(_counts(one, kind) for one in both)))
    return rows


def _curve(curve: Curve) -> str:
    return f"midpoint {curve.middle:.3f}, slope {curve.slope:.1f}" if curve.slope else "none"


def _counts(judgement: Judgement, kind: str) -> str:
    counts = getattr(judgement, kind)
    return " / ".join(str(counts.get(status, 0)) for status in STATUSES)


def _to_dict(found: Calibrated) -> dict[str, Any]:
    return {
        "model": found.model,
        "probes": {"own": found.own, "foreign": found.foreign, "left_out": found.left_out},
        "shipped": _judgement(found.shipped),
        "fitted": _judgement(found.fitted),
    }


def _judgement(one: Judgement) -> dict[str, Any]:
    from weft.context.serialise import confidence_to_dict

    counts = {kind: {status: getattr(one, kind).get(status, 0) for status in STATUSES} for kind in ("own", "foreign")}
    return {**confidence_to_dict(one.calibration), "area": round(one.area, 4), **counts}
