"""Files, folders and plain text to `Document` records; start at `weft.load.run`."""
