"""Process that runs a model on a device of PyTorch, started by `encoder_process.py`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from weft.errors import MissingExtra, ModelUnavailable
from weft.models.local.catalog import Architecture
from weft.models.local.gpu.torch_encoder import TorchEncoder
from weft.models.local.model_folder import ONNX_FILE, TOKENIZER_FILE, InstalledModel, read_verified
from weft.models.local.text_tokenizer import TextTokenizer
from weft.models.local.weights import read_graph
from weft.processes.parent_connection import ParentConnection
from weft.records import Vectors


class Model:
    """Tokenizer and encoder of the model that the parent describes."""

    def __init__(self, description: Mapping[str, Any]) -> None:
        """Copy the weights to the device. Raises `MissingExtra` or `ModelUnavailable`."""
        installed = InstalledModel(folder=Path(description["folder"]))
        architecture = Architecture(**description["architecture"])
        weights = read_graph(read_verified(installed, name=ONNX_FILE), architecture=architecture)
        self._tokenizer = TextTokenizer(
            read_verified(installed, name=TOKENIZER_FILE), max_tokens=description["max_tokens"]
        )
        self._encoder = TorchEncoder(weights, architecture=architecture, device=description["device"])

    def encode(self, texts: list[str]) -> Vectors:
        """Return the vectors of texts. Raises `ModelUnavailable`."""
        return self._encoder.encode(self._tokenizer.encode_all(texts))


def main() -> None:
    """Answer requests until the parent ends."""
    parent = ParentConnection()
    try:
        requests = parent.requests()
        model = Model(next(requests))
        parent.send(["ready"])
        for texts in requests:
            vectors = np.ascontiguousarray(model.encode(texts), np.float32)
            parent.send(["vectors"], flush=False)
            parent.send_data(vectors.tobytes())
    except MissingExtra:
        parent.send(["missing", "torch"])
    except ModelUnavailable as error:
        parent.send(["error", str(error), error.hint])


if __name__ == "__main__":
    main()
