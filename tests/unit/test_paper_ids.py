"""Paper ids in all spellings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.extract.names import name_key
from weft.extract.papers.paper_ids import find_ids, id_key, read_id, sort_ids

SPELLINGS = [
    ("arXiv:2501.03236", "arXiv:2501.03236"),
    ("arXiv:2501.03236v2", "arXiv:2501.03236"),
    ("arxiv 2501.03236", "arXiv:2501.03236"),
    ("ARXIV: 2501.03236", "arXiv:2501.03236"),
    ("2501.03236", "arXiv:2501.03236"),
    ("2501.03236v11", "arXiv:2501.03236"),
    ("0704.0001", "arXiv:0704.0001"),
    ("https://arxiv.org/abs/2501.03236", "arXiv:2501.03236"),
    ("http://www.arxiv.org/abs/2501.03236v1", "arXiv:2501.03236"),
    ("https://arxiv.org/pdf/2501.03236v3.pdf", "arXiv:2501.03236"),
    ("https://arxiv.org/pdf/2501.03236", "arXiv:2501.03236"),
    ("https://export.arxiv.org/abs/2501.03236", "arXiv:2501.03236"),
    ("/abs/2501.03236v3", "arXiv:2501.03236"),
    ("/pdf/2501.03236v1.pdf", "arXiv:2501.03236"),
    ("arxiv.org/abs/2501.03236?context=cs", "arXiv:2501.03236"),
    ("10.48550/arXiv.2501.03236", "arXiv:2501.03236"),
    ("https://doi.org/10.48550/arXiv.2501.03236", "arXiv:2501.03236"),
    ("arXiv:math/0211159", "arXiv:math/0211159"),
    ("math/0211159v1", "arXiv:math/0211159"),
    ("math.GT/0309136", "arXiv:math/0309136"),
    ("https://arxiv.org/abs/hep-th/9901001", "arXiv:hep-th/9901001"),
    ("10.1145/3292500.3330701", "doi:10.1145/3292500.3330701"),
    ("doi:10.1145/3292500.3330701", "doi:10.1145/3292500.3330701"),
    ("DOI: 10.1145/3292500.3330701.", "doi:10.1145/3292500.3330701"),
    ("https://doi.org/10.1145/3292500.3330701", "doi:10.1145/3292500.3330701"),
    ("http://dx.doi.org/10.1016/S0092-8674(00)81683-9", "doi:10.1016/s0092-8674(00)81683-9"),
    ("10.1000/ABC", "doi:10.1000/abc"),
    ("openalex:W2741809807", "openalex:W2741809807"),
    ("https://openalex.org/W2741809807", "openalex:W2741809807"),
    ("https://openalex.org/works/w2741809807", "openalex:W2741809807"),
    ("W2741809807", "openalex:W2741809807"),
]


@pytest.mark.parametrize(("spelling", "canonical"), SPELLINGS)
def test_an_id_is_read_in_every_spelling(spelling: str, canonical: str):
    """Each spelling gives one canonical id."""
    assert read_id(spelling) == canonical


@pytest.mark.parametrize(
    "text",
    ["", "attention", "p1", "2023", "3.14159", "1234.5678", "2501.032", "2513.03236", "v2501.03236", "12501.03236",
     "2501.03236.7", "10.5/x", "10.1145", "W12x", "1.2.3", "2501.03236 and more", "cs/12", "https://example.org/W12"],
)  # fmt: skip
def test_other_numbers_are_no_ids(text: str):
    """Versions, decimals and dates do not look like papers."""
    assert read_id(text) == ""


def test_ids_are_found_in_running_text_without_its_punctuation():
    """Brackets, full stops and Chinese punctuation end an id."""
    text = "See (doi:10.1145/3292500.3330701), arXiv:2501.03236v2. 参见https://doi.org/10.1000/AB；以及 [2005.11401]!"

    assert [found.id for found in find_ids(text)] == [
        "doi:10.1145/3292500.3330701", "arXiv:2501.03236", "doi:10.1000/ab", "arXiv:2005.11401",
    ]  # fmt: skip


def test_a_place_covers_the_whole_spelling():
    """The prefix belongs to the id, the full stop does not."""
    text = "cites https://arxiv.org/abs/2501.03236v2."
    found = find_ids(text)[0]

    assert text[found.start : found.end] == "https://arxiv.org/abs/2501.03236v2"


def test_a_doi_may_hold_parentheses_of_its_own():
    """Only an unmatched parenthesis belongs to the sentence."""
    assert find_ids("(see 10.1016/0370-2693(93)90001(x))")[0].id == "doi:10.1016/0370-2693(93)90001(x)"


def test_keys_of_ids_keep_what_stands_in_parentheses():
    """A name loses a suffix in parentheses; two DOIs that differ in one stay two."""
    assert id_key("arXiv:2501.03236") == name_key("arXiv:2501.03236")
    assert id_key("doi:10.1/a(1)") != id_key("doi:10.1/a(2)")


def test_arxiv_comes_before_doi_before_openalex():
    """The id a paper is kept under does not depend on the order in which its ids are given."""
    ids = ["openalex:W1", "doi:10.1/a", "arXiv:2501.03236", "doi:10.1/a"]

    assert sort_ids(ids) == sort_ids(reversed(ids)) == ["arXiv:2501.03236", "doi:10.1/a", "openalex:W1"]


@given(st.text())
def test_reading_never_fails_and_a_canonical_id_reads_as_itself(text: str):
    """Reading is idempotent."""
    for found in find_ids(text):
        assert read_id(found.id) == found.id
        assert 0 <= found.start < found.end <= len(text)
    assert read_id(read_id(text)) == read_id(text)


@pytest.mark.parametrize(
    "text", ["arxiv" + " " * 500, "10.1145/" + ")" * 500, "10.1145" + ".1" * 500, "https://" * 500]
)
def test_what_only_begins_like_an_id_is_none(text: str):
    """However long it goes on."""
    assert find_ids(text) == [] and read_id(text) == ""
