"""Small office files, written by hand so that every part can be wrong."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"
SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
ODF = "urn:oasis:names:tc:opendocument:xmlns"
ODF_NAMES = " ".join(
    f'xmlns:{name}="{ODF}:{name}:1.0"' for name in ("office", "text", "table", "draw", "presentation", "manifest")
)
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' if n else '<!ENTITY l0 "lollollol">' for n in range(10))


def pack(members: Mapping[str, str | bytes]) -> bytes:
    """Return a zip file."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def relations(*targets: tuple[str, str]) -> str:
    """Return a relationships part; the ids are r1, r2 …"""
    items = "".join(
        f'<Relationship Id="r{number}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, start=1)
    )
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{items}</Relationships>'
    )


def core(title: str) -> str:
    """Return core properties."""
    return (
        '<p:coreProperties xmlns:p="urn:p" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{title}</dc:title><dc:creator>Ann</dc:creator></p:coreProperties>"
    )


def shape(*paragraphs: str, kind: str = "", level: int = 0) -> str:
    """Return a shape of a slide; `kind` is the type of its placeholder."""
    placeholder = f'<p:ph type="{kind}"/>' if kind else ""
    runs = "".join(f'<a:p><a:pPr lvl="{level}"/><a:r><a:t>{text}</a:t></a:r></a:p>' for text in paragraphs)
    return f"<p:sp><p:nvSpPr><p:nvPr>{placeholder}</p:nvPr></p:nvSpPr><p:txBody>{runs}</p:txBody></p:sp>"


def pptx(*slides: str) -> dict[str, str | bytes]:
    """Return the members of a presentation whose slides are these shapes; slides are stored in reverse order."""
    names = f'xmlns:p="{SLIDES}" xmlns:a="{DRAWING}" xmlns:r="{RELATIONS}"'
    count = len(slides)
    ids = "".join(f'<p:sldId id="{255 + n}" r:id="r{n}"/>' for n in range(1, count + 1))
    members: dict[str, str | bytes] = {
        "ppt/presentation.xml": f"<p:presentation {names}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            *(("slide", f"slides/slide{count - n}.xml") for n in range(count)),
        ),
    }
    for number, slide in enumerate(slides):
        members[f"ppt/slides/slide{count - number}.xml"] = f"<p:sld {names}><p:spTree>{slide}</p:spTree></p:sld>"
    return members


def xlsx(*sheets: str, strings: str = "", styles: str = "", book: str = "") -> dict[str, str | bytes]:
    """Return the members of a workbook with sheets A, B … of these rows."""
    tabs = "".join(f'<sheet name="{chr(65 + n)}" sheetId="{n + 1}" r:id="r{n + 1}"/>' for n in range(len(sheets)))
    parts = [("worksheet", f"/xl/worksheets/sheet{n}.xml") for n in range(len(sheets))]
    members: dict[str, str | bytes] = {
        "xl/workbook.xml": f'<workbook xmlns="{SHEETS}" xmlns:r="{RELATIONS}">{book}<sheets>{tabs}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(
            *parts, ("sharedStrings", "sharedStrings.xml"), ("styles", "styles.xml")
        ),
        "xl/sharedStrings.xml": f'<sst xmlns="{SHEETS}">{strings}</sst>',
        "xl/styles.xml": f'<styleSheet xmlns="{SHEETS}">{styles}</styleSheet>',
    }
    for number, rows in enumerate(sheets):
        members[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{SHEETS}"><sheetData>{rows}</sheetData></worksheet>'
        )
    return members


def row(*values: str | int | float, number: int | None = None) -> str:
    """Return a row of a sheet; texts are written into their cells."""
    cells = "".join(
        f'<c t="inlineStr"><is><t>{value}</t></is></c>' if isinstance(value, str) else f"<c><v>{value}</v></c>"
        for value in values
    )
    return f"<row r='{number}'>{cells}</row>" if number else f"<row>{cells}</row>"


def odf(body: str) -> dict[str, str | bytes]:
    """Return the members of an OpenDocument file."""
    content = f"<office:document-content {ODF_NAMES}><office:body>{body}</office:body></office:document-content>"
    return {"mimetype": "x", "content.xml": content}


def epub(*chapters: str | bytes, spine: str = "") -> dict[str, str | bytes]:
    """Return the members of a book with these pages."""
    items = "".join(
        f'<item id="c{n}" href="text/c%20{n}.xhtml" media-type="application/xhtml+xml"/>' for n in range(len(chapters))
    )
    order = spine or "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    return {
        "META-INF/container.xml": '<container xmlns="urn:c"><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles>'
        "</container>",
        "OPS/book.opf": '<package xmlns="urn:o" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        f"<dc:title>The harbour</dc:title></metadata><manifest>{items}</manifest><spine>{order}</spine></package>",
        **{f"OPS/text/c {n}.xhtml": page for n, page in enumerate(chapters)},
    }
