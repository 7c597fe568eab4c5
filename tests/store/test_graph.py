"""Graph of every store: derived from documents and edits, independent of their order."""

from dataclasses import replace

import pytest
from contract import MODEL, make_batch, unit
from graph_making import KEYS, NAMES, batch_of, view
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from logical import content
from memory_store.store import MemoryDatabase
from opening import open_empty

from weft.extract.names import name_key
from weft.graph.entity_resolution import KIND_RANKS, vote
from weft.records import Candidate, Extraction, StatedRelation
from weft.store.postgres.database import PostgresDatabase
from weft.store.relational.graph import graph_read
from weft.store.sqlite.database import SqliteDatabase
from weft.text.ids import document_id

TEXT = st.lists(
    st.sampled_from([*NAMES, "the auth services work", "and", "paris", "run. Then", "ledger"]), min_size=1, max_size=7
)
TEXTS = st.lists(TEXT.map(" ".join), max_size=3)
WRITE = st.tuples(st.sampled_from(["Paris", "Auth Service", "Doc One", "Ledger"]), st.one_of(st.none(), TEXTS))
EDIT = st.tuples(
    st.sampled_from(["merge", "unmerge", "alias", "rename", "delete"]),
    st.sampled_from(KEYS),
    st.sampled_from(KEYS),
    st.booleans(),
)
CANDIDATE = st.builds(
    lambda name, **fields: Candidate(key=name_key(name), name=name, **fields),
    name=st.sampled_from(NAMES),
    kind=st.sampled_from(["given", "phrase", "variant"]),
    type=st.sampled_from(["", "service"]),
    description=st.sampled_from(["", "said by an import"]),
    about=st.booleans(),
    alias_of=st.sampled_from(["", "", "paris", "auth service"]),
    reason=st.sampled_from(["one", "two"]),
    extractor=st.sampled_from(["", "model", "+model", "other"]),
)
STATED_RELATION = st.builds(
    StatedRelation,
    source=st.sampled_from(KEYS),
    target=st.sampled_from(KEYS),
    type=st.sampled_from(["uses", "co_occurs_with"]),
    extractor=st.sampled_from(["", "model", "+model"]),
    weight=st.sampled_from([2.0, 5.0, 9.0]),
    description=st.sampled_from(["", "as they say"]),
)
EXTRACTION = st.builds(
    Extraction,
    candidates=st.lists(CANDIDATE, max_size=3).map(tuple),
    stated_relations=st.lists(STATED_RELATION, max_size=2).map(tuple),
)
ANNOTATE = st.tuples(
    st.just("annotate"),
    st.sampled_from(["openie", "triples"]),
    st.lists(st.tuples(st.integers(0, 20), EXTRACTION), max_size=3),
)
STEPS = st.lists(st.one_of(WRITE, EDIT, ANNOTATE), max_size=9)


def chunks_of(source, texts):
    return [item.chunk.id for item in make_batch(source, texts).chunks]


def settle(steps):
    """
    Return the history with chunk ids in the place of picks, and the shortest one with the same outcome.

    That one has the last words on documents, the edits that still stand, and what imports say of chunks that never
    went since.
    """
    documents, edits, said, named = {}, {}, {}, []
    for step in steps:
        match step:
            case "annotate", origin, picks:
                present = sorted(id for source, texts in documents.items() for id in chunks_of(source, texts))
                chosen = {present[pick % len(present)]: extraction for pick, extraction in picks if present}
                said[origin] = chosen
                step = ("annotate", origin, chosen)
            case kind, key, value, undo:
                edits[kind, key, value] = undo
            case source, texts:
                documents.pop(source, None)
                if texts is not None:
                    documents[source] = texts
                present = {id for source, texts in documents.items() for id in chunks_of(source, texts)}
                said = {origin: {id: e for id, e in by.items() if id in present} for origin, by in said.items()}
        named.append(step)
    standing = sorted((*edit, False) for edit, undone in edits.items() if not undone)
    annotations = [("annotate", origin, by) for origin, by in sorted(said.items())]
    return named, [*standing, *sorted(documents.items(), reverse=True), *annotations]


def together(steps):
    """Return the same steps with all documents in one transaction, as the first load of a namespace writes them."""
    documents = [step for step in steps if len(step) == 2]
    at = steps.index(documents[0]) if documents else 0
    return [*steps[:at], ("documents", documents), *steps[at + len(documents) :]] if documents else steps


def play(store, steps):
    for step in steps:
        match step:
            case "documents", documents:
                store.write(*(batch_of(source, texts) for source, texts in documents))
            case "annotate", origin, extractions:
                store.annotations.write(origin, extractions)
                missing = store.graph.find_unembedded(MODEL.fingerprint, limit=99)
                store.graph.write_vectors(MODEL.fingerprint, {at: unit(1, len(at[1]), 2) for at in missing})
            case kind, key, value, undo:
                if key != value:
                    store.graph.write_edit(kind, key, value, undo=undo)
            case source, None:
                store.delete([document_id("default", source)])
            case source, texts:
                store.write(batch_of(source, texts))


def spelled(name, *, about=False):
    """Return a given name of Paris."""
    return Candidate(key=name_key(name), name=name, kind="given", about=about, alias_of="paris", reason="one")


@settings(max_examples=settings.default.max_examples // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS)
@example(
    steps=[
        ("Ledger", ["OAuth Provider", "Auth Service", "Authservice and Paris run. Then Auth Service"]),
        ("Paris", None),
        ("Paris", ["Auth Service", "Authservice"]),
    ]
)
@example(
    steps=[
        ("Paris", ["SR0 52 密 钥"]),
        ("Auth Service", ["Auth Service", "Auth Service Paris+ Auth Service Auth Service Auth Service C SR-052"]),
        (
            "annotate",
            "openie",
            [
                (8, Extraction(candidates=(spelled("Data Base", about=True),))),
                (0, Extraction(candidates=(spelled("C++"),))),
            ],
        ),
        ("merge", "paris+", "c++", False),
    ]
)
def test_any_history_gives_the_graph_of_its_outcome(tmp_path_factory, steps):
    """Long history, short history and a full derivation in memory see the same graph; so do the tables."""
    folder = tmp_path_factory.mktemp("graph")
    compare(SqliteDatabase(str(folder / "long.db")), folder / "long.db", folder / "short.db", steps)


@settings(max_examples=settings.default.max_examples // 10, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS)
def test_any_history_on_a_server_gives_the_graph_of_its_outcome(postgres_dsn, tmp_path_factory, steps):
    """The tables of PostgreSQL hold after a long history what those of SQLite hold after the short one."""
    database = PostgresDatabase(postgres_dsn)
    database.drop("default")
    compare(database, postgres_dsn, tmp_path_factory.mktemp("graph") / "short.db", steps)


def compare(database, where, short_path, steps):
    """Play all steps in an empty database, and the shortest that lead to the same in SQLite and in memory."""
    databases = [database, SqliteDatabase(str(short_path)), MemoryDatabase()]
    stores = [database.store("default") for database in databases]
    long, short = settle(steps)
    for store, history in zip(stores, (long, together(short), short), strict=True):
        store.write_model(MODEL)
        play(store, history)
    tables, expected = content(where), content(short_path)
    for table in expected:
        assert tables[table] == expected[table], table
    seen = [view(store) for store in stores]
    for part in seen[0]:
        assert seen[0][part] == seen[2][part], part
    assert seen[0]["not embedded"] == {}
    assert databases[0].check() == []
    for database in databases:
        database.close()


def test_a_title_that_arrives_later_is_found_in_older_chunks(store):
    """The dictionary is global: a new document's title links to what mentions it already."""
    store.write(batch_of("Doc One", ["We went to Paris by train."]))
    assert "paris" not in store.graph.find_entities(["paris"])
    store.write(batch_of("Paris", ["A city."]))
    paris = store.graph.find_entities(["paris"])["paris"]

    assert paris.chunks == 2
    mentions = store.graph.mentions_of([paris.id], limit=9)
    assert [repr(mention.about) for mention in mentions] == ["True", "False"]
    store.delete([document_id("default", "Paris")])
    assert store.graph.find_entities(["paris"]) == {}


def test_the_longest_name_wins(store):
    """`Auth Service Team` is not a mention of `Auth Service`."""
    store.write(batch_of("Auth Service", ["Signs tokens."]))
    store.write(batch_of("Auth Service Team", ["Owns things."]))
    store.write(batch_of("Doc One", ["Ask the Auth Service Team."]))
    service = store.graph.find_entities(["auth service"])["auth service"]

    assert service.chunks == 1


def test_numbers_are_never_merged(store):
    """SR-052 and SR-053 are two things."""
    store.write(batch_of("SR-052", ["First."]))
    store.write(batch_of("SR-053", ["Second."]))

    assert len({entity.id for entity in store.graph.find_entities(["sr 052", "sr 053"]).values()}) == 2


def test_names_that_differ_in_a_sign_are_apart(store):
    """Older chunks are looked through for a name with its sign, and `Paris+` is not a mention of `Paris`."""
    store.write(batch_of("Doc One", ["We know C++11 and C++'s rules.", "We know C.", "We saw Paris+ there."]))
    for title in ("C++", "C", "Paris", "Paris+"):
        store.write(batch_of(title, ["Text."]))
    found = store.graph.find_entities(["c++", "c", "paris", "paris+"])

    assert {key: (entity.name, entity.chunks) for key, entity in found.items()} == {
        "c++": ("C++", 2),
        "c": ("C", 2),
        "paris": ("Paris", 1),
        "paris+": ("Paris+", 2),
    }


def test_an_abbreviation_is_read_as_what_it_stands_for_until_unmerged(store):
    """The reason is kept, the merge can be undone, and undone again."""
    store.write(batch_of("Auth Service", ["Also called AS in logs."]))
    graph = store.graph
    assert graph.find_entities(["as"])["as"].name == "Auth Service"
    assert graph.find_entities(["as"])["as"].aliases == ("AS",)
    graph.write_edit("unmerge", "as", "auth service")
    assert store.graph.find_entities(["as"])["as"].name == "AS"
    graph.write_edit("unmerge", "as", "auth service", undo=True)
    assert store.graph.find_entities(["as"])["as"].name == "Auth Service"


def test_a_merge_joins_mentions_and_relations_and_can_be_taken_back(store):
    """Merging is a link, never destructive."""
    store.write(batch_of("Paris", ["A city with 密钥."]))
    store.write(batch_of("Ledger", ["Books. Paris again."]))
    graph = store.graph
    before = view(store)
    graph.write_edit("merge", "ledger", "paris")
    merged = store.graph.find_entities(["ledger", "paris"])
    assert merged["ledger"] == merged["paris"]
    assert merged["paris"].chunks >= 2
    graph.write_edit("merge", "ledger", "paris", undo=True)

    assert view(store) == before


def test_every_store_finds_the_same_relations_strongest(store):
    """Each name of an entity has its own share, and equal weights are cut alike; so are sentences chosen."""
    names = ["Paris", "Ledger", "Database", "SR-052", "密钥", "Auth Service"]
    keys = list(map(name_key, names))
    said = Extraction(
        candidates=tuple(Candidate(key=name_key(name), name=name, kind="given") for name in names),
        stated_relations=tuple(
            StatedRelation(
                source=source, target=target, type=type, weight=5.0, description=f"{target}, said of {source}"
            )
            for source in keys
            for target in keys
            for type in ("uses", "owns")
            if source != target
        ),
    )
    views = []
    for each in (store, MemoryDatabase().store("default")):
        each.write_model(MODEL)
        each.write(make_batch("Doc One", ["Some text."]))
        each.annotations.write("theirs", {chunks_of("Doc One", ["Some text."])[0]: said})
        for key in keys[1:3]:
            each.graph.write_edit("merge", key, keys[0])
        graph, ids = each.graph, sorted({entity.id for entity in each.graph.find_entities(keys).values()})
        found = [
            graph.relations_of([id], limit=limit, types=types)
            for id in ids
            for limit in (1, 2, 3)
            for types in ([], ["uses"])
        ]
        views.append([graph.describe(relations) for relations in found])

    assert views[0] == views[1]
    assert len(ids) == 4


def test_the_first_spelling_of_the_best_kind_is_the_name(store):
    """However many documents spell it, and whichever comes first."""

    def spell(source, name, kind):
        said = Extraction(candidates=(Candidate(key="paris", name=name, kind=kind),))
        batch = make_batch(source, ["A city."])
        store.write(replace(batch, chunks=(replace(batch.chunks[0], extraction=said),)))

    def name():
        return store.graph.find_entities(["paris"])["paris"].name

    for source, spelling in (("a", "Paris"), ("b", "PARIS"), ("c", "paris")):
        spell(source, spelling, "link")
    assert name() == "PARIS"
    store.delete([document_id("default", "b")])
    assert name() == "Paris"
    spell("d", "AAA", "phrase")
    assert name() == "Paris"
    spell("d", "the city of Paris", "title")
    assert name() == "the city of Paris"
    store.delete([document_id("default", "a"), document_id("default", "d")])
    assert name() == "paris"


def test_only_two_ranks_have_weak_votes():
    """The query `key_votes` of SQLite reads only these."""
    assert {rank for kind, rank in KIND_RANKS.items() if vote(kind) == 1} == {5, 6}


def test_another_name_that_no_document_spells_is_shown_as_the_user_spells_it(store):
    """A spelling of a document takes precedence."""
    store.write(batch_of("Paris", ["A city with 密钥."]))
    graph = store.graph
    for key, spelled in (("lutetia", "LUTETIA"), ("密钥", "Schlüssel")):
        graph.write_edit("alias", key, "paris")
        graph.write_edit("rename", key, spelled)

    assert store.graph.find_entities(["paris"])["paris"].aliases == ("LUTETIA", "密钥")


def test_entities_are_listed_by_key_without_other_names_of_them(store):
    """In pages, each after the last key of the one before."""
    store.write(batch_of("Auth Service", ["Also called AS in logs."]))
    store.write(batch_of("Paris", ["A city with 密钥."]))
    first = store.graph.entities_after("", limit=2)
    rest = store.graph.entities_after(first[-1].key, limit=9)

    assert [entity.key for entity in first + rest] == ["auth service", "paris", "密钥"]
    assert first[0].aliases == ("AS",)
    assert store.graph.entities_after("密钥", limit=9) == []


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_types_in_a_large_namespace_are_estimated_from_a_sample(kind, request, monkeypatch):
    """A sample of all entities counts exactly, half of them nearly; aliases belong to their entity."""
    database = open_empty(kind, request)
    store = database.store("default")
    store.write_model(MODEL)
    store.write(*(service_batch(number) for number in range(LARGE)))
    store.graph.write_edit("merge", "service 1", "service 2")
    exact = store.graph.census()
    assert (exact.entities, exact.relations, exact.is_estimated) == ({"service": LARGE - 1}, {"uses": LARGE - 1}, False)
    monkeypatch.setattr(graph_read, "MAX_COUNTED_CENSUS_CHUNKS", 0)
    assert store.graph.census() == replace(exact, is_estimated=True)
    monkeypatch.setattr(graph_read, "SAMPLED_CENSUS_CHUNKS", LARGE // 2)
    half = store.graph.census()
    database.close()
    assert half.entities["service"] != LARGE - 1, "a sample"
    for found in (half.entities["service"], half.relations["uses"]):
        assert abs(found - LARGE) < 5 * LARGE**0.5


LARGE = 200


def service_batch(number):
    """Return a batch about one service, which uses the next one."""
    own, other = (f"service {n % LARGE}" for n in (number, number + 1))
    said = Extraction(
        candidates=(Candidate(key=own, name=own.title(), kind="given", type="service", about=True),),
        stated_relations=(StatedRelation(source=own, target=other, type="uses", weight=5.0),),
    )
    batch = make_batch(f"{number}", [f"{own.title()} uses {other.title()}."])
    return replace(batch, chunks=tuple(replace(item, extraction=said) for item in batch.chunks))


def test_another_namespace_has_another_graph(database):
    """The same names in two namespaces are different entities with different ids."""
    for name in ("mine", "theirs"):
        other = database.store(name)
        other.write_model(MODEL)
        other.write(batch_of("Paris", [f"The city of {name}."], namespace=name))
    mine, theirs = (database.store(name).graph for name in ("mine", "theirs"))

    foreign = theirs.find_entities(["paris"])["paris"]
    assert mine.find_entities(["paris"])["paris"].id != foreign.id
    assert mine.entities([foreign.id]) == []
    assert mine.mentions_of([foreign.id], limit=9) == []
    assert mine.relations_of([foreign.id], limit=9) == []
    foreign_chunks = [mention.chunk_id for mention in theirs.mentions_of([foreign.id], limit=9)]
    assert foreign_chunks
    assert mine.search_entities(unit(1, 5, 2), chunk_ids=foreign_chunks, limit=9) == []
