"""Names of source code in prose: they are the definitions of the corpus, if these are unique."""

import pytest
from extracting import extract
from source_code import make_code

from weft.config import SplitOptions
from weft.extract.rules import RuleExtractor
from weft.index.run import index_documents
from weft.records import Document

CODE = {
    "src/web/__init__.py": "from ._client import *\n",
    "src/web/_client.py": (
        "class AsyncClient:\n    def aclose(self): pass\n\n\nclass Client:\n    def send_it(self): pass\n"
    ),
    "src/web/pool.py": ("class Pool:\n    def send_it(self): pass\n\n\nclass Client: pass\n\n\ndef read_all(): pass\n"),
}
GUIDE = (
    "# Guide\n\nText. Open a `web.AsyncClient` and close it by `AsyncClient.aclose()`.\n\nThe `Pool` has read_all and"
    " `send_it()`, see `Client`, `config.py` and `get`.\n"
)
NOTES = "# Notes\n\n`AsyncClient` is a class for requests. Call `send_it()` later.\n\n::: web.pool.read_all\n"


def write(store, code=CODE, pages=(("docs/guide.md", "Guide", GUIDE), ("docs/notes.md", "Notes", NOTES))):
    documents = [make_code(source, text) for source, text in code.items()]
    documents += [Document(source=source, title=title, text=text, form="markdown") for source, title, text in pages]
    index_documents(documents, store=store, embedder=None, options=SplitOptions(), extractor=RuleExtractor())
    return {entity.name: entity for entity in store.graph.entities_after("", limit=1000)}


def mentioning(store, entity):
    """Return the sources of the chunks that mention an entity."""
    chunks = store.chunks([mention.chunk_id for mention in store.graph.mentions_of([entity.id], limit=100)])
    return {store.documents([chunk.document_id])[0].source for chunk in chunks}


def test_a_name_in_prose_is_the_only_definition_with_this_name(database):
    """Its class and its name in the documentation are one entity, with the chunks of both."""
    store = database.store("default")
    found = write(store)

    assert {name for name in found if "AsyncClient" in name} == {
        "web._client.AsyncClient",
        "web._client.AsyncClient.aclose",
    }
    assert mentioning(store, found["web._client.AsyncClient"]) == {
        "src/web/_client.py",
        "docs/guide.md",
        "docs/notes.md",
    }
    assert mentioning(store, found["web.pool.Pool"]) == {"src/web/pool.py", "docs/guide.md"}
    assert mentioning(store, found["web.pool.read_all"]) == {"src/web/pool.py", "docs/guide.md"}
    keys = ["asyncclient", "web asyncclient", "code:AsyncClient", "code:web.AsyncClient"]
    assert {e.name for e in store.graph.find_entities(keys[1:]).values()} == {"web._client.AsyncClient"}


def test_an_ambiguous_name_is_no_definition(database):
    """`Client` is defined twice, and `send_it` as well: it stays a name of two pages."""
    store = database.store("default")
    found = write(store)

    assert mentioning(store, found["web._client.Client"]) == {"src/web/_client.py"}
    assert mentioning(store, found["web.pool.Client"]) == {"src/web/pool.py"}
    assert found["send_it"].key == "send it"


def test_without_the_code_names_are_entities_of_their_own(database):
    """The order does not matter: the code may come and go."""
    store, other = database.store("default"), database.store("other")
    assert "AsyncClient" in write(store, code={})
    write(other, pages=())

    assert write(store).keys() == write(other).keys()
    assert mentioning(store, write(store)["web.pool.Pool"]) == {"src/web/pool.py", "docs/guide.md"}


def test_a_directive_links_to_a_definition(database):
    """`::: web.pool.read_all` inserts its documentation."""
    store = database.store("default")
    found = write(store)
    links = store.graph.relations_of([found["web.pool.read_all"].id], limit=100, types=["links_to"])

    assert [relation.source_id for relation in links] == [found["Notes"].id]


@pytest.mark.parametrize(
    "text, code",
    [
        ("Use `web.AsyncClient` here.", ["web.AsyncClient"]),
        ("Use `client.send()` and `.is_closed` here.", ["client.send", "is_closed"]),
        ("Use `Client`, `get`, `get()` and `GET /users`.", ["Client", "get"]),
        ("We call read_all with web.read_all and useState.", ["read_all", "web.read_all", "useState"]),
        ("The AsyncClient uses GitHub, and Jane Doe.", ["AsyncClient", "GitHub"]),
        ("See `config.yaml`, `main.py`, `a = 1`, `--flag` and `std::sort`.", ["std::sort"]),
    ],
)
def test_what_may_be_a_name_of_code(text, code):
    """Plain words and file names are none."""
    found = extract(text, title="Notes").candidates
    assert [n.name for n in found if n.key.startswith("code:")] == code
