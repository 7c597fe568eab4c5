"""
Process of a model on a GPU, seen from its parent. It has an interpreter lock of its own.

    parent   description of the model, then lists of texts
    child    an answer to each:

    ["ready"]               the model is on the device
    ["vectors"]             one vector per text follows, as float32
    ["error", text, hint]   a `ModelUnavailable`
    ["missing", package]    a package that cannot be imported
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import asdict
from threading import Lock
from typing import Any, cast

import numpy as np

from weft.errors import MissingExtra, ModelUnavailable
from weft.models.local.catalog import LocalModel
from weft.models.local.model_folder import InstalledModel
from weft.processes.child import python_command
from weft.processes.child_process import ChildFailure, ChildProcess
from weft.records import Vectors

MODULE = "weft.models.local.gpu.encoder_main"

PIPE_BYTES = 1 << 20
"""
Size of the pipes on Linux, the largest that any user may set; 64 KB without it.

After each read the thread that receives waits for the interpreter lock, up to 5 ms while another thread computes.
"""

MAX_TEXTS_PER_REQUEST = 4096
"""Texts of one request. A GPU is fully used by so many, and an interruption waits for no more."""

MAX_END_SECONDS = 5.0
"""Longest wait for the end of the process, which ends when its input closes."""


class EncoderProcess:
    """
    A child process that runs one model on one device of PyTorch. It starts with the first call.

    Threads may share it; it answers one call at a time. After an error it is started again by the next call.
    """

    def __init__(
        self, installed: InstalledModel, *, model: LocalModel, device: str, command: Sequence[str] | None = None
    ) -> None:
        self._description = {
            "folder": str(installed.folder.absolute()),
            "architecture": asdict(model.architecture),
            "max_tokens": model.max_tokens,
            "device": device,
        }
        self._dimension = model.architecture.hidden
        self._command = command
        self._lock = Lock()
        self._process: ChildProcess | None = None
        self._interruptions = 0
        """Number of interruptions. A call that started before the last interruption ends."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit-length row per text. Raises `ModelUnavailable` or `MissingExtra`."""
        interruptions = self._interruptions
        with self._lock:
            try:
                process = self._process or self._start()
                parts = []
                for start in range(0, len(texts), MAX_TEXTS_PER_REQUEST):
                    if self._interruptions != interruptions:
                        raise process.fail("ended", "was interrupted")
                    parts.append(self._request(process, texts[start : start + MAX_TEXTS_PER_REQUEST]))
            except (ChildFailure, OSError) as error:
                self._end()
                if self._interruptions != interruptions:
                    raise ModelUnavailable("embedding was interrupted", hint="run the command again") from error
                raise ModelUnavailable(
                    f"the process of the model on {self._description['device']!r} {error}",
                    hint="set models.device to cpu",
                ) from error
            except BaseException:
                self._end()
                raise
        return np.concatenate(parts) if len(parts) != 1 else parts[0]

    def interrupt(self) -> None:
        """End running calls of `embed`, and the process with them."""
        self._interruptions += 1
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End the process after its current call; the next call starts another one."""
        with self._lock:
            self._end()

    def _start(self) -> ChildProcess:
        """Start the process, and wait until the model is on the device."""
        command = self._command or python_command(MODULE)
        self._process = process = ChildProcess(command, buffer_bytes=PIPE_BYTES, pipe_bytes=PIPE_BYTES)
        self._finalizer = weakref.finalize(self, process.close, seconds=MAX_END_SECONDS)
        process.send(self._description)
        _check(process.receive())
        return process

    def _request(self, process: ChildProcess, texts: Sequence[str]) -> Vectors:
        process.send(list(texts))
        _check(process.receive())
        data = process.receive_data(max_bytes=4 * len(texts) * self._dimension)
        return cast(Vectors, np.frombuffer(data, np.float32).reshape(len(texts), self._dimension))

    def _end(self) -> None:
        """End the process if it runs."""
        process, self._process = self._process, None
        if process is not None:
            self._finalizer()


def _check(answer: list[Any]) -> None:
    """Raise `ModelUnavailable` or `MissingExtra` if an answer is an error."""
    match answer:
        case ["missing", str(package)]:
            raise MissingExtra(package, extra="torch")
        case ["error", str(message), str(hint)]:
            raise ModelUnavailable(message, hint=hint)
