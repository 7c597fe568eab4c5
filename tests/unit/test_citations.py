"""Citation search on a small library: ranking and paths, equal in both stores."""

import pytest
from making import adopt, ask
from memory_store.store import MemoryDatabase
from papers import FINDINGS, MAGMA

from weft.config import SplitOptions
from weft.engine.uploads import read_findings
from weft.index.run import index_documents
from weft.records import Document, Filter
from weft.search.papers import citation_links
from weft.store.sqlite.database import SqliteDatabase
from weft.testing import FakeEmbedder

FORGETTING, LONG, SURVEY = "Forgetting on Purpose", "Long Conversations without Loss", "A Survey of Agent Memory"
PAGING, ATTENTION = "Paging in Small Memories", "Attention and Its Costs"


def fill(database, embedder, documents):
    store = adopt(database.store("default"), embedder)
    index_documents(documents, store=store, embedder=embedder, options=SplitOptions())
    return store


@pytest.fixture(scope="module")
def store(shared_database):
    return fill(shared_database, FakeEmbedder(), read_findings(FINDINGS))


def found(result):
    """Return the titles with their scores, in a stated order where scores are equal."""
    pairs = [(round(piece.score, 3), piece.document.title) for piece in result.evidence]
    assert [score for score, _ in pairs] == sorted((score for score, _ in pairs), reverse=True)
    return sorted(pairs, key=lambda pair: (-pair[0], pair[1]))


@pytest.mark.parametrize(
    "text, expected",
    [
        (f"papers that cite {MAGMA}", [(1.0, FORGETTING), (1.0, LONG)]),
        ("who cites arXiv:2501.03236v2?", [(1.0, FORGETTING), (1.0, LONG)]),
        ("who cites https://doi.org/10.1145/363011.363155", [(1.0, LONG), (1.0, MAGMA)]),
        (f"哪些论文引用了《{MAGMA}》？", [(1.0, FORGETTING), (1.0, LONG)]),
        (f"papers that cite {MAGMA} after 2025", [(1.0, LONG)]),
        ("Who has cited Lovelace et al.?", [(1.0, FORGETTING), (1.0, LONG), (1.0, SURVEY)]),
        (f"How many citations does {MAGMA} have?", [(1.0, FORGETTING), (1.0, LONG)]),
        (f"references of {MAGMA}", [(1.0, ATTENTION), (1.0, PAGING)]),
        (f"{MAGMA}的参考文献", [(1.0, ATTENTION), (1.0, PAGING)]),
        (f"what builds on {MAGMA}", [(1.0, FORGETTING), (1.0, LONG), (0.5, SURVEY)]),
        (f"基于{MAGMA}的工作", [(1.0, FORGETTING), (1.0, LONG), (0.5, SURVEY)]),
        ("papers by Ada Lovelace", [(1.0, FORGETTING), (1.0, MAGMA)]),
        ("papers by Lovelace, Ada", [(1.0, FORGETTING), (1.0, MAGMA)]),
        ("papers by Hopper, G.", [(1.0, SURVEY), (1.0, ATTENTION)]),
        ("papers by Grace Hopper", [(1.0, SURVEY), (1.0, ATTENTION)]),
        ("papers by Hopper", [(1.0, SURVEY), (1.0, ATTENTION)]),
        ("papers by A. Turing before 1970", [(1.0, PAGING)]),
        ("papers by A. Turing between 1960 and 1969", [(1.0, PAGING)]),
        ("papers by A. Turing in 2025", [(1.0, MAGMA)]),
        ("华罗庚的论文", [(1.0, "图灵机与学习"), (1.0, "学习的边界")]),
        ("华罗庚在1970年之后的论文", [(1.0, "学习的边界")]),
        ("图灵机与学习被哪些论文引用", [(1.0, "学习的边界")]),
        (f"papers cited together with {PAGING}", [(1.0, ATTENTION), (0.5, MAGMA)]),
        (f"papers that share concepts with {MAGMA}", [(0.5, LONG)]),
        ("papers that introduce paging", [(1.0, PAGING), (0.5, LONG), (0.5, MAGMA)]),
        (
            "papers that introduce semantic memory and paging",
            [(1.5, LONG), (1.5, MAGMA), (1.5, PAGING), (0.5, ATTENTION), (0.5, FORGETTING)],
        ),
        ("提出机器学习的论文", [(1.0, "图灵机与学习"), (0.5, "学习的边界")]),
    ],
)
def test_the_papers_asked_for_are_found(store, embedder, text, expected):
    """Direct ones count 1, one citation further 0.5, shares where something is shared; each paper once."""
    result = ask(store, embedder, text)

    assert found(result) == sorted(expected, key=lambda pair: (-pair[0], pair[1]))
    assert (result.method, result.status, result.choice.rule) == ("graph", "ok", "citation")
    assert result.choice.features.citation in result.reason.replace(" ", "_")
    assert set(result.counts) == {"graph"}


def test_the_way_to_a_paper_is_told(store, embedder):
    """From what was asked about over each citation to the chunk."""
    result = ask(store, embedder, f"what builds on {MAGMA}")
    piece = result.evidence[-1]

    assert [(step.source, step.type, step.target) for step in piece.graph.path] == [
        (MAGMA, "cited_by", FORGETTING),
        (FORGETTING, "cited_by", SURVEY),
        (SURVEY, "described in", piece.citation),
    ]
    assert (piece.graph.entity, piece.graph.hops) == (SURVEY, 2)
    assert result.graph.recognised == (MAGMA,)
    assert (result.graph.found_by, result.graph.trust) == ("name", 1.0)
    assert any((r.type, r.weight) == ("cites", 10) for r in result.graph.relations)


def test_papers_without_a_document_are_named(store, embedder):
    """A reference to a paper that nobody has is in the notes and in the graph context."""
    result = ask(store, embedder, f"references of {MAGMA}")

    assert "cited but not indexed: A Paper Nobody Has" in result.notes
    assert "A Paper Nobody Has" in {entity.name for entity in result.graph.entities}
    assert found(ask(store, embedder, "who cites A Paper Nobody Has")) == [(1.0, MAGMA)]


@pytest.mark.parametrize(
    "title",
    [
        "MAGMA Multi-Graph Memory Architecture Agents",
        "the MAGMA paper",
        "magma: a graph memory for agents",
        "MAGMA",
    ],
)
def test_a_title_of_which_words_are_missing_is_understood(store, embedder, title):
    """The answer names the paper."""
    result = ask(store, embedder, f"who cites {title}?")

    assert found(result) == [(1.0, FORGETTING), (1.0, LONG)]
    assert f"interpreted as a question about {MAGMA!r}" in result.notes
    assert 0.5 < result.confidence < 0.95


def test_papers_of_one_title_are_all_meant(store, embedder):
    """Two editorials are cited, and one cites the other."""
    result = ask(store, embedder, "who cites Editorial?")

    assert found(result) == [(1.0, "A Reply"), (1.0, "Editorial"), (1.0, "Notes on a Reply")]
    assert "2 papers have the title 'Editorial'; all of them are used" in result.notes


def test_an_unclear_title_is_not_guessed(database, embedder):
    """Two papers fit what is left of a title equally well, so it is answered as any question, with a note."""
    papers = [
        {"arxiv_id": "2501.00001", "title": "Storage Allocation in Small Machines", "abstract": "One."},
        {"arxiv_id": "2501.00002", "title": "Storage Allocation in Large Machines", "abstract": "Two."},
        {"arxiv_id": "2501.00003", "title": "A Reply", "abstract": "Three.", "references": ["2501.00001"]},
    ]
    store = fill(database, embedder, read_findings({"academic_papers": papers}))
    unclear = ask(store, embedder, "who cites Storage Allocation Machines")

    assert (unclear.method, unclear.choice.rule) == ("mix", "default")
    assert unclear.notes[0] == (
        "ambiguous name 'Storage Allocation Machines': "
        "Storage Allocation in Large Machines; Storage Allocation in Small Machines"
    )
    assert found(ask(store, embedder, "who cites Storage Allocation in Small Machines")) == [(1.0, "A Reply")]


def test_what_is_known_but_not_cited_has_no_answer(store, embedder):
    """The answer is empty instead of similar text."""
    result = ask(store, embedder, f"who cites {SURVEY}")

    assert (result.method, result.status, result.evidence) == ("graph", "no_match", ())
    assert result.notes[0] == f"no indexed paper cites {SURVEY!r}"


def test_an_unknown_paper_is_answered_as_any_question(store, embedder):
    """With a note that says why."""
    result = ask(store, embedder, "who cites Zebra Crossings", gate=False)

    assert (result.method, result.choice.rule) == ("mix", "default")
    assert result.notes[0] == "unknown paper 'Zebra Crossings'"
    assert result.evidence


def test_a_paper_without_any_citations_is_answered_as_any_question(database, embedder):
    """A library that holds no citations cannot say who cites whom."""
    papers = [{"arxiv_id": "2501.00001", "title": "Alone in the World", "abstract": "One."}]
    store = fill(database, embedder, read_findings({"academic_papers": papers}))
    result = ask(store, embedder, "who cites Alone in the World")

    assert result.method == "mix"
    assert result.notes[0] == "no citations of 'Alone in the World' are indexed"


@pytest.mark.parametrize("text", ["references of the printer", "who cites the printer", "papers cited by the printer"])
def test_other_corpora_have_no_citations(database, embedder, text):
    """An entity that is no paper is not asked for its citations."""
    page = Document(source="printer.md", title="Printer", text="The printer is on the second floor.")
    result = ask(fill(database, embedder, [page]), embedder, text, gate=False)

    assert (result.method, result.choice.rule) == ("mix", "default")
    assert [piece.document.title for piece in result.evidence] == ["Printer"]


def test_a_question_of_a_common_form_falls_back_without_a_word(store, embedder):
    """`what is based on` is asked of many things."""
    result = ask(store, embedder, "what is based on Zebra Crossings", gate=False)

    assert result.method == "mix"
    assert not any("unknown" in note for note in result.notes)


def test_the_method_graph_answers_citation_questions_too(store, embedder):
    """`mix` ranks the citations first and the text hits after them."""
    text = f"who cites {MAGMA}"
    alone, mixed = ask(store, embedder, text, method="graph"), ask(store, embedder, text, method="mix", gate=False)

    assert found(alone) == [(1.0, FORGETTING), (1.0, LONG)]
    assert alone.choice is None
    assert {piece.document.title for piece in mixed.evidence[:2]} == {FORGETTING, LONG}
    assert len(mixed.evidence) > 2


def test_the_graph_alone_finds_papers_by_their_concepts(store, embedder):
    """Introducing papers score 1, papers one citation away 0.5; other seeds are left to the walk."""
    result = ask(store, embedder, "semantic memory", method="graph")
    other = ask(store, embedder, f"semantic memory in {PAGING}", method="graph")

    assert found(result) == [(1.0, LONG), (1.0, MAGMA), (0.5, ATTENTION), (0.5, FORGETTING), (0.5, PAGING)]
    assert result.status == "ok"
    assert other.graph.recognised == (PAGING,)
    assert not {1.0, 0.5} >= {piece.score for piece in other.evidence}


def test_years_leave_out_papers_that_have_none(store, embedder):
    """The notes count them."""
    result = ask(store, embedder, "papers by Hopper, G. after 1990")

    assert found(result) == [(1.0, SURVEY)]
    assert "papers left out because they have no year: 1" in result.notes


def test_a_filter_holds_for_citations(store, embedder):
    """Filtered papers are not shown; placeholders are not listed, because they have no metadata."""
    (document,) = store.find_documents(Filter(metadata=(("ids", "arXiv:2601.00002"),)))
    text = f"who cites {MAGMA}"

    assert found(ask(store, embedder, text, where=Filter(documents=(document.id,)))) == [(1.0, LONG)]
    assert found(ask(store, embedder, text, where=Filter(metadata=(("year", 2025),)))) == [(1.0, FORGETTING)]
    none = ask(store, embedder, text, where=Filter(source_prefix="elsewhere"))
    assert (none.status, found(none)) == ("no_match", [])
    assert none.notes[0] == "2 found, but none matches the years and the filter"


def test_a_cycle_of_citations_ends(database, embedder):
    """Two papers that cite each other, and themselves."""
    papers = [
        {
            "arxiv_id": "2501.00001",
            "title": "The First Half",
            "abstract": "1",
            "references": ["2501.00002", "2501.00001"],
        },
        {"arxiv_id": "2501.00002", "title": "The Second Half", "abstract": "2", "references": ["2501.00001"]},
    ]
    store = fill(database, embedder, read_findings({"academic_papers": papers}))

    assert found(ask(store, embedder, "what builds on The First Half")) == [(1.0, "The Second Half")]
    assert found(ask(store, embedder, "papers cited by The First Half")) == [(1.0, "The Second Half")]


def test_the_number_of_papers_looked_at_is_bounded(store, embedder, monkeypatch):
    """A note reports the limit."""
    monkeypatch.setattr(citation_links, "MAX_LINKS", 1)
    monkeypatch.setattr("weft.search.papers.citation_search.MAX_LINKS", 1)
    result = ask(store, embedder, f"who cites {MAGMA}")

    assert len(result.evidence) == 1
    assert any("only the first 1 were read" in note for note in result.notes)


def test_both_stores_give_the_same_answer(tmp_path, embedder):
    """The same papers in the same order, by the same ways."""
    databases = [MemoryDatabase(), SqliteDatabase(str(tmp_path / "weft.db"))]
    answers = []
    for database in databases:
        store = fill(database, embedder, read_findings(FINDINGS))
        texts = (f"what builds on {MAGMA}", "papers that introduce paging and semantic memory", "who cites Editorial")
        results = [ask(store, embedder, text) for text in texts]
        answers.append([[(p.chunk.id, p.score, p.graph) for p in r.evidence] + [r.notes] for r in results])
        database.close()

    assert answers[0] == answers[1]
