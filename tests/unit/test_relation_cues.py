"""Relation types of a question."""

import pytest

from weft.extract.questions.relation_cues import relation_types
from weft.extract.relation_types import INVERSE


@pytest.mark.parametrize(
    ("question", "type"),
    [
        ("what happens if we change the OAuth provider?", "depended_on_by"),
        ("Which services depend on the Session Store?", "depended_on_by"),
        ("What does Checkout need?", "depends_on"),
        ("Who directed the film Harbour Lights?", "directed_by"),
        ("Where was the composer of Winter Tide born?", "born_in"),
        ("Who is the mother-in-law of the painter?", "married_to"),
        ("Who calls Command.invoke?", "called_by"),
        ("What does Command.invoke call?", "calls"),
        ("Which modules import the parser?", "imported_by"),
        ("Subclasses of ParamType", "inherited_by"),
        ("Which tests cover the parser?", "tested_by"),
        ("What breaks if echo changes?", "called_by"),
        ("谁调用 echo", "called_by"),
        ("ParamType 的子类", "inherited_by"),
        ("谁负责支付网关？", "owned_by"),
        ("更换支付网关有什么影响？", "depended_on_by"),
    ],
)
def test_a_question_asks_for_relations(question, type):
    """By the name they have when walked from what the question names."""
    assert type in relation_types(question)


@pytest.mark.parametrize("question", ["", "Redis evictions", "支付网关", "starship directory bornite"])
def test_words_that_only_look_alike_ask_for_nothing(question):
    """Cues are whole words."""
    assert not relation_types(question) & {"directed_by", "born_in", "stars", "depended_on_by"}


def test_a_pasted_book_is_cut():
    """A question is read to a bounded length."""
    assert relation_types("x " * 50_000 + "who directed it") == frozenset()


def test_only_known_types_are_asked_for():
    """A cue for a relation nobody makes would never fire."""
    words = "director wrote produced composed sang founder designer editor starring mother wife sister born"
    every = relation_types(words + " died where member owner impact depends on why cites replaced")
    assert every
    assert every <= set(INVERSE)
