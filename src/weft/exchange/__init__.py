"""Ready-made graphs from files and back; start at `weft.exchange.read` and `weft.exchange.write`."""
