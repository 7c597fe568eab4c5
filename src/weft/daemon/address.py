"""
Address of the daemon of one store and namespace.

Where Unix sockets exist, it is a socket in a folder that only the user can enter. Elsewhere it is a port on loopback;
a file of the user holds the port and a token, which every request must contain.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from platformdirs import user_runtime_path

from weft.private_files import FOLDER_MODE
from weft.temporary_files import temporary_file

if sys.platform != "win32":
    import fcntl

HAS_UNIX_SOCKETS = hasattr(socket, "AF_UNIX") and sys.platform != "win32"
MAX_SOCKET_PATH = 100
"""Maximum length of the path of a socket; operating systems allow 104 to 108 bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Files of a daemon: `NAME.sock`, or `NAME.json` with port and token, and `NAME.lock`."""

    folder: Path
    name: str
    is_unix: bool = HAS_UNIX_SOCKETS

    @property
    def socket_path(self) -> Path:
        """Path of the Unix socket."""
        return self.folder / f"{self.name}.sock"

    @property
    def port_file(self) -> Path:
        """Path of the file with port and token."""
        return self.folder / f"{self.name}.json"

    def connect(self, *, seconds: float) -> tuple[socket.socket, str]:
        """Return a connection and the token for it. Raises `OSError` if no daemon listens."""
        if self.is_unix:
            made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            target: str | tuple[str, int] = str(self.socket_path)
            token = ""
        else:
            try:
                found = json.loads(self.port_file.read_text("utf-8"))
                target, token = ("127.0.0.1", int(found["port"])), str(found["token"])
            except (ValueError, KeyError, TypeError) as error:
                raise OSError(f"{str(self.port_file)!r} is damaged") from error
            made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.settimeout(seconds)
        try:
            made.connect(target)
        except OSError:
            made.close()
            raise
        return made, token

    def listen(self, token: str) -> socket.socket:
        """Return a listening socket that only this user can reach. Raises `OSError`."""
        if self.is_unix:
            self.socket_path.unlink(missing_ok=True)
            made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            made.bind(str(self.socket_path))
            self.socket_path.chmod(0o600)
        else:
            made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            made.bind(("127.0.0.1", 0))
            with temporary_file(self.port_file) as partial:
                partial.write_text(json.dumps({"port": made.getsockname()[1], "token": token}), "utf-8")
                partial.chmod(0o600)
                partial.replace(self.port_file)
        made.listen(16)
        return made

    @contextmanager
    def claim(self) -> Iterator[bool]:
        """Lock this address for the block; yield False if another process has locked it."""
        if self._is_answered():
            yield False
            return
        with (self.folder / f"{self.name}.lock").open("a") as lock:
            yield _lock(lock)

    def _is_answered(self) -> bool:
        try:
            made, _ = self.connect(seconds=1)
            made.close()
            return True
        except OSError:
            return False

    def remove(self) -> None:
        """Delete the socket or the port file."""
        (self.socket_path if self.is_unix else self.port_file).unlink(missing_ok=True)


def find_address(db: str, namespace: str) -> Address:
    """Return the address of the daemon of a store and namespace. Its folder is created with mode 0700."""
    name = hashlib.sha256(f"{db}\0{namespace}".encode()).hexdigest()[:16]
    with warnings.catch_warnings():  # a runtime folder with wrong permissions is replaced
        warnings.simplefilter("ignore")
        folder = user_runtime_path("weft")
    if len(str(folder / f"{name}.sock")) > MAX_SOCKET_PATH or not _make_folder(folder):
        folder = Path(tempfile.gettempdir()) / f"weft-{_user_id()}"
        if not _make_folder(folder):
            raise OSError(f"{str(folder)!r} belongs to another user")
    return Address(folder=folder, name=name)


def _lock(file: IO[str]) -> bool:
    """Lock a file until it is closed; return False if another process has locked it. Windows has no such lock."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _make_folder(folder: Path) -> bool:
    """Create a folder for this user; return True if only this user can enter it."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
        if sys.platform == "win32":
            return True
        status = folder.lstat()
        if status.st_uid != os.getuid():
            return False
        folder.chmod(FOLDER_MODE)
        return folder.is_dir() and not folder.is_symlink()
    except OSError:
        return False


def _user_id() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else "user"
