"""Seed and counts of the fault tests, from the environment."""

import os
import random

SEED = int(os.environ.get("WEFT_FAULT_SEED", "20261117"))
SCALE = float(os.environ.get("WEFT_FAULT_SCALE", "1"))
"""Share of the full counts; for a trial run."""
SOAK_SECONDS = float(os.environ.get("WEFT_SOAK_SECONDS", "600"))


def count(full):
    """Return the number of faults of a run, at least one."""
    return max(1, round(full * SCALE))


def chance(*purpose):
    """Return a random source of its own for each purpose, the same for the same seed."""
    return random.Random(repr((SEED, *purpose)))
