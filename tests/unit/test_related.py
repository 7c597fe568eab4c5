"""Related documents: near by vectors or connected in the graph, with reasons."""

import pytest

from weft.config import Settings
from weft.engine.engine import Engine
from weft.errors import NotFound

PAGES = {
    "text:auth.md": "# Auth Service\n\nThe Auth Service depends on the OAuth Provider. It serves the Login Flow.\n",
    "text:oauth.md": "# OAuth Provider\n\nThe OAuth Provider signs tokens for other systems.\n",
    "text:login.md": "# Login Flow\n\nThe Login Flow starts at the [[Auth Service]] and ends with a session.\n",
    "text:tides.md": "# Tide tables\n\nHigh water at the pier comes twelve hours after the last one.\n",
}


@pytest.fixture
def engine(database, embedder):
    with Engine(Settings(), database=database, embedder=embedder) as made:
        for source, text in PAGES.items():
            made.add_text(text, source=source.removeprefix("text:"))
        yield made


def sources(found):
    return [item.document.source for item in found]


def test_a_stated_neighbour_is_related_and_the_relation_is_the_reason(engine):
    """Both directions count; the document itself is not listed."""
    found = {item.document.source: item for item in engine.related("text:auth.md")}

    assert {"text:oauth.md", "text:login.md"} <= set(found) and "text:auth.md" not in found
    steps = [(step.source, step.type, step.target) for step in found["text:oauth.md"].relations]
    assert ("Auth Service", "depends_on", "OAuth Provider") in steps
    assert "Auth Service" in found["text:login.md"].shared
    assert sources(engine.related("text:auth.md", limit=1)) == sources(engine.related("text:auth.md"))[:1]


def test_an_unrelated_document_is_not_listed(engine, embedder):
    """A cosine below the floor of the embedder is no reason."""
    found = engine.related("text:tides.md")

    assert all(item.cosine >= embedder.card.floor for item in found if item.cosine is not None)
    assert all(item.cosine is not None or item.shared or item.relations for item in found)


def test_a_chunk_is_a_start_too(engine):
    """By its id; its own document is not listed."""
    _, (chunk, *_) = engine.get("text:login.md")

    assert "text:auth.md" in sources(engine.related(chunk.id)) and "text:login.md" not in sources(
        engine.related(chunk.id)
    )


def test_without_an_embedder_the_graph_alone_answers(database):
    """No cosine is reported."""
    engine = Engine(Settings(), database=database)
    engine.embedder_slot.replace(None)
    for source, text in PAGES.items():
        engine.add_text(text, source=source.removeprefix("text:"))
    found = engine.related("text:auth.md")

    assert "text:oauth.md" in sources(found) and {item.cosine for item in found} == {None}
    assert engine.related("text:tides.md") == []


def test_an_unknown_document_is_an_error(engine):
    """With a hint."""
    with pytest.raises(NotFound, match="no document or chunk"):
        engine.related("nothing.md")
