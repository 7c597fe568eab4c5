"""Rules that every document must meet, and small files in binary formats."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from weft.records import Document, Skipped

Load = Callable[..., list[Document | Skipped]]


def check_document(document: Document) -> None:
    """Raise unless a store can take the document and a citation can be made from it."""
    for text in (document.source, document.title, document.text):
        text.encode("utf-8")
        assert "\r" not in text and "\0" not in text
    json.dumps(document.metadata, ensure_ascii=False, allow_nan=False).encode("utf-8")
    lines = document.text.split("\n")
    assert lines == document.text.splitlines() or not lines[-1]
    assert document.lines is None or len(document.lines) == len(lines)


def only_document(results: Sequence[Document | Skipped]) -> Document:
    """Return the one result, which must be a document."""
    (result,) = results
    assert isinstance(result, Document), result
    return result


def only_reason(results: Sequence[Document | Skipped]) -> str:
    """Return the reason of the one result, which must be a skip."""
    (result,) = results
    assert isinstance(result, Skipped), result
    return result.reason


def make_pdf(pages: Sequence[str], *, info: str = "") -> bytes:
    """Return a PDF with the given pages, each of which holds lines of ASCII text."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * index} 0 R" for index in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {count} /Kids [{kids}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for index, page in enumerate(pages):
        shown = " ".join(f"({line}) Tj 0 -20 Td" for line in page.split("\n")) if page else ""
        content = f"BT /F1 12 Tf 72 700 Td {shown} ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * index} 0 R >>"
        )
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    objects.append(f"<< {info} >>")
    return _write_objects(objects)


def _write_objects(objects: Sequence[str]) -> bytes:
    """Return a PDF file; the first object is the catalogue and the last one the info."""
    data, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    return data + (
        f"xref\n0 {size}\n0000000000 65535 f \n{table}"
        f"trailer\n<< /Size {size} /Root 1 0 R /Info {size - 1} 0 R >>\nstartxref\n{len(data)}\n%%EOF\n"
    ).encode("latin-1")
