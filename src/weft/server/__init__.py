"""HTTP server: parses requests, calls the engine, answers in JSON."""
