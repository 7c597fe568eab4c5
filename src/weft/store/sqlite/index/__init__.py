"""Read index of a large namespace: files beside the SQLite file."""
