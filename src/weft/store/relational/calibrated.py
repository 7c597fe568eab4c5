"""The fitted calibration of a namespace, kept as JSON beside its embedder."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from weft.records import Calibration, Curve
from weft.store.relational.session import Namespace, Session


def read_calibration(db: Session, namespace: str) -> Calibration | None:
    """Return what was fitted for the active embedder of the namespace with this name."""
    value = db.one("find_calibration", {"name": namespace})
    return _calibration(json.loads(value)) if value else None


def write_calibration(db: Session, namespace: Namespace, calibration: Calibration | None) -> None:
    """Keep a calibration for the active embedder of a namespace; None forgets it. Inside a transaction."""
    db.run("delete_calibration", {"namespace": namespace})
    if calibration is not None:
        db.run("write_calibration", {"namespace": namespace, "value": json.dumps(asdict(calibration))})


def _calibration(value: dict[str, Any]) -> Calibration:
    curves: dict[str, Any] = {name: Curve(**value[name]) for name in ("cosine", "beside", "words", "pairs")}
    return Calibration(**{**value, **curves})
