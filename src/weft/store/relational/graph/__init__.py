"""Graph of a namespace: what chunks state, entities and relations, and what questions derive from them."""
