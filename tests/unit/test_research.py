"""Papers and projects in the graph: placeholders, equal titles, any order, both stores."""

import itertools

import pytest

from weft.config import Settings, StoreOptions
from weft.engine.engine import Engine
from weft.errors import InputError
from weft.extract.names import name_key
from weft.extract.papers.paper_ids import id_key
from weft.search.question.entities import recognise_names
from weft.search.question.read import read_question

OLD = {"arxiv_id": "1409.0473", "title": "Learning to Align and Translate", "authors": ["Dzmitry Bahdanau"]}
NEW = {
    "arxiv_id": "1706.03762", "doi": "10.5555/3295222.3295349", "title": "Attention Is All You Need", "year": 2017,
    "abstract": "The Transformer consists of attention alone.", "references": ["https://arxiv.org/abs/1409.0473v7"],
    "concepts": ["Transformer"], "authors": ["Vaswani, Ashish"],
}  # fmt: skip
BERT = {"arxiv_id": "1810.04805", "title": "BERT for Language", "references": ["doi:10.5555/3295222.3295349"]}
PROJECT = {"name": "lab/reader", "description": "Reads papers. Implements Attention Is All You Need with BM25."}


@pytest.fixture
def engine(database, embedder):
    """Give an engine on each kind of store."""
    return Engine(Settings(store=StoreOptions(db=":memory:")), database=database, embedder=embedder)


def add(engine, *papers, projects=()):
    return engine.add_research_findings({"academic_papers": list(papers), "github_projects": list(projects)})


def related(engine, name, type):
    """Return what an entity is related to by a type, seen from it."""
    return sorted(step.target for step in engine.entities.show(name, limit=100).relations if step.type == type)


def snapshot(engine):
    """Return everything the graph says."""
    graph = engine.store.graph
    entities = graph.entities_after("", limit=1000)
    relations = graph.describe(graph.relations_of([e.id for e in entities], limit=1000))
    return entities, sorted(relations, key=lambda r: (r.source_id, r.target_id, r.type))


def test_a_cited_paper_is_a_stub_until_it_comes(engine):
    """By whatever id it is cited, it fills in; when it goes it is a stub again."""
    add(engine, BERT)
    stub = engine.entities.get("doi:10.5555/3295222.3295349")
    before = snapshot(engine)

    assert (stub.name, stub.type, stub.chunks) == ("doi:10.5555/3295222.3295349", "paper", 0)
    add(engine, NEW)
    full = engine.entities.get("10.5555/3295222.3295349")
    assert full == engine.entities.get("1706.03762v3") == engine.entities.get("attention is all you need")
    assert (full.name, full.type) == ("Attention Is All You Need", "paper")
    assert set(full.aliases) == {"arXiv:1706.03762", "doi:10.5555/3295222.3295349"}
    assert related(engine, full.name, "cited_by") == ["BERT for Language"]
    assert related(engine, full.name, "cites") == ["arXiv:1409.0473"]
    assert engine.delete("research:arXiv:1706.03762") == 1
    assert snapshot(engine) == before


def test_the_graph_does_not_depend_on_the_order(engine):
    """Each order of the same papers gives the same graph, and deleting them leaves nothing."""
    found = []
    for order in itertools.permutations([OLD, NEW, BERT]):
        for paper in order:
            add(engine, paper)
        found.append(snapshot(engine))
        engine.delete("research:arXiv:1409.0473", "research:arXiv:1706.03762", "research:arXiv:1810.04805")
        assert engine.store.graph.count() == (0, 0)

    assert all(other == found[0] for other in found)


def test_papers_with_one_title_and_different_ids_stay_two(engine):
    """An editorial is not another editorial; what is said of one is not said of both."""
    first = {"doi": "10.1000/1", "title": "Editorial", "abstract": "On graphs.", "authors": ["Ada Lovelace"]}
    second = {"doi": "10.1000/2", "title": "Editorial", "abstract": "On trees.", "references": ["10.1000/3"]}
    add(engine, first)
    add(engine, second)

    assert engine.entities.get("10.1000/1").id != engine.entities.get("10.1000/2").id
    assert related(engine, "10.1000/1", "written_by") == ["Ada Lovelace"]
    assert related(engine, "10.1000/2", "written_by") == []
    assert related(engine, "10.1000/2", "cites") == ["doi:10.1000/3"]
    assert related(engine, "10.1000/1", "cites") == []
    engine.delete("research:doi:10.1000/2")
    assert engine.entities.get("Editorial").id == engine.entities.get("10.1000/1").id


def test_titles_that_differ_in_parentheses_alone_are_two(engine):
    """A name loses its suffix, a title does not."""
    add(
        engine,
        {"id": "a1", "title": "Gamma Function (Algorithm 31)"},
        {"id": "a2", "title": "Gamma Function (Algorithm 34)"},
    )

    assert (
        engine.entities.get("Gamma Function (Algorithm 31)").id
        != engine.entities.get("Gamma Function (Algorithm 34)").id
    )


def test_papers_merged_by_title_are_parted_by_title(engine):
    """Titles may differ only in parentheses."""
    titles = [f"Gamma Function (Algorithm {number})" for number in (31, 34)]
    engine.add_research_findings({"academic_papers": [{"title": title} for title in titles]})
    engine.entities.merge(*titles)
    assert engine.entities.get(titles[0]).name == titles[1]
    engine.entities.unmerge(titles[0])

    assert [engine.entities.get(title).name for title in titles] == titles


def test_files_that_know_different_ids_of_a_paper_know_one_paper(engine):
    """One file has the DOI, the other the arXiv id and the DOI."""
    add(engine, {"doi": "10.5555/3295222.3295349", "title": "Attention is all you need", "authors": ["Llion Jones"]})
    add(engine, NEW)

    assert engine.entities.get("1706.03762").id == engine.entities.get("10.5555/3295222.3295349").id
    assert related(engine, "1706.03762", "written_by") == ["Ashish Vaswani", "Llion Jones"]


def test_the_title_of_two_papers_leads_to_the_texts_of_both(engine):
    """It names neither, but what is about it is told."""
    add(engine, {"doi": "10.1000/1", "title": "Editorial"}, {"doi": "10.1000/2", "title": "Editorial"})
    graph = engine.store.graph
    found = graph.mentions_of([engine.entities.get("Editorial").id], limit=10)
    papers = {mention.entity_id for mention in graph.mentions_in([m.chunk_id for m in found]) if mention.about}

    assert all(mention.about for mention in found)
    assert {engine.entities.get(f"10.1000/{n}").id for n in (1, 2)} < papers


def test_citations_may_go_round_in_circles(engine):
    """A paper that cites itself states nothing, two that cite each other state two relations."""
    add(
        engine,
        {"id": "p1", "title": "First Thing", "references": ["p1", "p2"]},
        {"id": "p2", "title": "Second", "cites": "p1"},
    )

    assert related(engine, "First Thing", "cites") == related(engine, "First Thing", "cited_by") == ["Second"]


def test_a_reference_by_title_alone_is_found_when_the_paper_comes(engine):
    """Until then it is a stub with that name."""
    add(engine, {"id": "p1", "title": "Survey", "references": [{"title": "Attention Is All You Need"}]})
    assert related(engine, "Survey", "cites") == ["Attention Is All You Need"]
    add(engine, NEW)

    assert related(engine, "1706.03762", "cited_by") == ["Survey"]


def test_initials_and_full_names_are_one_person(engine):
    """`A. Vaswani` is the one author whose initials these are; of two it is neither."""
    add(engine, NEW, {"id": "p1", "title": "Other Work", "authors": ["A. Vaswani"]})

    assert related(engine, "Ashish Vaswani", "wrote") == ["Attention Is All You Need", "Other Work"]
    add(engine, {"id": "p2", "title": "Third Work", "authors": ["Anil Vaswani"]})
    assert related(engine, "Ashish Vaswani", "wrote") == ["Attention Is All You Need"]


def test_a_project_is_linked_to_the_papers_and_concepts_it_names(engine):
    """Relations known to the loader are typed; other names are mentions, also if they become entities later."""
    add(engine, NEW, projects=[PROJECT])
    assert related(engine, "lab/reader", "implements") == ["Attention Is All You Need"]
    add(engine, {"id": "p1", "title": "Relevance", "concepts": ["BM25"]})
    graph, mine = engine.store.graph, engine.entities.get("lab/reader")
    chunks = {mention.chunk_id for mention in graph.mentions_of([mine.id], limit=9) if mention.about}

    assert related(engine, "reader", "mentions") == ["BM25"]
    paper = engine.entities.get("1706.03762")
    assert chunks & {mention.chunk_id for mention in graph.mentions_of([paper.id], limit=9)}


def test_a_question_finds_a_paper_by_its_id_in_any_spelling(engine):
    """Versions, addresses and DOIs lead to the paper, and to a stub too."""
    add(engine, NEW)
    graph = engine.store.graph

    for spelling in (
        "arXiv:1706.03762v2",
        "1706.03762",
        "https://arxiv.org/pdf/1706.03762.pdf",
        "(DOI: 10.5555/3295222.3295349)",
    ):
        assert [seed.entity.name for seed in recognise_names(read_question(f"who cites {spelling}?"), graph=graph)] == [
            NEW["title"]
        ]
    assert [seed.entity.name for seed in recognise_names(read_question("and 1409.0473?"), graph=graph)] == [
        "arXiv:1409.0473"
    ]


def test_the_title_of_a_paper_is_no_name_of_its_own(engine):
    """Statements about the title are stored under the id of the paper."""
    add(engine, NEW)

    assert engine.store.graph.find_entities([name_key(NEW["title"])])[name_key(NEW["title"])].key == id_key(
        "arXiv:1706.03762"
    )


def test_the_census_counts_types_and_what_is_stated(engine):
    """Other names of a paper do not count again, nor does what follows from mentions."""
    add(engine, OLD, NEW, BERT, projects=[PROJECT])
    census = engine.store.graph.census()

    assert census.entities == {"concept": 1, "paper": 3, "person": 2, "project": 1}
    assert census.relations == {"cites": 2, "implements": 1, "introduces": 1, "written_by": 2}


def test_a_name_that_two_things_share_is_neither(engine):
    """The short name of a project is not the concept of the same name, and counts once."""
    project = {"name": "lab/transformers", "topics": ["Transformer"], "description": "Models."}
    add(engine, NEW, projects=[project])

    assert engine.entities.get("Transformer").type == "concept"
    assert related(engine, "lab/transformers", "uses") == ["Transformer"]
    assert engine.store.graph.census().entities["project"] == 1


def test_findings_without_papers_or_projects_are_refused(engine):
    """A misspelled key is not silently nothing."""
    with pytest.raises(InputError, match="no research findings"):
        engine.add_research_findings({"papers_": []})


def test_adding_the_same_findings_again_changes_nothing(engine):
    """The sources derive from the ids."""
    add(engine, OLD, NEW)

    assert add(engine, NEW, OLD).unchanged == 2
