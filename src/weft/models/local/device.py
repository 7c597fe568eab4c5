"""Choice of the device that runs a local model (`models.device`)."""

from __future__ import annotations

import ctypes.util
import re
import sys
from importlib.util import find_spec
from pathlib import Path

from weft.errors import ConfigError, MissingExtra

TORCH_DEVICES = ("cuda", "mps", "xpu")
"""Devices that run through PyTorch."""

_DEVICE = re.compile(r"(auto|cpu|mps|(?:cuda|xpu)(?::\d{1,3})?)")


def find_torch_device(device: str) -> str:
    """
    Return the device of PyTorch that `models.device` selects; empty for the CPU through onnxruntime.

    `auto` selects `cuda` if this machine has an NVIDIA driver and PyTorch is installed. PyTorch itself is not imported,
    because that takes seconds. Raises `ConfigError` for an unknown device, `MissingExtra` without PyTorch.
    """
    if not _DEVICE.fullmatch(device):
        known = ", ".join(("auto", "cpu", *TORCH_DEVICES))
        raise ConfigError(f"unknown device {device!r}", hint=f"set models.device to one of {known}")
    has_torch = find_spec("torch") is not None
    if device == "auto":
        return "cuda" if has_torch and has_nvidia_driver() else ""
    if device == "cpu":
        return ""
    if not has_torch:
        raise MissingExtra("torch", extra="torch")
    return device


def has_nvidia_driver() -> bool:
    """Return True if the driver of an NVIDIA GPU is loaded; it is not called."""
    if sys.platform == "win32":
        return ctypes.util.find_library("nvcuda") is not None
    return Path("/dev/nvidiactl").exists() or Path("/dev/dxg").exists()  # dxg: Windows Subsystem for Linux
