"""Context text for a model, within a token budget, and JSON values of records. Pure functions."""
