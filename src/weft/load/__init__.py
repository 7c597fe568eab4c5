"""Loaders: files, folders and plain text to `Document` records. Start at `weft.load.run`."""
