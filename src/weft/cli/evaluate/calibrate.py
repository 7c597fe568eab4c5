"""`weft calibrate`."""

from __future__ import annotations

from typing import Any

import click

from weft.admin import calibrate as fitting
from weft.admin.calibrate import Calibrated, Judgement
from weft.cli.options import Session, verb
from weft.cli.output import print_json, print_table
from weft.cli.progress import CountBar
from weft.cli.terminal import say
from weft.context.serialise import confidence_to_dict
from weft.records import Curve, Status

STATUSES: tuple[Status, ...] = ("ok", "low_confidence", "no_match")


@verb()
@click.option(
    "--probes", type=click.IntRange(fitting.FEWEST), default=fitting.PROBES, show_default=True, metavar="N",
    help="How many questions to make from the namespace.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Print what would change, and keep what there is.")
@click.option("--reset", is_flag=True, help="Forget what was fitted; the numbers of the embedder are used again.")
def calibrate(session: Session, probes: int, dry_run: bool, reset: bool) -> None:
    """
    Fit the confidence of answers to this namespace.

    Makes questions from its chunks, asks them and everyday questions about other things, and learns from which cosine
    and which share of the words on an answer is likely there. Refuses where the two kinds cannot be told apart.
    """
    with session.open() as engine:
        if reset:
            before = engine.store.calibration()
            if before and not dry_run:
                engine.store.write_calibration(None)
            if session.as_json:
                print_json({"reset": before is not None and not dry_run})
            elif session.verbosity >= 0:
                done = "would be forgotten" if dry_run else "forgotten"
                say(done if before else "there was nothing to forget", err=True)
            return
        with CountBar("asking", total=None, unit="probes", quiet=session.verbosity < 0) as bar:
            found = fitting.calibrate(engine, probes=probes, on_step=lambda count, total: _show(bar, count, total))
        if not dry_run:
            engine.store.write_calibration(found.fitted.calibration)
        namespace = engine.store.namespace
    if session.as_json:
        print_json({"namespace": namespace, **_to_dict(found), "written": not dry_run})
        return
    print_table(("", "shipped", "fitted"), _rows(found))
    if session.verbosity >= 0:
        say(
            f"{found.own:,} probes of namespace {namespace!r}, {found.foreign:,} foreign ones "
            f"({found.left_out} that came closest left out); "
            + ("nothing was written" if dry_run else f"answers of {found.model} are now judged by the fitted numbers"),
            err=True,
        )


def _show(bar: CountBar, count: int, total: int) -> None:
    bar.expect(total)
    bar.advance(count, extra=count)


def _rows(found: Calibrated) -> list[tuple[str, ...]]:
    both = (found.shipped, found.fitted)
    names = {"cosine": "cosine", "words": "words alone", "pairs": "pairs of characters alone"}
    rows = [(label, *(_curve(getattr(one.calibration, name)) for one in both)) for name, label in names.items()]
    rows.append(("area under ROC", *(f"{one.area:.3f}" for one in both)))
    for kind in ("own", "foreign"):
        rows.append((f"{kind}: ok / low / no match", *(_counts(one, kind) for one in both)))
    return rows


def _curve(curve: Curve) -> str:
    return f"middle {curve.middle:.3f}, slope {curve.slope:.1f}" if curve.slope else "none"


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
    counts = {kind: {status: getattr(one, kind).get(status, 0) for status in STATUSES} for kind in ("own", "foreign")}
    return {**confidence_to_dict(one.calibration), "area": round(one.area, 4), **counts}
