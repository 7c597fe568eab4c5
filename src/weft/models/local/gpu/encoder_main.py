"""Process that runs a model on a device of PyTorch, started by `encoder_process.py`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from io import RawIOBase
from pathlib import Path
from typing import Any

from weft.errors import MissingExtra, ModelUnavailable
from weft.models.local.catalog import Architecture
from weft.models.local.gpu.encoder_messages import read_json, write_json, write_vectors
from weft.models.local.gpu.torch_encoder import TorchEncoder
from weft.models.local.model_folder import ONNX_FILE, TOKENIZER_FILE, InstalledModel, read_verified
from weft.models.local.text_tokenizer import TextTokenizer
from weft.models.local.weights import read_graph


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

    def answer(self, texts: list[str], outgoing: RawIOBase) -> None:
        """Write the vectors of texts. Raises `ModelUnavailable`."""
        vectors = self._encoder.encode(self._tokenizer.encode_all(texts))
        write_json(outgoing, {"rows": len(vectors)})
        write_vectors(outgoing, vectors)


def main() -> None:
    """Answer requests until standard input closes. It also closes when the parent ends."""
    incoming, outgoing = _claim_pipes()
    try:
        model = Model(read_json(incoming))
        write_json(outgoing, {"ready": True})
        while True:
            model.answer(read_json(incoming), outgoing)
    except MissingExtra:
        write_json(outgoing, {"missing": "torch"})
    except ModelUnavailable as error:
        write_json(outgoing, {"error": str(error), "hint": error.hint})
    except (EOFError, BrokenPipeError):  # the parent has ended
        pass


def _claim_pipes() -> tuple[RawIOBase, RawIOBase]:
    """Return the pipes of the parent, and redirect standard input and output to the null device."""
    incoming, outgoing = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    return os.fdopen(incoming, "rb", 0), os.fdopen(outgoing, "wb", 0)


if __name__ == "__main__":
    main()
