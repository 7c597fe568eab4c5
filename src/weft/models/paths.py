"""Where models and known vectors live on this machine."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_cache_path


def cache_dir(override: Path | None = None) -> Path:
    """Return the folder of everything that can be fetched or computed again; it may not exist yet."""
    return override if override is not None else user_cache_path("weft")
