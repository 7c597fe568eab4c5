"""The HTTP door: parses requests, calls the engine, answers in JSON."""
