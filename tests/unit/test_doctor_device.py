"""`weft doctor` says which device and which graph run the local model."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.admin import doctor
from weft.admin.doctor import Finding, diagnose
from weft.config import read_settings
from weft.models.local import device as device_module
from weft.models.local import graph_calibration
from weft.models.local.graph_calibration import RunPlan
from weft.models.local.model_folder import InstalledModel


def find_device_finding(tmp_path: Path, device: str) -> Finding:
    settings = read_settings(
        {"models.device": device, "models.cache_dir": str(tmp_path), "store.db": str(tmp_path / "no.db")}
    )
    (finding,) = [finding for finding in diagnose(settings) if finding.what == "device"]
    return finding


def remember(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, plan: RunPlan) -> None:
    """Pretend that the model is installed and calibrated."""
    monkeypatch.setattr(doctor, "find_installed", lambda model, cache_dir: InstalledModel(folder=tmp_path))
    monkeypatch.setattr(graph_calibration, "read_plan", lambda installed, cores: plan)


def test_before_the_calibration_the_installed_graph_runs(tmp_path: Path) -> None:
    """Also without an installed model."""
    finding = find_device_finding(tmp_path, "cpu")

    assert finding.state == "ok"
    assert finding.detail.startswith("CPU")
    assert finding.detail.endswith("not calibrated yet")


@pytest.mark.parametrize(
    "plan, runs",
    [
        (RunPlan(precision="float32", workers=8, texts_per_second=310.4), "8 texts at once, 1 thread each"),
        (RunPlan(precision="float32", workers=1, threads=8, texts_per_second=310.4), "8 threads"),
    ],
)
def test_after_it_the_graph_and_its_rate_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plan: RunPlan, runs: str
) -> None:
    """The rate is that of the calibration."""
    remember(monkeypatch, tmp_path, plan)

    finding = find_device_finding(tmp_path, "cpu")

    assert finding.detail == f"CPU, float32 graph, {runs}, 310 texts/s when calibrated"


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
