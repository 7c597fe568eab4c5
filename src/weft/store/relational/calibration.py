"""Calibration of a namespace, stored as JSON with its embedder."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from weft.records import Calibration, Curve
from weft.store.relational.json_columns import read_object, unreadable
from weft.store.relational.session import Namespace, Session

WHAT = "the fitted calibration"


def read_calibration(db: Session, namespace: str) -> Calibration | None:
    """Return the calibration of the active embedder of the namespace with this name, or None."""
    found = db.namespace(namespace)
    return parse_calibration(found.calibration) if found and found.calibration else None


def write_calibration(db: Session, namespace: Namespace, calibration: Calibration | None) -> None:
    """Set the calibration of the active embedder of a namespace; None deletes it. Inside a transaction."""
    db.run("delete_calibration", {"namespace": namespace})
    if calibration is not None:
        db.run("write_calibration", {"namespace": namespace, "value": json.dumps(asdict(calibration))})


def parse_calibration(text: str) -> Calibration:
    """Return the calibration in a column. Raises `StoreCorrupt`."""
    value = read_object(text, what=WHAT)
    try:
        curves: dict[str, Any] = {name: _curve(value[name]) for name in ("cosine", "beside", "words", "pairs")}
        return Calibration(**{**value, **curves})
    except (KeyError, TypeError, ValueError) as error:
        raise unreadable(WHAT) from error


def _curve(value: dict[str, Any]) -> Curve:
    curve = Curve(**value)
    return Curve(middle=float(curve.middle), slope=float(curve.slope))
