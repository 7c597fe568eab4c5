"""Graph channel: walk, relations, trust in the graph ranking, fusion with the text channels."""
