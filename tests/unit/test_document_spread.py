"""Places of documents in an answer: a bound for each, and places for the best ones of each channel."""

import pytest
from making import make_draft

from weft.config import SearchOptions
from weft.records import Chunk, DocumentInfo, Hit, Ranking
from weft.search.channels import fuse_text
from weft.search.document_spread import add_leading_documents, find_leaders, prefer_new_documents, spread
from weft.search.search_context import SearchContext


def full(id):
    """Return the id of a chunk named after its document: `a1` and `a2` belong to `a`."""
    return 13 * id[1] + 12 * id[0]


class Shelf:
    """Any chunks."""

    @property
    def passages(self):
        return self

    def with_documents(self, ids):
        return [
            (
                Chunk(id=id, document_id=id[0], ordinal=0, heading=(), start_line=1, end_line=1, text=id),
                DocumentInfo(id=id[0], source=id[0], title=id[0], metadata={}, content_hash=""),
            )
            for id in ids
        ]


def ranking(*ids, ceiling=1.0):
    hits = tuple(Hit(full(id), rank, 1.0 - rank / 100) for rank, id in enumerate(ids, start=1))
    return Ranking(hits=hits, ceiling=ceiling, count=100, mean=0.0, deviation=0.1)


def context(**options):
    return SearchContext(store=Shelf(), embedder=None, options=SearchOptions(**options))


def ids_of(hits):
    return " ".join(hit.chunk_id[-1] + hit.chunk_id[0] for hit in hits)


def shown(ids, *, leaders=(), top_k=6):
    draft = make_draft(evidence=ranking(*ids).hits, leaders=list(map(full, leaders)))
    return ids_of(spread(draft, context(top_k=top_k)).evidence)


def leading(rankings, *, top_k=6, weight=1.0):
    leaders = find_leaders(make_draft(rankings=rankings, vector_weight=weight), context(top_k=top_k)).leaders
    return [id[-1] + id[0] for id in leaders]


def test_a_document_has_three_places_if_others_can_take_the_rest():
    """Without other documents it has all."""
    assert shown(["a1", "a2", "a3", "a4", "b1", "c1", "d1", "e1"]) == "a1 a2 a3 b1 c1 d1"
    assert shown(["a1", "a2", "a3", "a4"]) == "a1 a2 a3 a4"


@pytest.mark.parametrize(
    ("leaders", "expected"),
    [
        (["f1"], "a1 a2 b1 c1 d1 f1"),  # the last document makes room
        (["e1", "f1"], "a1 a2 b1 c1 e1 f1"),  # the last one that leads no channel does
        (["b1", "c1", "d1", "e1", "f1", "a1"], "a1 b1 c1 d1 e1 f1"),  # or a further chunk of a document
        (["a2", "b1"], "a1 a2 b1 c1 d1 e1"),  # their documents are there already
        (["z1"], "a1 a2 b1 c1 d1 e1"),  # the gate rejected it
        (["a1", "b1", "c1", "d1", "e1", "f1", "g1"], "a1 b1 c1 d1 e1 f1"),  # no more places
    ],
)
def test_the_best_documents_of_a_channel_take_the_last_places(leaders, expected):
    """They stand in the order of the fused ranking."""
    assert shown(["a1", "a2", "b1", "c1", "d1", "e1", "f1", "g1"], leaders=leaders) == expected


def test_each_channel_leads_with_a_third_of_the_places():
    """Further chunks of a document do not count."""
    rankings = {"vector": ranking("a1", "a2", "b1", "c1"), "keyword": ranking("d1", "a1", "e1")}

    assert leading(rankings) == ["a1", "d1", "b1"]
    assert leading(rankings, top_k=3) == ["a1", "d1"]
    assert leading(rankings, top_k=2) == []


def test_a_channel_without_weight_leads_nothing():
    """A question in another script has meaningless cosines or meaningless words."""
    both = {"vector": ranking("a1"), "keyword": ranking("d1")}

    assert not leading(both, weight=0.0)
    assert not leading({"vector": ranking("a1")})
    assert not leading({**both, "keyword": ranking("d1", ceiling=99.0)})


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
def test_the_first_of_a_channel_survive_the_fusion(fusion):
    """A pool of two keyword hits would leave no place for the best vector hit."""
    search = context(fusion=fusion, vector_weight=0.1, text_weight=0.9, name_bonus=0.0, top_k=2, pool=2)
    rankings = {"vector": ranking("v1", "w1", "x1"), "keyword": ranking("k1", "l1", "m1")}
    fused = fuse_text(make_draft(rankings=rankings), search).text

    assert ids_of(fused) == "k1 l1 v1 w1"
    assert [hit.score for hit in fused] == sorted([hit.score for hit in fused], reverse=True)


@pytest.mark.parametrize(
    ("scores", "top_k", "expected"),
    [
        ({"a1": 1.0, "a2": 0.96, "b1": 0.9, "a3": 0.9, "c1": 0.8, "d1": 0.72}, 4, "a1 b1 c1 a2 a3 d1"),
        ({"a1": 1.0, "a2": 0.9, "a3": 0.8}, 4, "a1 a2 a3"),  # a question about one document keeps its passages
        ({"a1": 1.0, "b1": 0.9}, 1, "a1 b1"),
        ({"a1": 0.2, "a2": 0.1, "b1": -0.1}, 4, "a1 a2 b1"),  # the other document is below the average
        ({}, 4, ""),
    ],
)
def test_new_documents_come_before_further_passages(scores, top_k, expected):
    """Seven of ten places, here three of four; scores fall."""
    hits = [Hit(full(id), rank, score) for rank, (id, score) in enumerate(scores.items(), start=1)]
    draft = make_draft(evidence=hits, prefers_new=True)
    found = prefer_new_documents(draft, context(top_k=top_k)).evidence

    assert ids_of(found) == expected
    assert prefer_new_documents(make_draft(evidence=hits), context(top_k=top_k)).evidence == hits
    assert [hit.score for hit in found] == sorted([hit.score for hit in found], reverse=True)


@pytest.mark.parametrize(
    ("chosen", "leaders", "kept", "expected"),
    [
        ("a1 b1 a2 a3", "c1", "", "a1 b1 a2 c1"),
        ("a1 b1 a2 a3", "c1 d1 e1", "", "a1 b1 c1 d1"),  # the best hit of each document stays
        ("a1 b1 a2 a3", "c1 d1", "a2", "a1 b1 a2 c1"),
        ("a1 b1 c1", "d1", "", "a1 b1 c1"),
        ("a1 b1 a2", "b2", "", "a1 b1 a2"),  # the document is there already
    ],
)
def test_a_leading_document_takes_the_place_of_a_further_passage(chosen, leaders, kept, expected):
    """No document is lost."""
    ids = "a1 b1 a2 a3 c1 d1 e1 b2".split()
    hits = [Hit(full(id), rank, 1 / rank) for rank, id in enumerate(ids, start=1)]
    first = [hit for hit in hits if ids_of([hit]) in chosen.split()]
    taken, best = [full(id) for id in kept.split()], [full(id) for id in leaders.split()]
    found = add_leading_documents(hits, first, leaders=best, kept=taken)

    assert ids_of(found) == expected
