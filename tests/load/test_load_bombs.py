"""Small files that would take long to parse."""

import io
import time
import zipfile
import zlib

import pytest

from weft.config import LoadOptions
from weft.load.conversations.mail import MAX_PARSED_PARTS, load_mail, load_mailbox
from weft.load.cpu_limit import cpu_limit
from weft.load.file_reader import LoadError
from weft.load.formats.pdf import load_pdf
from weft.load.office.docx import load_docx
from weft.records import Document, Skipped

pytestmark = pytest.mark.hostile

MAIN = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
TYPES = """<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/word/document.xml"
 ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"""
RELATIONS = """<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1"
 Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>
</Relationships>"""


def docx(body):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr("_rels/.rels", RELATIONS)
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{MAIN}"><w:body>{body}</w:body></w:document>')
    return packed.getvalue()


def pdf(content):
    """Return a PDF of one page with a compressed content stream."""
    stream = zlib.compress(content, 9)
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    made, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(made))
        made += b"%d 0 obj%s endobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(made)
    return (
        made
        + b"xref\n0 6\n0000000000 65535 f \n"
        + table
        + b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % start
    )


def test_a_docx_of_few_bytes_and_many_paragraphs_is_refused(tmp_path):
    """15 kB that expand to 150,000 paragraphs took six seconds."""
    path = tmp_path / "bomb.docx"
    path.write_bytes(docx("<w:p><w:r><w:t>x</w:t></w:r></w:p>" * 150_000))

    with pytest.raises(LoadError, match="expands from"):
        list(load_docx(path, source="bomb.docx", options=LoadOptions()))


def test_an_ordinary_docx_compresses_less(tmp_path):
    """The limit is far from what people write."""
    path = tmp_path / "plain.docx"
    path.write_bytes(docx("".join(f"<w:p><w:r><w:t>Paragraph {n}</w:t></w:r></w:p>" for n in range(2000))))

    (document,) = load_docx(path, source="plain.docx", options=LoadOptions())
    assert "Paragraph 1999" in document.text


def test_a_pdf_page_of_few_bytes_and_much_drawing_is_skipped(tmp_path, caplog):
    """20 kB that expand to 16 MB of operators took twenty seconds."""
    path = tmp_path / "bomb.pdf"
    path.write_bytes(pdf(b"BT /F 1 Tf (x) Tj ET " * 800_000))
    assert path.stat().st_size < 60_000

    with pytest.raises(LoadError, match="no text"):
        list(load_pdf(path, source="bomb.pdf", options=LoadOptions()))
    assert "skipped page 1 of bomb.pdf" in caplog.text


def test_a_short_pdf_is_read(tmp_path):
    """The same page with one word."""
    path = tmp_path / "plain.pdf"
    path.write_bytes(pdf(b"BT /F 1 Tf (Hello) Tj ET"))

    (document,) = load_pdf(path, source="plain.pdf", options=LoadOptions())
    assert "Hello" in document.text


def test_parsing_ends_at_the_limit_of_cpu_time():
    """The limit also works inside a library; afterwards the timer is off."""

    def spin(until: float) -> None:  # a function: Python 3.13 does not catch a signal's error in a bare loop of `with`
        while time.process_time() - begin < until:
            pass

    begin = time.process_time()
    with pytest.raises(LoadError, match="too slow"), cpu_limit(0.5):
        spin(30)
    with cpu_limit(0.1):
        pass
    spin(2.2)


MAIL = b"From: a@example.org\r\nDate: Mon, 1 Jan 2024 00:00:00 +0000\r\n"


@pytest.mark.parametrize(
    "header",
    [
        b"Subject: " + b"\r\n ".join([b"=?utf-8?q?hello?="] * 100_000),
        b"To: " + b", ".join([b"a@example.org"] * 100_000),
        b"References: " + b" ".join(b"<%d@example.org>" % n for n in range(100_000)),
        b"Content-Type: text/plain; " + b"; ".join(b"a%d*0*=x" % n for n in range(20_000)),
    ],
    ids=lambda header: header.split(b":")[0].decode(),
)
def test_a_mail_with_a_long_header_is_read_quickly(tmp_path, header):
    """The header parser of Python needed minutes."""
    path = tmp_path / "bomb.eml"
    path.write_bytes(MAIL + header + b"\r\n\r\nThe crane lifts forty tonnes.\r\n")
    begin = time.thread_time()

    (document,) = load_mail(path, source="bomb.eml", options=LoadOptions())
    assert "forty tonnes" in document.text
    assert time.thread_time() - begin < 3


def test_a_mail_with_a_hundred_thousand_parts_is_skipped(tmp_path):
    """Ten thousand parts are read; the body is looked for in the first of them."""
    path = tmp_path / "bomb.eml"
    head = MAIL + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
    path.write_bytes(head + b"--b\r\n\r\nThe crane.\r\n" * (MAX_PARSED_PARTS - 1) + b"--b--\r\n")
    (document,) = load_mail(path, source="bomb.eml", options=LoadOptions())
    assert "The crane." in document.text

    path.write_bytes(head + b"--b\r\n\r\nx\r\n" * 100_000 + b"--b--\r\n")
    with pytest.raises(LoadError, match="10,000 parts"):
        list(load_mail(path, source="bomb.eml", options=LoadOptions()))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_mail_has_a_limit_of_cpu_time(tmp_path):
    """One slow message of a mailbox is skipped; the others are read. The signal repeats if a callback swallows it."""
    slow = b"--b\r\nContent-Type: text/plain; " + b"; ".join(b"a%d*0*=x" % n for n in range(200)) + b"\r\n\r\nx\r\n"
    head = MAIL + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
    path = tmp_path / "bomb.mbox"
    quick = b"From a\r\n" + MAIL + b"Subject: Crane\r\n\r\nForty tonnes.\r\n\r\n"
    path.write_bytes(quick + b"From a\r\n" + head + slow * 900 + b"--b--\r\n\r\n" + quick)
    options = LoadOptions(max_cpu_seconds=1)

    items = list(load_mailbox(path, source="bomb.mbox", options=options))
    assert [item.reason for item in items if isinstance(item, Skipped)] == ["too slow"]
    assert sum("Forty tonnes" in item.text for item in items if isinstance(item, Document)) == 2
