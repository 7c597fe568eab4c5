"""Local embedding model: catalog, download, ONNX graph, inference."""
