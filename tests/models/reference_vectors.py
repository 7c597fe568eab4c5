"""
Reference vectors of the local models: fixed texts, and their vectors as the numpy encoder computes them in float32.

`reference_vectors.json` has one float16 vector per model and text, in base64. To write it again, with all models in the
cache:

    python tests/models/reference_vectors.py
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from weft.models.local.catalog import BGE_ZH, MODELS, LocalModel
from weft.models.local.model_folder import ONNX_FILE, TOKENIZER_FILE, InstalledModel, find_installed, read_verified
from weft.models.local.numpy_encoder import encode
from weft.models.local.text_tokenizer import TextTokenizer
from weft.models.local.weights import read_graph
from weft.records import Vectors

REFERENCE_FILE = Path(__file__).with_suffix(".json")

ENGLISH = (
    "river",
    "Which pump failed before the flood?",
    "The harbour of Lanternworks was closed for nine days after the crane fell into the water.",
    "def area(width: float, height: float) -> float:\n    return width * height",
    "2026-11-18 14:02:07 ERROR payment-gateway timeout after 30000 ms (attempt 3 of 3), order 88412",
    "El faro se apagó — ¿quién lo encendió otra vez? ☂",
    "Every morning the keeper counts the lamps, writes the number into the book and walks back along the quay. " * 20,
)
CHINESE = (
    "水泵坏了吗？",
    "三号水泵的压力是多少？",
    "水泵在洪水之前坏了，所以港口关闭了九天。",
    "错误：支付网关在 30000 毫秒后超时，订单 88412 没有完成。",
    "每天早上，守灯人先数灯，再把数字写进本子，然后沿着码头走回去。" * 20,
)
"""Short and long, prose, code and log lines; the last text is longer than the limit of some models."""


def reference_texts(model: LocalModel) -> tuple[str, ...]:
    """Return texts in a script that the model was trained on."""
    return CHINESE if model is BGE_ZH else ENGLISH


def compute_reference(installed: InstalledModel, *, model: LocalModel, texts: Sequence[str]) -> Vectors:
    """Return the vectors of numpy in float32, from the weights of the installed graph."""
    encoder = read_graph(read_verified(installed, name=ONNX_FILE), architecture=model.architecture)
    tokenizer = TextTokenizer(read_verified(installed, name=TOKENIZER_FILE), max_tokens=model.max_tokens)
    return np.stack(
        [encode(tokenizer.encode(text), encoder=encoder, architecture=model.architecture) for text in texts]
    )


def read_reference(model: LocalModel) -> Vectors:
    """Return the stored vectors of a model, one row per text, of unit length up to the rounding of float16."""
    rows = json.loads(REFERENCE_FILE.read_text())[model.name]
    return np.stack([np.frombuffer(base64.b64decode(row), "<f2") for row in rows]).astype(np.float32)


def main() -> None:
    """Write the file."""
    from weft.config import read_settings

    stored = {}
    for model in MODELS:
        installed = find_installed(model, cache_dir=read_settings({}).cache_dir)
        if installed is None:
            raise SystemExit(f"{model.name} is not installed")
        rows = compute_reference(installed, model=model, texts=reference_texts(model)).astype("<f2")
        stored[model.name] = [base64.b64encode(row.tobytes()).decode() for row in rows]
    REFERENCE_FILE.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
