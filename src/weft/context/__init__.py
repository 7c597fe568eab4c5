"""Text for a model out of results, inside a token budget. Pure functions."""
