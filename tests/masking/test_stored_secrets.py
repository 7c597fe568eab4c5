"""Secrets that a store has already: found and erased."""

import pytest

from weft.admin.stored_secrets import erase_secrets, find_stored_secrets
from weft.config import read_settings
from weft.engine.adapters import VECTOR_CACHE_FILE
from weft.engine.engine import Engine
from weft.index.remember import content_of
from weft.models.embedders.vector_cache import CachedEmbedder
from weft.testing import FakeEmbedder

PASSWORD, KEY = "Qu1bblethorn-Gate!", "ghp_" + "a1B2" * 9
NOTE = f"""---
keeper: Marlow
api_key: {KEY}
---
# Harbour lights

The lights use PGPASSWORD={PASSWORD} psql at night.

## Foghorn

The foghorn sounds in autumn.
"""


def open_engine(tmp_path, **given):
    values = {"store.db": str(tmp_path / "weft.db"), "models.cache_dir": str(tmp_path / "cache"), **given}
    cached = CachedEmbedder(FakeEmbedder(), path=tmp_path / "cache" / VECTOR_CACHE_FILE)
    return Engine(read_settings(values, environment={}, folder=tmp_path), embedder=cached)


@pytest.fixture
def engine(tmp_path):
    """Give a store that was written without masking."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "lights.md").write_text(NOTE)
    (tmp_path / "notes" / "other.md").write_text("# Other\n\nNothing to hide.\n")
    with open_engine(tmp_path, **{"memory.allow_secrets": True}) as lax:
        lax.index(tmp_path / "notes")
        lax.memory.add("gate", "password", PASSWORD)
        lax.memory.add("gate", "colour", "green")
    with open_engine(tmp_path) as strict:
        yield strict


def test_documents_and_facts_with_secrets_are_found(engine):
    """Neither the preview nor its names show a value."""
    found = find_stored_secrets(engine)

    assert [(item.name, item.kinds) for item in found.documents] == [("notes/lights.md", ("an API key", "a password"))]
    assert sorted(item.name for item in found.facts) == ["Harbour lights api_key", "gate password"]
    assert not any(secret in repr(found) for secret in (PASSWORD, KEY))


def test_erasing_keeps_everything_but_the_values(engine, tmp_path):
    """Documents can be found, facts without secrets stay, and no file keeps a byte of a secret."""
    erase_secrets(engine, find_stored_secrets(engine))

    assert not find_stored_secrets(engine)
    (text,) = [chunk.text for chunk in engine.get("notes/lights.md")[1] if "psql" in chunk.text]
    assert "PGPASSWORD=[a password] psql at night" in text
    assert engine.query("foghorn autumn").evidence[0].document.source == "notes/lights.md"
    assert sorted((fact.subject_name, fact.value) for fact in engine.memory.list()) == [
        ("Harbour lights", "Marlow"), ("gate", "green"),
    ]  # fmt: skip
    assert engine.store.find_unembedded(engine.embedder.card.fingerprint, limit=10) == []
    assert engine.database.check() == []
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.parent.name != "notes"]
    assert files and not any(secret.encode() in path.read_bytes() for path in files for secret in (PASSWORD, KEY))


def test_indexing_again_gives_the_same_document(engine, tmp_path):
    """The file is masked as the store was."""
    erase_secrets(engine, find_stored_secrets(engine))
    _, before = engine.get("notes/lights.md")
    facts = sorted(map(content_of, engine.memory.list()))

    engine.index(tmp_path / "notes")

    assert engine.get("notes/lights.md")[1] == before
    assert sorted(map(content_of, engine.memory.list())) == facts
