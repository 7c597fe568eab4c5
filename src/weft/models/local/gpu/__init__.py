"""Local models on a GPU, in a process of their own that runs PyTorch."""
