"""Read path: a question in, ranked and explained evidence out. Start at `weft.search.run`."""
