"""
Download of one web page, from public addresses only.

A name is resolved once, all its addresses are checked, and the connection goes to a checked address: a name that
changes its address in between leads nowhere else. The same holds for every redirect.

| address | |
| --- | --- |
| `https://example.org/guide` | read |
| `https://localhost/`, `http://10.0.0.1/`, `http://[::1]/`, `http://169.254.169.254/` | refused |
| `http://2130706433/`, `http://[::ffff:127.0.0.1]/` | refused: other spellings of loopback |
| `https://user:secret@example.org/`, `ftp://example.org/` | refused |
| a name with a public and a private address | refused |
"""

from __future__ import annotations

import socket
import ssl
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from pathlib import Path
from urllib.parse import SplitResult, quote, urljoin, urlsplit, urlunsplit

from weft.config import LoadOptions
from weft.errors import InputError
from weft.load.file_types import Loader
from weft.load.formats.html import load_html
from weft.load.formats.markdown import load_markdown
from weft.load.formats.plain import load_plain
from weft.load.run import load_file
from weft.records import Document, Skipped

MAX_REDIRECTS = 5
MAX_SECONDS = 30.0
"""Maximum time from the first request to the last byte, redirects included."""
PORTS = {"http": 80, "https": 443}
LOADERS: dict[str, Loader] = {
    "text/html": load_html,
    "application/xhtml+xml": load_html,
    "text/markdown": load_markdown,
    "text/plain": load_plain,
}
"""Loader by media type; others are refused."""
ENCODINGS = ("utf", "us-ascii", "iso-8859", "windows-", "cp", "latin", "gb", "big5", "shift", "euc-", "koi8")
"""Beginnings of encodings that a server may state; others, such as `punycode`, are slow or no encodings of pages."""
_NAT64 = IPv6Network("64:ff9b::/96")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_READ_BYTES = 64 * 1024
_SAVE = "save the page to a file, and index the file"


def _resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a host, in the order of the system."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _connect(address: str, port: int, seconds: float) -> socket.socket:
    return socket.create_connection((address, port), timeout=seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """Name resolution and connections; tests replace both."""

    resolve: Callable[[str, int], Sequence[str]] = _resolve
    connect: Callable[[str, int, float], socket.socket] = _connect
    seconds: float = MAX_SECONDS


def load_page(url: str, *, options: LoadOptions, network: Network | None = None) -> Iterator[Document | Skipped]:
    """Yield the document of a web page; its source is the address without fragment. Raises `InputError`."""
    network = network or Network()
    source = url.partition("#")[0]
    body, type = _Download(network, max_bytes=options.max_file_bytes).read(source)
    media = type.partition(";")[0].strip().lower()
    if media not in LOADERS:
        raise InputError(f"{source!r} is of type {media or 'unknown'!r}", hint=_SAVE)
    with tempfile.TemporaryDirectory(prefix="weft-page-") as folder:
        path = Path(folder) / "page"
        path.write_bytes(_recoded(body, type))
        yield from load_file(path, source=source, options=options, loader=LOADERS[media])


def check_addresses(host: str, addresses: Sequence[str]) -> None:
    """Raise `InputError` unless all addresses of a host are public."""
    if not addresses or not all(map(is_public, addresses)):
        raise InputError(f"{host!r} is not a public host", hint=_SAVE)


def is_public(address: str) -> bool:
    """Return True for a public unicast address; an address that contains another is as public as that one."""
    found = ip_address(address.partition("%")[0])
    inner = _embedded(found) if isinstance(found, IPv6Address) else None
    if inner is not None:
        return is_public(str(inner))
    return found.is_global and not (found.is_multicast or found.is_reserved or found.is_unspecified)


def _embedded(address: IPv6Address) -> IPv4Address | None:
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)


class _Download:
    """One download: its redirects share the deadline and the limit of bytes."""

    def __init__(self, network: Network, *, max_bytes: int) -> None:
        self._network = network
        self._max_bytes = max_bytes
        self._socket: socket.socket | None = None
        self._is_late = False

    def read(self, url: str) -> tuple[bytes, str]:
        """Return the body and its media type."""
        timer = threading.Timer(self._network.seconds, self._stop)
        timer.daemon = True
        timer.start()
        try:
            for _ in range(MAX_REDIRECTS + 1):
                found = self._get(url)
                if not isinstance(found, str):
                    return found
                if url.lower().startswith("https:") and not found.lower().startswith("https:"):
                    raise InputError(f"{url!r} leads to an unencrypted page", hint=_SAVE)
                url = found
        except (OSError, HTTPException, UnicodeError) as error:
            reason = "timeout" if self._is_late else str(error) or type(error).__name__
            raise InputError(f"cannot read {url!r}: {reason}", hint="check the address and the network") from error
        finally:
            timer.cancel()
        raise InputError(f"{url!r}: more than {MAX_REDIRECTS} redirects", hint=_SAVE)

    def _stop(self) -> None:
        self._is_late = True
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def _get(self, url: str) -> tuple[bytes, str] | str:
        """Return body and media type of a page, or the address that it redirects to."""
        parts, port = _split(url)
        host = (parts.hostname or "").encode("idna").decode("ascii") if parts.hostname else ""
        self._socket = self._connect(host, port)
        with closing(self._socket):
            if parts.scheme == "https":
                self._socket = ssl.create_default_context().wrap_socket(self._socket, server_hostname=host)
            connection = HTTPConnection(host, port, timeout=self._network.seconds)
            with closing(connection):
                connection.sock = self._socket
                target = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~") + (
                    "?" + quote(parts.query, safe="/%:@!$&'()*+,;=~?") if parts.query else ""
                )
                named = f"[{host}]" if ":" in host else host
                headers = {
                    "Host": named if port == PORTS[parts.scheme] else f"{named}:{port}",
                    "User-Agent": "weft",
                    "Accept": ", ".join(LOADERS),
                    "Accept-Encoding": "identity",
                }
                connection.request("GET", target, headers=headers)
                return self._answer(connection.getresponse(), url)

    def _connect(self, host: str, port: int) -> socket.socket:
        addresses = self._network.resolve(host, port)
        check_addresses(host, addresses)
        failure: OSError = OSError("no address")
        for address in addresses:
            if self._is_late:
                break
            try:
                return self._network.connect(address, port, self._network.seconds)
            except OSError as error:
                failure = error
        raise failure

    def _answer(self, response: HTTPResponse, url: str) -> tuple[bytes, str] | str:
        if response.status in _REDIRECTS and (to := response.headers.get("Location")):
            return urljoin(url, to)
        if response.status != 200:
            raise InputError(f"{url!r} answers with status {response.status}", hint="check the address")
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise InputError(f"{url!r} is compressed", hint=_SAVE)
        body = bytearray()
        while part := response.read(_READ_BYTES):
            body += part
            if len(body) > self._max_bytes:
                raise InputError(f"{url!r} has more than {self._max_bytes:,} bytes", hint="raise load.max_file_bytes")
        if self._is_late or (response.length or 0) > 0:
            raise OSError("the page is incomplete")
        return bytes(body), response.headers.get("Content-Type", "")


def _split(url: str) -> tuple[SplitResult, int]:
    """Return the parts of an address and its port. Raises `InputError`."""
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS.get(parts.scheme, 0)
    except ValueError as error:
        raise InputError(f"invalid address {url!r}: {error}", hint="pass an address such as https://…") from error
    if parts.scheme not in PORTS or not parts.hostname or not url.isprintable() or " " in url:
        raise InputError(f"invalid address {url!r}", hint="pass an address such as https://…")
    if parts.username is not None or parts.password is not None:
        shown = urlunsplit(parts._replace(netloc=parts.hostname))
        raise InputError(f"the address of {shown!r} contains a login", hint="leave it out: it would be stored")
    return parts, port


def _recoded(body: bytes, type: str) -> bytes:
    """Return a body in the encoding that the server states as UTF-8 with a byte order mark, which loaders obey."""
    _, _, name = type.lower().partition("charset=")
    name = name.partition(";")[0].strip().strip("\"'")
    try:
        return body.decode(name, "replace").encode("utf-8-sig") if name.startswith(ENCODINGS) else body
    except (LookupError, UnicodeError):
        return body
