"""Citation search over papers."""
