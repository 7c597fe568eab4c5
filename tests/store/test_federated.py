"""Several namespaces, searched as one, against one namespace with the same documents."""

import random

import numpy as np
import pytest
from federated_making import CHINESE, NOW, OWN, SHARED, fill, make_corpus, make_facts, make_question, open_on
from hypothesis import example, given, settings
from hypothesis import strategies as st
from memory_store.store import MemoryDatabase
from opening import open_empty

from weft.config import SearchOptions
from weft.errors import InputError, SchemaMismatch
from weft.records import Calibration, Curve, Document, Filter, KeywordStatistics, StoredModel
from weft.search.run import find
from weft.search.search_context import SearchContext
from weft.store.federated.federated_store import FederatedCache, FederatedStore
from weft.store.sqlite.database import SqliteDatabase
from weft.testing import FakeEmbedder
from weft.text.analyzer import query_terms

EVERYTHING = Filter()


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def database(request):
    database = open_empty(request.param, request)
    yield database
    database.close()


def joined(database, *names):
    return FederatedStore({name: database.store(name) for name in names})


def find_title(source, text):
    return text.partition("\n")[0].removeprefix("# ") if text.startswith("# ") else source.removesuffix(".md")


def add(database, namespace, texts, **overrides):
    documents = [
        Document(source=source, title=find_title(source, text), text=text, form="markdown")
        for source, text in texts.items()
    ]
    open_on(database, namespace, **overrides).add(documents)


def ask(store, question, method, **options):
    search = SearchContext(
        store=store,
        embedder=FakeEmbedder(),
        options=SearchOptions(method=method, top_k=60, pool=100, **options),
        at=NOW,
    )
    return find(question, search)


def places(result):
    """Return the places of a result by score, rounded; places of equal scores have no order."""
    levels = []
    for piece in result.evidence:
        place = piece.document.source, piece.chunk.start_line, piece.chunk.end_line
        if not levels or abs(levels[-1][0] - piece.score) > 1e-6:
            levels.append((piece.score, set()))
        levels[-1][1].add(place)
    return levels


def assert_same(one, several):
    assert several.status == one.status
    assert several.confidence == pytest.approx(one.confidence, abs=0.02)
    expected, found = places(one), places(several)
    assert [places for _, places in found] == [places for _, places in expected]
    assert [score for score, _ in found] == pytest.approx([score for score, _ in expected], abs=1e-6)


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(MemoryDatabase, id="memory", marks=pytest.mark.slow),
        pytest.param(lambda: SqliteDatabase(":memory:"), id="sqlite"),
    ],
)
@settings(max_examples=settings.default.max_examples // 10)
@example(seed=115360, count=3)  # the two best chunks by words are equal, and one of them is far in meaning
@given(seed=st.integers(0, 2**32), count=st.integers(2, 4))
def test_several_namespaces_answer_like_one_with_the_same_documents(kind, seed, count):
    """Links, facts, Chinese text, and documents that two namespaces have."""
    chance = random.Random(seed)
    database = kind()
    try:
        names = fill(database, make_corpus(chance, count=count), make_facts(chance, count))
        store = joined(database, *names)
        for method in ("vector", "keyword", "hybrid", "graph", "auto"):
            question = make_question(chance, count)
            assert_same(ask(database.store("whole"), question, method), ask(store, question, method))
    finally:
        database.close()


@settings(max_examples=settings.default.max_examples // 10)
@given(seed=st.integers(0, 2**32))
def test_filters_and_recalled_facts_are_those_of_one_namespace(seed):
    chance = random.Random(seed)
    database = MemoryDatabase()
    names = fill(database, make_corpus(chance, count=2), make_facts(chance, 2))
    one, several = open_on(database, "whole"), open_on(database, names[0]).across(*names)
    question, where = make_question(chance, 2), Filter(source_prefix=chance.choice(["0/", "1/", "common/"]))
    options = {"where": where, "top_k": 60}
    assert_same(one.query(question, **options), several.query(question, **options))
    recalled, expected = several.memory.recall(question), one.memory.recall(question)
    statements = [(p.fact.subject, p.fact.predicate, p.fact.object, round(p.score, 6)) for p in recalled.facts]
    assert statements == [(p.fact.subject, p.fact.predicate, p.fact.object, round(p.score, 6)) for p in expected.facts]


def test_keyword_scores_have_the_statistics_of_all(database):
    """A word that is rare in one namespace and common in the other is common."""
    add(database, "a", {"a1.md": "kiln fires brick", "a2.md": "rope and tide"})
    add(database, "b", {f"b{n}.md": f"brick number {n} of the wall" for n in range(6)})
    store = joined(database, "a", "b")
    statistics = store.keyword_statistics(query_terms("brick kiln"))
    assert statistics.chunks == 8
    assert statistics.counts == dict(zip(query_terms("brick kiln"), (7, 1), strict=True))
    terms = query_terms("brick kiln")
    alone = database.store("a").search_keyword(terms, limit=9, where=EVERYTHING)
    both = database.store("a").search_keyword(terms, limit=9, where=EVERYTHING, statistics=statistics)
    assert alone.hits[0].chunk_id == both.hits[0].chunk_id
    assert alone.hits[0].score != both.hits[0].score
    assert store.search_keyword(terms, limit=9, where=EVERYTHING).hits[0] == both.hits[0]


def test_own_statistics_are_the_default(database):
    add(database, "a", {"a1.md": "kiln fires brick", "a2.md": "rope and tide and brick"})
    store, terms = database.store("a"), query_terms("brick rope absent")
    known = store.keyword_statistics(terms)
    assert (known.chunks, known.counts.get("absent", 0)) == (2, 0)
    options = {"limit": 9, "where": EVERYTHING}
    assert store.search_keyword(terms, **options, statistics=known) == store.search_keyword(terms, **options)
    assert database.store("none").keyword_statistics(terms).chunks == 0
    assert (
        database.store("none")
        .search_keyword(terms, **options, statistics=KeywordStatistics(chunks=2, length=9, counts={}))
        .hits
        == ()
    )


def test_stores_list_content_hashes_and_keys(database):
    add(database, "a", {"Blue Kiln.md": "# Blue Kiln\n\nfires brick", "x.md": "rope"})
    store = database.store("a")
    documents = store.find_documents(EVERYTHING)
    assert sorted(store.content_hashes()) == sorted((d.id, d.source, d.content_hash) for d in documents)
    known = store.graph.find_entities(["blue kiln"])["blue kiln"]
    assert store.graph.keys([known.id, "e" + 24 * "0"]) == {known.id: "blue kiln"}


def test_a_document_in_two_namespaces_is_shown_once(database):
    text = {"notice.md": "# Notice\n\nthe kiln rests in winter"}
    add(database, "a", {**text, "a.md": "rope"})
    add(database, "b", {**text, "b.md": "tide"})
    store = joined(database, "a", "b")
    result = ask(store, "kiln rests", "hybrid")
    assert [(p.document.source, p.document.namespace) for p in result.evidence if p.score > 0.1] == [("notice.md", "a")]
    assert store.stats().documents == 3
    assert [d.source for d in store.find_documents(EVERYTHING)] == ["a.md", "b.md", "notice.md"]


def test_documents_of_one_source_with_different_content_are_both_shown(database):
    add(database, "a", {"notice.md": "the kiln rests in winter"})
    add(database, "b", {"notice.md": "the kiln rests in spring"})
    store = joined(database, "a", "b")
    result = ask(store, "kiln rests", "hybrid")
    assert {(p.document.namespace, p.citation) for p in result.evidence} == {
        ("a", "notice.md:1 (a)"),
        ("b", "notice.md:1 (b)"),
    }
    assert len(store.find_documents(EVERYTHING, limit=1)) == 2  # a page does not end between equal sources


def test_two_files_may_have_a_namespace_of_the_same_name():
    one, other = MemoryDatabase(), MemoryDatabase()
    add(one, "notes", {"a.md": "the kiln rests in winter", "same.md": "rope and tide"})
    add(other, "notes", {"a.md": "the kiln rests in spring", "same.md": "rope and tide"})
    store = FederatedStore({"one": one.store("notes"), "other": other.store("notes")})
    result = ask(store, "kiln rests", "hybrid")
    found = {p.document.namespace: p for p in result.evidence if p.document.source == "a.md"}
    assert {label: p.chunk.text.split()[-1] for label, p in found.items()} == {"one": "winter", "other": "spring"}
    for piece in found.values():
        assert store.chunks([piece.chunk.id]) == [piece.chunk]
        assert store.find_chunks(piece.document.id) == [piece.chunk]
        kept = ask(store, "kiln rests", "hybrid").evidence and store.search_keyword(
            ["kiln"], limit=9, where=Filter(documents=(piece.document.id,))
        )
        assert [hit.chunk_id for hit in kept.hits] == [piece.chunk.id]
    assert sum(p.document.source == "same.md" for p in ask(store, "rope tide", "hybrid").evidence) == 1


def test_links_hold_inside_their_namespace(database):
    """Both namespaces have an index page of the same path; each links to its own page."""
    add(database, "a", {"index.md": "# Start North\n\nsee [kiln](kiln.md)", "kiln.md": "# Kiln North\n\nfires brick"})
    add(database, "b", {"index.md": "# Start South\n\nsee [kiln](kiln.md)", "kiln.md": "# Kiln South\n\nfires tile"})
    store = joined(database, "a", "b")
    graph = store.graph
    ids = graph.links_of(
        [], keys=["start north", "kiln north", "start south", "kiln south"], mentions=0, relations=0
    ).ids
    ends = {frozenset(r[:2]) for r in graph.relations_of(list(ids.values()), limit=50) if r.type == "links_to"}
    assert frozenset((ids["start north"], ids["kiln north"])) in ends
    assert frozenset((ids["start south"], ids["kiln south"])) in ends
    assert frozenset((ids["start north"], ids["kiln south"])) not in ends
    assert frozenset((ids["start south"], ids["kiln north"])) not in ends


def test_edits_hold_inside_their_namespace(database):
    add(database, "a", {"Kube Hub.md": "# Kube Hub\n\nruns pods", "Hub.md": "# Hub\n\nsmall"})
    add(database, "b", {"Hub.md": "# Hub\n\nof a wheel"})
    open_on(database, "a").entities.merge("Hub", "Kube Hub")
    graph = joined(database, "a", "b").graph
    found = graph.find_entities(["hub", "kube hub"])
    assert found["hub"].id != found["kube hub"].id
    assert {m.about for m in graph.mentions_of([found["hub"].id], limit=9)} == {True}
    assert graph.find_entities(["hub"])["hub"].chunks == found["kube hub"].chunks + 1
    assert graph.edits() == [("merge", "hub", "kube hub")]


def test_an_alias_in_one_namespace_names_the_entity_of_both(database):
    add(database, "a", {"Knowledge Graph.md": "# Knowledge Graph\n\nA Knowledge Graph (KG) links names. The KG grows."})
    add(database, "b", {"Knowledge Graph.md": "# Knowledge Graph\n\nstores triples"})
    graph = joined(database, "a", "b").graph
    found = graph.find_known(["kg", "knowledge graph"], max_defining=20)
    assert found["kg"].entity_id == found["knowledge graph"].entity_id
    assert found["kg"].defining_chunks == 2


def test_a_name_that_only_another_namespace_defines_is_mentioned(database):
    """The page of the film is in one namespace, that of its director in another."""
    add(database, "a", {"Salt Film.md": "# Salt Film\n\nSalt Film was made by Ada Quill in spring."})
    add(database, "b", {"Ada Quill.md": "# Ada Quill\n\nAda Quill lives in Oslo.", "x.md": "rope"})
    assert database.store("a").graph.find_entities(["ada quill"]) == {}
    store = joined(database, "a", "b")
    ada = store.graph.find_entities(["ada quill"])["ada quill"].id
    (film,) = (c.id for d in store.find_documents(Filter(source_prefix="Salt")) for c in store.find_chunks(d.id))
    found = {m.entity_id: m for m in store.graph.mentions_in([film])}
    assert (found[ada].count, found[ada].about, found[ada].has_defining_chunk) == (1, False, True)
    assert film in {m.chunk_id for m in store.graph.mentions_of([ada], limit=9)}
    answer = ask(store, "where does the maker of Salt Film live", "graph")
    assert "Ada Quill.md" in {piece.document.source for piece in answer.evidence}


def test_a_name_known_from_facts_of_one_namespace_is_an_entity_of_the_other(database):
    add(database, "a", {"Blue Kiln.md": "# Blue Kiln\n\nfires brick"})
    open_on(database, "b").memory.add("Ada", "owns", object="Blue Kiln", source="user_edit")
    store = joined(database, "a", "b")
    kiln = store.graph.find_entities(["blue kiln"])["blue kiln"].id
    (link,) = store.facts.links([kiln], at=NOW, limit=5)
    assert (link.source_id, link.target_id, link.type) == ("e:ada", kiln, "owns")
    assert [fact.subject for fact in store.facts.about(["ada"], at=NOW, limit=5)] == ["ada"]


def test_equal_facts_of_two_namespaces_are_recalled_once(database):
    for name in ("a", "b"):
        open_on(database, name).memory.add("Ada", "likes", "tea", source="user_edit")
    open_on(database, "b").memory.add("Ada", "likes", "rope", source="user_edit")
    engine = open_on(database, "a").across("a", "b")
    assert sorted(piece.fact.value for piece in engine.memory.recall("what does Ada like").facts) == ["rope", "tea"]


def test_different_embedders_are_refused(database):
    add(database, "a", {"a.md": "kiln"})
    other = StoredModel(name="fake/other", fingerprint="other", dimension=64, active=True)
    database.store("b").write_model(other)
    with pytest.raises(SchemaMismatch, match=r"'a' and 'b' cannot be searched together") as raised:
        joined(database, "a", "b").search_vector(np.ones(64, np.float32), limit=1, where=EVERYTHING)
    assert "weft reembed -N b" in raised.value.hint


def test_a_namespace_without_vectors_is_refused(database):
    add(database, "a", {"a.md": "kiln"})
    add(database, "empty", {})
    joined(database, "empty", "a", "unknown").models()
    with open_on(MemoryDatabase(), "b") as plain:
        plain.add([])
    from weft.config import read_settings
    from weft.engine.engine import Engine

    made = read_settings({"store.namespace": "b", "models.embedder": "none"}, environment={})
    Engine(made, database=database).add([Document(source="b.md", title="b", text="rope")])
    with pytest.raises(SchemaMismatch, match="without an embedder"):
        joined(database, "a", "b").models()


@pytest.mark.parametrize("member", ["a", "b"])
def test_the_generation_changes_with_each_member(database, member):
    add(database, "a", {"a.md": "kiln"})
    add(database, "b", {"b.md": "rope"})
    store = joined(database, "a", "b")
    before = store.facts.generation()
    assert store.facts.generation() == before == store.stats().generation
    add(database, member, {"new.md": "tide"})
    assert store.facts.generation() != before


def test_a_changed_document_is_no_duplicate_any_more(database):
    """The cache follows the generations of the members."""
    cache = FederatedCache()
    for name in ("a", "b"):
        add(database, name, {"notice.md": "the kiln rests"})

    def count():
        stores = {name: database.store(name) for name in ("a", "b")}
        return FederatedStore(stores, cache=cache).stats().documents

    assert count() == 1
    add(database, "b", {"notice.md": "the kiln southurns"})
    assert count() == 2
    add(database, "a", {"notice.md": "the kiln southurns"})
    assert count() == 1


def test_common_terms_are_counted_over_all_namespaces(database, monkeypatch):
    monkeypatch.setattr("weft.store.federated.federated_store.MIN_COMMON_TERM_CHUNKS", 4)
    for name in ("a", "b"):
        add(database, name, {f"{name}{n}.md": f"brick {name}{n}" for n in range(3)})
    store = joined(database, "a", "b")
    assert store.find_chunks_with_terms([["brick"], ["absent"]], limit=100) == [None, []]
    assert len(store.find_chunks_with_terms([query_terms("b1")], limit=100)[0]) == 1
    assert store.find_chunks_with_terms([[*query_terms("brick"), *query_terms("a2")]], limit=0) == [None]


def test_the_calibration_is_the_mean_of_fitted_ones(database):
    def fitted(middle):
        curve = Curve(middle=middle, slope=10.0)
        return Calibration(cosine=curve, beside=curve, words=curve, pairs=curve, origin="fitted", chunks=1)

    add(database, "a", {"a.md": "kiln"})
    add(database, "b", {f"b{n}.md": f"rope {n}" for n in range(3)})
    store = joined(database, "a", "b")
    database.store("a").write_calibration(fitted(0.2))
    assert store.calibration() is None
    database.store("b").write_calibration(fitted(0.4))
    assert store.calibration().cosine == Curve(middle=pytest.approx(0.35), slope=pytest.approx(10.0))


def test_several_namespaces_are_read_only(database):
    add(database, "a", {"Blue Kiln.md": "# Blue Kiln\n\nx", "Red Kiln.md": "# Red Kiln\n\ny"})
    engine = open_on(database, "a").across("a", "b")
    for write in (
        lambda: engine.add([]),
        lambda: engine.entities.merge("Blue Kiln", "Red Kiln"),
        lambda: engine.memory.add("Ada", "likes", "tea"),
        lambda: engine.delete("Blue Kiln.md"),
    ):
        with pytest.raises(InputError, match="read-only"):
            write()


@pytest.mark.parametrize("namespaces", [[], "docs"])
def test_namespaces_are_a_list_of_names(database, namespaces):
    with pytest.raises(InputError, match="invalid namespaces"):
        open_on(database, "a").query("kiln", namespaces=namespaces)


def test_shared_names_are_strong_in_every_namespace():
    """The property test compares graphs; names that one namespace does not know are a stated limit."""
    database = MemoryDatabase()
    names = fill(database, make_corpus(random.Random(1), count=3))
    for name in names:
        known = database.store(name).graph.find_known([key.lower() for key in SHARED], max_defining=1)
        assert all(entity.strong for entity in known.values()) and len(known) == len(SHARED)
    assert len(OWN) == len(CHINESE)
