"""Log of hooks and daemon: a file of the user, cut when it is long."""

from __future__ import annotations

import logging
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

from platformdirs import user_log_path

from weft.system.private_files import make_private_file, make_private_folder

MAX_LOG_BYTES = 1 << 20


def find_log() -> Path:
    """Return the path of the log."""
    return user_log_path("weft") / "hook.log"


def write_log(text: str) -> None:
    """Append a line; a log that cannot be written is ignored, because a hook must not fail its host."""
    with suppress(OSError):
        from weft.masking.mask import mask_secrets  # here, because most hooks log nothing

        path = _prepare()
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{now} {mask_secrets(' '.join(text[:4000].split()))[:2000]}\n")


def log_to_file() -> None:
    """Send messages of this process to the log."""
    with suppress(OSError):
        handler = logging.FileHandler(_prepare(), encoding="utf-8")
        handler.setFormatter(logging.Formatter("%(asctime)s daemon %(message)s"))
        logging.getLogger("weft").addHandler(handler)


def _prepare() -> Path:
    path = find_log()
    make_private_folder(path.parent)
    if path.is_file() and path.stat().st_size > MAX_LOG_BYTES:
        path.unlink()
    make_private_file(path)
    return path
