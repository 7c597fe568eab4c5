"""File formats for graphs and facts. Start at `weft.exchange.read` and `weft.exchange.write`."""
