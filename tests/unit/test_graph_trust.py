"""Trust in the graph: the share of the question that its entities explain, and agreement with the text."""

import pytest

from weft.records import Entity, Hit
from weft.search.graph.trust import FULL_AGREEMENT, MIN_AGREEMENT, TRUST_BY_MEANING, agreement, graph_trust
from weft.search.question.entities import Seed
from weft.search.question.read import read_question


def seed(name, *, size=None, weight=1.0):
    entity = Entity(id=f"e{name}", key=name.lower(), name=name)
    return Seed(entity=entity, weight=weight, words=len(name.split()) if size is None else size, how="named")


def trust_in(question, seed, **defining_chunks):
    """Return the trust in a graph whose one seed has so many defining chunks."""
    return graph_trust(read_question(question), [seed], defining_chunks=defining_chunks)


def test_entities_that_explain_half_of_the_question_are_trusted_in_full():
    """`change`, `OAuth` and `provider` are what it is about; `what`, `if`, `we` and `the` are how one asks."""
    provider = seed("OAuth Provider")

    assert trust_in("what if we change the OAuth provider?", provider, **{"eOAuth Provider": 1}) == 1.0


def test_trust_grows_with_what_is_explained():
    """One word of eight is a quarter of the required half."""
    question = "Why did Redis lose sessions during one failover last March evening?"

    assert trust_in(question, seed("Redis"), eRedis=1) == pytest.approx(1 / 9 / 0.5)


def test_an_entity_no_chunk_is_about_explains_nothing():
    """It stands in many texts and leads everywhere."""
    question = "Does bone marrow contribute to macrophages?"

    assert graph_trust(read_question(question), [seed("bone marrow")], defining_chunks={}) == 0.0


def test_an_entity_with_many_defining_chunks_explains_less():
    """Twelve chunks are about it: which one is meant?"""
    few, many = (trust_in("history of Harbour", seed("Harbour"), eHarbour=n) for n in (3, 12))

    assert few == 1.0
    assert many == pytest.approx(few / 4)


def test_entities_found_by_meaning_only_decide_between_equals():
    """The question does not name them."""
    assert (
        graph_trust(read_question("login system"), [seed("Auth Service", size=0)], defining_chunks={"eAuth Service": 1})
        == TRUST_BY_MEANING
    )


@pytest.mark.parametrize("question", ["", "who is it?", "???"])
def test_nothing_recognised_is_no_trust(question):
    """A question of question words alone does not divide by zero."""
    assert graph_trust(read_question(question), [], defining_chunks={}) == 0.0
    assert graph_trust(read_question(question), [seed("It")], defining_chunks={"eIt": 1}) == 1.0


def hits(**scores):
    return [Hit(id, rank, score) for rank, (id, score) in enumerate(scores.items(), start=1)]


def test_graph_and_text_agree_where_the_best_text_is_where_the_walk_starts():
    """A text hit near the best counts too, one far behind does not."""
    walk = hits(home=0.5, next=0.05)

    assert agreement(hits(home=0.9, other=0.1), walk) == 1.0
    assert agreement(hits(other=0.9, home=0.89), walk) == 1.0
    some = ((0.85 / 0.9) ** 5 - MIN_AGREEMENT) / (FULL_AGREEMENT - MIN_AGREEMENT)
    assert agreement(hits(other=0.9, home=0.85), walk) == pytest.approx(some)
    assert agreement(hits(other=0.9, home=0.7), walk) == 0.0


def test_a_text_hit_that_only_mentions_the_entity_agrees_little():
    """A tenth of the activation, bent as the mix bends it; less says nothing, and what comes sixth does not count."""
    little = (0.1**0.4 - MIN_AGREEMENT) / (FULL_AGREEMENT - MIN_AGREEMENT)
    assert agreement(hits(next=0.9, third=0.1), hits(home=0.5, next=0.05)) == pytest.approx(little)
    assert agreement(hits(next=0.9, third=0.1), hits(home=0.5, next=0.02)) == 0.0
    assert agreement(hits(a=0.9, b=0.9, c=0.9, d=0.9, e=0.9, home=0.9), hits(home=0.5)) == 0.0


def test_without_text_or_graph_there_is_nothing_to_disagree_about():
    """The graph alone is trusted as it is; no graph, no agreement."""
    assert agreement([], hits(home=0.5)) == 1.0
    assert agreement(hits(a=1.0), []) == 0.0
    assert agreement(hits(home=-0.2), hits(home=0.5)) == 1.0
