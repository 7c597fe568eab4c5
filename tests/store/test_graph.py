"""The graph of every store is a function of the documents and the user's edits, not of the order they came in."""

from dataclasses import replace

import pytest
from contract import MODEL, make_batch, unit
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from logical import content
from opening import KINDS, open_empty

from weft.records import Claim, Extraction, Filter, Nomination
from weft.store.memory import MemoryDatabase
from weft.store.postgres.database import PostgresDatabase
from weft.store.sqlite.database import SqliteDatabase
from weft.text.ids import document_id
from weft.text.names import match_names, name_key, words

NAMES = [
    *("Auth Service", "OAuth Provider", "Auth Service Team", "SR-052", "SR-053", "密钥", "Ledgers", "Paris", "AS"),
    *("Data Base", "Database", "SR 052", "SR0 52", "Authservice", "密 钥"),
]
"""Among them several spellings of one name."""
KEYS = [name_key(name) for name in NAMES]


def extract(source, text):
    """Nominate what a plain extractor would: the source as title, names in the text weakly, one alias, one link."""
    title = source
    found = {key for key, _, _ in match_names(words(text), KEYS)}
    nominations = [Nomination(key=name_key(title), name=title, kind="title", about=True, description=text[:40])]
    nominations += [
        Nomination(key=key, name=name, kind="phrase") for name, key in zip(NAMES, KEYS, strict=True) if key in found
    ]
    claims = []
    if "AS" in text.split():
        alias = Nomination(key="as", name="AS", kind="abbreviation", alias_of="auth service", reason="in parentheses")
        nominations.append(alias)
    if "密钥" in text:
        nominations.append(Nomination(key="密钥", name="密钥", kind="link"))
        claims.append(Claim(source=name_key(title), target="密钥", type="links_to", weight=8.0, description=text))
    return Extraction(nominations=tuple(nominations), claims=tuple(claims))


def batch_of(source, texts, *, namespace="default"):
    batch = make_batch(source, texts, namespace=namespace)
    items = []
    for item in batch.chunks:
        found = extract(source, item.chunk.text)
        vectors = {n.key: unit(1, len(n.key), 2) for n in found.nominations if n.description}
        items.append(replace(item, extraction=found, entity_vectors=vectors))
    return replace(batch, chunks=tuple(items))


TEXT = st.lists(
    st.sampled_from([*NAMES, "the auth services work", "and", "paris", "run. Then", "ledger"]), min_size=1, max_size=7
)
TEXTS = st.lists(TEXT.map(" ".join), max_size=3)
WRITE = st.tuples(st.sampled_from(["Paris", "Auth Service", "Doc One", "Ledger"]), st.one_of(st.none(), TEXTS))
EDIT = st.tuples(
    st.sampled_from(["merge", "unmerge", "alias", "rename"]),
    st.sampled_from(KEYS),
    st.sampled_from(KEYS),
    st.booleans(),
)
NOMINATION = st.builds(
    lambda name, **fields: Nomination(key=name_key(name), name=name, **fields),
    name=st.sampled_from(NAMES),
    kind=st.sampled_from(["given", "phrase", "variant"]),
    type=st.sampled_from(["", "service"]),
    description=st.sampled_from(["", "said by an import"]),
    about=st.booleans(),
    alias_of=st.sampled_from(["", "", "paris", "auth service"]),
    reason=st.sampled_from(["one", "two"]),
    extractor=st.sampled_from(["", "model", "+model", "other"]),
)
CLAIM = st.builds(
    Claim,
    source=st.sampled_from(KEYS),
    target=st.sampled_from(KEYS),
    type=st.sampled_from(["uses", "co_occurs_with"]),
    extractor=st.sampled_from(["", "model", "+model"]),
    weight=st.sampled_from([2.0, 5.0, 9.0]),
    description=st.sampled_from(["", "as they say"]),
)
EXTRACTION = st.builds(
    Extraction, nominations=st.lists(NOMINATION, max_size=3).map(tuple), claims=st.lists(CLAIM, max_size=2).map(tuple)
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


def play(store, steps):
    for step in steps:
        match step:
            case "annotate", origin, extractions:
                store.annotate(origin, extractions)
                missing = store.graph.find_unembedded(MODEL.fingerprint, limit=99)
                store.graph.write_vectors(MODEL.fingerprint, {at: unit(1, len(at[1]), 2) for at in missing})
            case kind, key, value, undo:
                if key != value:
                    store.graph.write_edit(kind, key, value, undo=undo)
            case source, None:
                store.delete([document_id("default", source)])
            case source, texts:
                store.write(batch_of(source, texts))


def view(store):
    """Return everything a reader can see of the graph."""
    graph = store.graph
    entities = graph.find_entities([*KEYS, "doc one", "ledger"])
    ids = sorted({entity.id for entity in entities.values()})
    chunks = sorted(c.id for d in store.find_documents(Filter()) for c in store.find_chunks(d.id))
    return {
        "entities": entities,
        "by id": graph.entities(ids),
        "known": {key: repr(name) for key, name in graph.find_known([*KEYS, "doc one", "ledger"], homes=2).items()},
        "beginnings": graph.find_beginnings(["auth service", "oauth provider", "sr 052", "auth"]),
        "names": graph.names(ids),
        "mentions": graph.mentions_of(ids, limit=3),
        "links": graph.links_of(ids, limit=99, min_weight=6.5),
        "in chunks": sorted(graph.mentions_in(chunks)),
        "chunks about": [(m.chunk_id, m.entity_id) for m in graph.mentions_in(chunks, about=True)],
        "relations": graph.describe(graph.relations_of(ids, limit=99)),
        "read by": graph.extractors(ids),
        "close": [
            (entity.id, round(score, 5))
            for some in (chunks, chunks[:2])
            for entity, score in graph.search_entities(unit(1, 3, 2), chunk_ids=some, limit=4)
        ],
        "top": graph.top_entities(limit=5),
        "listed": [*graph.entities_after("", limit=2), *graph.entities_after("auth service", limit=99)],
        "to embed": graph.find_unembedded("another", limit=99),
        "not embedded": graph.find_unembedded(MODEL.fingerprint, limit=99),
        "count": graph.count(),
        "edits": graph.edits(),
    }


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS)
def test_any_history_gives_the_graph_of_its_outcome(tmp_path_factory, steps):
    """Long history, short history and a full derivation in memory see the same graph; so do the tables."""
    folder = tmp_path_factory.mktemp("graph")
    compare(SqliteDatabase(str(folder / "long.db")), folder / "long.db", folder / "short.db", steps)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
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
    for store, history in zip(stores, (long, short, short), strict=True):
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


@pytest.fixture(params=KINDS)
def database(request):
    database = open_empty(request.param, request)
    yield database
    database.close()


@pytest.fixture
def store(database):
    store = database.store("default")
    store.write_model(MODEL)
    return store


def test_a_title_that_arrives_later_is_found_in_older_chunks(store):
    """The dictionary is global: a new document's title links to what mentions it already."""
    store.write(batch_of("Doc One", ["We went to Paris by train."]))
    assert "paris" not in store.graph.find_entities(["paris"])
    store.write(batch_of("Paris", ["A city."]))
    paris = store.graph.find_entities(["paris"])["paris"]

    assert paris.chunks == 2
    mentions = store.graph.mentions_of([paris.id], limit=9)
    assert [mention.about for mention in mentions] == [True, False]
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


def said(*names, kind="given", claims=(), **fields):
    nominations = tuple(Nomination(key=name_key(name), name=name, kind=kind, **fields) for name in names)
    return Extraction(nominations=nominations, claims=tuple(claims))


def only_chunk(store, source):
    return store.find_chunks(document_id("default", source))[0].id


def test_what_an_import_says_of_a_chunk_stands_beside_what_its_document_says(store):
    """Until it says something else, says nothing, or the chunk goes."""
    store.write(batch_of("Doc One", ["We went to Paris by train."]))
    store.write(batch_of("Ledger", ["Books of accounts."]))
    one, two = only_chunk(store, "Doc One"), only_chunk(store, "Ledger")
    claim = Claim(source="doc one", target="paris", type="leads_to", weight=6.0)

    assert store.annotate("openie", {one: said("Paris", claims=[claim]), two: said("Books"), "gone": said("X")}) == 2
    assert store.graph.find_entities(["paris", "book", "x"]).keys() == {"paris", "book"}
    ids = [entity.id for entity in store.graph.find_entities(["doc one"]).values()]
    assert "leads_to" in {relation.type for relation in store.graph.relations_of(ids, limit=9)}
    assert store.annotate("openie", {one: said("Paris")}) == 2
    assert "leads_to" not in {relation.type for relation in store.graph.relations_of(ids, limit=9)}
    assert store.graph.find_entities(["book"]) == {}
    store.delete([document_id("default", "Doc One")])
    assert store.graph.find_entities(["paris"]) == {}
    store.write(batch_of("Doc One", ["We went to Paris by train."]))
    assert store.graph.find_entities(["paris"]) == {}


def test_names_and_relations_know_who_read_them(store):
    """Under any name; what both the rules and a model read has both, what follows from mentions has nobody."""
    batch = make_batch("a", ["Paris and Rome and Oslo", "Paris, again"])
    nominations = [
        Nomination(key="paris", name="Paris", kind="name", extractor="+m1"),
        Nomination(key="rome", name="Rome", kind="name", extractor="m1"),
        Nomination(key="oslo", name="Oslo", kind="title"),
        Nomination(key="lutetia", name="Lutetia", kind="name", alias_of="paris", reason="said so", extractor="m2"),
    ]
    claims = [
        Claim(source="paris", target="rome", type="near", weight=5.0, extractor="m1"),
        Claim(source="paris", target="oslo", type="near", weight=5.0),
        Claim(source="rome", target="oslo", type="near", weight=5.0, extractor="+m1"),
    ]
    both = Extraction(nominations=tuple(nominations), claims=tuple(claims))
    again = Extraction(nominations=(), claims=(replace(claims[0], weight=2.0, extractor="m2"),))
    first, second = batch.chunks
    store.write(replace(batch, chunks=(replace(first, extraction=both), replace(second, extraction=again))))
    found = store.graph.find_entities(["paris", "rome", "oslo"])
    ids = [entity.id for entity in found.values()]

    assert store.graph.extractors([*ids, "none"]) == {
        found["paris"].id: ("m1", "m2", "rules"),
        found["rome"].id: ("m1",),
        found["oslo"].id: ("rules",),
    }
    names = {entity.id: entity.key for entity in found.values()}
    assert {
        (names[r.source_id], names[r.target_id], r.type): r.extractors
        for r in store.graph.describe(store.graph.relations_of(ids, limit=9))
    } == {
        ("paris", "rome", "near"): ("m1", "m2"),
        ("paris", "oslo", "near"): ("rules",),
        ("rome", "oslo", "near"): ("m1", "rules"),
        ("oslo", "paris", "co_occurs_with"): (),
        ("oslo", "rome", "co_occurs_with"): (),
        ("paris", "rome", "co_occurs_with"): (),
    }


def test_what_models_say_of_an_entity_in_several_chunks_is_joined(store):
    """Without a model: what is new, to a bound; a rule's description is one sentence, and goes before a model's."""
    told = ["A city.", "It lies on the Seine.", "a CITY.", "Long. " * 120]
    batch = make_batch("a", [f"Paris {number}" for number in range(6)])

    def write(*nominations):
        items = zip(batch.chunks, nominations, strict=False)
        store.write(replace(batch, chunks=tuple(replace(c, extraction=Extraction(nominations=(n,))) for c, n in items)))
        return store.graph.find_entities(["paris"])["paris"].description

    def named(text, **fields):
        return Nomination(key="paris", name="Paris", **{"kind": "name", "description": text, **fields})

    assert write(*(named(text, extractor="m") for text in told)) == "A city. It lies on the Seine."
    assert write(*(named(text, extractor="m") for text in reversed(told))) == "A city. It lies on the Seine."
    assert write(*(named(text) for text in told)) == "A city."
    rule = named("Paris is the capital.", kind="definition")
    assert write(named(told[0], extractor="m"), named(told[1], extractor="m"), rule) == "Paris is the capital."


def test_two_imports_say_what_they_say(store):
    """One can be taken back without the other, and what is said again changes nothing."""
    store.write(batch_of("Doc One", ["We went to Paris by train."]))
    chunk = only_chunk(store, "Doc One")
    for origin in ("openie", "triples"):
        store.annotate(origin, {chunk: said("Paris")})
    generation = store.stats().generation

    assert store.annotate("openie", {chunk: said("Paris")}) == 0
    assert store.stats().generation == generation
    assert store.annotate("openie", {}) == 1
    assert store.graph.find_entities(["paris"])
    assert store.annotate("triples", {}) == 1
    assert store.graph.find_entities(["paris"]) == {}


def test_what_an_import_says_survives_a_new_version_of_the_document(store):
    """As long as the chunk is the same."""
    store.write(batch_of("Doc One", ["We went to Paris.", "And back."]))
    store.annotate("openie", {only_chunk(store, "Doc One"): said("Paris", description="a city")})
    names = store.graph.find_unembedded(MODEL.fingerprint, limit=9)
    store.graph.write_vectors(MODEL.fingerprint, dict.fromkeys(names, unit(1, 2, 3)))
    store.write(batch_of("Doc One", ["We came by train.", "We went to Paris."]))

    assert list(names.values()) == ["Paris: a city"]
    assert store.graph.find_entities(["paris"])["paris"].description == "a city"
    assert store.graph.find_unembedded(MODEL.fingerprint, limit=9) == {}


def test_a_changed_description_is_embedded_again(store):
    """And one that is gone leaves no vector behind."""
    store.write(batch_of("Doc One", ["We went to Paris by train."]))
    chunk = only_chunk(store, "Doc One")
    for description in ("a city", "a town"):
        store.annotate("openie", {chunk: said("Paris", description=description)})
        names = store.graph.find_unembedded(MODEL.fingerprint, limit=9)
        assert names == {(chunk, "paris"): f"Paris: {description}"}
        store.graph.write_vectors(MODEL.fingerprint, dict.fromkeys(names, unit(1, 2, 3)))


def test_a_chunk_mentions_what_it_is_said_to_be_about_without_its_name(store):
    """Also when the name becomes an entity later."""
    store.write(batch_of("Doc One", ["We went by train."]))
    chunk = only_chunk(store, "Doc One")
    store.annotate("openie", {chunk: said("OAuth Provider", kind="phrase", about=True)})
    store.write(batch_of("Ledger", ["Of OAuth Provider."]))
    found = store.graph.find_entities(["oauth provider"])["oauth provider"]

    mentions = store.graph.mentions_of([found.id], limit=9)
    assert (chunk, True) in {(mention.chunk_id, mention.about) for mention in mentions}


def test_entities_are_listed_by_key_without_other_names_of_them(store):
    """In pages, each after the last key of the one before."""
    store.write(batch_of("Auth Service", ["Also called AS in logs."]))
    store.write(batch_of("Paris", ["A city with 密钥."]))
    first = store.graph.entities_after("", limit=2)
    rest = store.graph.entities_after(first[-1].key, limit=9)

    assert [entity.key for entity in first + rest] == ["auth service", "paris", "密钥"]
    assert first[0].aliases == ("AS",)
    assert store.graph.entities_after("密钥", limit=9) == []


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
