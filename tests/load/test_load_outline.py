"""Org and AsciiDoc as Markdown: headings, code, fields, links, line numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loading import Load, check_document, only_document

from weft.load.formats.outline import outline_document
from weft.records import Document, PageLink

ORG = """\
#+TITLE: Harbour notes
#+AUTHOR: Mira Holt
# a comment

* TODO Limits :work:
:PROPERTIES:
:CUSTOM_ID: max
:END:
The =pier= holds *ten* boats, see [[file:pods.org::*Size][Pods]] and [[id:4d2f]].

#+BEGIN_SRC python
* no heading
#+END_SRC
** Depth
| a | b |
|---+---|
"""
ADOC = """\
= Harbour guide
Mira Holt <mira@example.org>
:status: final

[[max]]
== Limits

// a comment
The pier holds *ten* boats, see xref:pods.adoc#size[Pods] and <<depth,the depth>>.

[source,python]
----
== no heading
----

.A block
* one
** two

=== Depth
link:https://example.org/[here]
"""


RECORD = """\
= JEP-228: Unforking XStream

.Metadata
[cols="1h,1"]
|===
| JEP
| 228

| Sponsor
| link:https://example.org/[Jesse Glick]

// a comment
| Type
| Standards

| Requires
| JEP-7 (optionally)

//| Superseded-By
//| :bulb: JEP-NUMBER :bulb:
|===

////
hidden
////

[[reasoning]]
== Reasoning

See the [[header-requires]]header Requires and {url-brew}[Homebrew^].
"""


def test_org_is_read(load: Load, tmp_path: Path) -> None:
    """Each line keeps its number; drawers, comments and fields are empty lines."""
    (tmp_path / "a.org").write_text(ORG)
    document = only_document(load())

    assert (document.title, document.form, document.lines) == ("Harbour notes", "markdown", None)
    assert document.metadata == {"author": "Mira Holt"}
    assert document.text.split("\n") == [
        "", "", "", "", "# Limits", "", "", "", "The `pier` holds **ten** boats, see Pods and id:4d2f.", "",
        "```python", "* no heading", "```", "## Depth", "| a | b |", "|---|---|",
    ]  # fmt: skip
    assert document.links == (
        PageLink(9, "pods.org#Size", "Pods"),
        PageLink(9, "4d2f", "", "label"),
        PageLink(5, "label:max", "Limits", "target"),
    )


def test_asciidoc_is_read(load: Load, tmp_path: Path) -> None:
    """Attributes below the title are metadata, and the names of parts are targets."""
    (tmp_path / "a.adoc").write_text(ADOC)
    document = only_document(load())

    assert (document.title, document.form, document.lines) == ("Harbour guide", "markdown", None)
    assert document.text.split("\n") == [
        "# Harbour guide", "Mira Holt <mira@example.org>", "", "", "", "## Limits", "", "",
        "The pier holds **ten** boats, see Pods and the depth.", "", "", "```", "== no heading", "```", "", "A block",
        "- one", "  - two", "", "### Depth", "here",
    ]  # fmt: skip
    assert document.links == (
        PageLink(9, "pods.adoc#size", "Pods"),
        PageLink(9, "depth", "the depth", "label"),
        PageLink(21, "https://example.org/", "here"),
        PageLink(6, "label:max", "Limits", "target"),
    )


@pytest.mark.parametrize("suffix", [".org", ".adoc"])
@given(text=st.text(alphabet=" \n*=#+-_:|[]<>/`~.ab", min_size=1, max_size=200))
def test_any_text_keeps_its_lines(suffix: str, text: str) -> None:
    """Only the end of an open code block is added."""
    document = outline_document(text, source=f"a{suffix}")

    check_document(document)
    assert document.text.count("\n") - text.count("\n") in (0, 1)


@pytest.mark.parametrize(
    ("name", "reference", "address"),
    [
        ("modules/install/pages/linux.adoc", "macos.adoc", "/modules/install/pages/macos.adoc"),
        ("modules/install/pages/linux.adoc", "api:index.adoc#x", "/modules/api/pages/index.adoc#x"),
        ("modules/install/pages/linux.adoc", "tool:api:index.adoc", "/modules/api/pages/index.adoc"),
        ("modules/install/pages/linux.adoc", "tool::start.adoc", "/modules/ROOT/pages/start.adoc"),
        ("modules/install/pages/linux.adoc", "./macos.adoc", "./macos.adoc"),
        ("modules/install/nav.adoc", "linux.adoc", "/modules/install/pages/linux.adoc"),
        ("modules/install/pages/linux.adoc", "other:api:index.adoc", ""),
        ("guide/linux.adoc", "macos.adoc", "macos.adoc"),
    ],
)
def test_references_of_a_site_of_antora(load: Load, tmp_path: Path, name: str, reference: str, address: str) -> None:
    """A page is named by its module; pages of other sites are no links."""
    (tmp_path / "docs" / name).parent.mkdir(parents=True)
    (tmp_path / "docs" / "antora.yml").write_text("title: A tool\nname: tool\nversion: ~\n")
    (tmp_path / "docs" / name).write_text(f"= Linux\n\nSee xref:{reference}[it].\n")
    page = next(item for item in load() if isinstance(item, Document) and item.source.endswith(".adoc"))

    assert [link.address for link in page.links if link.kind != "target"] == [address] * bool(address)


def test_a_record_of_asciidoc(load: Load, tmp_path: Path) -> None:
    """One cell per line, comments in the table, labels of links, symbols and anchors in the text."""
    (tmp_path / "README.adoc").write_text(RECORD)
    document = only_document(load())

    assert document.title == "JEP-228: Unforking XStream"
    assert document.metadata["requires"] == ["JEP 7"]
    assert document.metadata["sponsor"] == "Jesse Glick"
    assert {"type", "title", "superseded-by"}.isdisjoint(document.metadata)
    lines = document.text.split("\n")
    assert "| Sponsor | Jesse Glick |" in lines
    assert lines[-3:] == ["## Reasoning", "", "See the header Requires and Homebrew."]
