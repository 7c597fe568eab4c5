"""Cost of a write or a question does not grow with the corpus or with the frequency of a name."""

from contextlib import contextmanager
from dataclasses import replace

import pytest
from contract import MODEL, make_batch
from logical import content
from opening import EACH, contradictions, open_empty, where

from weft.config import SearchOptions
from weft.errors import InputError
from weft.extract.names import name_key
from weft.records import Candidate, Extraction, Query, StatedRelation
from weft.search.graph.join import walk_graph
from weft.search.question.choose_method import Plan
from weft.search.question.read import read_question
from weft.search.run import find
from weft.search.search_context import SearchContext
from weft.store.postgres.database import PostgresDatabase
from weft.store.sqlite.database import SqliteDatabase
from weft.text.ids import document_id

# ── a hub ───────────────────────────────────────────────────────────────────────────────────────


def hub_document(number, *, namespace="default"):
    """Return a document that names two hubs in every way, one of them by an abbreviation too."""
    title = f"Item {number}"
    text = f"{title} was made by Great Hub with Other Hub, or OH, on the Night Shift. Item {number // 2} is near."
    candidates = (
        Candidate(key=name_key(title), name=title, kind="title", about=True),
        Candidate(key="great hub", name="Great Hub", kind="link"),
        Candidate(key="other hub", name="Other Hub", kind="metadata", type="plant", description="A plant."),
        Candidate(key="oh", name="OH", kind="abbreviation", alias_of="other hub", reason=f"said by {title}"),
        Candidate(key="night shift", name="Night Shift", kind="phrase", about=True),
    )
    stated_relations = (
        StatedRelation(source=name_key(title), target="great hub", type="made_by", weight=8.0, description=text),
        StatedRelation(source="great hub", target="other hub", type="works_with", weight=7.0, description=text),
        StatedRelation(source="other hub", target="great hub", type="works_with", weight=7.0),
    )
    batch = make_batch(title, [text], namespace=namespace)
    extraction = Extraction(candidates=candidates, stated_relations=stated_relations)
    return replace(batch, chunks=tuple(replace(item, extraction=extraction) for item in batch.chunks))


def grow(store, start, stop, *, group=200):
    for first in range(start, stop, group):
        store.write(*(hub_document(number) for number in range(first, min(stop, first + group))))


@contextmanager
def counting(database):
    """Count the steps SQLite takes, by tens: what is read and written, on any machine."""
    counts = [0]

    def step():
        counts[0] += 1
        return False

    with database._connections.bare() as db:
        db.set_progress_handler(step, 10)
        yield counts
        db.set_progress_handler(None)


def walked(store, question):
    """Return what the graph leads to from a question, and how."""
    query = Query(question=read_question(question), terms=(), vector=None, vector_weight=0.0)
    search = SearchContext(store=store, embedder=None)
    found = walk_graph(query, Plan(method="graph"), search, vector=None)
    return found.found.hits, found.found.explain({hit.chunk_id: "a:1" for hit in found.found.hits[:10]})


def measured(database, number):
    """Return the steps of writing, changing, asking for, merging and deleting one document of the hubs."""
    store = database.store("default")
    graph = store.graph
    steps = {}

    def measure(name, act):
        with counting(database) as counts:
            act()
        steps[name] = counts[0]

    def describe():
        ids = [entity.id for entity in graph.find_entities(["great hub", "other hub", "night shift"]).values()]
        graph.describe(graph.relations_between(ids))

    def derive():
        ids = [entity.id for entity in graph.find_entities(["great hub", "other hub", "night shift"]).values()]
        assert {relation.type for relation in graph.co_occurrences(ids, limit=20)} == {"co_occurs_with", "mentions"}

    def describe_derived():
        ids = [entity.id for entity in graph.find_entities(["great hub", "other hub"]).values()]
        (relation,) = graph.describe(graph.co_occurrences(ids[:1], others=ids[1:], limit=20))
        assert len(relation.chunks) == 20 and "Great Hub with Other Hub" in relation.description

    title, document = f"Item {number}", hub_document(number)
    changed = make_batch(title, ["By Great Hub and OH."])
    said = {item.chunk.id: item.extraction for item in hub_document(number - 1).chunks}
    measure("write", lambda: store.write(document))
    measure("describe", describe)
    measure("derive", derive)
    measure("describe derived", describe_derived)
    measure("walk", lambda: walked(store, "Who works with Great Hub and Other Hub?"))
    measure("ask for nothing we know", lambda: walked(store, "zzz"))
    measure("change", lambda: store.write(changed))
    measure("change back", lambda: store.write(document))
    measure("annotate", lambda: store.annotations.write("import", said))
    measure("take back", lambda: store.annotations.write("import", {}))
    measure("merge", lambda: graph.write_edit("merge", name_key(title), "great hub"))
    measure("unmerge", lambda: graph.write_edit("merge", name_key(title), "great hub", undo=True))
    measure("delete", lambda: store.delete([document.document.id]))
    return steps


def grew(small, large, *, times=1.1):
    """Return what takes more steps in the larger store."""
    return {name: (small[name], large[name]) for name in small if large[name] > times * small[name] + 20}


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """Give a database with two hubs of 2,000 chunks, and what one document cost there when they had 400."""
    database = SqliteDatabase(str(tmp_path_factory.mktemp("hub") / "weft.db"))
    store = database.store("default")
    store.write_model(MODEL)
    grow(store, 0, 400)
    small = measured(database, 400)
    grow(store, 400, 2000)
    yield database, small
    database.close()


def test_what_a_hub_costs_does_not_grow_with_it(hub):
    """With five times as many mentions, a write, a deletion and a question touch no more rows."""
    database, small = hub
    large = measured(database, 2000)

    assert min(small.values()) > 10
    assert grew(small, large) == {}
    assert contradictions(database) == []


def test_a_hub_is_answered_from_its_strongest_mentions(hub):
    """The walk goes on from `max_edges` chunks of an entity, and each of them names the hub."""
    database, _ = hub
    store = database.store("default")
    entity = store.graph.find_entities(["great hub"])["great hub"]
    hits, sources = walked(store, "Who works with Great Hub and Other Hub?")

    assert entity.chunks == 2000
    assert len(store.graph.mentions_of([entity.id], limit=20)) == 20
    assert 0 < len(hits) <= 100
    assert all("Great Hub" in chunk.text for chunk in store.chunks([hit.chunk_id for hit in hits]))
    assert {source.path[0].source for source in sources.values()} <= {"Great Hub", "Other Hub"}


def test_a_question_of_any_length_looks_up_as_much(hub):
    """A pasted book, each word of it a name or none, costs as much as its first words."""
    database, _ = hub
    store = database.store("default")
    steps = []
    for count in (400, 5000, 75_000):
        with counting(database) as counts:
            hits, _ = walked(store, " ".join(f"Item {number % 2000}" for number in range(count)))
        assert hits
        steps.append(counts[0])

    assert max(steps) <= min(steps) + 20


@pytest.mark.parametrize(
    "question",
    [
        " ".join(f"word{number}" for number in range(10_000)),
        " ".join(f"Item {number % 2000}" for number in range(5000)),
        "Great Hub " * 100_000,
        "x" * 1_000_000,
        "密" * 300_000,
    ],
    ids=["10,000 words", "10,000 words that are names", "1 MB of a hub", "1 MB without a space", "1 MB of CJK"],
)
def test_a_long_question_is_answered(hub, question):
    """Whole, through every channel that needs no model; what is not there is not made up."""
    database, _ = hub
    options = SearchOptions(method="mix", top_k=5, gate=False)
    result = find(question, SearchContext(store=database.store("default"), embedder=None, options=options))

    assert len(result.evidence) <= 10
    assert bool(result.evidence) == ("Hub" in question or "Item" in question)
    assert set(result.graph.recognised) <= {"Great Hub", *(f"Item {number}" for number in range(2000))}


@pytest.mark.slow
def test_a_hub_of_fifty_thousand_chunks(tmp_path):
    """The same at full size: a change or a question takes no more steps at the end than at the beginning."""
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    store = database.store("default")
    store.write_model(MODEL)
    steps = []
    for stop in (5000, 45_000, 50_000):
        grow(store, store.stats().chunks, stop)
        steps.append(measured(database, stop))

    assert store.graph.find_entities(["great hub"])["great hub"].chunks == 50_000
    assert grew(steps[0], steps[1]) == {}
    assert grew(steps[0], steps[2]) == {}
    assert contradictions(database) == []
    database.close()


# ── odd names ───────────────────────────────────────────────────────────────────────────────────

LONG = " ".join(f"Part{number}" for number in range(1200))  # 10 kB
ODD = {
    "empty": "",
    "a space": " ",
    "punctuation": "!!! ???",
    "10 kB of words": LONG,
    "10 kB without a space": "L" + "o" * 10_000,
    "10 kB of CJK": "密" * 3400,
    "an article": "The",
    "quotes": "'\"’`",
    "SQL": "x'; DROP TABLE entity; --",
    "JSON": '["a", {"b": null}]',
    "a zero": "null \x00 byte",
}


def odd_document(source, name, *, key):
    """Return a document whose text names something odd, that is about it, and relates it with itself and others."""
    candidates = (
        Candidate(key=key, name=name, kind="title", about=True, description=name),
        Candidate(key="paris", name="Paris", kind="link"),
        Candidate(key=key + "x", name=name + "x", kind="abbreviation", alias_of=key, reason=name),
    )
    ends = [(key, "paris"), ("paris", key + "x"), (key + "x", key), (key, key)]
    stated_relations = [
        StatedRelation(source=s, target=t, type="leads_to", weight=8.0, description=name) for s, t in ends
    ]
    batch = make_batch(source, [f"{name} and Paris.", "Paris."])
    extraction = Extraction(candidates=candidates, stated_relations=tuple(stated_relations))
    return replace(batch, chunks=tuple(replace(item, extraction=extraction) for item in batch.chunks))


REFUSED = {"10 kB of words": "too long", "a zero": "NUL"}
"""What PostgreSQL can keep under no key, and how it says so."""


@pytest.mark.parametrize("kind", EACH)
@pytest.mark.parametrize("cut", [True, False], ids=["as extractors make keys", "as anybody might"])
def test_odd_names_are_kept_found_and_forgotten(request, kind, cut):
    """In cycles and in relations with themselves, whatever the key; afterwards nothing of them is left."""
    database = open_empty(kind, request)
    store = database.store("default")
    store.write_model(MODEL)
    for kind_of_name, name in ODD.items():
        if "postgres" not in kind or kind_of_name not in REFUSED:
            check_odd_name(database, store, name, cut=cut)
    database.close()


def check_odd_name(database, store, name, *, cut):
    key = name_key(name) if cut else "x" + name.lower()  # keys that begin with a sign are those of pages and links
    store.write(odd_document("a", name, key=key))
    store.write(odd_document("b", name, key=key))
    graph = store.graph
    found = graph.find_entities([key, key + "x", "paris"])
    ids = [entity.id for entity in found.values()]
    relations = graph.describe(graph.relations_of(ids, limit=9))

    assert found[key].name == name
    assert not key or found[key] == found[key + "x"]
    ends = {(r.source_id, r.target_id) for r in relations if r.type == "leads_to"}
    assert ends >= {(found[key].id, found["paris"].id), (found["paris"].id, found[key + "x"].id)}
    assert all(source != target for source, target in ends)
    hits, _ = walked(store, f"What of Paris and {name}?")
    assert 0 < len(hits) <= 4
    assert contradictions(database) == []
    graph.write_edit("merge", "paris", key)
    assert store.graph.find_entities(["paris"])["paris"].id == found[key].id
    graph.write_edit("merge", "paris", key, undo=True)
    assert store.delete([document_id("default", source) for source in "ab"]) == 2
    assert store.graph.count() == (0, 0)
    assert contradictions(database) == []


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("cut", [True, False], ids=["as extractors make keys", "as anybody might"])
def test_names_that_a_server_cannot_keep_are_refused_and_nothing_is_changed(postgres_dsn, name, cut):
    """The error says why, and half of a document is not there."""
    database = PostgresDatabase(postgres_dsn)
    store = database.store("default")
    store.write_model(MODEL)
    store.write(odd_document("a", "Fine", key="fine"))
    before = content(postgres_dsn)
    key = name_key(ODD[name]) if cut else ODD[name].lower()

    with pytest.raises(InputError, match=REFUSED[name]):
        store.write(odd_document("b", ODD[name], key=key))
    assert content(postgres_dsn) == before
    assert contradictions(database) == []
    database.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_half_characters_are_refused_and_nothing_is_changed(kind, request):
    """They cannot be written in UTF-8; the error says so, wherever they stand."""
    database = open_empty(kind, request)
    store = database.store("default")
    store.write_model(MODEL)
    store.write(odd_document("a", "Fine", key="fine"))
    before = content(where(kind, request))
    half = "half \ud83d"
    said = Extraction(candidates=(Candidate(key="fine", name=half, kind="given"),))
    chunk = store.find_chunks(document_id("default", "a"))[0].id

    for act in (
        lambda: store.write(odd_document("b", half, key="half")),
        lambda: store.write(odd_document("b", "Half", key=half)),
        lambda: store.annotations.write("import", {chunk: said}),
        lambda: store.graph.write_edit("alias", half, "fine"),
        lambda: store.graph.find_entities([half]),
    ):
        with pytest.raises(InputError, match="unpaired surrogates"):
            act()
    assert content(where(kind, request)) == before
    assert contradictions(database) == []
    database.close()
