"""Questions about a time alone, and the timeline that answers them."""

from datetime import datetime, timezone

import pytest
from making import adopt

from weft.config import SearchOptions, SplitOptions
from weft.index.run import index_documents
from weft.load.conversations.turns import Conversation, Message, to_document
from weft.records import Document, Filter, to_microseconds
from weft.search.question.periods import find_asked_period, read_period
from weft.search.run import find
from weft.search.search_context import SearchContext
from weft.search.timeline import find_timeline
from weft.testing import FakeEmbedder

NOW = datetime(2026, 3, 17, 15, 30, tzinfo=timezone.utc)
"""A Tuesday."""
DAYS = ("2026-03-17", "2026-03-16", "2026-03-14", "2026-03-06", "2026-03-05", "2026-02-10")
"""With a pause of eight days before the 14th."""
LONG = "The answer is long. " * 400


def chat(name, times):
    messages = []
    for time in times:
        at = to_microseconds(datetime.fromisoformat(time))
        messages.append(Message(role="user", text=f"Ask {name} at {time}?", time=at))
        messages.append(Message(role="assistant", text=LONG, time=at))
    return to_document(messages, Conversation(source=f"claude:{name}", host="claude", id=name, title=f"Chat {name}"))


@pytest.fixture(scope="module")
def store(shared_database):
    """Return a store with a chat of one exchange each day, a chat of nine exchanges on Monday, and a page."""
    embedder = FakeEmbedder()
    made = adopt(shared_database.store("default"), embedder)
    documents = [
        Document(source="page", title="Harbour", text="The harbour talks about last week."),
        chat("daily", [f"{day}T12:00:00" for day in reversed(DAYS)]),
        chat("busy", [f"2026-03-16T{hour:02}:00:00" for hour in range(13, 22)]),
    ]
    index_documents(documents, store=made, embedder=embedder, options=SplitOptions())
    return made


def ask(store, embedder, question, **options):
    search = SearchContext(store=store, embedder=embedder, options=SearchOptions(**options), at=NOW)
    return find(question, search)


def days(timeline):
    return [day.day.isoformat() for day in timeline.days]


def when(store, text, *, limit=50, where=None):
    return find_timeline(store, read_period(text, at=NOW), where=where or Filter(), at=NOW, limit=limit)


@pytest.mark.parametrize(
    "text",
    [
        "What did we talk about last week?",
        "what changed since Monday?",
        "what was I doing before the holiday?",
        "What have I been working on recently?",
        "where did we leave off?",
        "summarize the last three days",
        "Which topics did we discuss on Friday",
        "what was I up to before my vacation?",
        "上周我们聊了什么？",
        "周一以来有什么变化？",
        "假期之前我在做什么？",
        "最近三天我做了什么",
        "我们上次聊了什么？",
    ],
)
def test_a_question_about_a_time_alone_has_a_period(text):
    """In English and Chinese."""
    assert find_asked_period(text, at=NOW) is not None


@pytest.mark.parametrize(
    "text",
    [
        "which port did we choose last week?",
        "what did Anna say last week?",
        "what changed in the configuration since Monday?",
        "fix it today",
        "let's do this today",
        "what time is it?",
        "what should I cook tonight?",
        "what did we talk about?",
        "上周的端口是什么？",
        "yesterday",
        "what is this month's budget?",
        "",
    ],
)
def test_a_question_with_a_subject_or_without_a_time_has_none(text):
    """It is searched for as before."""
    assert find_asked_period(text, at=NOW) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("last week", ["2026-03-14"]),
        ("this week", ["2026-03-17", "2026-03-16"]),
        ("since Saturday", ["2026-03-17", "2026-03-16", "2026-03-14"]),
        ("before Saturday", ["2026-03-06", "2026-03-05"]),
        ("before the holiday", ["2026-03-06", "2026-03-05"]),
        ("since the holiday", ["2026-03-17", "2026-03-16", "2026-03-14"]),
        ("假期之前", ["2026-03-06", "2026-03-05"]),
        ("last time", ["2026-03-17"]),
        ("2026-02-10", ["2026-02-10"]),
        ("the last five days", ["2026-03-17", "2026-03-16", "2026-03-14"]),
        ("", ["2026-03-17", "2026-03-16", "2026-03-14", "2026-03-06", "2026-03-05"]),
    ],
)
def test_a_timeline_has_the_days_of_its_period_newest_first(store, text, expected):
    """A period without a start ends two weeks before its latest exchange; a pause lasts at least four days."""
    assert days(when(store, text)) == expected


def test_an_entry_is_the_question_of_an_exchange(store):
    """Not a part of its long answer; the newest comes first in a day too."""
    (day,) = when(store, "yesterday").days

    assert [entry.text for entry in day.entries][:2] == [
        "Ask busy at 2026-03-16T21:00:00?",
        "Ask busy at 2026-03-16T20:00:00?",
    ]
    assert len(day.entries) == 10
    assert day.entries[-1].title == "Chat daily"
    assert day.entries[-1].citation.startswith("claude:daily:t")


def test_a_long_conversation_leaves_room_for_others(store):
    """Within the limit, each conversation and day comes before the second exchange of another one."""
    found = when(store, "since Saturday", limit=4)

    assert [(entry.title, day.day.day) for day in found.days for entry in day.entries] == [
        ("Chat daily", 17),
        ("Chat busy", 16),
        ("Chat daily", 16),
        ("Chat daily", 14),
    ]
    assert found.is_truncated
    assert not when(store, "since Saturday").is_truncated


def test_a_filter_narrows_a_timeline(store):
    """By source and by time."""
    assert days(when(store, "this week", where=Filter(source_prefix="claude:busy"))) == ["2026-03-16"]
    assert days(when(store, "this week", where=Filter(after=datetime(2026, 3, 17)))) == ["2026-03-17"]
    assert days(when(store, "this week", where=Filter(before=datetime(2026, 3, 1)))) == []


def test_a_question_about_a_time_alone_gets_its_exchanges(store, embedder):
    """At most `top_k`, without the page that has the same words."""
    result = ask(store, embedder, "What did we talk about last week?")

    assert (result.method, result.status) == ("timeline", "ok")
    assert [piece.document.source for piece in result.evidence] == ["claude:daily"]
    assert "2026-03-14" in result.evidence[0].chunk.text
    assert len(ask(store, embedder, "what did we do this week?", top_k=3).evidence) == 3


def test_a_time_without_conversations_finds_nothing(store, embedder):
    """The note says so."""
    result = ask(store, embedder, "what did we discuss last year?")

    assert (result.status, result.evidence) == ("no_match", ())
    assert "no conversation" in result.notes[0]


def test_documents_alone_are_searched_as_before(database, embedder):
    """They have no time."""
    store = adopt(database.store("default"), embedder)
    page = Document(source="page", title="Harbour", text="What did we talk about last week? The harbour.")
    index_documents([page], store=store, embedder=embedder, options=SplitOptions())

    result = ask(store, embedder, "What did we talk about last week?")

    assert result.method != "timeline"
    assert result.evidence[0].document.source == "page"
