"""Citations of absolute sources start with the name of the common folder."""

import pytest

from weft.engine.opening.open_engine import open_engine
from weft.engine.paths import typed_source
from weft.errors import NotFound
from weft.tools.calls import call_tool


@pytest.fixture
def library(tmp_path):
    """An engine whose store lies apart from the documents, and the folder above these."""
    store, texts = tmp_path / "store", tmp_path / "texts"
    for folder in (store, texts / "notes" / "a"):
        folder.mkdir(parents=True)
    (texts / "notes" / "a" / "b.md").write_text("# Lighthouse\n\nThe keeper sings.\n")
    (texts / "notes" / "c.md").write_text("# Harbour\n\nThe crane rests.\n")
    with open_engine(store / "weft.db", embedder="hash") as engine:
        engine.index(texts / "notes")
        yield engine, texts


def cited(engine, text):
    piece = engine.query(text, method="keyword").evidence[0]
    return piece.citation, piece.document.source


def test_a_citation_starts_with_the_indexed_folder(library):
    """The source stays absolute, and the citation is understood wherever a source is."""
    engine, texts = library
    citation, source = cited(engine, "lighthouse keeper")
    piece = engine.query("lighthouse keeper", method="keyword").evidence[0]

    assert (citation, source) == ("notes/a/b.md:3", f"{texts}/notes/a/b.md")
    assert engine.cite(piece.chunk.id) == citation
    assert engine.get("notes/a/b.md")[0].source == source
    assert engine.get(citation) == engine.get(piece.chunk.id)
    assert typed_source("notes/a", store=engine.store, base=engine.base) == f"{texts}/notes/a"
    found = call_tool(engine, "memory_get", {"id": citation}).values
    assert [passage["citation"] for passage in found["passages"]] == [citation]


def test_all_absolute_sources_have_one_common_folder(library):
    """Texts that are no files do not count; a second folder makes citations longer."""
    engine, texts = library
    engine.add_text("The crane is red.", source="standup")

    assert cited(engine, "harbour")[0] == "notes/c.md:3"
    (texts / "zoo").mkdir()
    (texts / "zoo" / "d.md").write_text("# Zebra\n\nIt grazes.\n")
    engine.index(texts / "zoo")
    assert cited(engine, "harbour")[0] == "texts/notes/c.md:3"
    assert cited(engine, "zebra")[0] == "texts/zoo/d.md:3"
    assert cited(engine, "standup red")[0] == "text:standup:1"


def test_the_lines_of_a_citation_select_chunks(tmp_path):
    """Lines, pages and turns alike; without such lines, all chunks are returned. A record id may end in digits."""
    (tmp_path / "long.md").write_text("# Log\n\n" + "\n\n".join(f"## Day {day}\n\n{'rain ' * 120}" for day in range(9)))
    with open_engine(tmp_path / "weft.db", embedder="none") as engine:
        engine.index(tmp_path / "long.md")
        engine.add_text("tide", source="port:80")
        _, chunks = engine.get("long.md")
        middle = chunks[len(chunks) // 2]

        assert engine.get(f"long.md:{middle.start_line}-{middle.end_line}")[1] == [middle]
        assert engine.get(f"long.md:{chunks[0].start_line}-{middle.start_line}")[1] == chunks[: len(chunks) // 2 + 1]
        assert engine.get("long.md:p9000")[1] == chunks
        assert engine.get("port:80")[1][0].text == "tide"
        for name in ("long.md:3-x", "other.md:3", f"long.md:{'9' * 40}", ":3"):
            with pytest.raises(NotFound):
                engine.get(name)
