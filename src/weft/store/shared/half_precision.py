"""
Half precision (float16) of stored vectors.

Every store rounds the vectors of chunks in the same way, so that all stores return the same scores. A component of a
unit vector keeps 11 bits, and a cosine changes by less than 1e-4.
"""

from __future__ import annotations

import numpy as np

from weft.records import Vector


def round_to_half(vector: Vector) -> Vector:
    """Return a vector with its components rounded to float16."""
    return vector.astype(np.float16).astype(np.float32)
