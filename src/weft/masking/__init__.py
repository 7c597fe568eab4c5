"""Detection and masking of secrets: passwords, keys, tokens and card numbers. Everything stored passes `mask.py`."""
