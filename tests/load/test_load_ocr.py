"""Images and scanned PDF pages. Recognition itself runs only where the extra `ocr` is installed."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from loading import Load, only_document, only_reason

from weft.load.formats import ocr
from weft.load.formats.ocr import OcrLine, boxes_field
from weft.records import Skipped


def scan(*texts: str, size: tuple[int, int] = (900, 300)) -> object:
    """Return a picture of some lines."""
    image_module = pytest.importorskip("PIL.Image", reason="Pillow is missing: pip install '.[ocr]'")
    from PIL import ImageDraw, ImageFont

    image = image_module.new("RGB", size, "white")
    for number, text in enumerate(texts):
        ImageDraw.Draw(image).text((40, 40 + 100 * number), text, fill="black", font=ImageFont.load_default(36))
    return image


def encode(image: object, kind: str, **options: object) -> bytes:
    """Return the image as a file."""
    stream = io.BytesIO()
    image.save(stream, kind, **options)  # type: ignore[attr-defined]
    return stream.getvalue()


def test_images_are_binary_unless_recognition_is_asked_for(load: Load, tmp_path: Path) -> None:
    """A repository has many pictures, and a page takes seconds."""
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")

    assert only_reason(load()) == "binary"
    assert only_reason(load(ocr=True)) in ("broken", "missing extra")


def test_without_the_extra_the_command_is_named(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user learns what to install."""
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    (tmp_path / "a.png").write_bytes(b"x")

    (skipped,) = load(ocr=True)

    assert isinstance(skipped, Skipped) and skipped.reason == "missing extra"
    assert "pip install 'weft-search[ocr]'" in skipped.detail


def test_boxes_of_a_long_document_are_left_out() -> None:
    """Every result carries the metadata."""
    line = OcrLine("words", (1, 2, 3, 4))

    assert boxes_field([(2, line)]) == {"boxes": ["2:1,2,3,4"]}
    assert boxes_field([(2, line)] * (ocr.MAX_BOXES + 1)) == {}


def test_text_of_an_image_and_of_a_scanned_pdf_is_recognised(load: Load, tmp_path: Path) -> None:
    """Page and box of each line are kept; a page with text is not recognised again."""
    pytest.importorskip("rapidocr_onnxruntime", reason="RapidOCR is missing: pip install '.[ocr]'")
    first, second = scan("Harbour log", "The master is Ada"), scan("Second page")
    (tmp_path / "a.png").write_bytes(encode(first, "PNG"))
    (tmp_path / "c.tif").write_bytes(encode(first, "TIFF", save_all=True, append_images=[second]))
    (tmp_path / "b.pdf").write_bytes(encode(first, "PDF", save_all=True, append_images=[second]))
    image, pdf, tiff = (only_document([item]) for item in load(ocr=True))

    assert image.text == "Harbour log\nThe master is Ada"
    assert image.unit == "page" and image.metadata["ocr"] is True
    left, top, right, bottom = map(int, str(image.metadata["boxes"][0]).removeprefix("1:").split(","))  # type: ignore[index]
    assert 30 < left < right < 400 and 30 < top < bottom < 110
    for document in (pdf, tiff):
        # recognition may lose a space in a compressed picture
        assert document.text.replace(" ", "").split() == ["Harbourlog", "ThemasterisAda", "Secondpage"]
        assert (document.lines or ())[-1] == 2


def test_hostile_images_are_skipped(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut files, other formats under the name of an image, and pictures of too many pixels."""
    whole = encode(scan("x"), "PNG")
    (tmp_path / "a.png").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "b.png").write_bytes(encode(scan("x"), "GIF"))
    (tmp_path / "c.jpg").write_bytes(b"<svg/>")
    monkeypatch.setattr(ocr, "MAX_PIXELS", 1000)
    (tmp_path / "d.png").write_bytes(whole)

    reasons = [getattr(item, "reason", "") for item in load(ocr=True)]
    assert reasons[1:] == ["broken", "broken", "too large"] and reasons[0] in ("broken", "too large")
