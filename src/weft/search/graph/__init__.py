"""Graph channel: walk, relations, and how far its ranking is trusted."""
