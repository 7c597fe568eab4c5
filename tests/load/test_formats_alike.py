"""The same page in every format: titles, headings, tables, code and links mean the same."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import NamedTuple

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph
from office_files import epub, odf, pack

from weft.engine.opening.open_engine import open_engine
from weft.errors import NotFound
from weft.text.markdown.blocks import parse

OPENING = "Requests pass the gateway."
TABLE = (("Owner", "Limit"), ("Identity Team", "500"), ("Payments Team", "20"))
CODE = "# Invoice Daemon depends on Ledger Cache\nstart()"
PODS = "Pods hold requests."

MARKDOWN = f"""# Gateway guide

{OPENING}

## Limits

| Owner | Limit |
| --- | --- |
| Identity Team | 500 |
| Payments Team | 20 |

## Setup

Set `max_requests` as [Pods](pods.md) say.

```python
{CODE}
```
"""

HTML = f"""<html><head><title>Gateway guide</title></head><body><h1>Gateway guide</h1><p>{OPENING}</p><h2>Limits</h2>
<table><tr><th>Owner</th><th>Limit</th></tr><tr><td>Identity Team</td><td>500</td></tr>
<tr><td>Payments Team</td><td>20</td></tr></table>
<h2>Setup</h2><p>Set <code>max_requests</code> as <a href="pods.html">Pods</a> say.</p>
<pre><code>{CODE}</code></pre></body></html>"""

RST = f"""Gateway guide
=============

{OPENING}

Limits
------

============= =====
Owner         Limit
============= =====
Identity Team 500
Payments Team 20
============= =====

Setup
-----

Set ``max_requests`` as :doc:`Pods <pods>` say.

.. code-block:: python

   {CODE.replace(chr(10), chr(10) + "   ")}
"""

ASCIIDOC = f"""= Gateway guide

{OPENING}

== Limits

|===
|Owner |Limit

|Identity Team |500
|Payments Team
|20
|===

== Setup

Set `max_requests` as xref:pods.adoc[Pods] say.

[source,python]
----
{CODE}
----
"""

ORG = f"""#+TITLE: Gateway guide

{OPENING}

* Limits

| Owner         | Limit |
|---------------+-------|
| Identity Team |   500 |
| Payments Team |    20 |

* Setup

Set =max_requests= as [[file:pods.org][Pods]] say.

#+begin_src python
{CODE}
#+end_src
"""

RTF = (
    r"{\rtf1\ansi {\stylesheet{\s1 heading 1;}{\s3 Source Code;}{\*\cs4 Source Text;}}"
    rf"{{\pard\outlinelevel0 Gateway guide\par}}{{\pard {OPENING}\par}}{{\pard\outlinelevel1 Limits\par}}"
    + "".join(rf"\trowd\pard\intbl {first}\cell {second}\cell\row " for first, second in TABLE)
    + r"{\pard\outlinelevel1 Setup\par}{\pard Set {\cs4 max_requests} as "
    r'{\field{\*\fldinst HYPERLINK "pods.rtf"}{\fldrslt Pods}} say.\par}{\pard\s3 '
    + CODE.replace("\n", r"\line ")
    + r"\par}}"
)


def make_notebook(page: str) -> str:
    """Return a notebook whose code is a cell of its own."""
    text, _, code = page.partition("```python\n")
    cells = [{"cell_type": "markdown", "source": text.replace("pods.md", "pods.ipynb").splitlines(keepends=True)}]
    if code:
        cells.append({"cell_type": "code", "source": CODE.splitlines(keepends=True)})
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}, indent=1)


def make_docx() -> bytes:
    """Return a Word document with styles as converters write them."""
    word, stream = docx.Document(), io.BytesIO()
    word.add_heading("Gateway guide", 0)
    word.add_paragraph(OPENING)
    word.add_heading("Limits", 1)
    table = word.add_table(rows=3, cols=2)
    for cell, text in zip(table._cells, [text for row in TABLE for text in row], strict=True):
        cell.text = text
    word.add_heading("Setup", 1)
    setup = word.add_paragraph("Set ")
    setup.add_run("max_requests").font.name = "Courier New"
    setup.add_run(" as ")
    add_link(setup, "Pods", "pods.docx")
    setup.add_run(" say.")
    word.styles.add_style("Source Code", WD_STYLE_TYPE.PARAGRAPH)
    for line in CODE.split("\n"):
        word.add_paragraph(line, style="Source Code")
    word.save(stream)
    return stream.getvalue()


def add_link(paragraph: Paragraph, label: str, address: str) -> None:
    """Add a hyperlink, which python-docx cannot."""
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink"
    link, run, text = OxmlElement("w:hyperlink"), OxmlElement("w:r"), OxmlElement("w:t")
    link.set(qn("r:id"), paragraph.part.relate_to(address, kind, is_external=True))
    text.text = label
    run.append(text)
    link.append(run)
    paragraph._p.append(link)


def make_odt() -> bytes:
    """Return an OpenDocument text whose code has an automatic style."""
    rows = [
        "<table:table-row>"
        + "".join(f"<table:table-cell><text:p>{text}</text:p></table:table-cell>" for text in row)
        + "</table:table-row>"
        for row in TABLE
    ]
    code = "".join(f'<text:p text:style-name="P1">{line}</text:p>' for line in CODE.split("\n"))
    members = odf(
        f'<office:text><text:h text:outline-level="1">Gateway guide</text:h><text:p>{OPENING}</text:p>'
        f'<text:h text:outline-level="2">Limits</text:h><table:table><table:table-header-rows>{rows[0]}'
        f"</table:table-header-rows>{rows[1]}{rows[2]}</table:table>"
        '<text:h text:outline-level="2">Setup</text:h><text:p>Set <text:span text:style-name="Source_20_Text">'
        'max_requests</text:span> as <text:a xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="../pods.odt">Pods'
        f"</text:a> say.</text:p>{code}</office:text>"
    )
    style = (
        '<office:automatic-styles xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0">'
        '<style:style style:name="P1" style:parent-style-name="Preformatted_20_Text"/></office:automatic-styles>'
    )
    content = str(members["content.xml"]).replace("<office:body>", f"{style}<office:body>")
    return pack({**members, "content.xml": content})


class Format(NamedTuple):
    """A page and the page that it links to."""

    page: str | bytes
    target: str | bytes
    title: str = "Gateway guide"


def make_target() -> bytes:
    """Return the target as a Word document."""
    word, stream = docx.Document(), io.BytesIO()
    word.add_heading("Pods", 0)
    word.add_paragraph(PODS)
    word.save(stream)
    return stream.getvalue()


def make_format(suffix: str) -> Format:
    """Return the pages in a format."""
    body = '<office:text><text:h text:outline-level="1">Pods</text:h><text:p>Pods hold requests.</text:p></office:text>'
    match suffix:
        case "md":
            return Format(MARKDOWN, f"# Pods\n\n{PODS}\n")
        case "html":
            return Format(HTML, f"<title>Pods</title><h1>Pods</h1><p>{PODS}</p>")
        case "rst":
            return Format(RST, f"Pods\n====\n\n{PODS}\n")
        case "adoc":
            return Format(ASCIIDOC, f"= Pods\n\n{PODS}\n")
        case "org":
            return Format(ORG, f"#+TITLE: Pods\n\n{PODS}\n")
        case "ipynb":
            return Format(make_notebook(MARKDOWN), make_notebook(f"# Pods\n\n{PODS}\n"))
        case "docx":
            return Format(make_docx(), make_target())
        case "odt":
            return Format(make_odt(), pack(odf(body)))
        case "rtf":
            return Format(RTF, rf"{{\rtf1{{\pard\outlinelevel0 Pods\par}}{{\pard {PODS}\par}}}}")
    pages = (HTML.replace("pods.html", "c%201.xhtml"), f"<html><body><h1>Pods</h1><p>{PODS}</p></body></html>")
    return Format(pack(epub(*pages)), "", title="The harbour")


def write(path: Path, content: str | bytes) -> None:
    """Write a file unless it is empty."""
    if content:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize("suffix", ["md", "html", "rst", "adoc", "org", "ipynb", "docx", "odt", "rtf", "epub"])
def test_a_page_means_the_same_in_every_format(tmp_path: Path, suffix: str) -> None:
    """A comment in code states nothing, a column `Owner` is no field of the page, and the link is a relation."""
    made = make_format(suffix)
    write(tmp_path / f"gateway.{suffix}", made.page)
    write(tmp_path / f"pods.{suffix}", made.target)
    with open_engine(":memory:", embedder="hash") as engine:
        engine.index(tmp_path)
        document = next(item for item in engine.documents() if "gateway" in item.source)
        chunks = engine.store.find_chunks(document.id)
        page = parse("\n\n".join(chunk.text for chunk in chunks))
        texts = {kind: [b.text for b in page.blocks if b.kind == kind] for kind in ("heading", "cell", "code")}
        inline = {span.target for block in page.blocks for span in page.inline(block).spans if span.kind == "code"}
        links = relations(engine, made.title)

        assert document.title == made.title
        assert [text for text in texts["heading"] if text in ("Limits", "Setup")] == ["Limits", "Setup"]
        assert {word for text in texts["cell"] for word in text.replace(": ", " ").split()} == {
            "Owner", "Limit", "Identity", "Team", "500", "Payments", "20",
        }  # fmt: skip
        assert [text.strip() for text in texts["code"]] == [CODE]
        assert "max_requests" in inline
        assert links == (set() if suffix == "epub" else {("links_to", "Pods")})
        with pytest.raises(NotFound):
            engine.entities.get("Invoice Daemon")


def relations(engine: object, title: str) -> set[tuple[str, str]]:
    """Return the stated relations of a page with their targets."""
    try:
        found = engine.entities.neighbours(title)  # type: ignore[attr-defined]
    except NotFound:
        return set()
    return {(step.type, entity.name) for entity, item in found for step in item.path if step.type != "mentions"}


def test_a_document_in_one_font_is_not_code(tmp_path: Path) -> None:
    """Manuscripts are written with a font of one width."""
    word = docx.Document()
    for text in ("The harbour opens at dawn.", "Ships wait."):
        word.add_paragraph().add_run(text).font.name = "Courier New"
    word.save(str(tmp_path / "a.docx"))
    with open_engine(":memory:", embedder="hash") as engine:
        engine.index(tmp_path)
        (document,) = engine.documents()

        assert engine.store.find_chunks(document.id)[0].text == "The harbour opens at dawn.\n\nShips wait."
