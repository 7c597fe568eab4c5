"""Facts: what they are worth, how they live, what is not worth keeping. Pure."""
