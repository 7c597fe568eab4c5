"""File types: detection by name and signature, and titles from file names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from weft.config import LoadOptions
from weft.records import Document, Skipped

TEXT_SUFFIXES = frozenset({".log", ".text", ".txt"})
LINE_SUFFIXES = frozenset({".jsonl", ".ndjson"})
_ARCHIVES = ".7z .bz2 .deb .dmg .gz .img .iso .jar .lz4 .msi .rar .rpm .tar .tgz .war .whl .xz .zip .zst"
_PICTURES = ".avif .bmp .gif .heic .ico .jpeg .jpg .png .psd .svg .tif .tiff .webp"
OCR_SUFFIXES = frozenset({".bmp", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"})
"""Images in which text can be recognised."""
_SOUND = ".aac .avi .flac .m4a .mkv .mov .mp3 .mp4 .ogg .opus .wav .webm"
_PROGRAMS = ".bin .class .dll .dylib .exe .o .pyc .pyd .so .wasm"
_DATA = ".db .npy .npz .onnx .parquet .pickle .pkl .safetensors .sqlite .sqlite3"
_OFFICE = ".doc .eot .otf .ppt .ttf .woff .woff2 .xls"
BINARY_SUFFIXES = frozenset(" ".join((_ARCHIVES, _PICTURES, _SOUND, _PROGRAMS, _DATA, _OFFICE)).split())
"""Files without text, or in formats without a loader."""

PACKAGE_SUFFIXES = frozenset({".docx", ".epub", ".odp", ".ods", ".odt", ".pptx", ".xlsx"})
"""Documents that are zip files."""
_PACKED_SUFFIXES = BINARY_SUFFIXES | PACKAGE_SUFFIXES | frozenset({".pdf"})
"""Files that are not text; a gzip file of them is binary."""

_ARCHIVE_SUFFIXES = frozenset(_ARCHIVES.split())


class Loader(Protocol):
    """Function that loads the documents of one file. Raises `LoadError` or `OSError`."""

    def __call__(self, path: Path, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
        """Yield the documents of a file and its skipped records."""


UPLOAD = "upload:"
"""Prefix of the source of an uploaded file; its name follows."""


def user_file_name(source: str) -> Path:
    """Return the original file name; an uploaded file has another name on disk."""
    return Path(source.removeprefix(UPLOAD).rpartition("/")[2])


_GENERIC_STEMS = frozenset(
    "authors changelog changes config contributing contributors copying copyright credits history index init install "
    "installation licence license main makefile metadata mod news notice overview package readme settings setup thanks "
    "todo".split()
)
"""Stems of files that occur in many folders, so the folder becomes part of the title."""


def file_title(source: str, *, with_extension: bool = False) -> str:
    """Return the title of a document from its file name; a generic name gets its folder: `auth/README`."""
    name, folder = user_file_name(source), Path(source.removeprefix(UPLOAD)).parent.name
    title = name.name if with_extension else name.stem
    return f"{folder}/{title}" if folder and name.stem.lower().strip("_") in _GENERIC_STEMS else title


def is_line_based(path: Path) -> bool:
    """Return True if a file is JSON Lines, plain or compressed."""
    name = path.name.lower().removesuffix(".gz")
    return any(name.endswith(suffix) for suffix in LINE_SUFFIXES)


def is_gzip_text(path: Path) -> bool:
    """Return True if a name says that a file is a compressed text: `notes.md.gz`, but not `backup.tar.gz`."""
    inner = path.with_suffix("").suffix.lower()
    return path.suffix.lower() == ".gz" and inner not in _PACKED_SUFFIXES and not is_line_based(path)


def is_binary(path: Path, *, ocr: bool = False) -> bool:
    """Return True for the extension of a binary format; with `ocr`, not for images. A zip file may be an export."""
    suffix = path.suffix.lower()
    if ocr and suffix in OCR_SUFFIXES:
        return False
    is_readable = suffix == ".zip" or is_line_based(path) or is_gzip_text(path)
    return suffix in BINARY_SUFFIXES and not is_readable


_SIGNATURES = (
    b"PK\x03\x04",  # zip and formats based on it
    b"PK\x05\x06",
    b"\x1f\x8b",  # gzip
    b"\x1f\x9d",  # compress
    b"BZh",
    b"\xfd7zXZ\x00",
    b"7z\xbc\xaf\x27\x1c",
    b"Rar!\x1a\x07",
    b"\x28\xb5\x2f\xfd",  # zstd
    b"\x04\x22\x4d\x18",  # lz4
)
_TAR_SIGNATURE_AT = slice(257, 262)


def is_archive(name: str, head: bytes) -> bool:
    """Return True for an archive or compressed file, by name or by its first 512 bytes; False for office files."""
    if any(f".{part}" in _ARCHIVE_SUFFIXES for part in name.lower().split(".")[1:]):
        return True
    is_packed = head.startswith(_SIGNATURES) or head[_TAR_SIGNATURE_AT] == b"ustar"
    return is_packed and Path(name.lower()).suffix not in PACKAGE_SUFFIXES
