"""Text recognition in images and scanned pages with RapidOCR, which carries its weights (extra `ocr`)."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from weft.config import LoadOptions
from weft.load.cpu_limit import cpu_limit
from weft.load.file_reader import PARSER_ERRORS, LoadError, missing_extra, read_bytes
from weft.load.file_types import file_title
from weft.load.line_map import join_numbered
from weft.records import Document

IMAGE_FORMATS = ("BMP", "JPEG", "PNG", "TIFF", "WEBP")
"""Decoders of Pillow that may run; it has more than thirty."""
MAX_PIXELS = 100_000_000
"""Larger images are skipped. A scanned page of A3 with 600 dots per inch has 70 million pixels."""
MAX_BOXES = 500
"""Positions kept in the metadata, which every result contains; a longer document has none."""


class OcrLine(NamedTuple):
    """A recognised line of an image."""

    text: str
    box: tuple[int, int, int, int]
    """Left, top, right and bottom in pixels."""


def load_image(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the single document of an image. Its `lines` are the pages of a TIFF, else 1."""
    data = read_bytes(path, options=options)
    with cpu_limit(options.max_cpu_seconds):
        pages = [(recognise(image), number) for number, image in enumerate(_iter_frames(data, options), start=1)]
    text, lines = join_numbered((page_text(found), number) for found, number in pages)
    if not text:
        raise LoadError("no text", "no text was recognised in the image")
    yield Document(
        source=source,
        title=file_title(source, with_extension=True),
        text=text,
        metadata={"ocr": True, **boxes_field([(number, line) for found, number in pages for line in found])},
        lines=lines,
        unit="page",
    )


def recognise(image: Any) -> list[OcrLine]:
    """Return the lines of a Pillow image, top to bottom. Raises `LoadError` if it is too large or broken."""
    width, height = image.size
    if width * height > MAX_PIXELS:
        raise LoadError("too large", f"an image of {width:,} × {height:,} pixels")
    import numpy as np

    try:
        found, _ = _open_recogniser()(np.asarray(image.convert("RGB")))
    except PARSER_ERRORS as error:
        raise LoadError("broken", f"image: {error}") from error
    return [OcrLine(str(text), _bounds(corners)) for corners, text, _ in found or ()]


def page_text(lines: Sequence[OcrLine]) -> str:
    """Return the recognised lines of a page as text."""
    return "".join(f"{line.text}\n" for line in lines)


def boxes_field(lines: Sequence[tuple[int, OcrLine]]) -> dict[str, list[Any]]:
    """Return the metadata `boxes`: page and box of each recognised line, `1:41,46,369,82`; empty if they are many."""
    boxes: list[Any] = [f"{page}:{','.join(map(str, line.box))}" for page, line in lines]
    return {"boxes": boxes} if len(boxes) <= MAX_BOXES else {}


def _iter_frames(data: bytes, options: LoadOptions) -> Iterator[Any]:
    try:
        from PIL import Image, ImageSequence
    except ImportError as error:
        raise missing_extra("rapidocr-onnxruntime", extra="ocr") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the size is checked here
            image = Image.open(io.BytesIO(data), formats=IMAGE_FORMATS)
            for number, frame in enumerate(ImageSequence.Iterator(image), start=1):
                if number > options.max_pages:
                    raise LoadError("too large", f"more than {options.max_pages:,} pages; that is load.max_pages")
                yield frame
    except (Image.DecompressionBombError, SyntaxError, *PARSER_ERRORS) as error:
        raise LoadError("broken", f"image: {error}") from error


@lru_cache(maxsize=1)
def _open_recogniser() -> Any:
    """Return the recogniser, on one thread: parsing must not take the cores of a server."""
    try:
        from rapidocr_onnxruntime import RapidOCR
    except ImportError as error:
        raise missing_extra("rapidocr-onnxruntime", extra="ocr") from error
    return RapidOCR(intra_op_num_threads=1, inter_op_num_threads=1)


def _bounds(corners: Sequence[Sequence[float]]) -> tuple[int, int, int, int]:
    across, down = [corner[0] for corner in corners], [corner[1] for corner in corners]
    return round(min(across)), round(min(down)), round(max(across)), round(max(down))
