"""Write path of an engine: its steps, runs and receipts."""
