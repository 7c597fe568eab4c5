"""Exports of note programs, wikis, feeds, browsers and flash cards."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import apsw
import pytest
from loading import Load, check_document, only_document, only_reason

from weft.records import Document, Skipped

RSS = """<?xml version="1.0"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>
<title>Harbour</title><item><title>Two &amp; three lamps</title><link>https://harbour.test/1</link><guid>n1</guid>
<pubDate>Mon, 02 Mar 2026 10:00:00 GMT</pubDate><description>Short</description>
<content:encoded><![CDATA[<p>The <b>lamp</b> is lit.</p><script>alert(1)</script>]]></content:encoded></item>
<item><title>Plain</title><description>Only words</description></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Quay</title><entry><id>tag:1</id><title>Tide</title>
<link rel="alternate" href="https://quay.test/tide"/><summary>High at nine.</summary></entry></feed>"""
OPML = """<opml version="2.0"><head><title>Reading</title></head><body><outline text="Sea">
<outline text="Harbour" xmlUrl="https://harbour.test/feed" type="rss"/></outline></body></opml>"""
ENTITIES = """<hibernate-generic>
<object class="Page" package="p"><id name="id">7</id><property name="title"><![CDATA[Beacon]]></property>
<property name="contentStatus">current</property></object>
<object class="Page" package="p"><id name="id">8</id><property name="title">Beacon</property>
<property name="originalVersion" class="Page"><id name="id">7</id></property></object>
<object class="BodyContent" package="p"><id name="id">9</id><property name="body"><![CDATA[<p>See
<ac:link><ri:page ri:content-title="Night Watch" /></ac:link>.</p>
<ac:plain-text-body><![CDATA[turn(lamp)]]]]><![CDATA[></ac:plain-text-body>]]></property>
<property name="content" class="Page"><id name="id">7</id></property></object></hibernate-generic>"""
BOOKMARKS = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<DL><p>
    <DT><H3>Sea</H3>
    <DL><p>
        <DT><A HREF="https://harbour.test/">Harbour &amp; Quay</A>
        <DD>Where ships wait
        <DT><A HREF="javascript:alert(1)"></A>
    </DL><p>
</DL><p>"""
ID = "0123456789abcdef0123456789abcdef"


def documents(found: list[Document | Skipped]) -> list[Document]:
    """Return the documents, checked."""
    kept = [item for item in found if isinstance(item, Document)]
    for document in kept:
        check_document(document)
    return kept


@pytest.mark.parametrize("name", ["news.rss", "news.xml"])
def test_a_feed_gives_one_document_per_entry(load: Load, tmp_path: Path, name: str) -> None:
    """The whole content before the summary; scripts are no text."""
    (tmp_path / name).write_text(RSS)
    first, second = documents(load())

    assert (first.source, first.title, first.text) == (f"{name}#n1", "Two & three lamps", "The lamp is lit.")
    assert first.metadata["url"] == "https://harbour.test/1"
    assert (second.source, second.text) == (f"{name}#2", "Only words")


def test_an_atom_feed_and_an_outline_are_read(load: Load, tmp_path: Path) -> None:
    """A link of Atom is an attribute; an outline is a nested list."""
    (tmp_path / "quay.atom").write_text(ATOM)
    (tmp_path / "reading.opml").write_text(OPML)
    tide, reading = documents(load())

    assert (tide.source, tide.text, tide.metadata["url"]) == (
        "quay.atom#tag:1",
        "High at nine.",
        "https://quay.test/tide",
    )
    assert (reading.title, reading.text) == ("Reading", "- Sea\n  - [Harbour](https://harbour.test/feed)")


def test_other_xml_stays_a_text(load: Load, tmp_path: Path) -> None:
    """No element of it is read."""
    (tmp_path / "pom.xml").write_text("<project><name>harbour</name></project>")
    assert only_document(load()).text == "<project><name>harbour</name></project>"


@pytest.mark.parametrize("is_zip", [False, True])
def test_a_confluence_export_gives_its_current_pages(load: Load, tmp_path: Path, is_zip: bool) -> None:
    """Old versions are left out, links become wikilinks, code of macros is kept."""
    if is_zip:
        with zipfile.ZipFile(tmp_path / "space.zip", "w") as archive:
            archive.writestr("entities.xml", ENTITIES)
    else:
        (tmp_path / "entities.xml").write_text(ENTITIES)
    (page,) = documents(load())

    assert (page.source.partition("#")[2], page.title) == ("7", "Beacon")
    assert "[[Night Watch]]" in page.text and "turn(lamp)" in page.text


def test_notes_of_keep_are_documents_and_the_bin_is_skipped(load: Load, tmp_path: Path) -> None:
    """A list becomes tasks, labels are metadata. Takeout has each note a second time, as a page."""
    stamp = {"userEditedTimestampUsec": 1, "isTrashed": False}
    listed = {"title": "Shop", "listContent": [{"text": "rope", "isChecked": True}, {"text": "oil"}], **stamp}
    (tmp_path / "a.json").write_text(json.dumps({**listed, "labels": [{"name": "boat"}]}))
    (tmp_path / "b.json").write_text(json.dumps({"title": "", "textContent": "gone", **stamp, "isTrashed": True}))
    (tmp_path / "a.html").write_text("<html><body>Shop rope oil</body></html>")
    page, note, skipped = load()

    assert isinstance(note, Document) and isinstance(skipped, Skipped)
    assert isinstance(page, Skipped) and "a.json" in page.detail
    assert (note.title, note.text, note.metadata) == ("Shop", "- [x] rope\n- [ ] oil", {"labels": ["boat"]})
    assert skipped.reason == "ignored"


def test_pages_of_roam_are_lists_with_their_references_resolved(load: Load, tmp_path: Path) -> None:
    """Tasks and nesting are kept; a page without blocks is skipped."""
    inner = {"string": "See ((abcdef123)) and [[Quay]]", "uid": "u2"}
    block = {"string": "{{[[DONE]]}} Light it", "uid": "abcdef123", "children": [inner]}
    pages = [{"title": "Beacon", "uid": "p1", "children": [block]}, {"title": "Empty"}]
    (tmp_path / "roam.json").write_text(json.dumps(pages))
    page, empty = load()

    assert isinstance(page, Document) and isinstance(empty, Skipped)
    assert (page.source, page.title) == ("roam.json#p1", "Beacon")
    assert page.text == "- [x] Light it\n  - See [x] Light it and [[Quay]]"


def test_notes_of_anki_are_documents(load: Load, tmp_path: Path) -> None:
    """Fields are HTML; tags are metadata. A file that is no deck is broken."""
    db = apsw.Connection(":memory:")
    db.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, flds TEXT, tags TEXT)")
    db.execute("INSERT INTO notes VALUES (5, 'What is a <b>quay</b>?\x1fA place to moor', ' sea harbour ')")
    with zipfile.ZipFile(tmp_path / "sea.apkg", "w") as archive:
        archive.writestr("collection.anki2", db.serialize("main"))
    note = only_document(load())

    assert (note.source, note.title) == ("sea.apkg#5", "What is a quay?")
    assert note.text == "What is a quay?\n\nA place to moor"
    assert note.metadata == {"tags": ["sea", "harbour"]}
    (tmp_path / "sea.apkg").write_bytes(b"PK\x03\x04 no zip")
    assert only_reason(load()) == "broken"


def test_a_deck_that_never_ends_is_broken(load: Load, tmp_path: Path) -> None:
    """A view in place of the table, which would run forever."""
    db = apsw.Connection(":memory:")
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    db.execute(f"CREATE VIEW notes AS {endless} SELECT max(i) AS id, '' AS flds, '' AS tags FROM n")
    with zipfile.ZipFile(tmp_path / "sea.apkg", "w") as archive:
        archive.writestr("collection.anki2", db.serialize("main"))
    assert only_reason(load()) == "broken"


def test_a_page_of_a_confluence_space_has_its_own_title(load: Load, tmp_path: Path) -> None:
    """Without the name of the space, so that links by title find it."""
    heading = '<h1 id="title-heading"><span id="title-text">Quays : Night Watch</span></h1>'
    page = f"<html><head><title>Quays : Night Watch</title></head><body>{heading}<p>Lit at nine.</p></body></html>"
    (tmp_path / "Night-Watch_7.html").write_text(page)

    assert only_document(load()).title == "Night Watch"


def test_bookmarks_are_links_below_their_folders(load: Load, tmp_path: Path) -> None:
    """With the lines of the file; a description stands below its bookmark."""
    (tmp_path / "bookmarks.html").write_text(BOOKMARKS)
    found = only_document(load())
    check_document(found)

    assert found.text.split("\n")[:3] == ["## Sea", "- [Harbour & Quay](https://harbour.test/)", "  Where ships wait"]
    assert list(found.lines or ())[:2] == [3, 5]


def test_a_notion_export_has_names_without_ids(load: Load, tmp_path: Path) -> None:
    """Of a database only the file with all rows is read."""
    (tmp_path / f"Plan {ID}.md").write_text("Text without a heading.\n")
    (tmp_path / f"Tasks {ID}.csv").write_text("Name,State\nLamp,done\n")
    (tmp_path / f"Tasks {ID}_all.csv").write_text("Name,State\nLamp,done\nRope,open\n")
    found = load()

    assert [document.title for document in documents(found)] == ["Plan", "Tasks.csv"]
    assert [item.reason for item in found if isinstance(item, Skipped)] == ["ignored"]


def test_pages_of_logseq_have_names_aliases_and_no_ids(load: Load, tmp_path: Path) -> None:
    """Names of files are encoded; line numbers stay."""
    for folder in ("logseq", "pages", "journals"):
        (tmp_path / folder).mkdir()
    (tmp_path / "logseq" / "config.edn").write_text("{}")
    (tmp_path / "pages" / "Sea___Beacon%3F.md").write_text(
        "alias:: Lamp, Light\n\n- Lit\n  id:: 65a\n- Out\n- See ((65a3c0de-1111-2222-3333-444455556666))\n"
    )
    (tmp_path / "journals" / "2026_03_02.md").write_text("- Met at the [[Quay]]\n")
    journal, page = (item for item in documents(load()) if item.source.endswith(".md"))

    assert (journal.title, page.title) == ("2026-03-02", "Sea/Beacon?")
    assert page.metadata["aliases"] == ["Lamp", "Light"]
    assert "id::" not in page.text and page.text.endswith("- See") and page.text.split("\n").index("- Out") == 4
