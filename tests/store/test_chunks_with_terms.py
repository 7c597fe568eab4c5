"""Chunks that contain all of some terms: the same in all stores."""

import pytest
from contract import MODEL, make_batch
from memory_store import store as memory
from opening import EACH, open_empty

from weft.store import base
from weft.store.relational import store as relational

TEXTS = ["red fox", "red hen", "blue fox", "red 狐狸 fox", "fox's den"]


@pytest.fixture(params=EACH)
def store(request):
    database = open_empty(request.param, request)
    database.store("other").write_model(MODEL)
    database.store("other").write(make_batch("elsewhere", ["red fox"], namespace="other"))
    opened = database.store("default")
    opened.write_model(MODEL)
    opened.write(make_batch("animals", TEXTS))
    yield opened
    database.close()


def chunk_texts(store, *terms, limit=9):
    none, found, same = store.find_chunks_with_terms([(), terms, terms], limit=limit)
    assert (none, found) == ([], same), "each list for itself"
    return None if found is None else sorted(chunk.text for chunk in store.chunks(found))


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        (("red", "fox"), ["red fox", "red 狐狸 fox"]),
        (("狐狸", "red"), ["red 狐狸 fox"]),
        (("hen",), ["red hen"]),
        (("hen", "blue"), []),
        (("hen", "nowhere"), []),
        (('"x" OR *',), []),
        ((), []),
    ],
)
def test_a_chunk_must_hold_every_term(store, terms, expected):
    """Chunks of another namespace are not found, and query syntax in a term has no effect."""
    assert chunk_texts(store, *terms) == expected


def test_more_than_the_limit_are_none_at_all(store):
    """The caller can then rank instead."""
    assert chunk_texts(store, "red", "fox", limit=2) == ["red fox", "red 狐狸 fox"]
    assert chunk_texts(store, "red", "fox", limit=1) is None


def test_common_terms_lead_nowhere(store, monkeypatch):
    """If even the rarest term is common, no posting is read; one rare term is enough."""
    for module in (base, memory, relational):
        monkeypatch.setattr(module, "MIN_COMMON_TERM_CHUNKS", 3)
    assert chunk_texts(store, "red", "fox") is None
    assert chunk_texts(store, "red", "hen") == ["red hen"]


def test_what_was_deleted_is_not_found(store):
    """A document takes its chunks with it."""
    store.delete([document.id for document in store.find_documents(base.Filter())])
    assert chunk_texts(store, "red", "fox") == []


def test_terms_of_chunks_are_found_without_their_texts(store):
    """Unknown chunks, and those of another namespace, are left out; a chunk may have none of the terms."""
    by_text = {chunk.text: chunk.id for chunk in store.sample(limit=9)}
    found = store.passages.find_terms([*by_text.values(), "nope"], ["red", "fox", "狐狸", "nowhere", '"x" OR *'])

    assert {text: found[id] for text, id in by_text.items()} == {
        "red fox": {"red", "fox"},
        "red hen": {"red"},
        "blue fox": {"fox"},
        "red 狐狸 fox": {"red", "狐狸", "fox"},
        "fox's den": {"fox"},
    }
    assert len(found) == len(by_text)
    assert store.passages.find_terms([], ["red"]) == {}
    assert store.passages.find_terms([by_text["red fox"]], []) == {by_text["red fox"]: set()}
