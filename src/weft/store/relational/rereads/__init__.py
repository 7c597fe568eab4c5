"""Chunks that are read again after the transaction that changed a name in them."""
