"""HTTP server: parses requests, calls the engine, responds in JSON."""
