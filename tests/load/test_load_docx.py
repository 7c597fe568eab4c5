"""DOCX."""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from loading import Load, only_document, only_reason

from weft.records import Skipped

LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' if n else '<!ENTITY l0 "lollollol">' for n in range(10))


def make_docx(text: str = "words") -> bytes:
    """Return a DOCX with one paragraph."""
    word, stream = docx.Document(), io.BytesIO()
    word.add_paragraph(text)
    word.save(stream)
    return stream.getvalue()


def replace_member(data: bytes, name: str, content: bytes) -> bytes:
    """Return the package with another content for one of its members."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            if member != name:
                new.writestr(member, old.read(member))
        new.writestr(name, content)
    return stream.getvalue()


def test_the_structure_of_a_document_becomes_markdown(load: Load, tmp_path: Path) -> None:
    """Headings, lists and tables come in the order of the body."""
    word = docx.Document()
    word.core_properties.title, word.core_properties.author = "Handbook", "Ann"
    word.add_heading("Welcome", level=0)
    word.add_heading("Services", level=2)
    word.add_paragraph("First\tline\nsecond")
    word.add_paragraph("one", style="List Bullet")
    word.add_paragraph("two", style="List Number")
    table = word.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ["name", "owner", "auth", "Identity\nteam"], strict=True):
        cell.text = text
    word.add_paragraph("")
    word.add_paragraph("# after")
    word.save(str(tmp_path / "a.docx"))

    document = only_document(load())

    assert document.text == (
        "# Welcome\n\n## Services\n\nFirst line\nsecond\n\n- one\n- two\n\n"
        "| name | owner |\n| auth | Identity team |\n\n\\# after"
    )
    assert (document.title, document.form) == ("Handbook", "markdown")
    assert document.metadata == {"title": "Handbook", "author": "Ann"}


@pytest.mark.parametrize(
    "rows, is_marked, text",
    [
        (["ship load day", "Alba 7 2"], False, "| ship: Alba | load: 7 | day: 2 |"),
        (["ship owner", "Alba Ann"], True, "| ship: Alba | owner: Ann |"),
        (["ship owner", "Alba Ann"], False, "| ship | owner |\n| Alba | Ann |"),
        (["ship", "Alba"], True, "ship\nAlba"),
    ],
)
def test_rows_of_a_table_repeat_its_header(
    load: Load, tmp_path: Path, rows: list[str], is_marked: bool, text: str
) -> None:
    """A marked header counts; otherwise three columns or numbers. Two columns may be terms and meanings."""
    word = docx.Document()
    table = word.add_table(rows=len(rows), cols=len(rows[0].split()))
    for cell, value in zip(table._cells, " ".join(rows).split(), strict=True):
        cell.text = value
    if is_marked:
        table.rows[0]._tr.get_or_add_trPr().append(parse_xml(f"<w:tblHeader {nsdecls('w')}/>"))
    word.save(str(tmp_path / "a.docx"))

    assert only_document(load()).text == text


def test_content_controls_tracked_changes_and_inner_tables_are_read(load: Load, tmp_path: Path) -> None:
    """Insertions count, deletions do not, and nothing appears twice."""
    word = docx.Document()
    word.add_paragraph("start")
    body = word.element.body
    body.insert(
        1,
        parse_xml(
            f"<w:sdt {nsdecls('w')}><w:sdtContent><w:p><w:pPr><w:tabs><w:tab w:val='left' w:pos='1'/></w:tabs>"
            "</w:pPr><w:ins><w:r><w:t>added</w:t></w:r></w:ins><w:del><w:r><w:delText>gone</w:delText></w:r>"
            "</w:del></w:p></w:sdtContent></w:sdt>"
        ),
    )
    body.insert(
        2,
        parse_xml(
            f"<w:tbl {nsdecls('w')}><w:tr><w:tc><w:tbl><w:tr><w:tc><w:p><w:r><w:t>in</w:t></w:r></w:p></w:tc>"
            "</w:tr></w:tbl><w:p><w:r><w:t>out</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
        ),
    )
    word.save(str(tmp_path / "a.docx"))

    assert only_document(load()).text == "start\n\nadded\n\nin out"


def test_without_a_title_the_first_heading_or_the_name_is_taken(load: Load, tmp_path: Path) -> None:
    """A heading of the first level is as good as a title."""
    (tmp_path / "plan.docx").write_bytes(make_docx())
    word = docx.Document()
    word.add_heading("Deep", level=2)
    word.add_heading("Top", level=1)
    word.save(str(tmp_path / "z.docx"))

    assert [getattr(item, "title", "") for item in load()] == ["plan", "Top"]


def test_a_zip_bomb_is_not_unpacked(load: Load, tmp_path: Path) -> None:
    """The size limit and the compression ratio are checked."""
    bomb = replace_member(make_docx(), "word/media/image1.png", bytes(60_000_000))
    (tmp_path / "a.docx").write_bytes(bomb)

    assert only_reason(load(max_expanded_bytes=1_000_000)) == "too large"
    assert only_reason(load()) == "too large"


@pytest.mark.parametrize("place", ["element", "attribute"])
def test_a_billion_laughs_are_not_heard(load: Load, tmp_path: Path, place: str) -> None:
    """Entities are not expanded, whether they stand in the text or in an attribute."""
    run = "<w:t>&l9;</w:t>" if place == "element" else '<w:t w:x="&l9;">words</w:t>'
    content = (
        f'<?xml version="1.0"?><!DOCTYPE d [{LAUGHS}]><w:document {nsdecls("w")}><w:body><w:p><w:r>{run}'
        "</w:r></w:p></w:body></w:document>"
    )
    (tmp_path / "a.docx").write_bytes(replace_member(make_docx(), "word/document.xml", content.encode()))

    assert only_reason(load()) in ("broken", "no text")


@pytest.mark.parametrize(
    "data",
    [
        b"not a zip",
        make_docx()[:500],
        replace_member(make_docx(), "word/document.xml", b"<broken"),
        replace_member(make_docx(), "word/document.xml", b"<empty/>"),
        replace_member(make_docx(), "word/styles.xml", b"<empty/>"),
        replace_member(make_docx(), "[Content_Types].xml", b"<empty/>"),
        replace_member(make_docx(), "_rels/.rels", b"<empty/>"),
        replace_member(make_docx(), "word/_rels/document.xml.rels", b"<empty/>"),
    ],
)
def test_broken_packages_are_skipped_or_read(load: Load, tmp_path: Path, data: bytes) -> None:
    """Any part may be missing or wrong; the run goes on."""
    (tmp_path / "a.docx").write_bytes(data)
    (tmp_path / "b.txt").write_text("words")

    first, second = load()

    assert second.source == "b.txt"
    assert getattr(first, "reason", "broken") == "broken"


def test_a_protected_document_is_encrypted(load: Load, tmp_path: Path) -> None:
    """Word wraps it in a container of the old kind."""
    (tmp_path / "a.docx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))

    assert only_reason(load()) == "encrypted"


def test_a_document_without_words_has_no_text(load: Load, tmp_path: Path) -> None:
    """A single empty paragraph is nothing to find."""
    (tmp_path / "a.docx").write_bytes(make_docx(""))

    assert only_reason(load()) == "no text"


def test_properties_are_not_made_up(load: Load, tmp_path: Path) -> None:
    """python-docx invents a title for a package without properties."""
    relations = (
        b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship '
        b'Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
        b'Target="word/document.xml"/></Relationships>'
    )
    (tmp_path / "plan.docx").write_bytes(replace_member(make_docx(), "_rels/.rels", relations))

    document = only_document(load())

    assert (document.title, document.metadata) == ("plan", {})


def test_without_python_docx_the_file_is_skipped_with_the_command(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user learns what to install."""
    (tmp_path / "a.docx").write_bytes(make_docx())
    monkeypatch.setitem(sys.modules, "docx", None)

    (skipped,) = load()

    assert isinstance(skipped, Skipped) and skipped.reason == "missing extra"
    assert "pip install 'weft-search[docx]'" in skipped.detail
