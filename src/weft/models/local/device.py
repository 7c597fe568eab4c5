"""Choice of the device that runs a local model (`models.device`)."""

from __future__ import annotations

import ctypes.util
import re
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from weft.errors import ConfigError, MissingExtra

PROVIDERS = {
    "coreml": "CoreMLExecutionProvider",
    "directml": "DmlExecutionProvider",
    "openvino": "OpenVINOExecutionProvider",
    "onnx-cuda": "CUDAExecutionProvider",
}
"""Execution providers of onnxruntime by device. A package of onnxruntime contains some of them."""

_TORCH_DEVICE = re.compile(r"mps|(?:cuda|xpu)(?::\d{1,3})?")
_KNOWN = ", ".join(("auto", "cpu", "cuda", "mps", "xpu", *PROVIDERS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """Where a local model runs. Without either field, it runs on the CPU."""

    torch: str = ""
    """Device of PyTorch for large calls."""
    provider: str = ""
    """Execution provider of onnxruntime for all calls."""


def find_device(name: str) -> Device:
    """
    Return the device that `models.device` selects. Nothing is loaded.

    `auto` selects `cuda` if this machine has an NVIDIA driver and PyTorch is installed. PyTorch itself is not imported,
    because that takes seconds. Raises `ConfigError` for an unknown device, `MissingExtra` without PyTorch.
    """
    has_torch = find_spec("torch") is not None
    if name == "auto":
        return Device(torch="cuda" if has_torch and has_nvidia_driver() else "")
    if name == "cpu":
        return Device()
    if name in PROVIDERS:
        return Device(provider=PROVIDERS[name])
    if not _TORCH_DEVICE.fullmatch(name):
        raise ConfigError(f"unknown device {name!r}", hint=f"set models.device to one of {_KNOWN}")
    if not has_torch:
        raise MissingExtra("torch", extra="torch")
    return Device(torch=name)


def has_nvidia_driver() -> bool:
    """Return True if the driver of an NVIDIA GPU is loaded; it is not called."""
    if sys.platform == "win32":
        return ctypes.util.find_library("nvcuda") is not None
    return Path("/dev/nvidiactl").exists() or Path("/dev/dxg").exists()  # dxg: Windows Subsystem for Linux
