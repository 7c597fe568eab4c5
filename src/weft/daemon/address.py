"""
Address of the daemon of one store and namespace.

Where Unix sockets exist, it is a socket in a folder that only the user can enter. Elsewhere it is a port on loopback;
a file of the user holds the port and a token, which every request must contain.

Every prompt of an agent host starts a process that imports this module, so it loads little: no dataclasses, pathlib
or tempfile, which take longer than the answer of the daemon.
"""

from __future__ import annotations

import hashlib
import os
import socket
import sys
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import IO

HAS_UNIX_SOCKETS = hasattr(socket, "AF_UNIX") and sys.platform != "win32"
MAX_SOCKET_PATH = 100
"""Maximum length of the path of a socket; operating systems allow 104 to 108 bytes."""
PROTOCOL = 2
"""Version of the messages, in the names of socket and port file: a client finds no daemon that speaks another one."""
FOLDER_MODE = 0o700
QUEUED_CONNECTIONS = 128
"""Connections that the operating system keeps until they are accepted; further ones fail at once on Unix sockets."""


class Address:
    """Files of a daemon: `NAME-2.sock`, or `NAME-2.json` with port and token, and `NAME.lock` for all versions."""

    __slots__ = ("_base", "is_unix", "name")

    def __init__(self, *, folder: str | Path, name: str, is_unix: bool = HAS_UNIX_SOCKETS) -> None:
        self.name, self.is_unix = name, is_unix
        self._base = os.path.join(folder, name)

    @property
    def socket_path(self) -> str:
        """Path of the Unix socket."""
        return f"{self._base}-{PROTOCOL}.sock"

    @property
    def port_file(self) -> str:
        """Path of the file with port and token."""
        return f"{self._base}-{PROTOCOL}.json"

    def connect(self, *, seconds: float) -> tuple[socket.socket, str]:
        """Return a connection and the token for it. Raises `OSError` if no daemon listens."""
        target: str | tuple[str, int] = self.socket_path
        token = ""
        if not self.is_unix:
            target, token = self._read_port()
        made = socket.socket(socket.AF_UNIX if self.is_unix else socket.AF_INET, socket.SOCK_STREAM)
        made.settimeout(seconds)
        try:
            made.connect(target)
        except OSError:
            made.close()
            raise
        return made, token

    def _read_port(self) -> tuple[tuple[str, int], str]:
        import json

        with open(self.port_file, encoding="utf-8") as file:
            text = file.read()
        try:
            found = json.loads(text)
            return ("127.0.0.1", int(found["port"])), str(found["token"])
        except (ValueError, KeyError, TypeError) as error:
            raise OSError(f"{self.port_file!r} is damaged") from error

    def listen(self, token: str) -> socket.socket:
        """Return a listening socket that only this user can reach. Raises `OSError`."""
        self.remove()
        if self.is_unix:
            made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            made.bind(self.socket_path)
            os.chmod(self.socket_path, 0o600)
        else:
            made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            made.bind(("127.0.0.1", 0))
            self._write_port(made.getsockname()[1], token)
        made.listen(QUEUED_CONNECTIONS)
        return made

    def _write_port(self, port: int, token: str) -> None:
        import json
        from pathlib import Path

        from weft.system.temporary_files import temporary_file

        target = Path(self.port_file)
        with temporary_file(target) as partial:
            partial.write_text(json.dumps({"port": port, "token": token}), "utf-8")
            partial.chmod(0o600)
            partial.replace(target)

    @contextmanager
    def claim(self) -> Iterator[bool]:
        """Lock this address for the block; yield False if another process has locked it."""
        if self._is_answered():
            yield False
            return
        with open(f"{self._base}.lock", "a", encoding="utf-8") as lock:
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
        try:
            os.unlink(self.socket_path if self.is_unix else self.port_file)
        except FileNotFoundError:
            return


def find_address(db: str, namespace: str) -> Address:
    """
    Return the address of the daemon of a store and namespace. Its folder is created with mode 0700.

    The folder is `weft` in `XDG_RUNTIME_DIR`, else `weft-UID` in the folder of temporary files. Raises `OSError` if the
    latter belongs to another user.
    """
    name = hashlib.sha256(f"{db}\0{namespace}".encode()).hexdigest()[:16]
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    folder = os.path.join(runtime, "weft")
    is_fit = os.path.isabs(runtime) and len(os.path.join(folder, f"{name}-{PROTOCOL}.sock")) <= MAX_SOCKET_PATH
    if not is_fit or not _make_folder(folder):
        folder = os.path.join(_temporary_folder(), f"weft-{_user_id()}")
        if not _make_folder(folder):
            raise OSError(f"{folder!r} belongs to another user")
    return Address(folder=folder, name=name)


def _temporary_folder() -> str:
    if sys.platform == "win32":
        import tempfile

        return tempfile.gettempdir()
    return os.environ.get("TMPDIR") or "/tmp"


def _lock(file: IO[str]) -> bool:
    """Lock a file until it is closed; return False if another process has locked it. Windows has no such lock."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _make_folder(folder: str) -> bool:
    """Create a folder for this user; return True if only this user can enter it."""
    try:
        _make_missing(folder)
        if sys.platform == "win32":
            return True
        if os.lstat(folder).st_uid != os.getuid() or os.path.islink(folder):
            return False
        os.chmod(folder, FOLDER_MODE)
        return os.path.isdir(folder)
    except OSError:
        return False


def _make_missing(folder: str) -> None:
    try:
        os.mkdir(folder, FOLDER_MODE)
    except FileExistsError:
        return


def _user_id() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else "user"
