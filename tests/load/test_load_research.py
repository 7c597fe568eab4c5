"""Research findings, and lists of papers in the JSON of arXiv and OpenAlex."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from loading import Load

from weft.extract.names import name_key
from weft.extract.papers.paper_ids import id_key
from weft.load.papers.people import read_people
from weft.records import Document, Skipped

SAMPLE = Path(__file__).parents[2] / "examples" / "research" / "findings.json"


def write(path: Path, content: object) -> Path:
    """Write JSON over several lines."""
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")
    return path


def by_title(results: list[Document | Skipped]) -> dict[str, Document]:
    """Return the documents by title."""
    return {result.title: result for result in results if isinstance(result, Document)}


def skips(results: list[Document | Skipped]) -> list[tuple[str, str, str]]:
    """Return what was reported."""
    return [(s.source, s.reason, s.detail) for s in results if isinstance(s, Skipped)]


def stated_relations(document: Document) -> set[tuple[str, str, str]]:
    """Return the stated relations by keys."""
    return {(stated.source, stated.type, stated.target) for stated in document.given.stated_relations}


def test_the_sample_becomes_papers_and_projects(load: Load) -> None:
    """Each record is a document under its id, with its fields as metadata and nothing reported."""
    results = load(SAMPLE)
    found = by_title(results)
    paper = found["Attention Is All You Need"]

    assert skips(results) == []
    assert [d.metadata["type"] for d in found.values()] == ["paper"] * 6 + ["project"] * 2
    assert paper.source.endswith("findings.json#arXiv:1706.03762")
    assert (paper.metadata["year"], paper.metadata["venue"]) == (2017, "NeurIPS")
    assert paper.metadata["ids"] == ["arXiv:1706.03762"]
    assert paper.metadata["authors"][0] == "Ashish Vaswani"  # type: ignore[index]
    assert paper.lines == [12]


def test_a_paper_states_who_wrote_it_what_it_introduces_and_whom_it_cites(load: Load) -> None:
    """The relations go out from the key of its id; a reference in any spelling leads to the key of that id."""
    me = id_key("arXiv:1810.04805")
    found = stated_relations(
        by_title(load(SAMPLE))["BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding"]
    )

    assert {
        (me, "cites", id_key("arXiv:1706.03762")),
        (me, "cites", id_key("arXiv:1802.05365")),
        (me, "written_by", name_key("Jacob Devlin")),
        (me, "introduces", name_key("预训练")),
        (me, "published_in", name_key("NAACL")),
    } <= found


def test_a_project_is_linked_to_what_its_text_names(load: Load) -> None:
    """Ids and concepts in the description count beside the fields."""
    projects = by_title(load(SAMPLE))
    hugging, dpr = (stated_relations(projects[name]) for name in ("huggingface/transformers", "facebookresearch/DPR"))

    assert ("huggingface transformer", "implements", id_key("arXiv:1810.04805")) in hugging
    assert ("huggingface transformer", "uses", "transformer") in hugging
    assert ("facebookresearch dpr", "implements", id_key("arXiv:2004.04906")) in dpr
    assert {("facebookresearch dpr", "uses", key) for key in ("dense retrieval", "稠密检索")} <= {
        (source, "uses", target) for source, _, target in dpr
    }


def test_flaws_are_reported_with_their_place_and_the_rest_is_loaded(load: Load, tmp_path: Path) -> None:
    """No id, no name, null, doubles, wrong types: each by record and line, and what is good comes through."""
    write(
        tmp_path / "f.json",
        {
            "academic_papers": [
                {"arxiv_id": "2501.03236", "title": "MAGMA", "abstract": None, "authors": None, "references": None},
                {"title": "Known by its title"},
                {"abstract": "nothing to call it by"},
                None,
                {"arxiv_id": "2501.03236v3", "title": "MAGMA again"},
                {
                    "arxiv_id": "none",
                    "id": "p9",
                    "title": "Odd",
                    "references": [None, "p9", 17],
                    "authors": [{}, "A. B"],
                },
                {"doi": "10.1000/x", "title": None},
            ],
            "github_projects": [{"description": "nameless"}],
            "more": {"academic": 1},
        },
    )
    results = load()

    assert list(by_title(results)) == ["MAGMA", "Known by its title", "Odd", "doi:10.1000/x"]
    assert skips(results) == [
        ("f.json#academic_papers[2]", "no id", "line 13: neither id nor title"),
        ("f.json#academic_papers[3]", "bad record", "line 16: null"),
        (
            "f.json#academic_papers[4]",
            "duplicate",
            "line 17: arXiv:2501.03236 is a duplicate; academic_papers[0] on line 3 is kept",
        ),
        ("f.json#github_projects[0]", "no id", "line 41: no name"),
        (
            "f.json#known-by-its-title",
            "partly read",
            "line 10, academic_papers[1]: no id, identified by its title",
        ),
        (
            "f.json#p9",
            "partly read",
            "line 21, academic_papers[5]: arxiv_id is not a valid arXiv id: 'none'; authors[0] cannot be read; "
            "references[0] cannot be read",
        ),
        ("f.json#doi:10.1000/x", "partly read", "line 35, academic_papers[6]: no title, the id is used as title"),
    ]


def test_bytes_that_are_not_utf_8_are_reported_and_the_rest_is_loaded(load: Load, tmp_path: Path) -> None:
    """The report names line and byte, and the record whose characters are lost."""
    good = json.dumps(
        {"arxiv_id": "2501.00001", "title": "图检索综述", "abstract": "检索与图谱的结合" * 5}, ensure_ascii=False
    )
    bad = b'{"arxiv_id": "2501.00002", "title": "Bad \xff byte"}'
    (tmp_path / "f.json").write_bytes(b'{"academic_papers": [\n' + good.encode() + b",\n" + bad + b"\n]}")
    results = load()

    assert len(by_title(results)) == 2
    assert [(source, reason, detail.partition(";")[0]) for source, reason, detail in skips(results)] == [
        ("f.json", "partly read", f"line 3: byte {1 + (tmp_path / 'f.json').read_bytes().index(0xFF)} is not UTF-8"),
        ("f.json#arXiv:2501.00002", "partly read", "line 3, academic_papers[1]: characters that could not be decoded"),
    ]


def test_works_of_openalex_are_papers(load: Load, tmp_path: Path) -> None:
    """Abstract, authors, concepts with a score, references and venue are in fields of their own."""
    work = {
        "id": "https://openalex.org/W2741809807",
        "doi": "https://doi.org/10.7717/PEERJ.4375",
        "display_name": "The state of OA",
        "publication_year": 2018,
        "abstract_inverted_index": {"access": [1, 4], "Open": [0], "is": [2], "better": [3]},
        "authorships": [{"author": {"display_name": "Heather Piwowar", "id": "https://openalex.org/A1"}}],
        "concepts": [{"display_name": "Open access", "score": 0.9}, {"display_name": "Biology", "score": 0.1}],
        "primary_location": {"source": {"display_name": "PeerJ"}},
        "referenced_works": ["https://openalex.org/W1234567"],
        "cited_by_count": 12,
        "ids": {"pmid": "https://pubmed.ncbi.nlm.nih.gov/29456894"},
    }
    write(tmp_path / "one.json", {"meta": {"count": 1}, "results": [work]})
    write(tmp_path / "two.json", [work])
    first, second = (result for result in load() if isinstance(result, Document))

    assert first.source == "one.json#doi:10.7717/peerj.4375"
    assert first.text == "Open access is better access"
    assert first.metadata["ids"] == ["doi:10.7717/peerj.4375", "openalex:W2741809807"]
    assert (first.metadata["year"], first.metadata["venue"], first.metadata["cited_by_count"]) == (2018, "PeerJ", 12)
    assert first.metadata["concepts"] == ["Open access"]
    assert (id_key("doi:10.7717/peerj.4375"), "cites", id_key("openalex:W1234567")) in stated_relations(first)
    assert (first.title, first.text, first.given) == (second.title, second.text, second.given)


def test_an_answer_of_arxiv_is_a_list_of_papers(load: Load, tmp_path: Path) -> None:
    """The id is an address with a version, the abstract is called summary."""
    record = {
        "id": "http://arxiv.org/abs/1706.03762v5", "title": "Attention Is All\n  You Need", "summary": "A network.",
        "authors": [{"name": "Ashish Vaswani"}], "published": "2017-06-12T17:57:34Z", "categories": ["cs.CL"],
    }  # fmt: skip
    write(tmp_path / "a.json", {"entries": [record]})
    (paper,) = by_title(load()).values()

    assert paper.title == "Attention Is All You Need"
    assert paper.metadata["ids"] == ["arXiv:1706.03762"]
    assert (paper.metadata["year"], paper.metadata["categories"]) == (2017, ["cs.CL"])


@pytest.mark.parametrize(
    "content",
    [
        {"results": [{"title": "t", "summary": "s"}]},
        {"papers": []},
        {"academic_papers": "see the annex", "text": "words"},
        [{"title": "A note", "abstract": "words", "authors": ["me"], "id": "n1"}],
        {"title": "t", "abstract": "a", "arxiv_id": "2501.03236"},
    ],
)
def test_other_json_is_loaded_as_before(load: Load, tmp_path: Path, content: object) -> None:
    """Only unambiguous records are loaded as papers."""
    write(tmp_path / "a.json", content)

    assert all(not document.given.candidates for document in by_title(load()).values())


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (["Vaswani, Ashish", "Noam Shazeer"], ["Ashish Vaswani", "Noam Shazeer"]),
        ("Knuth, Donald E. and Gödel, Kurt", ["Donald E. Knuth", "Kurt Gödel"]),
        ("A. Vaswani, N. Shazeer and N. Parmar", ["A. Vaswani", "N. Shazeer", "N. Parmar"]),
        ("Rapp, D. G., Scott, L. D.", ["D. G. Rapp", "L. D. Scott"]),
        ("Vaswani, Ashish", ["Ashish Vaswani"]),
        ("Ashish Vaswani et al.", ["Ashish Vaswani"]),
        ([{"given": "Ada", "family": "Lovelace"}], ["Ada Lovelace"]),
        ([{"author": {"display_name": "Alan Turing"}}], ["Alan Turing"]),
        ("King, Martin Luther, Jr.", ["Martin Luther King Jr."]),
        ("张三、李四", ["张三", "李四"]),
        ([None, 7, {}, ""], [None, None, None, None]),
    ],
)  # fmt: skip
def test_people_are_named_given_name_first(value: object, names: list[str | None]) -> None:
    """However a file writes them; what names nobody is None."""
    assert list(read_people(value)) == names
