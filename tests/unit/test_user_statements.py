"""First-person statements in conversations: which become facts, and which do not."""

from datetime import datetime, timezone

import pytest

from weft import open_engine
from weft.extract.user_statements import read_clause, read_statements
from weft.load.conversations.turns import Conversation, Message, to_document
from weft.records import Document, to_microseconds
from weft.testing import FakeEmbedder


def talk(*messages):
    return to_document(messages, Conversation(source="claude:1", host="claude", id="1", title="Chat"))


def say(text, *, day=1, role="user"):
    return Message(role=role, text=text, time=to_microseconds(datetime(2026, 3, day)))


def stated(*messages):
    return [(fact.predicate, fact.value) for fact in read_statements(talk(*messages))]


@pytest.mark.parametrize(
    ("clause", "predicate", "value"),
    [
        ("My name is Nora Quist.", "name", "Nora Quist"),
        ("By the way, my favourite tea is rooibos.", "favourite tea", "rooibos"),
        ("my cat's name is Sprat, and she sleeps all day.", "cat's name", "Sprat"),
        ("I've just moved to Bergen.", "lives_in", "Bergen"),
        ("I moved to New York two weeks ago.", "lives_in", "New York"),
        ("I moved to Bergen in March because of the sea.", "lives_in", "Bergen"),
        ("I'm originally from the Faroe Islands.", "from", "the Faroe Islands"),
        ("I graduated with a degree in botany, which helps.", "graduated", "with a degree in botany"),
        ("I prefer paved roads, especially at night.", "prefers", "paved roads"),
        ("I usually swim at 6:30 am, but not today.", "usually", "swim at 6:30 am"),
        ("I love smoked herring!", "likes", "smoked herring"),
        ("Actually, we decided on the blue boat.", "decided", "on the blue boat"),
    ],
)
def test_a_statement_of_the_user_is_a_fact(clause, predicate, value):
    """The value ends where the statement ends."""
    found = read_clause(clause)

    assert found is not None
    assert found[:2] == (predicate, value)


@pytest.mark.parametrize(
    "clause",
    [
        "Is my name on the list?",
        "I want to be sure my name is on the list.",
        "I prefer it.",
        "I usually stick to smaller, local venues.",
        "I love the idea of a boat.",
        "I love your suggestions.",
        'She said "I prefer tea".',
        "If I moved to Bergen, I would sail.",
        "You prefer tea.",
        "I decided to take the boat, to the yard.",
        "",
    ],
)
def test_other_clauses_state_nothing(clause):
    """Questions, quotations, conditions, values cut in half, and values that need the sentence before."""
    assert read_clause(clause) is None


def test_only_turns_of_the_user_state_facts():
    """The assistant may speak of itself, and a letter that the user asks for is written by someone else."""
    assert stated(say("I prefer tea."), say("I prefer coffee.", role="assistant")) == [("prefers", "tea")]
    assert stated(say("Write a letter. I prefer tea.")) == []
    assert stated(say("I prefer tea. " + "x" * 3000)) == []
    assert read_statements(Document(source="note", title="Note", text="I prefer tea.")) == []


def test_a_later_value_ends_an_earlier_one():
    """A move ends the stay before; several preferences are valid together."""
    first, second = read_statements(talk(say("I live in Bergen."), say("I moved to Oslo.", day=5)))

    assert (first.value, first.valid_to) == ("Bergen", datetime(2026, 3, 5, tzinfo=timezone.utc))
    assert (second.value, second.valid_from) == ("Oslo", datetime(2026, 3, 5, tzinfo=timezone.utc))
    assert second.valid_to is None
    assert len(stated(say("I prefer tea."), say("I prefer paved roads.", day=2))) == 2
    assert stated(say("My goal is to swim. Actually, my goal is to sail.")) == [("goal", "to sail")]


def test_statements_are_staged_facts_of_their_conversation(tmp_path):
    """They are recalled, and deleted with the conversation."""
    with open_engine(tmp_path / "weft.db", embedder=FakeEmbedder()) as engine:
        engine.add([talk(say("I prefer paved roads."), say("Noted.", role="assistant"))])
        fact = next(iter(engine.memory.list("user")))

        assert (fact.predicate, fact.value, fact.status, fact.source) == (
            "prefers",
            "paved roads",
            "staged",
            "conversation",
        )
        assert fact.valid_from == datetime(2026, 3, 1, tzinfo=timezone.utc)
        assert "paved roads" in engine.memory.context(engine.memory.recall("which roads do I prefer?")).text
        engine.delete("claude:1")
        assert list(engine.memory.list("user")) == []
