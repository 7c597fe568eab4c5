"""Graph channel: walk, relations, trust in its ranking, and the join with the text channels."""
