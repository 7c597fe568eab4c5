"""Conversations: chunks are exchanges, and a second import writes only what is new."""

import json
import re
from dataclasses import replace

import pytest
from making import adopt, make_draft

from weft.choices import KEYWORD
from weft.config import LoadOptions, SearchOptions, SplitOptions
from weft.index.run import index_documents
from weft.load.conversations.turns import Conversation, Message, join_roles, open_after_pauses, read_time, to_document
from weft.load.run import iter_documents
from weft.records import Document, Filter, Hit, Ranking
from weft.search.channels import search_channels
from weft.search.conversations import judge_openings, lead_exchanges
from weft.search.question.embed import embed_question
from weft.search.question.read import read_question
from weft.search.run import find
from weft.search.search_context import SearchContext
from weft.text.split import split

SPLIT = SplitOptions(max_tokens=40, min_tokens=4)
MINUTE = 60_000_000


def say(role, text, *, minute=0, **changes):
    return Message(role=role, text=text, time=1_772_446_500_000_000 + minute * MINUTE, **changes)


def talk(*messages, title="Harbour"):
    return to_document(messages, Conversation(source="claude:1", host="claude", id="1", title=title))


def chunks(*messages, options=SPLIT):
    return split(talk(*messages), document_id="d", options=options)


ASKED = (say("user", "Which port do the harbour lights use?"), say("assistant", "They use port 8080.", minute=1))
LATER = (say("user", "And which host do they use?", minute=9), say("assistant", "The host is beacon.", minute=10))


def test_a_chunk_is_a_question_with_its_answer_and_their_times():
    """The times are those of its first and last turn."""
    first, second = chunks(*ASKED, *LATER)

    assert first.text == (
        "user (2026-03-02 10:15): Which port do the harbour lights use?\n\n"
        "assistant (2026-03-02 10:16): They use port 8080."
    )
    assert (first.start_time, first.end_time) == (ASKED[0].time, ASKED[1].time)
    assert (second.start_time, second.end_time) == (LATER[0].time, LATER[1].time)
    assert [(chunk.start_line, chunk.end_line) for chunk in (first, second)] == [(1, 2), (3, 4)]


def test_a_long_exchange_is_cut_between_turns_and_a_long_turn_inside():
    """Later chunks repeat the question as their heading."""
    steps = [say("assistant", f"Step {number}. " + "The lights are checked. " * 3) for number in range(3)]
    long = say("assistant", "The beacon turns. " * 30)

    cut = chunks(ASKED[0], *steps, long, *LATER)

    assert cut[0].heading == () and "Which port" in cut[0].text
    assert all(chunk.heading == ("Which port do the harbour lights use?",) for chunk in cut[1:-1])
    assert [chunk.text.count("Step") for chunk in cut[:5]] == [0, 1, 1, 1, 0]
    assert all(chunk.text.endswith(".") for chunk in cut[1:])
    assert "And which host" in cut[-1].text and cut[-1].heading == ()


def test_a_tiny_exchange_joins_the_chunk_before_it():
    """Thanks alone would be found by the words of the title."""
    options = replace(SPLIT, max_tokens=80, min_tokens=30)
    (only,) = chunks(*ASKED, say("user", "Thanks"), say("assistant", "Welcome"), options=options)

    assert only.text.endswith("assistant (2026-03-02 10:15): Welcome")


def test_a_conversation_that_grows_keeps_the_ids_of_its_chunks():
    """Only the last exchange may change; an edited message changes its own exchange."""
    before = [chunk.id for chunk in chunks(*ASKED, *LATER)]
    grown = [chunk.id for chunk in chunks(*ASKED, *LATER, say("user", "Who keeps the lights burning?", minute=20))]
    edited = [chunk.id for chunk in chunks(ASKED[0], say("assistant", "They use port 9090.", minute=1), *LATER)]

    assert grown[:2] == before and len(grown) == 3
    assert edited[0] != before[0] and edited[1] == before[1]


def test_a_chat_between_people_starts_an_exchange_after_a_pause():
    """Neighbours of one role are joined in the logs of agents only."""
    pause = [say("one", "a"), say("two", "b", minute=30), say("one", "c", minute=61)]

    assert [message.opens for message in open_after_pauses(pause)] == [False, False, True]
    assert [message.text for message in join_roles([say("a", "x"), say("a", "y"), say("b", "z")])] == ["x\n\ny", "z"]


@pytest.mark.parametrize(
    ("value", "micros"),
    [
        ("1970-01-01T00:00:01Z", 1_000_000),
        ("1970-01-01T01:00:01+01:00", 1_000_000),
        (1.5, 1_500_000),
        ("1772446500.000200", 1_772_446_500_000_200),
        (1_772_446_500_000, 1_772_446_500_000_000),
        (float("nan"), None),
        (10**400, None),
        (-1, None),
        (True, None),
        ("soon", None),
        ({}, None),
    ],
)
def test_times_of_any_host_are_read(value, micros):
    """What is no time is None, and never an error."""
    assert read_time(value) == micros


def export(folder, *conversations):
    """Write a Claude export; each conversation is an id and its texts, one after the other."""
    records = [
        {
            "uuid": id,
            "name": f"Talk {id}",
            "chat_messages": [
                {"sender": ("human", "assistant")[at % 2], "text": text, "created_at": f"2026-03-02T10:{at:02}:00Z"}
                for at, text in enumerate(texts)
            ],
        }
        for id, *texts in conversations
    ]
    folder.mkdir()
    (folder / "conversations.json").write_text(json.dumps(records))
    return folder


def test_a_second_import_writes_only_what_is_new(database, embedder, tmp_path):
    """The same export, then a grown one in another folder, then one with an edited message."""
    store = adopt(database.store("default"), embedder)

    def index(folder):
        embedder.seen.clear()
        items = iter_documents([folder], options=LoadOptions(), base=tmp_path)
        receipt = index_documents(items, store=store, embedder=embedder, options=SPLIT)
        return (receipt.added, receipt.changed, receipt.unchanged), [text.partition("\n")[2] for text in embedder.seen]

    one = ["a", "Which port do the lights use?", "Port 8080."]
    more = ["Which host do the lights use?", "The host is beacon."]
    other = ["b", "Who built the harbour wall?", "Nobody knows."]
    stamps = [f"(2026-03-02 10:0{minute})" for minute in range(4)]
    exchange = f"user {stamps[2]}: {more[0]}\n\nassistant {stamps[3]}: {more[1]}"

    assert index(export(tmp_path / "1", one))[0] == (1, 0, 0)
    ids = {chunk.id for chunk in store.find_chunks(store.find_documents(Filter())[0].id)}
    assert index(export(tmp_path / "2", one)) == ((0, 0, 1), [])
    assert index(export(tmp_path / "3", [*one, *more])) == ((0, 1, 0), [exchange])
    grown = {chunk.id for chunk in store.find_chunks(store.find_documents(Filter())[0].id)}
    assert ids < grown and len(grown) == 2
    assert index(export(tmp_path / "4", [*one, *more], other))[0] == (1, 0, 1)
    edited = ["a", one[1], "Port 9090.", *more]
    expected = f"user {stamps[0]}: {one[1]}\n\nassistant {stamps[1]}: Port 9090."
    assert index(export(tmp_path / "5", edited, other)) == ((0, 1, 1), [expected])
    assert store.stats().chunks == 3


LONG = say("assistant", "The harbour lights follow the tide. " * 20, minute=2)


def scores_of_chunks(database, embedder, document, values):
    """Return the scores before and after `lead_exchanges`, by ordinal of the chunk; the first ones are given."""
    store = adopt(database.store("default"), embedder)
    index_documents([document], store=store, embedder=embedder, options=SPLIT)
    known = sorted(store.find_chunks(store.find_documents(Filter())[0].id), key=lambda chunk: chunk.ordinal)
    given = {known[ordinal].id: score for ordinal, score in values.items()}
    search = SearchContext(store=store, embedder=embedder, options=SearchOptions())
    hits = tuple(Hit(id, rank, score) for rank, (id, score) in enumerate(given.items(), start=1))
    draft = make_draft("harbour", scores=given, rankings={KEYWORD: Ranking(hits=hits)}, has_exchanges=True)
    found = lead_exchanges(draft, search).scores
    return known, {chunk.ordinal: round(found[chunk.id], 6) for chunk in known if chunk.id in found}


def test_the_question_of_a_long_exchange_has_the_best_score_of_its_answer(database, embedder):
    """Parts of the answer lose 0.4 of the best score; a short exchange keeps its score."""
    document = talk(ASKED[0], LONG, *LATER)
    known, found = scores_of_chunks(database, embedder, document, {0: 0.5, 1: 1.0, 2: 0.8})

    assert [bool(chunk.heading) for chunk in known] == [False, *[True] * (len(known) - 2), False]
    assert found == {0: 1.0, 1: 0.6, 2: 0.4}
    assert scores_of_chunks(database, embedder, document, {len(known) - 1: 0.7})[1] == {len(known) - 1: 0.7}


def test_a_question_that_was_not_found_is_read_and_takes_the_score_of_its_answer(database, embedder):
    """That of another exchange, which was found, keeps its own score."""
    other = say("user", "Which host do the harbour bells use?", minute=5)
    document = talk(ASKED[0], LONG, other, LONG)
    known = chunks(ASKED[0], LONG, other, LONG)
    last = len(known) - 1
    second = next(chunk.ordinal for chunk in known if "bells" in chunk.text)

    found = scores_of_chunks(database, embedder, document, {0: 0.5, last: 1.0})[1]

    assert found == {0: 0.5, second: 1.0, last: 0.6}


@pytest.mark.parametrize(
    ("said", "gain"),
    [
        ("Always name the harbour when I ask about lights.", 0.15),
        ("每次我问灯塔时都要说明港口。", 0.15),
        ("Which port do the lights use?", 0.0),
    ],
)
def test_a_standing_rule_of_the_user_gains_a_bonus(database, embedder, said, gain):
    """A share of the best score."""
    document = talk(say("user", said), LONG, *LATER)
    known = scores_of_chunks(database, embedder, document, {0: 0.5})[0]
    found = scores_of_chunks(database, embedder, document, {0: 0.5, len(known) - 1: 1.0})[1]

    assert found[0] == pytest.approx(0.5 + gain)
    assert found[len(known) - 1] == 1.0


def test_the_answer_is_shown_beside_the_question_of_a_long_exchange(database, embedder):
    """Its beginning, in text and citation; the chunk keeps its id, and a short exchange its text."""
    store = adopt(database.store("default"), embedder)
    answer = say("assistant", "The harbour lights follow the tide. " * 60, minute=2)
    index_documents([talk(ASKED[0], answer, *LATER)], store=store, embedder=embedder, options=SPLIT)
    search = SearchContext(store=store, embedder=embedder, options=SearchOptions(method="hybrid", gate=False))

    found = {
        piece.chunk.text.partition("): ")[2][:5]: piece
        for piece in find("Which host and port do they use?", search).evidence
    }
    piece = found["Which"]

    assert "The harbour lights follow the tide." in piece.chunk.text
    assert len(piece.chunk.text) < 800
    assert piece.citation == "claude:1:t1-2"
    assert store.chunks([piece.chunk.id])[0].end_line == 1
    assert found["And w"].chunk.text.endswith("The host is beacon.")


@pytest.mark.parametrize("is_dated", [True, False])
def test_the_gate_judges_questions_that_the_parts_of_answers_crowd_out(database, embedder, is_dated):
    """Its rankings become longer for conversations alone, and the best scores stay."""
    answers = [say("assistant", "The harbour lights follow the harbour tide. " * 20, minute=n) for n in range(4)]
    asked = [say("user", f"Which port do the bells of mole {n} use?", minute=n) for n in range(4)]
    document = talk(*(message for pair in zip(asked, answers, strict=True) for message in pair))
    if not is_dated:
        document = Document(source="page.md", title="Page", form="markdown", text=document.text)
    store = adopt(database.store("default"), embedder)
    index_documents([document], store=store, embedder=embedder, options=SPLIT)
    search = SearchContext(store=store, embedder=embedder, options=SearchOptions(pool=3, top_k=3))
    question = read_question("harbour lights and harbour bells")
    query = embed_question(question, embedder=embedder, wants_vector=True, wants_keyword=True)
    found = search_channels(query, frozenset({"vector", "keyword"}), search)
    draft = make_draft("harbour", has_exchanges=True)._replace(query=query, complete=found, text=found["keyword"].hits)

    judged = judge_openings(draft, search).complete

    sizes = {channel: len(ranking.hits) for channel, ranking in judged.items()}
    assert (sizes["keyword"] > 3) == (sizes["vector"] > 3) == is_dated
    assert [ranking.hits[:3] for ranking in judged.values()] == [ranking.hits for ranking in found.values()]


@pytest.mark.parametrize("is_dated", [True, False])
def test_one_conversation_may_take_the_places_that_pages_leave_to_other_documents(database, embedder, is_dated):
    """Seven of ten places of a mixed search belong to new documents, but sessions do not compete with each other."""
    close = [f"The harbour lights use port {n}." for n in range(6)]
    distant = [f"The harbour of mole {n} has bells, ropes, nets, cranes and a warden." for n in range(6)]
    store = adopt(database.store("default"), embedder)
    if is_dated:
        pairs = [(say("user", text, minute=n), say("assistant", "Noted.", minute=n)) for n, text in enumerate(close)]
        documents = [talk(*(message for pair in pairs for message in pair))]
        documents += [
            to_document(
                [say("user", text), say("assistant", "Noted.")], Conversation(source=f"c:{n}", host="c", id=f"{n}")
            )
            for n, text in enumerate(distant)
        ]
    else:
        documents = [Document(source="close.md", title="Lights", text="\n\n".join(close))]
        documents += [Document(source=f"{n}.md", title="Bells", text=text) for n, text in enumerate(distant)]
    options = SplitOptions(max_tokens=24, min_tokens=1)
    index_documents(documents, store=store, embedder=embedder, options=options)
    search = SearchContext(
        store=store, embedder=embedder, options=SearchOptions(method="mix", gate=False, top_k=5), at=None
    )

    found = [piece.document.source for piece in find("Which port do the harbour lights use?", search).evidence]

    assert found.count(found[0]) == (5 if is_dated else 2)


def test_a_question_for_an_order_or_an_overview_gets_an_exchange_of_every_stage_in_time(database, embedder):
    """One of each of five stages, though all of the last one are closer; another question gets the closest."""
    told = [
        say(
            "user",
            f"Task {number} of the harbour. " + ("The lights. " if number > 20 else "A mole. ") * 30,
            minute=number,
        )
        for number in range(30)
    ]
    answers = [say("assistant", "Done. " * 120, minute=number) for number in range(30)]
    document = talk(*(message for pair in zip(told, answers, strict=True) for message in pair))
    store = adopt(database.store("default"), embedder)
    index_documents([document], store=store, embedder=embedder, options=SplitOptions(max_tokens=120, min_tokens=4))

    def tasks(question):
        search = SearchContext(store=store, embedder=embedder, options=SearchOptions(method="hybrid", gate=False))
        texts = [piece.chunk.text for piece in find(question, search).evidence]
        return [int(found[1]) for text in texts if (found := re.search(r"Task (\d+)", text))]

    for question in ("In which order did I bring up the lights?", "Give me an overview of the lights."):
        ordered = tasks(question)[:5]
        assert ordered == sorted(ordered)
        assert [number // 6 for number in ordered] == [0, 1, 2, 3, 4]
    assert sum(number > 20 for number in tasks("Which lights did I bring up?")) >= 8


def test_parts_of_a_page_keep_their_scores(database, embedder):
    """Headings of documents without times are no questions."""
    page = Document(source="page.md", title="Page", form="markdown", text="# Lights\n\n" + "The tide turns. " * 40)

    assert scores_of_chunks(database, embedder, page, {0: 0.5, 1: 1.0})[1] == {0: 0.5, 1: 1.0}
