"""What a file's name says about its content."""

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
"""Files without text, or in formats we have no loader for."""


_ARCHIVE_SUFFIXES = frozenset(_ARCHIVES.split())

UPLOAD = "upload:"
"""What the source of an uploaded file begins with; its name follows."""


def own_name(source: str) -> Path:
    """Return the name that users know a file by, which an uploaded one does not have on disk."""
    return Path(source.removeprefix(UPLOAD).rpartition("/")[2])


_EVERYWHERE = frozenset(
    "authors changelog changes config contributing contributors copying copyright credits history index init install "
    "installation licence license main makefile metadata mod news notice overview package readme settings setup thanks "
    "todo".split()
)
"""Names of files that any folder may hold one of."""


def file_title(source: str, *, ending: bool = False) -> str:
    """Return what a document without a title is called: its file, and where such a file is in any folder, that too."""
    name, folder = own_name(source), Path(source.removeprefix(UPLOAD)).parent.name
    title = name.name if ending else name.stem
    return f"{folder}/{title}" if folder and name.stem.lower().strip("_") in _EVERYWHERE else title


def is_line_based(path: Path) -> bool:
    """Tell whether a file holds JSON Lines, packed or not, and is read line by line."""
    name = path.name.lower().removesuffix(".gz")
    return any(name.endswith(suffix) for suffix in LINE_SUFFIXES)


def is_binary(path: Path) -> bool:
    """Tell whether a file's name alone rules it out."""
    return path.suffix.lower() in BINARY_SUFFIXES and not is_line_based(path)


_SIGNATURES = (
    b"PK\x03\x04",  # zip, and everything that is one
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
_TAR = slice(257, 262)


def is_archive(name: str, beginning: bytes) -> bool:
    """Tell whether a file is an archive or packed, by its name or by its first 512 bytes. A DOCX is a document."""
    if any(f".{part}" in _ARCHIVE_SUFFIXES for part in name.lower().split(".")[1:]):
        return True
    packed = beginning.startswith(_SIGNATURES) or beginning[_TAR] == b"ustar"
    return packed and not name.lower().endswith(".docx")
