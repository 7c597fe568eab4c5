"""Answers: the best sentence of the passages, and sentences of a language model with their support."""
