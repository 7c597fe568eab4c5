"""Text processing: decoding, normalisation, analysis, splitting. Pure functions."""
