"""Names of a question that occur in few chunks."""

import pytest
from making import adopt, ask, fill, sources

from weft.cli.results import explain_evidence
from weft.records import Filter
from weft.search.chunks import Chunks
from weft.search.question.rare_names import MAX_HOLDERS, find_candidates, find_rare_names, weigh_names
from weft.search.question.read import read_question

TEXTS = {
    "kohuwala": "It lies south of Nugegoda and has a market.",
    "empire": "The British Empire ended in many countries at many times. The country left the empire.",
    "leaving": "When did the country leave the British Empire? A country may leave when it wants.",
    "quote": "Written on the wall was the sentence all rivers run to the sea.",
    "code": "The job ended with ERR_CONN_RESET at night.",
}


@pytest.fixture
def store(database, embedder):
    store = adopt(database.store("default"), embedder)
    fill(store, embedder, **TEXTS)
    return store


def find(store, text, where=None):
    """Return the names by the source of the chunk that holds them."""
    found = find_rare_names(
        find_candidates(read_question(text), store=store, where=where or Filter()), chunks=Chunks(store)
    )
    chunks = {chunk.id: chunk.document_id for chunk in store.chunks(list(found))}
    titles = {document.id: document.title for document in store.documents(list(chunks.values()))}
    return {titles[chunks[id]]: names for id, names in found.items()}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When did the country containing Nugegoda leave?", {"kohuwala": ("Nugegoda",)}),
        ("What does ERR_CONN_RESET mean?", {"code": ("ERR_CONN_RESET",)}),
        ('Who wrote "all rivers run to the sea"?', {"quote": ("all rivers run to the sea",)}),
        ("Where is Nugegòda?", {"kohuwala": ("Nugegòda",)}),
        ("where is nugegoda", {}),
        ("Where is Nugegoda Town?", {}),
        ("Where is Atlantis?", {}),
        ("???", {}),
        ("", {}),
    ],
)
def test_names_are_found_word_by_word(store, question, expected):
    """Capitals, quotes and identifiers make a name; what no chunk holds as a whole is none."""
    assert find(store, question) == expected


def test_a_name_that_many_chunks_hold_tells_nothing(database, embedder):
    """With one chunk above the limit, the ranking is unchanged."""
    store = adopt(database.store("default"), embedder)
    texts = {f"d{n}": f"Harbour number {n} belongs to Ostrava Line." for n in range(MAX_HOLDERS)}
    fill(store, embedder, **texts)
    assert len(find(store, "What belongs to Ostrava Line?")) == MAX_HOLDERS

    fill(store, embedder, more="Another harbour of Ostrava Line.")
    assert find(store, "What belongs to Ostrava Line?") == {}


def test_a_filter_holds_for_names_too(store):
    """Filtered chunks are not added."""
    assert find(store, "Where is Nugegoda?", where=Filter(source_prefix="empire")) == {}


def test_the_chunk_that_holds_the_name_comes_first(store, embedder):
    """Other words of the question do not matter; the reason is shown."""
    question = "When did the country containing Nugegoda leave its empire when it wanted?"
    without = ask(store, embedder, question, method="hybrid", gate=False, name_bonus=0.0)
    with_names = ask(store, embedder, question, method="hybrid", gate=False, name_bonus=1.0)

    assert sources(without)[0] != "kohuwala"
    assert sources(with_names)[0] == "kohuwala"
    first = with_names.evidence[0]
    assert first.names == ("Nugegoda",)
    assert "rare exact name match: Nugegoda" in explain_evidence(first)


@pytest.mark.parametrize(
    "options", [{"fusion": "rrf"}, {"method": "vector"}, {"method": "keyword"}, {"text_weight": 0}]
)
def test_other_ways_of_ranking_stay_as_they_are(store, embedder, options):
    """Ranks are ranks, and a channel asked for alone keeps its own scores."""
    options = {"method": "hybrid", "gate": False, **options}
    question = "When did the country containing Nugegoda leave the British Empire?"
    one, other = (ask(store, embedder, question, name_bonus=bonus, **options) for bonus in (0.0, 1.0))

    assert [(p.chunk.id, p.score) for p in one.evidence] == [(p.chunk.id, p.score) for p in other.evidence]


def test_what_a_name_adds():
    """All of the bonus alone, its root where two hold it; a chunk that was missing begins behind the worst."""
    scores = {"a": 0.8, "b": 0.4, "c": -0.2}

    found = weigh_names(scores, {"b": ("Alone",), "c": ("Two",), "d": ("Two",)}, bonus=0.5)

    gain = 0.5 * 0.8
    expected = {"a": 0.8, "b": 0.4 + gain, "c": -0.2 + gain / 2**0.5, "d": -0.2 + gain / 2**0.5}
    assert found == pytest.approx(expected)
    assert scores == {"a": 0.8, "b": 0.4, "c": -0.2}


def test_without_names_nothing_changes():
    """The same objects are returned."""
    scores = {"a": 0.8}

    assert weigh_names(scores, {}, bonus=0.3) is scores
    assert weigh_names(scores, {"a": ("X",)}, bonus=0.0) is scores
    assert weigh_names({}, {"a": ("X",)}, bonus=0.3) == {"a": 0.3}
