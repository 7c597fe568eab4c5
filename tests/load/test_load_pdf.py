"""PDF."""

from __future__ import annotations

import io
import logging
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loading import Load, make_pdf, only_document, only_reason
from pypdf import PdfReader, PdfWriter

from weft.config import LoadOptions
from weft.load.file_reader import LoadError
from weft.load.formats import pdf
from weft.load.formats.pdf import load_pdf
from weft.records import Skipped


def test_lines_carry_page_numbers(load: Load, tmp_path: Path) -> None:
    """Pages without text have no lines, but count."""
    (tmp_path / "a.pdf").write_bytes(make_pdf(["one\ntwo", "", "three"], info="/Title (A plan) /Author (Ann)"))

    document = only_document(load())

    words = [line for line in document.text.split("\n") if line]
    pages = dict(zip(document.text.split("\n"), document.lines or (), strict=True))
    assert words == ["one", "two", "three"]
    assert [pages[word] for word in words] == [1, 1, 3]
    assert (document.unit, document.title, document.metadata) == ("page", "A plan", {"author": "Ann"})


@pytest.mark.parametrize("title", ["", "untitled", "Microsoft Word - plan.doc", "plan.tex", "x" * 300])
def test_a_title_nobody_gave_is_not_used(load: Load, tmp_path: Path, title: str) -> None:
    """Programs fill the field with what they have at hand."""
    (tmp_path / "plan.pdf").write_bytes(make_pdf(["words"], info=f"/Title ({title})"))

    assert only_document(load()).title == "plan"


def test_a_scanned_pdf_has_no_text(load: Load, tmp_path: Path) -> None:
    """The detail says what would help."""
    (tmp_path / "a.pdf").write_bytes(make_pdf(["", ""]))

    (skipped,) = load()

    assert isinstance(skipped, Skipped)
    assert skipped.reason == "no text" and "scanned" in skipped.detail


@pytest.mark.parametrize(("password", "reason"), [("secret", "encrypted"), ("", "loaded")])
def test_a_locked_pdf_opens_without_a_password_or_not_at_all(
    load: Load, tmp_path: Path, password: str, reason: str
) -> None:
    """Many files are encrypted with an empty password, only to forbid printing."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(make_pdf(["words"]))))
    writer.encrypt(user_password=password, owner_password="owner", algorithm="RC4-128")
    writer.write(tmp_path / "a.pdf")

    results = load()

    assert (only_reason(results) if password else only_document(results).text) in (reason, "words")


@pytest.mark.parametrize("data", [b"not a pdf", b"%PDF-1.4\n", make_pdf(["x"])[:200], b"%PDF-1.7\n" + b"\xff" * 999])
def test_broken_bytes_are_skipped(load: Load, tmp_path: Path, data: bytes) -> None:
    """The ending does not make a PDF of it."""
    (tmp_path / "a.pdf").write_bytes(data)

    assert only_reason(load()) in ("broken", "no text")


def test_a_broken_page_is_left_out_with_a_warning(load: Load, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The other pages are still worth having."""
    data = make_pdf(["one", "two"]).replace(b"<< /Length ", b"<< /Filter /Nonsense /Length ", 1)
    (tmp_path / "a.pdf").write_bytes(data)

    with caplog.at_level(logging.WARNING):
        document = only_document(load())

    assert document.text == "two"
    assert list(document.lines or ()) == [2]
    assert [record.name for record in caplog.records] == ["weft.load.formats.pdf"]


def test_a_pdf_with_too_many_pages_is_skipped(load: Load, tmp_path: Path) -> None:
    """It is left out whole: half a document would not say that it is half."""
    (tmp_path / "a.pdf").write_bytes(make_pdf(["x"] * 4))

    assert only_reason(load(max_pages=3)) == "too large"


def test_nothing_is_printed(load: Load, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """pypdf logs many warnings; standard output and standard error must stay clean."""
    (tmp_path / "a.pdf").write_bytes(make_pdf(["one"]).replace(b"startxref\n", b"startxref\n9"))

    load()

    assert capfd.readouterr() == ("", "")


def test_without_pypdf_the_file_is_skipped_with_the_command(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user learns what to install."""
    monkeypatch.setitem(sys.modules, "pypdf", None)
    (tmp_path / "a.pdf").write_bytes(make_pdf(["x"]))

    (skipped,) = load()

    assert isinstance(skipped, Skipped) and skipped.reason == "missing extra"
    assert "pip install 'weft-search[pdf]'" in skipped.detail


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damaged_files_do_no_harm(data: st.DataObject) -> None:
    """Any changed bytes give a document or a reason."""
    content = bytearray(make_pdf(["one\ntwo", "three"], info="/Title (T)"))
    for _ in range(data.draw(st.integers(1, 12))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))

    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.pdf"
        path.write_bytes(content)
        try:
            list(load_pdf(path, source="a.pdf", options=LoadOptions()))
        except LoadError as error:
            assert error.reason


def test_pages_that_draw_the_same_again_and_again_are_left_out(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A small file must not take hours; what comes twice is read, and so are pages with drawing of their own."""
    data = make_pdf(["shared words"] * 3 + ["own words"])
    for number in (7, 9):
        data = data.replace(f"/Contents {number} 0 R".encode(), b"/Contents 5 0 R")
    (tmp_path / "a.pdf").write_bytes(data)
    whole = only_document(load())
    monkeypatch.setattr(pdf, "MAX_REPEATED_BYTES", 10)
    document = only_document(load())

    assert sorted(set(whole.lines or ())) == [1, 2, 3, 4]
    assert sorted(set(document.lines or ())) == [1, 2, 4]
    assert document.text.split("\n")[-1] == "own words"
    assert [record.getMessage() for record in caplog.records] == [
        "skipped 1 pages of a.pdf: they repeat the content of earlier pages"
    ]


def test_a_header_that_all_pages_share_is_read_on_each(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages with more drawing of their own than shared drawing are all read."""
    data = make_pdf([f"the own words of page {number}" for number in range(20)] + ["head"])
    head = 5 + 2 * 20
    for number in range(5, head, 2):
        data = data.replace(f"/Contents {number} 0 R".encode(), f"/Contents [{head} 0 R {number} 0 R]".encode())
    (tmp_path / "a.pdf").write_bytes(data)
    monkeypatch.setattr(pdf, "MAX_REPEATED_BYTES", 0)

    document = only_document(load())
    assert sorted(set(document.lines or ())) == list(range(1, 22))
    assert document.text.count("head") == 21


TABLE = [
    [(40, "The ports are fixed.")],
    [(40, "Service"), (130, "Owner"), (210, "Port")],
    [(40, "Auth Service"), (130, "Identity Team"), (206, "8443")],
    [(40, "Billing"), (130, "Payments Team"), (212, "90")],
    [(40, "All others are closed.")],
]


def make_page(lines: list[list[tuple[int, str]]], *, end: str = "") -> bytes:
    """Return a PDF whose texts stand at positions, each followed by the operator `end`."""
    placed = [
        f"BT /F1 10 Tf 12 TL 1 0 0 1 {x} {700 - 20 * n} Tm ({text}) Tj {end} ET"
        for n, line in enumerate(lines)
        for x, text in line
    ]
    plain = make_pdf(["here"])
    start = plain.index(b"stream\n") + 7
    end = plain.index(b"\nendstream")
    return plain[:start] + "\n".join(placed).encode() + plain[end:]


@pytest.mark.parametrize("end", ["", "T*"], ids=["cells on a line", "each cell ends its line"])
def test_rows_of_a_table_name_their_columns(load: Load, tmp_path: Path, end: str) -> None:
    """Columns of numbers may end at the same place; lines around the table stay as they are."""
    (tmp_path / "a.pdf").write_bytes(make_page(TABLE, end=end))

    assert only_document(load()).text.strip().split("\n") == [
        "The ports are fixed.",
        "Service: Auth Service; Owner: Identity Team; Port: 8443",
        "Service: Billing; Owner: Payments Team; Port: 90",
        "All others are closed.",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        TABLE[:3],
        [[(40 + 15 * n, "one"), (130 + 25 * n, "two"), (260, "three")] for n in range(4)],
        [[(40, f"A long line of a column that ends here {n}."), (300, f"And the next column {n}.")] for n in range(4)],
    ],
    ids=["too short", "not aligned", "columns of prose"],
)
def test_other_lines_stay_as_they_are(load: Load, tmp_path: Path, lines: list[list[tuple[int, str]]]) -> None:
    """Two rows, texts that are not below each other, and pages with two columns are no tables."""
    (tmp_path / "a.pdf").write_bytes(make_page(lines))

    found = " ".join(only_document(load()).text.split())
    assert found == " ".join(text for line in lines for _, text in line)
    (tmp_path / "a.pdf").write_bytes(make_page(lines, end="T*"))
    assert only_document(load()).text.split("\n") == [text for line in lines for _, text in line]
