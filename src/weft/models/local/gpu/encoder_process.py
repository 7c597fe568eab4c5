"""Process of a model on a GPU, seen from its parent. It has an interpreter lock of its own."""

from __future__ import annotations

import subprocess
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from io import RawIOBase
from threading import Lock
from typing import Any

import numpy as np

from weft.errors import MissingExtra, ModelUnavailable
from weft.models.local.catalog import LocalModel
from weft.models.local.gpu.encoder_messages import read_json, read_vectors, write_json
from weft.models.local.model_folder import InstalledModel
from weft.processes.child import python_command, start_process
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
        self._process: subprocess.Popen[bytes] | None = None
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
                        raise EOFError
                    parts.append(self._request(process, texts[start : start + MAX_TEXTS_PER_REQUEST]))
            except (EOFError, OSError) as error:
                code = self._end()
                if self._interruptions != interruptions:
                    raise ModelUnavailable("embedding was interrupted", hint="run the command again") from error
                raise ModelUnavailable(
                    f"the process of the model on {self._description['device']!r} failed with exit code {code}",
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

    def _start(self) -> subprocess.Popen[bytes]:
        """Start the process, and wait until the model is on the device."""
        self._process = process = start_process(self._command or python_command(MODULE), bufsize=0, pipesize=PIPE_BYTES)
        self._finalizer = weakref.finalize(self, _end_process, process)
        write_json(_pipe(process.stdin), self._description)
        _check(read_json(_pipe(process.stdout)))
        return process

    def _request(self, process: subprocess.Popen[bytes], texts: Sequence[str]) -> Vectors:
        write_json(_pipe(process.stdin), list(texts))
        answer = _check(read_json(_pipe(process.stdout)))
        return read_vectors(_pipe(process.stdout), rows=answer["rows"], columns=self._dimension)

    def _end(self) -> int | None:
        """End the process if it runs; return its exit code, None without a process."""
        process, self._process = self._process, None
        if process is None:
            return None
        self._finalizer()
        return process.returncode


def _end_process(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            _pipe(pipe).close()
    try:
        process.wait(MAX_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _pipe(pipe: object) -> RawIOBase:
    """Return the unbuffered pipe of a process."""
    assert isinstance(pipe, RawIOBase)
    return pipe


def _check(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer that is no error. Raises `ModelUnavailable` or `MissingExtra`."""
    match answer:
        case {"missing": str(package)}:
            raise MissingExtra(package, extra="torch")
        case {"error": str(message), "hint": str(hint)}:
            raise ModelUnavailable(message, hint=hint)
    return answer
