"""Weights are read correctly or refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import save
from tiny_model import HIDDEN, make_architecture, make_pack, make_safetensors, make_tensors, make_tokenizer

from weft.errors import ModelUnavailable
from weft.models.local.weights import read_pack, read_safetensors

PACK = make_architecture("holographic-pack", pooling="cls", position_offset=2)


def test_a_pack_has_the_tokenizer_inside() -> None:
    """It comes out byte by byte."""
    _, tokenizer = read_pack(make_pack()[0], architecture=PACK)

    assert tokenizer == make_tokenizer()


def test_a_pack_holds_values_before_scales() -> None:
    """Each quantised tensor reads as value times the scale of its group."""
    pack, tensors = make_pack()

    encoder, _ = read_pack(pack, architecture=PACK)

    np.testing.assert_array_equal(encoder.words, tensors["embeddings.word_embeddings.weight"])


def test_a_pack_with_scales_before_values_is_refused() -> None:
    """The order is verified, not assumed."""
    pack, _ = make_pack(scales_first=True)

    with pytest.raises(ModelUnavailable, match="values followed by their scales"):
        read_pack(pack, architecture=PACK)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda pack: b"NOTAPACK" + pack[8:], "begins with"),
        (lambda pack: pack[:8] + b"\xff" * 8 + pack[16:], "does not fit"),
        (lambda pack: pack[:16] + b"\xff" + pack[17:], "not JSON"),
        (lambda pack: pack[:-1], "instead of"),
        (lambda pack: pack + b"\0", "the file has"),
        (lambda pack: b"", "begins with"),
    ],
)
def test_a_damaged_pack_is_refused(change: object, complaint: str) -> None:
    """Every kind of damage has its message."""
    assert callable(change)

    with pytest.raises(ModelUnavailable, match=complaint):
        read_pack(change(make_pack()[0]), architecture=PACK)


def test_a_pack_of_another_architecture_is_refused() -> None:
    """The header must agree with the catalog."""
    pack, _ = make_pack()

    with pytest.raises(ModelUnavailable, match="another architecture"):
        read_pack(pack, architecture=replace(PACK, heads=8))
    with pytest.raises(ModelUnavailable, match="pooling"):
        read_pack(pack, architecture=replace(PACK, pooling="mean"))


def test_a_missing_tensor_is_named() -> None:
    """A file with other tensor names is another model."""
    tensors = make_tensors()
    del tensors["encoder.layer.1.output.dense.bias"]

    with pytest.raises(ModelUnavailable, match=r"encoder\.layer\.1\.output\.dense\.bias"):
        read_safetensors(save(tensors), architecture=make_architecture())


def test_weights_of_another_width_are_refused() -> None:
    """The hidden size is part of the architecture in the catalog."""
    with pytest.raises(ModelUnavailable, match="widths"):
        read_safetensors(make_safetensors(), architecture=replace(make_architecture(), hidden=2 * HIDDEN))


def test_a_file_that_is_no_safetensors_is_refused() -> None:
    """The reader reports what is wrong."""
    with pytest.raises(ModelUnavailable, match="cannot read the weights"):
        read_safetensors(b"nonsense", architecture=make_architecture())
