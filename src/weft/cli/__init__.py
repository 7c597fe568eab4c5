"""Command line: parses arguments, calls the engine, prints. Start at `weft.cli.main`."""
