"""Doors into other libraries: their retrievers and tools, answered by the engine."""
