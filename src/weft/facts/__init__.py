"""Facts: life cycle, score with decay, validation. Pure functions."""
