"""Graph algorithms on arrays: activation, expansion, paths, entity resolution. Pure functions."""
