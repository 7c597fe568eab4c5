"""Exports of other programs: one module per program, registered in `load/run.py`."""
