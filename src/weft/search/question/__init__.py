"""Analysis of the question: terms, names, features, choice of the method."""
