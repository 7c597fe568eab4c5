"""Read path: ranked and explained evidence for a question. Start at `weft.search.run`."""
