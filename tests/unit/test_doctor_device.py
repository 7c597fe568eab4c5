"""`weft doctor` says which device and which graph run the local model."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.admin import doctor
from weft.admin.doctor import Finding, diagnose
from weft.config import read_settings
from weft.models.local import device as device_module
from weft.models.local.model_folder import CARD_FILE, InstalledModel
from weft.system.cores import usable_cores


def find_device_finding(tmp_path: Path, device: str) -> Finding:
    settings = read_settings(
        {"models.device": device, "models.cache_dir": str(tmp_path), "store.db": str(tmp_path / "no.db")}
    )
    (finding,) = [finding for finding in diagnose(settings) if finding.what == "device"]
    return finding


def test_without_a_model_the_number_of_texts_is_named(tmp_path: Path) -> None:
    """Which graph runs is known after the installation."""
    finding = find_device_finding(tmp_path, "cpu")

    assert finding.state == "ok"
    assert finding.detail == f"CPU, {usable_cores()} texts at once, one thread each"


@pytest.mark.parametrize("card, graph", [('{"precision": "float32"}', "float32"), ("{", "unknown"), ("{}", "unknown")])
def test_the_graph_is_named_as_the_installation_recorded_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, card: str, graph: str
) -> None:
    """A damaged record does not end the report."""
    (tmp_path / CARD_FILE).write_text(card)
    monkeypatch.setattr(doctor, "find_installed", lambda model, cache_dir: InstalledModel(folder=tmp_path))

    finding = find_device_finding(tmp_path, "cpu")

    assert finding.detail == f"CPU, {graph} graph, {usable_cores()} texts at once, one thread each"


def test_a_gpu_gets_documents_and_the_cpu_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Devices that were never run are marked."""
    monkeypatch.setattr(device_module, "find_spec", lambda name: object())

    assert "documents on cuda:1 through PyTorch" in find_device_finding(tmp_path, "cuda:1").detail
    assert "queries and small calls on the CPU" in find_device_finding(tmp_path, "cuda:1").detail
    assert "untested" not in find_device_finding(tmp_path, "cuda:1").detail
    assert "untested" in find_device_finding(tmp_path, "mps").detail
    assert "untested" in find_device_finding(tmp_path, "openvino").detail


def test_a_device_that_cannot_be_used_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the hint of the error."""
    monkeypatch.setattr(device_module, "find_spec", lambda name: None)

    missing, unknown = find_device_finding(tmp_path, "cuda"), find_device_finding(tmp_path, "tpu")

    assert (missing.state, unknown.state) == ("problem", "problem")
    assert "weft-search[torch]" in missing.hint
    assert "models.device" in unknown.hint
