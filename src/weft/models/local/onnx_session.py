"""Inference with onnxruntime, with errors as `ModelUnavailable`."""

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

_LOG_FATAL = 4
"""Log level of onnxruntime. Lower levels also log errors that are raised."""

# onnxruntime's exceptions share no base class but Exception, and the set depends on the version.
_ERRORS: tuple[type[BaseException], ...] = tuple(
    value for value in vars(_state).values() if isinstance(value, type) and issubclass(value, Exception)
)


class OnnxSession:
    """
    A loaded ONNX graph of `build_model`. Thread-safe.

    A run uses only the calling thread.
    """

    def __init__(self, model: Path | bytes, *, provider: str = "") -> None:
        """Load the graph. A `provider` other than the CPU runs the operators that it supports."""
        if provider and provider not in onnxruntime.get_available_providers():
            raise ModelUnavailable(
                f"onnxruntime {onnxruntime.__version__} has no {provider!r}",
                hint="install a package of onnxruntime with it, or set models.device to cpu",
            )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = _LOG_FATAL
        source = model if isinstance(model, bytes) else str(model)
        providers = list(dict.fromkeys([*([provider] if provider else []), "CPUExecutionProvider"]))
        with _convert_errors():
            self._session: Any = onnxruntime.InferenceSession(source, options, providers=providers)

    def encode(self, token_ids: Sequence[int]) -> Vector:
        """Return the unit vector of one text. Raises `ModelUnavailable`."""
        with _convert_errors():
            (vectors,) = self._session.run(["embedding"], {"input_ids": np.array([token_ids], np.int64)})
        vector: Vector = vectors[0]
        return vector


@contextmanager
def _convert_errors() -> Iterator[None]:

    try:
        yield
    except _ERRORS as error:
        raise ModelUnavailable(
            f"onnxruntime {onnxruntime.__version__} cannot run the model: {str(error)[:300]}",
            hint="update onnxruntime, then run `weft models fetch` again",
        ) from error
