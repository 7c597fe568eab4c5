"""SQL functions that migrations call, for conversions that SQLite does not have."""

from __future__ import annotations

from typing import Any

import apsw
import numpy as np

from weft.store.shared.twelve_bits import pack_twelve


def add_migration_functions(db: apsw.Connection) -> None:
    """Register the functions on a connection."""
    db.create_scalar_function("to_half", _to_half, 1, deterministic=True)
    db.create_scalar_function("to_twelve", _to_twelve, 1, deterministic=True)


def _to_half(*values: Any) -> Any:
    """Return a float32 vector as float16. A damaged one stays as it is, for `weft check` to report."""
    (vector,) = values
    return vector if len(vector) % 4 else np.frombuffer(vector, "<f4").astype("<f2").tobytes()


def _to_twelve(*values: Any) -> Any:
    """Return a float16 vector with 12 bits per component; a damaged one stays as it is."""
    (vector,) = values
    return vector if len(vector) % 2 else pack_twelve([np.frombuffer(vector, "<f2").astype(np.float32)])[0]
