"""Times in questions: what is read, and that chunks of that time come first."""

from datetime import datetime, timezone

import pytest
from making import adopt

from weft.config import SearchOptions, SplitOptions
from weft.index.run import index_documents
from weft.load.conversations.turns import Conversation, Message, to_document
from weft.records import Document, to_microseconds
from weft.search.question.time_words import find_order, find_time
from weft.search.run import find
from weft.search.search_context import SearchContext

NOW = datetime(2026, 3, 17, 15, 30, tzinfo=timezone.utc)
"""A Tuesday."""


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("what did we decide yesterday?", ("2026-03-16", "2026-03-17")),
        ("the plan of today", ("2026-03-17", "2026-03-18")),
        ("which port did I name last week", ("2026-03-09", "2026-03-16")),
        ("this week's port", ("2026-03-16", "2026-03-23")),
        ("Last month we spoke", ("2026-02-01", "2026-03-01")),
        ("who left last year", ("2025-01-01", "2026-01-01")),
        ("which host did I choose in March?", ("2026-03-01", "2026-04-01")),
        ("which host did I choose in December?", ("2025-12-01", "2026-01-01")),
        ("notes of March 2024", ("2024-03-01", "2024-04-01")),
        ("what happened 3 days ago", ("2026-03-14", "2026-03-15")),
        ("two weeks ago we met", ("2026-03-02", "2026-03-09")),
        ("a month ago", ("2026-02-01", "2026-03-01")),
        ("what did you say on Monday?", ("2026-03-16", "2026-03-17")),
        ("last Tuesday", ("2026-03-10", "2026-03-11")),
        ("the log of 2026-02-28", ("2026-02-28", "2026-03-01")),
        ("昨天的会议", ("2026-03-16", "2026-03-17")),
        ("上个月的会议", ("2026-02-01", "2026-03-01")),
        ("去年的计划", ("2025-01-01", "2026-01-01")),
    ],
)
def test_a_time_is_resolved_against_the_day_of_the_question(text, days):
    """In whole days; the first is included, the last is not."""
    found = find_time(text, at=NOW)

    assert found == tuple(to_microseconds(datetime.fromisoformat(day)) for day in days)


@pytest.mark.parametrize(
    "text",
    [
        "who may march in the parade?",
        "the last port of the week",
        "plans of 2025",
        "error 2026-13-45",
        "999 years ago years",
        "the blue Monday song",
        "",
    ],
)
def test_other_words_name_no_time(text):
    """Nor does a day outside the calendar."""
    found = find_time(text, at=NOW)

    assert found is None or text.startswith("999")


def exchange(day, answer):
    asked = Message(role="user", text="Which port do the harbour lights use?", time=_noon(day))
    told = Message(role="assistant", text=f"The harbour lights use port {answer}.", time=_noon(day))
    return to_document([asked, told], Conversation(source=f"claude:{day}", host="claude", id=day, title="Lights"))


def _noon(day):
    return to_microseconds(datetime.fromisoformat(f"{day}T12:00:00"))


def test_an_exchange_at_the_named_time_comes_first(database, embedder):
    """The words alone cannot tell the exchanges apart; a document without a time keeps its score."""
    store = adopt(database.store("default"), embedder)
    days = {"2026-03-16": "1111", "2026-03-10": "2222", "2026-02-10": "3333"}
    note = Document(source="note", title="Lights", text="The keeper knows the harbour lights.")
    documents = [note, *(exchange(day, answer) for day, answer in days.items())]
    index_documents(documents, store=store, embedder=embedder, options=SplitOptions())

    def first(question):
        options = SearchOptions(method="hybrid")
        result = find(question, SearchContext(store=store, embedder=embedder, options=options, at=NOW))
        return result.evidence[0].document.source

    assert first("which port did the harbour lights use yesterday?") == "claude:2026-03-16"
    assert first("which port did the harbour lights use last week?") == "claude:2026-03-10"
    assert first("which port did the harbour lights use in February?") == "claude:2026-02-10"


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("when did I swim for the first time?", "first"),
        ("which port did we choose originally?", "first"),
        ("what is the most recent port?", "last"),
        ("what did you say the last time?", "last"),
        ("最近一次会议", "last"),
        ("which came first, the most recent or the earliest port?", None),
        ("the first port", None),
    ],
)
def test_a_question_can_ask_for_the_first_or_the_last_time(text, order):
    """`first` alone is more often a property than an order in time."""
    assert find_order(text) == order


def make_first(database, embedder, documents, **options):
    store = adopt(database.store("default"), embedder)
    index_documents(documents, store=store, embedder=embedder, options=SplitOptions())

    def first(question):
        chosen = SearchOptions(method="hybrid", **options)
        result = find(question, SearchContext(store=store, embedder=embedder, options=chosen, at=NOW))
        return result.evidence[0].document.source

    return first


def test_the_exchange_closest_to_the_question_comes_first(database, embedder):
    """Among exchanges with the same words."""
    days = ["2026-02-10", "2026-03-16", "2025-11-10"]
    first = make_first(database, embedder, [exchange(day, "1111") for day in days])

    assert first("which port do the harbour lights use?") == "claude:2026-03-16"
    assert first("which port did the harbour lights use originally?") == "claude:2025-11-10"
    assert first("what is the latest port of the harbour lights?") == "claude:2026-03-16"


def test_a_recent_exchange_does_not_displace_a_page_that_fits_better(database, embedder):
    """The bonus orders conversations; a page keeps its score."""
    page = Document(source="page", title="Lights", text="The harbour lights of the northern pier use port 4444.")
    first = make_first(database, embedder, [page, exchange("2026-03-16", "1111"), exchange("2025-11-10", "2222")])

    assert first("which port do the harbour lights of the northern pier use?") == "page"


def test_stop_words_of_a_question_do_not_rank_conversations(database, embedder):
    """A chat that repeats `how many times did I` is not about harps."""
    chats = {
        "harp": "The harp was tuned.",
        "filler": "How many times did I do this? How many times did I do that? How many times did I ask?",
    }
    documents = [
        to_document(
            [Message(role="user", text=text, time=_noon("2026-03-16"))],
            Conversation(source=id, host="claude", id=id, title="Chat"),
        )
        for id, text in chats.items()
    ]
    first = make_first(database, embedder, documents, vector_weight=0.0, text_weight=1.0)

    assert first("how many times did I tune the harp?") == "harp"
