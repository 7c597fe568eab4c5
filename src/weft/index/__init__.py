"""Write path: documents and facts into a store. Start at `weft.index.run`."""
