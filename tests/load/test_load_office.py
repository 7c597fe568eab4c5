"""PPTX, XLSX, OpenDocument, EPUB, RTF and compressed texts."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path

import pytest
from loading import Load, only_document, only_reason
from office_files import DRAWING, LAUGHS, core, epub, odf, pack, pptx, relations, row, shape, xlsx

from weft.records import Document

CELL = "<a:tc><a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody></a:tc>"
ROWS = "".join(
    f"<a:tr>{''.join(map(CELL.format, cells))}</a:tr>"
    for cells in (("berth", "depth"), ("north", "9 m"), ("south", "7 m"))
)
TABLE = f'<p:graphicFrame xmlns:a="{DRAWING}"><a:tbl><a:tblPr firstRow="1"/>{ROWS}</a:tbl></p:graphicFrame>'


def write(path: Path, members: Mapping[str, str | bytes]) -> None:
    """Write a zip file."""
    path.write_bytes(pack(members))


def test_slides_become_sections_in_the_order_of_the_presentation(load: Load, tmp_path: Path) -> None:
    """Titles, lists, tables and notes; numbers and footers are left out."""
    notes = (
        f'<n xmlns:a="{DRAWING}" xmlns:p="urn:p">{shape("Ask the pilot.", kind="body")}{shape("1", kind="sldNum")}</n>'
    )
    copy = '<p:x xmlns:m="urn:m"><m:AlternateContent><m:Fallback>{0}</m:Fallback></m:AlternateContent></p:x>'
    members = pptx(
        shape("Harbour", "plan", kind="ctrTitle") + shape("one", kind="body") + shape("two", kind="body", level=1),
        TABLE + shape("# box") + copy.format(shape("old")) + shape("7", kind="sldNum"),
    )
    members |= {
        "ppt/notes/n.xml": notes,
        "ppt/slides/_rels/slide1.xml.rels": relations(("notesSlide", "../notes/n.xml")),
    }
    write(tmp_path / "a.pptx", members)

    document = only_document(load())

    assert document.text == (
        "## Harbour plan\n\n- one\n  - two\n\n## Slide 2\n\n| berth: north | depth: 9 m |\n"
        "| berth: south | depth: 7 m |\n\n\\# box\n\nNotes: Ask the pilot."
    )
    assert (document.title, document.unit) == ("Harbour plan", "slide")
    assert set(list(document.lines or ())[:4]) == {1} and set(list(document.lines or ())[6:]) == {2}


def test_a_title_property_names_a_presentation_unless_a_program_wrote_it(load: Load, tmp_path: Path) -> None:
    """PowerPoint writes its own name."""
    slide = shape("Harbour", kind="title") + shape("text")
    write(tmp_path / "a.pptx", pptx(slide) | {"docProps/core.xml": core("Plan")})
    write(tmp_path / "b.pptx", pptx(slide) | {"docProps/core.xml": core("PowerPoint Presentation")})

    assert [getattr(item, "title", "") for item in load()] == ["Plan", "Harbour"]


def test_a_sheet_is_a_document_with_rows(load: Load, tmp_path: Path) -> None:
    """Each row repeats the column names; citations count rows of the sheet."""
    styles = (
        '<numFmts><numFmt numFmtId="170" formatCode="dd/mm/yyyy"/>'
        '<numFmt numFmtId="171" formatCode="[Red]0.0&quot;d&quot;"/></numFmts>'
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="170"/><xf numFmtId="9"/><xf numFmtId="171"/></cellXfs>'
    )
    strings = "<si><t>ship</t></si><si><r><t>Al</t></r><r><t>ba</t></r><rPh><t>x</t></rPh></si>"
    rows = (
        row("Arrivals", number=1) + "<row r='3'><c t='s'><v>0</v></c><c t='inlineStr'><is><t>day</t></is></c>"
        "<c t='inlineStr'><is><t>full</t></is></c><c t='inlineStr'><is><t>load</t></is></c></row>"
        "<row r='4'><c r='A4' t='s'><v>1</v></c><c r='B4' s='1'><v>46083</v></c><c r='C4' s='2'><v>0.25</v></c>"
        "<c r='D4' s='3'><v>0.10000000000000001</v></c><c r='E4' t='e'><v>#N/A</v></c></row>"
        "<row r='9'><c r='A9' t='b'><v>1</v></c><c r='B9' t='s'><v>99</v></c></row>"
    )
    write(tmp_path / "a.xlsx", xlsx(rows, "", row("x", 1) + row("y", 2), strings=strings, styles=styles))

    first, second = load()

    assert isinstance(first, Document) and isinstance(second, Document)
    assert first.text == "Arrivals\nship: Alba; day: 2026-03-02; full: 25%; load: 0.1\nship: TRUE"
    assert (first.source, first.title, first.unit) == ("a.xlsx#A", "a.xlsx › A", "row")
    assert list(first.lines or ()) == [1, 4, 9]
    assert first.metadata == {"sheet": "A", "columns": ["ship", "day", "full", "load"]}
    assert (second.source, second.text) == ("a.xlsx#C", "x; 1\ny; 2")


def test_opendocument_texts_presentations_and_sheets(load: Load, tmp_path: Path) -> None:
    """Headings, lists, tables, text boxes, slides and repeated cells; deleted text is left out."""
    cells = "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in ("ship", "load"))
    body = (
        "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>"
        '<text:h text:outline-level="1">Harbour<text:s text:c="2"/>log</text:h>'
        "<text:p>One<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Aside.</text:p>"
        "</text:note-body></text:note><text:line-break/>two</text:p>"
        "<text:list><text:list-item><text:p>first</text:p><text:list><text:list-item><text:p>inner</text:p>"
        "</text:list-item></text:list></text:list-item></text:list>"
        f"<table:table><table:table-header-rows><table:table-row>{cells}</table:table-row></table:table-header-rows>"
        '<table:table-row><table:table-cell table:number-columns-repeated="2"><text:p>9</text:p></table:table-cell>'
        "</table:table-row></table:table>"
    )
    slide = (
        '<draw:page><draw:frame presentation:class="title"><text:p>{0}</text:p></draw:frame><draw:frame>'
        "<text:p>body</text:p></draw:frame><presentation:notes><text:p>aside</text:p></presentation:notes></draw:page>"
    )
    empty = '<table:table-row table:number-rows-repeated="1048570"><table:table-cell/></table:table-row>'
    sheet = (
        f'<table:table table:name="S"><table:table-row>{cells}</table:table-row>{empty}<table:table-row>'
        "<table:table-cell><text:p>Alba</text:p></table:table-cell>"
        '<table:table-cell table:number-columns-repeated="99">'
        "<office:annotation><text:p>note</text:p></office:annotation><text:p>7</text:p></table:table-cell>"
        "</table:table-row></table:table>"
    )
    write(tmp_path / "a.odt", odf(f"<office:text>{body}</office:text>"))
    write(tmp_path / "b.odp", odf(slide.format("Start") + slide.format("") + "<draw:page/>"))
    write(tmp_path / "c.ods", odf(sheet))

    text, slides, table = load()

    assert isinstance(text, Document) and isinstance(slides, Document) and isinstance(table, Document)
    assert text.text == "# Harbour log\n\nAside.\n\nOne\ntwo\n\n- first\n  - inner\n\n| ship: 9 | load: 9 |"
    assert (text.title, text.unit) == ("Harbour log", "line")
    assert slides.text == "## Start\n\nbody\n\nNotes: aside\n\n## Slide 2\n\nbody\n\nNotes: aside"
    assert (slides.unit, (slides.lines or ())[-1]) == ("slide", 2)
    assert table.text == "ship: Alba; load: 7" + "; 7" * 98
    assert (table.source, table.unit, list(table.lines or ())) == ("c.ods#S", "row", [1_048_572])


def test_chapters_of_a_book_come_in_reading_order(load: Load, tmp_path: Path) -> None:
    """The spine decides; pages outside it are not read."""
    pages = ['<h1 id="x">Two</h1><p>b<a id="y"/>c</p>', "<p>unused</p>", "<html><title/><h1>One</h1><p>a</p></html>"]
    write(tmp_path / "a.epub", epub(*pages, spine='<itemref idref="c2"/><itemref idref="c0"/><itemref idref="no"/>'))

    document = only_document(load())

    assert document.text == "# One\n\na\n\n# Two\n\nbc"
    assert (document.title, document.unit) == ("The harbour", "chapter")
    assert ((document.lines or ())[0], (document.lines or ())[-1]) == (1, 2)


def test_rich_text_is_read_with_its_code_pages(load: Load, tmp_path: Path) -> None:
    """Headings, lists, tables, links and characters in three spellings; fonts and pictures are left out."""
    (tmp_path / "a.rtf").write_bytes(
        rb"{\rtf1\ansi\ansicpg1252\uc1{\fonttbl{\f0 Arial;}{\f1\fcharset134 SimSun;}}{\colortbl;\red0;}"
        rb"{\info{\title Harbour {log}}{\author Ann}}{\*\generator X;}"
        b"\n\\pard\\outlinelevel0 Caf\\'e9 \\u8364?\\par\r\n"
        rb"\pard {\f1 \'b8\'db\'bf\'da} \u-10179?\u-9089? a\~b\{\}\emdash"
        rb" {\field{\*\fldinst HYPERLINK x}{\fldrslt link}}\par"
        rb"\pard{\listtext\bullet}\ls1 item\par{\pict\bin4 }}{{ 00ff}"
        rb"\pard\intbl ship\cell load\cell day\cell\row\pard\intbl Alba\cell 7\cell 2\cell\row\pard last\par}"
    )

    document = only_document(load())

    assert document.text == "# Café €\n\n港口 👿 a b{}—link\n\n- item\n\n| ship: Alba | load: 7 | day: 2 |\n\nlast"
    assert document.metadata == {"title": "Harbour log", "author": "Ann"}


def test_compressed_texts_are_loaded_by_their_inner_name(load: Load, tmp_path: Path) -> None:
    """Archives and compressed binaries stay binary."""
    for name, data in {
        "a.md.gz": b"# Title\n\nwords",
        "b.csv.gz": b"name,port\na,1\n",
        "c.gz": b"plain words\n",
        "d.tar.gz": b"words",
        "e.gz": bytes(999),
        "f.xlsx.gz": b"words",
    }.items():
        (tmp_path / name).write_bytes(gzip.compress(data))

    found = load()

    texts = {item.source: item.text for item in found if isinstance(item, Document)}
    assert texts == {"a.md.gz": "# Title\n\nwords", "b.csv.gz": "name: a; port: 1", "c.gz": "plain words"}
    assert {getattr(item, "reason", "binary") for item in found} == {"binary"}


DEEP = f"<text:p>{'<text:span>' * 2000}x{'</text:span>' * 2000}</text:p>"
DOCTYPE = f"<!DOCTYPE d [{LAUGHS}]><d>&l9;</d>"
WIDE = "".join(f'<c r="XFD{n}"/>' for n in range(1, 9))
SHARED = xlsx("<row>" + "<c t='s'><v>0</v></c>" * 3000 + "</row>", strings=f"<si><t>{'x' * 30_000}</t></si>")
HOSTILE = {
    "bomb.pptx": pptx(shape("x")) | {"ppt/media/a.png": bytes(9_000_000)},
    "bomb.xlsx": xlsx(row("x")) | {"xl/media/a.png": bytes(9_000_000)},
    "bomb.odt": odf("<text:p>x</text:p>") | {"a.png": bytes(9_000_000)},
    "bomb.epub": epub("<p>x</p>") | {"a.png": bytes(9_000_000)},
    "laughs.pptx": pptx(shape("x")) | {"ppt/presentation.xml": DOCTYPE},
    "laughs.xlsx": xlsx(row("x")) | {"xl/sharedStrings.xml": DOCTYPE},
    "laughs.ods": odf("") | {"content.xml": DOCTYPE},
    "laughs.epub": epub("<p>x</p>") | {"OPS/book.opf": DOCTYPE},
    "deep.odt": odf(DEEP),
    "encoding.odt": odf("") | {"content.xml": b'<?xml version="1.0" encoding="utf-7"?><a/>'},
    "encoding.ods": odf("") | {"content.xml": b'<?xml version="1.0" encoding="zip"?><a/>'},
    "bytes.xlsx": xlsx(row("x")) | {"xl/worksheets/sheet0.xml": b"<a>\xff\xfe\x00</a>"},
    "missing.pptx": {"ppt/slides/slide1.xml": "<a/>"},
    "missing.xlsx": {"a": "b"},
    "missing.odp": {"a": "b"},
    "missing.epub": epub("<p>x</p>") | {"META-INF/container.xml": "<a/>"},
    "drm.epub": epub("<p>x</p>") | {"META-INF/encryption.xml": '<e><CipherReference URI="OPS/text/c%200.xhtml"/></e>'},
    "locked.odt": odf("<text:p>x</text:p>") | {"META-INF/manifest.xml": "<m><encryption-data/></m>"},
    "empty.xlsx": xlsx(f"<row>{WIDE}</row>"),
    "empty.pptx": pptx(""),
    "shared.xlsx": SHARED,
}
REASONS = {
    "bomb": "too large", "laughs": "broken", "deep": "broken", "encoding": "broken", "bytes": "broken",
    "missing": "broken", "drm": "encrypted", "locked": "encrypted", "empty": "no text", "shared": "too large",
}  # fmt: skip


def test_hostile_packages_are_skipped_with_a_reason(load: Load, tmp_path: Path) -> None:
    """Bombs, entities, deep nesting, wrong encodings and missing parts; the run goes on."""
    for name, members in HOSTILE.items():
        write(tmp_path / name, members)

    found = {item.source: getattr(item, "reason", "loaded") for item in load(max_file_bytes=5_000_000)}

    assert found == {name: REASONS[name.partition(".")[0]] for name in HOSTILE}


@pytest.mark.parametrize(
    "name, members",
    [
        ("a.pptx", pptx(shape("x"))),
        ("a.xlsx", xlsx(row("x", 1))),
        ("a.ods", odf('<table:table table:name="S"><table:table-row/></table:table>')),
        ("a.epub", epub("<p>x</p>")),
    ],
)
def test_a_truncated_or_damaged_package_is_broken(
    load: Load, tmp_path: Path, name: str, members: Mapping[str, str | bytes]
) -> None:
    """Every cut and every flipped part of the file ends in a document or a reason."""
    data = pack(members)
    for position in range(0, len(data), max(1, len(data) // 12)):
        (tmp_path / name).write_bytes(data[: position + 1])
        assert only_reason(load()) == "broken"
        (tmp_path / name).write_bytes(data[:position] + bytes([data[position] ^ 0xFF]) + data[position + 1 :])
        assert len(load()) == 1


@pytest.mark.parametrize(
    "data, reason",
    [
        (b"words", "broken"),
        (b"{\\rtf1 " + b"{" * 5000, "broken"),
        (b"{\\rtf1", "no text"),
        (b"{\\rtf1 \\", "no text"),
        (b"{\\rtf1 {\\pict \\bin99999999999 x", "no text"),
        (b"{\\rtf1\\ansicpg99999\\uc-5\\u99999999999 \\'zz{\\*\\x y}\\outlinelevel-1\\par", "loaded"),
        (b"{\\rtf1" + b"}" * 50 + b"x\\par", "loaded"),
    ],
)
def test_hostile_rich_text(load: Load, tmp_path: Path, data: bytes, reason: str) -> None:
    """Groups without end, lengths that lie, numbers out of range."""
    (tmp_path / "a.rtf").write_bytes(data)

    (item,) = load()

    assert getattr(item, "reason", "loaded") == reason


def test_a_compressed_text_is_not_unpacked_beyond_the_limit(load: Load, tmp_path: Path) -> None:
    """Neither a bomb nor a cut stream ends the run."""
    whole = gzip.compress(bytes(9_000_000))
    (tmp_path / "a.txt.gz").write_bytes(whole)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"words" * 99)[:-20])
    (tmp_path / "c.md.gz").write_bytes(b"words")

    assert [getattr(item, "reason", "") for item in load(max_file_bytes=1_000_000)] == ["too large", "broken", "broken"]
