"""Statements of imports and models about chunks, beside those of documents."""

from dataclasses import replace

from contract import MODEL, make_batch, unit
from graph_making import batch_of

from weft.extract.names import name_key
from weft.records import Candidate, Extraction, StatedRelation
from weft.text.ids import document_id


def said(*names, kind="given", stated_relations=(), **fields):
    candidates = tuple(Candidate(key=name_key(name), name=name, kind=kind, **fields) for name in names)
    return Extraction(candidates=candidates, stated_relations=tuple(stated_relations))


def only_chunk(store, source):
    return store.find_chunks(document_id("default", source))[0].id


def test_what_an_import_says_of_a_chunk_stands_beside_what_its_document_says(store):
    """Until it says something else, says nothing, or the chunk goes."""
    store.write(batch_of("Doc One", ["We went to Paris by train."]))
    store.write(batch_of("Ledger", ["Books of accounts."]))
    one, two = only_chunk(store, "Doc One"), only_chunk(store, "Ledger")
    stated = StatedRelation(source="doc one", target="paris", type="leads_to", weight=6.0)

    assert (
        store.annotations.write(
            "openie", {one: said("Paris", stated_relations=[stated]), two: said("Books"), "gone": said("X")}
        )
        == 2
    )
    assert store.graph.find_entities(["paris", "book", "x"]).keys() == {"paris", "book"}
    ids = [entity.id for entity in store.graph.find_entities(["doc one"]).values()]
    assert "leads_to" in {relation.type for relation in store.graph.relations_of(ids, limit=9)}
    assert store.annotations.write("openie", {one: said("Paris")}) == 2
    assert "leads_to" not in {relation.type for relation in store.graph.relations_of(ids, limit=9)}
    assert store.graph.find_entities(["book"]) == {}
    store.delete([document_id("default", "Doc One")])
    assert store.graph.find_entities(["paris"]) == {}
    store.write(batch_of("Doc One", ["We went to Paris by train."]))
    assert store.graph.find_entities(["paris"]) == {}


def test_names_and_relations_know_who_read_them(store):
    """Under any name; what both the rules and a model read has both, what follows from mentions has nobody."""
    batch = make_batch("a", ["Paris and Rome and Oslo", "Paris, again"])
    candidates = [
        Candidate(key="paris", name="Paris", kind="name", extractor="+m1"),
        Candidate(key="rome", name="Rome", kind="name", extractor="m1"),
        Candidate(key="oslo", name="Oslo", kind="title"),
        Candidate(key="lutetia", name="Lutetia", kind="name", alias_of="paris", reason="said so", extractor="m2"),
    ]
    stated_relations = [
        StatedRelation(source="paris", target="rome", type="near", weight=5.0, extractor="m1"),
        StatedRelation(source="paris", target="oslo", type="near", weight=5.0),
        StatedRelation(source="rome", target="oslo", type="near", weight=5.0, extractor="+m1"),
    ]
    both = Extraction(candidates=tuple(candidates), stated_relations=tuple(stated_relations))
    again = Extraction(candidates=(), stated_relations=(stated_relations[0]._replace(weight=2.0, extractor="m2"),))
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
    }
    derived = store.graph.describe(store.graph.co_occurrences(ids, limit=9))
    assert {(names[r.source_id], names[r.target_id], r.type, r.extractors) for r in derived} == {
        ("oslo", "paris", "co_occurs_with", ()),
        ("oslo", "rome", "co_occurs_with", ()),
        ("paris", "rome", "co_occurs_with", ()),
    }


def test_a_relation_without_description_shows_no_sentence_of_another(store):
    """Only relations derived from a common sentence show it."""
    batch = make_batch("a", ["Paris is older than Rome."])
    named = tuple(Candidate(key=key, name=key.title(), kind="title") for key in ("paris", "rome"))
    stated_relations = (
        StatedRelation(
            source="paris", target="rome", type="older_than", weight=5.0, description="Paris is older than Rome."
        ),
        StatedRelation(source="paris", target="rome", type="twinned_with", weight=5.0),
    )
    (chunk,) = batch.chunks
    store.write(
        replace(
            batch, chunks=(replace(chunk, extraction=Extraction(candidates=named, stated_relations=stated_relations)),)
        )
    )
    ids = [entity.id for entity in store.graph.find_entities(["paris", "rome"]).values()]
    every = [*store.graph.relations_of(ids, limit=9), *store.graph.co_occurrences(ids, limit=9)]

    assert {r.type: r.description for r in store.graph.describe(every)} == {
        "older_than": "Paris is older than Rome.",
        "twinned_with": "",
        "co_occurs_with": "Paris is older than Rome.",
    }


def test_what_models_say_of_an_entity_in_several_chunks_is_joined(store):
    """Without a model: what is new, to a bound; a rule's description is one sentence, and goes before a model's."""
    told = ["A city.", "It lies on the Seine.", "a CITY.", "Long. " * 120]
    batch = make_batch("a", [f"Paris {number}" for number in range(6)])

    def write(*candidates):
        items = zip(batch.chunks, candidates, strict=False)
        store.write(replace(batch, chunks=tuple(replace(c, extraction=Extraction(candidates=(n,))) for c, n in items)))
        return store.graph.find_entities(["paris"])["paris"].description

    def named(text, **fields):
        return Candidate(key="paris", name="Paris", **{"kind": "name", "description": text, **fields})

    assert write(*(named(text, extractor="m") for text in told)) == "A city. It lies on the Seine."
    assert write(*(named(text, extractor="m") for text in reversed(told))) == "A city. It lies on the Seine."
    assert write(*(named(text) for text in told)) == "A city."
    rule = named("Paris is the capital.", kind="definition")
    assert write(named(told[0], extractor="m"), named(told[1], extractor="m"), rule) == "Paris is the capital."


def test_two_imports_say_what_they_say(store):
    """One import can be removed without the other, and a repeated import changes nothing."""
    store.write(batch_of("Doc One", ["We went to Paris by train."]))
    chunk = only_chunk(store, "Doc One")
    for origin in ("openie", "triples"):
        store.annotations.write(origin, {chunk: said("Paris")})
    generation = store.stats().generation

    assert store.annotations.write("openie", {chunk: said("Paris")}) == 0
    assert store.stats().generation == generation
    assert store.annotations.write("openie", {}) == 1
    assert store.graph.find_entities(["paris"])
    assert store.annotations.write("triples", {}) == 1
    assert store.graph.find_entities(["paris"]) == {}


def test_what_an_import_says_survives_a_new_version_of_the_document(store):
    """The chunk must be unchanged."""
    store.write(batch_of("Doc One", ["We went to Paris.", "And back."]))
    store.annotations.write("openie", {only_chunk(store, "Doc One"): said("Paris", description="a city")})
    names = store.graph.find_unembedded(MODEL.fingerprint, limit=9)
    store.graph.write_vectors(MODEL.fingerprint, dict.fromkeys(names, unit(1, 2, 3)))
    store.write(batch_of("Doc One", ["We came by train.", "We went to Paris."]))

    assert list(names.values()) == ["Paris: a city"]
    assert store.graph.find_entities(["paris"])["paris"].description == "a city"
    assert store.graph.find_unembedded(MODEL.fingerprint, limit=9) == {}


def test_a_changed_description_is_embedded_again(store):
    """A removed description leaves no vector."""
    store.write(batch_of("Doc One", ["We went to Paris by train."]))
    chunk = only_chunk(store, "Doc One")
    for description in ("a city", "a town"):
        store.annotations.write("openie", {chunk: said("Paris", description=description)})
        names = store.graph.find_unembedded(MODEL.fingerprint, limit=9)
        assert names == {(chunk, "paris"): f"Paris: {description}"}
        store.graph.write_vectors(MODEL.fingerprint, dict.fromkeys(names, unit(1, 2, 3)))


def test_a_chunk_mentions_what_it_is_said_to_be_about_without_its_name(store):
    """This also applies if the name becomes an entity later."""
    store.write(batch_of("Doc One", ["We went by train."]))
    chunk = only_chunk(store, "Doc One")
    store.annotations.write("openie", {chunk: said("OAuth Provider", kind="phrase", about=True)})
    store.write(batch_of("Ledger", ["Of OAuth Provider."]))
    found = store.graph.find_entities(["oauth provider"])["oauth provider"]

    mentions = store.graph.mentions_of([found.id], limit=9)
    assert (chunk, True) in {(mention.chunk_id, mention.about) for mention in mentions}
