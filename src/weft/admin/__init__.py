"""Maintenance of stores: copy, import and export, calibrate, create tables, diagnose."""
