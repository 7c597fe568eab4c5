"""BibTeX entries as papers."""

from __future__ import annotations

from pathlib import Path

import pytest
from loading import Load

from weft.extract.names import name_key
from weft.extract.papers.paper_ids import id_key
from weft.records import Document, Skipped

BIB = r"""@string{acm = "ACM Press"}
@article{knuth74, author = {Knuth, Donald E. and G{\"o}del, Kurt and others}, title = {{P}rogramming as an {\'A}rt},
  journal = {CACM}, year = 1974, doi = {10.1145/361604.361612}, url={https://a.org/%20}, keywords={programming, art}}
@inproceedings{vaswani,
  author = "Ashish Vaswani and Noam Shazeer",
  title = "Attention Is All You Need",
  crossref = {nips},
  eprint = {1706.03762}, archivePrefix = {arXiv},
  abstract = {The {Transformer}, at 50\% of the cost.},
  cites = {knuth74, plain, elsewhere99}
}
@proceedings{nips, title = {Advances in NIPS}, year = {2017}, publisher = acm}
@book{plain, title = {A Plain Book}, author = {Ada Lovelace}}
"""


def read(load: Load, path: Path, text: str) -> tuple[dict[str, Document], list[tuple[str, str, str]]]:
    """Write and load a file; return its documents by title, and what was reported."""
    path.write_text(text, encoding="utf-8")
    results = load(path)
    found = {item.title: item for item in results if isinstance(item, Document)}
    return found, [(item.source, item.reason, item.detail) for item in results if isinstance(item, Skipped)]


def test_an_entry_is_a_paper_with_its_accents_decoded(load: Load, tmp_path: Path) -> None:
    """Braces go, LaTeX becomes letters, and an address keeps its percent sign."""
    found, skipped = read(load, tmp_path / "a.bib", BIB)
    paper = found["Programming as an Árt"]

    assert skipped == []
    assert list(found) == ["Programming as an Árt", "Attention Is All You Need", "A Plain Book"]
    assert paper.source == "a.bib#doi:10.1145/361604.361612"
    assert paper.metadata["authors"] == ["Donald E. Knuth", "Kurt Gödel"]
    assert paper.metadata["concepts"] == ["programming", "art"]
    assert (paper.metadata["year"], paper.metadata["venue"], paper.metadata["type"]) == (1974, "CACM", "paper")
    assert paper.metadata["url"] == "https://a.org/%20"
    assert paper.lines == [2]


def test_an_entry_without_an_abstract_reads_as_a_reference(load: Load, tmp_path: Path) -> None:
    """The text has the first authors, the venue and the year."""
    many = " and ".join(f"Ada Writer{place}" for place in range(23))
    text = BIB + f"@misc{{many, title = {{By Many}}, author = {{{many}}}}}\n@misc{{bare, title = {{A Bare Title}}}}\n"
    found, _ = read(load, tmp_path / "a.bib", text)

    assert found["Programming as an Árt"].text == "Donald E. Knuth, Kurt Gödel. CACM, 1974."
    assert found["A Plain Book"].text == "Ada Lovelace."
    assert found["By Many"].text.endswith("Ada Writer19 and 3 more.")
    assert found["A Bare Title"].text == ""


def test_an_entry_takes_over_what_its_crossref_says(load: Load, tmp_path: Path) -> None:
    """The entry inherits venue and year from the proceedings, which are not a paper."""
    paper = read(load, tmp_path / "a.bib", BIB)[0]["Attention Is All You Need"]

    assert paper.text == "The Transformer, at 50% of the cost."
    assert (paper.metadata["venue"], paper.metadata["year"]) == ("Advances in NIPS", 2017)
    assert paper.metadata["ids"] == ["arXiv:1706.03762"]


@pytest.mark.parametrize(
    "fields, ids",
    [
        ("eprint={1810.04805}", ["arXiv:1810.04805"]),
        ("eprint={math/0211159v2}", ["arXiv:math/0211159"]),
        ("eprint={1810.04805}, eprinttype={hdl}", None),
        ("eprint={30105375}", None),
    ],
)
def test_an_eprint_without_an_archive_is_of_arxiv_where_it_looks_so(
    load: Load, tmp_path: Path, fields: str, ids: list[str] | None
) -> None:
    """Many exports leave the archive out; one that is named and another is believed."""
    found, _ = read(load, tmp_path / "a.bib", f"@misc{{a, title={{BERT}}, {fields}}}")

    assert found["BERT"].metadata.get("ids") == ids


def test_entries_cite_each_other_by_their_keys(load: Load, tmp_path: Path) -> None:
    """Inside the file a key leads to the id, or the title, of the entry; another one makes a stub."""
    paper = read(load, tmp_path / "a.bib", BIB)[0]["Attention Is All You Need"]
    cited = {stated.target for stated in paper.given.stated_relations if stated.type == "cites"}

    assert {id_key("doi:10.1145/361604.361612"), name_key("A Plain Book")} < cited
    assert len(cited) == 3


def test_entries_without_ids_are_apart_only_where_their_titles_are_equal(load: Load, tmp_path: Path) -> None:
    """An entry with a unique title is identified by it in every file."""
    text = "@misc{a, title={Editorial}}\n@misc{b, title={Editorial}}\n@misc{c, title={A Plain Book}}\n"
    path = tmp_path / "a.bib"
    path.write_text(text, encoding="utf-8")
    keys = [item.given.candidates[0].key for item in load(path) if isinstance(item, Document)]

    assert keys[2] == name_key("A Plain Book")
    assert len(set(keys)) == 3


def test_what_is_broken_or_comes_again_is_reported(load: Load, tmp_path: Path) -> None:
    """By line, with the entry that is kept; the rest is loaded."""
    text = BIB + (
        "@article{unclosed, title = {never\n"
        "@article{twice, title = {Same id}, doi = {https://doi.org/10.1145/361604.361612}}\n"
        "@article{knuth74, title = {Same key}}\n"
        "@misc{nameless, note = {x}}\n"
    )
    found, skipped = read(load, tmp_path / "a.bib", text)

    assert len(found) == 3
    assert skipped == [
        ("a.bib#L14", "broken", "line 14: @article{unclosed, title = {never"),
        ("a.bib#L16", "duplicate", "line 16: knuth74 is a duplicate; the entry on line 2 is kept"),
        ("a.bib#nameless", "no id", "line 17: neither id nor title"),
        ("a.bib#twice", "duplicate", "line 15: doi:10.1145/361604.361612 is a duplicate; knuth74 on line 2 is kept"),
    ]


def test_a_file_without_entries_is_empty(load: Load, tmp_path: Path) -> None:
    """It is said so, and nothing raises."""
    assert [reason for _, reason, _ in read(load, tmp_path / "a.bib", "just words\n")[1]] == ["empty"]
