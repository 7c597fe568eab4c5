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


def is_line_based(path: Path) -> bool:
    """Tell whether a file holds JSON Lines, packed or not, and is read line by line."""
    name = path.name.lower().removesuffix(".gz")
    return any(name.endswith(suffix) for suffix in LINE_SUFFIXES)


def is_binary(path: Path) -> bool:
    """Tell whether a file's name alone rules it out."""
    return path.suffix.lower() in BINARY_SUFFIXES and not is_line_based(path)
