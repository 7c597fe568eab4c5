"""Detection of file types by name and signature, and titles from file names."""

from __future__ import annotations

from pathlib import Path

TEXT_SUFFIXES = frozenset({".adoc", ".asciidoc", ".log", ".org", ".rst", ".text", ".txt"})
LINE_SUFFIXES = frozenset({".jsonl", ".ndjson"})
_ARCHIVES = ".7z .bz2 .deb .dmg .gz .img .iso .jar .lz4 .msi .rar .rpm .tar .tgz .war .whl .xz .zip .zst"
_PICTURES = ".avif .bmp .gif .heic .ico .jpeg .jpg .png .psd .svg .tif .tiff .webp"
_SOUND = ".aac .avi .flac .m4a .mkv .mov .mp3 .mp4 .ogg .opus .wav .webm"
_PROGRAMS = ".bin .class .dll .dylib .exe .o .pyc .pyd .so .wasm"
_DATA = ".db .npy .npz .onnx .parquet .pickle .pkl .safetensors .sqlite .sqlite3"
_OFFICE = ".doc .epub .eot .odp .ods .odt .otf .ppt .pptx .ttf .woff .woff2 .xls .xlsx"
BINARY_SUFFIXES = frozenset(" ".join((_ARCHIVES, _PICTURES, _SOUND, _PROGRAMS, _DATA, _OFFICE)).split())
"""Files without text, or in formats without a loader."""

_ARCHIVE_SUFFIXES = frozenset(_ARCHIVES.split())

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


def is_binary(path: Path) -> bool:
    """Return True if the file extension belongs to a binary format. A zip file may hold conversations."""
    suffix = path.suffix.lower()
    return suffix in BINARY_SUFFIXES and suffix != ".zip" and not is_line_based(path)


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
    """Return True for an archive or compressed file, by name or by its first 512 bytes; False for DOCX."""
    if any(f".{part}" in _ARCHIVE_SUFFIXES for part in name.lower().split(".")[1:]):
        return True
    is_packed = head.startswith(_SIGNATURES) or head[_TAR_SIGNATURE_AT] == b"ustar"
    return is_packed and not name.lower().endswith(".docx")
