"""Zip packages of untrusted office files: limits on size and members, relationships, core properties."""

from __future__ import annotations

import io
import posixpath
import zipfile
from typing import NamedTuple

from weft.config import MEBIBYTE, LoadOptions
from weft.load.file_reader import PARSER_ERRORS, LoadError, too_large
from weft.load.line_map import collapse
from weft.load.metadata import Fields
from weft.load.office.xml_events import iter_events
from weft.text.decode import clean

MAX_COMPRESSION_RATIO = 100
"""Text compresses about 20:1. A file with a higher ratio is treated as a zip bomb."""
MIN_CHECKED_BYTES = MEBIBYTE
"""Expanded size below which the compression ratio is not checked."""
MAX_ZIP_MEMBERS = 20_000

_OLE_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""Container of a password-protected Office file and of the binary formats before 2007."""
_CORE = "docprops/core.xml"


class Relation(NamedTuple):
    """A relationship of a part of an Office Open XML package."""

    kind: str
    """Last component of its type: `slide`, `notesSlide`, `worksheet`."""
    target: str
    """Name of the part that it points to."""


class Package:
    """Members of a zip file whose sizes were checked; names are case-insensitive."""

    def __init__(self, data: bytes, *, kind: str, options: LoadOptions) -> None:
        self._kind = kind
        check_package(data, kind=kind, options=options)
        self._archive = zipfile.ZipFile(io.BytesIO(data))
        self._members = {member.filename.lower().lstrip("/"): member for member in self._archive.infolist()}

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._members

    def read(self, name: str) -> bytes:
        """Return the content of a member. Raises `LoadError` if it is missing, encrypted or broken."""
        member = self._members.get(name.lower())
        if member is None:
            raise LoadError("broken", f"{self._kind}: {name} is missing")
        if member.flag_bits & 1:
            raise LoadError("encrypted", f"{name} has a password")
        try:
            return self._archive.read(member)  # returns at most the declared number of bytes
        except (zipfile.BadZipFile, *PARSER_ERRORS) as error:
            raise LoadError("broken", f"{self._kind}: {error}") from error

    def relations(self, part: str) -> dict[str, Relation]:
        """Return the internal relationships of a part by id; empty if it has none."""
        folder, name = posixpath.split(part)
        place = posixpath.join(folder, "_rels", f"{name}.rels")
        found: dict[str, Relation] = {}
        for event in iter_events(self.read(place)) if place in self else ():
            if event.kind == "start" and event.name == "Relationship" and event.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, event.get("Target"))).lstrip("/")
                found[event.get("Id")] = Relation(event.get("Type").rpartition("/")[2], target)
        return found

    def properties(self) -> Fields:
        """Return title and author of an Office Open XML package."""
        return read_properties(self.read(_CORE)) if _CORE in self else {}


def check_package(data: bytes, *, kind: str, options: LoadOptions) -> None:
    """Raise `LoadError` unless the data is a zip file within the size limits."""
    if data.startswith(_OLE_SIGNATURE):
        raise LoadError("encrypted", "the file has a password, or is a renamed file of Office 2003 or older")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            members = package.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        raise LoadError("broken", f"{kind}: {error}") from error
    # A false size is harmless: zipfile returns at most the declared number of bytes.
    size = sum(member.file_size for member in members)
    if size > options.max_expanded_bytes:
        raise too_large(size, limit=options.max_expanded_bytes)
    if len(members) > MAX_ZIP_MEMBERS or (size > MIN_CHECKED_BYTES and size > MAX_COMPRESSION_RATIO * len(data)):
        raise LoadError("too large", f"the file expands from {len(data):,} to {size:,} bytes")


def read_properties(data: bytes) -> Fields:
    """Return `title` and `author` of Dublin Core elements, the first of each."""
    found: dict[str, str] = {}
    name, words = "", [""]
    for event in iter_events(data):
        if event.kind == "start":
            name, words = event.name, []
        elif event.kind == "text":
            words.append(event.name)
        else:
            text = collapse(clean("".join(words)))
            if name in ("title", "creator") and text:
                found.setdefault("author" if name == "creator" else name, text)
            name, words = "", []
    return dict(found)
