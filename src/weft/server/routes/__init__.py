"""The routes of the HTTP state, one module for each group."""
