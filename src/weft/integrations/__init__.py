"""Adapters for other libraries: retrievers and tools."""
