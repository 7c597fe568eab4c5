"""Opening of engines: by the address of a store, and over several namespaces."""
