"""Documents and annotations planned for a ready-made graph."""

from weft.extract.names import name_key
from weft.index.import_graph import plan_import
from weft.records import Chunk, GivenEntity, GivenGraph, GivenPassage, GivenRelation
from weft.text.searchable_metadata import IMPORT

AUTH = GivenEntity(name="Auth Service", type="service", description="Signs tokens.")
DEPENDS = GivenRelation(
    source="Auth Service", target="Session Store", type="depends_on", weight=8.0, description="it keeps\nthem"
)


def chunk(number, text):
    return Chunk(id=f"c{number}", document_id="d1", ordinal=number, heading=(), start_line=1, end_line=1, text=text)


def plan_graph(*statements, passages=(), kind="given", title="", **stored):
    """Plan the import of a graph; `stored` are texts of stored chunks by passage."""
    graph = GivenGraph(
        entities=tuple(s for s in statements if isinstance(s, GivenEntity)),
        relations=tuple(s for s in statements if isinstance(s, GivenRelation)),
        passages=tuple(passages),
    )
    stored_ids = {id: id for id in stored}

    def read_chunks(id):
        return title, [chunk(number, text) for number, text in enumerate(stored[id])]

    return plan_import(graph, name="g.jsonl", kind=kind, stored_ids=stored_ids, read_chunks=read_chunks)


def names(extraction):
    return {candidate.name for candidate in extraction.candidates}


def find(extraction, name):
    (found,) = [candidate for candidate in extraction.candidates if candidate.name == name]
    return found


# ── without passages ────────────────────────────────────────────────────────────────────────────


def test_an_entity_is_a_document_with_all_that_is_said_of_it():
    """Description, notes and outgoing relations are its text; names and relations come with it."""
    noted = GivenEntity(
        name="Auth Service", type="service", description="Signs tokens.", notes=("Port 8443.",), aliases=("AS",)
    )
    plan = plan_graph(noted, DEPENDS)
    (page,) = plan.documents

    assert (page.source, page.title) == ("g.jsonl#Auth Service", "Auth Service")
    assert page.text == "Signs tokens.\nPort 8443.\nAuth Service depends on Session Store: it keeps them"
    assert page.metadata == {IMPORT: "g.jsonl"}
    own = find(page.given, "Auth Service")
    assert (own.kind, own.type, own.description, own.about) == ("given", "service", "Signs tokens.", True)
    alias = find(page.given, "AS")
    assert (alias.alias_of, alias.reason) == ("auth service", "alias in g.jsonl")
    assert find(page.given, "Session Store").about is False
    (stated,) = page.given.stated_relations
    assert (stated.source, stated.target, stated.type, stated.weight) == (
        "auth service",
        "session store",
        "depends_on",
        8.0,
    )
    assert (plan.entities, plan.relations, plan.annotations) == (2, 1, {})


def test_what_relations_go_out_from_has_a_document_though_it_is_not_listed():
    """An entity that is only a target has none, because its page would be empty."""
    plan = plan_graph(DEPENDS, GivenEntity(name="Session Store", type="store"))

    assert [document.title for document in plan.documents] == ["Auth Service"]
    assert find(plan.documents[0].given, "Session Store").type == "store"


def test_an_entity_that_nothing_is_said_of_is_still_one():
    """Its document has a title and no text."""
    (page,) = plan_graph(GivenEntity(name="Beacon")).documents

    assert (page.title, page.text) == ("Beacon", "")
    assert find(page.given, "Beacon").about


def test_two_spellings_of_a_name_share_a_document():
    """They are one entity."""
    plan = plan_graph(AUTH, GivenEntity(name="auth services", description="Old."))

    assert [document.text for document in plan.documents] == ["Signs tokens.\nOld."]
    assert plan.entities == 1


def test_another_name_of_two_things_stands_for_itself():
    """This applies if both are in one place; otherwise the store resolves it."""
    passages = [GivenPassage(id="p", text="text")]
    both = [GivenEntity(name=name, aliases=("AS",), passages=("p",)) for name in ("Auth Service", "Asset Store")]
    (document,) = plan_graph(*both, passages=passages).documents

    assert find(document.given, "AS").alias_of == ""


# ── with passages ───────────────────────────────────────────────────────────────────────────────


def test_a_passage_with_text_is_a_document_that_brings_what_is_said_in_it():
    """Its id is kept, so that judgements can name it."""
    passage = GivenPassage(id="p1", text="Tokens are kept.", title="Notes")
    entity = GivenEntity(name="Auth Service", type="service", passages=("p1",))
    relation = GivenRelation(source="Auth Service", target="Session Store", type="uses", passages=("p1",))
    plan = plan_graph(entity, relation, passages=[passage])
    (document,) = plan.documents

    assert (document.source, document.title, document.text) == ("g.jsonl#p1", "Notes", "Tokens are kept.")
    assert document.metadata == {"_id": "p1", IMPORT: "g.jsonl"}
    assert names(document.given) == {"Auth Service", "Session Store"}
    assert [stated.type for stated in document.given.stated_relations] == ["uses"]


def test_what_is_said_of_a_stored_document_goes_to_the_chunks_that_mention_it():
    """A relation to the first that mentions both ends; what is mentioned nowhere, to the first of all."""
    texts = ["Nothing here.", "The Auth Service signs.", "Auth Service and Session Store.", "Session Store again."]
    entities = [GivenEntity(name=name, passages=("d",)) for name in ("Auth Service", "Session Store", "Ledger")]
    relations = [
        GivenRelation(source="Auth Service", target="Session Store", type="uses", passages=("d",)),
        GivenRelation(source="Auth Service", target="Ledger", type="writes", passages=("d",)),
    ]
    plan = plan_graph(*entities, *relations, d=texts)
    said = plan.annotations

    assert plan.documents == ()
    assert {id: names(extraction) for id, extraction in said.items()} == {
        "c0": {"Ledger", "Auth Service"},
        "c1": {"Auth Service"},
        "c2": {"Auth Service", "Session Store"},
        "c3": {"Session Store"},
    }
    assert {id: [stated.type for stated in e.stated_relations] for id, e in said.items() if e.stated_relations} == {
        "c2": ["uses"],
        "c0": ["writes"],
    }


def test_a_description_is_said_once():
    """Each place would have it embedded."""
    entity = GivenEntity(name="Auth Service", description="Signs tokens.", passages=("d", "e"))
    plan = plan_graph(entity, d=["Auth Service one.", "Auth Service two."], e=["Auth Service three."])
    described = [n.description for e in plan.annotations.values() for n in e.candidates]

    assert sorted(described) == ["", "Signs tokens."]


def test_notes_have_a_document_even_if_their_entity_has_a_passage():
    """A passage has no place for them."""
    plan = plan_graph(GivenEntity(name="Auth Service", notes=("Port 8443.",), passages=("d",)), d=["Auth Service."])

    assert [document.text for document in plan.documents] == ["Port 8443."]
    assert names(plan.annotations["c0"]) == {"Auth Service"}


def test_passages_that_are_nowhere_count_as_none():
    """Their statements become documents."""
    plan = plan_graph(GivenEntity(name="Auth Service", passages=("lost",)))

    assert [document.title for document in plan.documents] == ["Auth Service"]


def test_an_entity_and_a_passage_of_one_name_are_two_documents():
    """No source is taken twice."""
    plan = plan_graph(AUTH, passages=[GivenPassage(id="Auth Service", text="A page.")])

    assert [document.source for document in plan.documents] == ["g.jsonl#Auth Service", "g.jsonl#Auth Service'"]


# ── guesses of a model ──────────────────────────────────────────────────────────────────────────


def test_a_guess_that_is_the_title_of_its_document_is_none():
    """It makes an entity at once, where other guesses need two documents; and the chunk is about it."""
    found = [GivenEntity(name=name, passages=("d",)) for name in ("The Auth Service", "Ada")]
    said = plan_graph(*found, kind="phrase", title="Auth Services", d=["Ada wrote it."]).annotations["c0"]

    assert (find(said, "The Auth Service").kind, find(said, "The Auth Service").about) == ("title", True)
    assert (find(said, "Ada").kind, find(said, "Ada").about) == ("phrase", False)


def test_numbers_are_no_guesses_but_may_be_given():
    """Names given by a person are accepted as they are."""
    relation = GivenRelation(source="Auth Service", target="1969", type="since")

    assert plan_graph(relation, kind="phrase").documents == ()
    assert plan_graph(relation, kind="phrase").skipped[0].startswith("1 unusable names")
    assert names(plan_graph(relation).documents[0].given) == {"Auth Service", "1969"}


def test_what_cannot_be_used_is_counted():
    """Names without letters, and relations of an entity with itself."""
    plan = plan_graph(
        GivenEntity(name="!!!"),
        GivenRelation(source="Auth Service", target="the auth services", type="is"),
        GivenRelation(source="…", target="Auth Service", type="is"),
    )

    assert (plan.documents, plan.entities, plan.relations) == ((), 0, 0)
    assert [line.split(" ")[0] for line in plan.skipped] == ["2", "1"]
    assert name_key("!!!") == ""
