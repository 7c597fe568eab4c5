"""reStructuredText: titles, sections, fields, roles, directives, line numbers, and texts of strangers."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loading import Load, check_document, only_document

from weft.config import LoadOptions, SplitOptions
from weft.extract.rules import RuleExtractor
from weft.load.restructuredtext.document import is_rst, rst_document
from weft.records import Document, PageLink
from weft.text.split import split

PROPOSAL = """\
PEP: 9001
Title: Colours of Harbour Lights
Author: Mira Holt <mira@example.org>,
        Ole Brandt <ole@example.org>
Status: Final
Requires: 12, 13

Abstract
========

Lights have colours, see :pep:`12`.

Rationale
=========

Boats need them.
"""
GUIDE = """\
.. _guide:

The *Guide*
===========

:Author: Mira Holt

See :doc:`/api/pods`, :ref:`the limits <limits>` and
:meth:`~harbour.Pier.moor`.

Usage
-----

.. note:: Mind the *tide*.

Run it::

    harbour moor   # at the pier

.. code-block:: python

   import harbour

* one
* two
  lines

tide
    The sea's level.

.. class:: Pier(name)

   A pier.

   .. method:: moor()

      Ties a boat.

.. setting:: DEBUG

DEBUG
~~~~~

Off.

.. toctree::
   :maxdepth: 2

   install
   Pods <api/pods>
"""


def load_text(text: str, source: str = "docs/guide.rst") -> Document:
    """Return the document of a text."""
    document = rst_document(text, source=source, options=LoadOptions())
    check_document(document)
    return document


def shown(document: Document) -> list[tuple[int, str]]:
    """Return the lines with text and their numbers in the source."""
    lines = document.lines or range(1, 1 + document.text.count("\n") + 1)
    return [(number, line) for number, line in zip(lines, document.text.split("\n"), strict=True) if line]


def test_a_proposal_has_its_title_its_fields_and_sections() -> None:
    """Continued fields are whole; persons come without their addresses."""
    document = load_text(PROPOSAL, "pep-9001.rst")

    assert (document.title, document.form) == ("Colours of Harbour Lights", "markdown")
    assert document.metadata == {
        "PEP": "9001",
        "Author": ["Mira Holt", "Ole Brandt"],
        "Status": "Final",
        "Requires": "12, 13",
    }
    lines = shown(document)
    assert lines[:2] == [(1, "- PEP: 9001"), (2, "- Title: Colours of Harbour Lights")]
    assert lines[6:] == [
        (8, "# Abstract"),
        (11, "Lights have colours, see PEP 12."),
        (13, "# Rationale"),
        (16, "Boats need them."),
    ]


def test_the_header_of_a_proposal_does_not_describe_it() -> None:
    """Its first sentence does; its persons wrote it."""
    document = load_text(PROPOSAL, "pep-9001.rst")
    chunks = split(document, document_id="d", options=SplitOptions())
    (extraction, *_) = RuleExtractor().extract(document, chunks)

    descriptions = {item.description for item in extraction.candidates if item.kind == "title"}
    assert descriptions - {""} == {"Lights have colours, see PEP 12."}
    assert not any("Author" in item.name for item in extraction.candidates)
    authors = {stated.target for stated in extraction.stated_relations if stated.type == "written_by"}
    assert authors == {"mira holt", "ole brandt"}


def test_a_page_becomes_markdown_with_the_lines_of_the_source() -> None:
    """The text of roles stays, markup of directives goes, code is fenced."""
    document = load_text(GUIDE)

    assert document.title == "The Guide"
    assert document.metadata == {"Author": ["Mira Holt"]}
    assert shown(document) == [
        (3, "# The *Guide*"),
        (6, "- Author: Mira Holt"),
        (8, "See api/pods, the limits and"),
        (9, "`moor`."),
        (11, "## Usage"),
        (14, "Mind the *tide*."),
        (16, "Run it:"),
        (18, "```"),
        (18, "harbour moor   # at the pier"),
        (18, "```"),
        (22, "```"),
        (22, "import harbour"),
        (22, "```"),
        (24, "- one"),
        (25, "- two"),
        (26, "  lines"),
        (28, "- **tide**:"),
        (29, "  The sea's level."),
        (31, "`class Pier(name)`"),
        (33, "A pier."),
        (35, "`method moor()`"),
        (37, "Ties a boat."),
        (41, "### DEBUG"),
        (44, "Off."),
        (49, "- install"),
        (50, "- Pods"),
    ]


def test_links_and_their_targets_are_found() -> None:
    """Roles, entries of a table of contents, labels and the names that directives define."""
    links = load_text(GUIDE).links

    assert [link for link in links if link.kind != "target"] == [
        PageLink(8, "/api/pods.rst", "api/pods"),
        PageLink(8, "limits", "the limits", "label"),
        PageLink(9, "py:harbour.Pier.moor", "moor", "name"),
        PageLink(49, "install.rst", "install"),
        PageLink(50, "api/pods.rst", "Pods"),
    ]
    assert [(link.line, link.address) for link in links if link.kind == "target"] == [
        (3, "label:guide"),
        (31, "py:Pier"),
        (35, "py:Pier.moor"),
        (35, "py:moor"),
        (41, "setting:DEBUG"),
    ]


@pytest.mark.parametrize(
    ("written", "text", "links"),
    [
        ("`Pods <pods.html>`_", "Pods", [("pods.html", "Pods", "")]),
        ("the Pods_\n\n.. _Pods: pods.html", "the Pods", [("pods.html", "Pods", "")]),
        ("|name| it\n\n.. |name| replace:: Harbour *now*", "Harbour *now* it", []),
        ("``a | b`` and `x.y`", "`a | b` and `x.y`", [("py:x.y", "x.y", "name")]),
        (":setting:`DEBUG`", "`DEBUG`", [("setting:DEBUG", "DEBUG", "name")]),
        (":unheard:`of this`", "of this", [("unheard:of this", "of this", "name")]),
        (":class:`!Pier`", "`Pier`", []),
        (":py:func:`moor()`", "`moor()`", [("py:moor", "moor()", "name")]),
        (":rfc:`2616#section-3`", "RFC 2616", [("record:rfc-2616", "RFC 2616", "name")]),
        (":ref:`limits`", "limits", [("limits", "limits", "label")]),
        ("Mail mira@example.org.", "Mail mira@example.org.", []),
        (".. unheard:: of\n   :this: one\n\n   Its content.", "`of`\n\nIts content.", []),
        (".. versionadded:: 3.1\n   Boats.", "New in version 3.1\nBoats.", []),
        (".. _`a label`:\n\nText.", "Text.", []),
        (".. csv-table::\n\n   a, b", "```\na, b\n```", []),
    ],
)
def test_markup_is_read(written: str, text: str, links: list[tuple[str, str, str]]) -> None:
    """Each kind of markup shows its text and keeps its link."""
    document = load_text(f"Title\n=====\n\n{written}\n")

    assert document.text == f"# Title\n\n{text}"
    assert [tuple(link)[1:] for link in document.links if link.kind != "target"] == links


def test_a_table_and_a_literal_keep_their_lines(load: Load, tmp_path: Path) -> None:
    """Rows are cited where they stand."""
    (tmp_path / "t.rst").write_text("T\n=\n\n==== =====\nName Light\n==== =====\nPier green\nBuoy red\n==== =====\n")

    assert shown(only_document(load())) == [
        (1, "# T"),
        (7, "| Name: Pier | Light: green |"),
        (8, "| Name: Buoy | Light: red |"),
    ]


def test_text_files_of_sphinx_are_recognised(load: Load, tmp_path: Path) -> None:
    """Some projects call their pages `.txt`; a note of plain text stays one."""
    (tmp_path / "a.txt").write_text(GUIDE)

    assert only_document(load()).form == "markdown"
    assert not is_rst("Notes\n=====\n\nA plain text.\n")
    assert not is_rst("See :doc:`x` without a title.")


def test_nothing_of_a_stranger_runs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Directives that read files or run code are text without effect, and errors are silent."""
    secret = tmp_path / "secret.txt"
    secret.write_text("the password")
    document = load_text(
        f"T\n=\n\n.. include:: {secret}\n\n.. raw:: html\n   :file: {secret}\n\n.. csv-table::\n   :file: {secret}\n\n"
        f".. literalinclude:: {secret}\n\n.. role:: evil(raw)\n   :format: html\n\n:evil:`<script>` *unclosed\n\n"
        ".. default-role:: evil\n\n.. figure:: x\n   :nothing: y\n\nT\n==\n\n=\n"
    )

    assert "password" not in document.text
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "text",
    [
        "T\n=\n\n" + "*a " * 200_000,
        "T\n=\n\n" + "`a " * 100_000,
        "T\n=\n\n" + "".join(f"{' ' * i}* a\n\n" for i in range(500)),
        "T\n=\n\n" + "".join(f"{' ' * 3 * i}.. note:: a\n\n" for i in range(300)),
        "T\n=\n\n" + "|a|" * 1000 + "\n\n.. |a| replace:: " + "|a|" * 1000 + "\n",
        "T\n=\n\n" + "+--+" * 500 + "\n" + "|  |" * 500 + "\n",
        "T\n=\n\n" + ".. _a:\n" * 5_000,
        "a" * 100_000,
        "".join(f"T{i}\n{'=-~^'[i % 4] * 6}\n\n" for i in range(3000)),
    ],
    ids=["emphasis", "roles", "lists", "directives", "substitutions", "tables", "labels", "line", "titles"],
)
def test_hostile_texts_end_in_time(text: str) -> None:
    """A text that cannot be parsed is plain text."""
    begin = time.process_time()

    assert load_text(text).text
    assert time.process_time() - begin < 10


@given(st.text(alphabet=" \n*`_:|.=-<>[]ax\\+#", max_size=300))
def test_any_text_becomes_a_document(text: str) -> None:
    """Lines of the document are lines of the source, in order."""
    if not (text := text.rstrip()):
        return
    document = load_text(text)

    numbers = list(document.lines or range(1, 2 + document.text.count("\n")))
    assert numbers[0] >= 1 and numbers[-1] <= 1 + text.count("\n")
