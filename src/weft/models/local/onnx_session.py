"""onnxruntime as we use it: one thread per run, its errors turned into ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as _state

from weft.errors import ModelUnavailable
from weft.records import Vector

_QUIET = 4
"""onnxruntime's log level `fatal`: what fails is raised as well, and we report it."""

# They have no base class of their own but Exception, and which ones exist depends on the version.
_ERRORS: tuple[type[BaseException], ...] = tuple(
    value for value in vars(_state).values() if isinstance(value, type) and issubclass(value, Exception)
)


class Runtime:
    """
    A loaded graph of `convert`.

    Every run uses the calling thread alone, so a text's vector does not depend on how many threads
    there are, and several threads may share one runtime.
    """

    def __init__(self, model: Path | bytes) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = _QUIET
        source = model if isinstance(model, bytes) else str(model)
        with _our_errors():
            self._session: Any = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])

    def encode(self, token_ids: Sequence[int]) -> Vector:
        """Return the unit vector of one text. Raises `ModelUnavailable`."""
        with _our_errors():
            (vectors,) = self._session.run(["embedding"], {"input_ids": np.array([token_ids], np.int64)})
        vector: Vector = vectors[0]
        return vector


@contextmanager
def _our_errors() -> Iterator[None]:
    try:
        yield
    except _ERRORS as error:
        raise ModelUnavailable(
            f"onnxruntime {onnxruntime.__version__} cannot run the model: {str(error)[:300]}",
            hint="update onnxruntime, then run `weft models fetch` again",
        ) from error
