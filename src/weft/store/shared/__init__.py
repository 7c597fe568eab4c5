"""Rules that all stores share."""
