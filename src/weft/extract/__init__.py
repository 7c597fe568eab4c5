"""Rules that read names, relations and facts out of text, without a model. Start at `weft.extract.rules`."""
