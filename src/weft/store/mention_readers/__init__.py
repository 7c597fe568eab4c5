"""Processes that search the names of a first load in its texts, beside the process that writes."""
