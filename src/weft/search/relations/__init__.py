"""Questions about relations that the graph answers itself."""
