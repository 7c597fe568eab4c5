"""Rules shared by all stores."""
