"""Text processing: decoding, normalisation, analysis, chunking, link syntax, ids. Pure functions."""
