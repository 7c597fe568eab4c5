"""Maintenance of stores: copy, import and export, calibrate, migrate tables, diagnose."""
