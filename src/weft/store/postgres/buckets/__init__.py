"""Buckets of the graph of a namespace with several parts."""
