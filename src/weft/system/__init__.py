"""The machine: processor cores, private and temporary files, resources that load in the background."""
