"""
How large should the bonus for chunks at a named time be?

    python benchmarks/quality/time_words.py [--embedder local/granite-30m]

A generated store: 12 subjects, each with 6 exchanges of the same words at different times, and one handbook page
without a time. Three kinds of questions, each with one right document:

    timed       "which port did we choose for the crane last week?"            the exchange of last week
    plain       "what does the handbook say about the port of the crane?"      the page
    misleading  "what did the handbook say last week about the port of the crane?"  the page, in spite of the time

Prints the share of questions whose first result is right, for several sizes of the bonus.
"""

from __future__ import annotations

import argparse
from datetime import datetime, timedelta, timezone

from weft.config import SearchOptions, SplitOptions, read_settings
from weft.engine.adapters import open_embedder
from weft.index.run import index_documents
from weft.load.conversations.turns import Conversation, Message, to_document
from weft.records import Document, StoredModel, to_microseconds
from weft.search import conversations
from weft.search.run import find
from weft.search.search_context import SearchContext
from weft.store.memory.store import MemoryDatabase

NOW = datetime(2026, 3, 18, 12, tzinfo=timezone.utc)
SUBJECTS = "crane beacon lock quay tug dredger pilot winch buoy gantry slipway pontoon".split()
TIMES = {"yesterday": 1, "last week": 8, "2 weeks ago": 15, "last month": 30, "in January": 70, "in November": 120}
BONUSES = (0.0, 0.05, 0.1, 0.15, 0.2)


def make_documents() -> list[Document]:
    """Return the handbook pages and the exchanges."""
    documents = []
    for number, subject in enumerate(SUBJECTS):
        text = f"Every {subject} has a port of its own. The port of the {subject} is chosen by its keeper."
        documents.append(Document(source=f"handbook/{subject}", title=f"Handbook: the {subject}", text=text))
        for back in TIMES.values():
            time = to_microseconds(NOW - timedelta(days=back))
            asked = Message(role="user", text=f"Which port shall we choose for the {subject}?", time=time)
            port = 1000 + number * 10 + back
            told = Message(role="assistant", text=f"We choose port {port} for the {subject}.", time=time)
            id = f"{subject}-{back}"
            documents.append(
                to_document(
                    [asked, told], Conversation(source=f"claude:{id}", host="claude", id=id, title=f"The {subject}")
                )
            )
    return documents


def make_questions() -> dict[str, list[tuple[str, str]]]:
    """Return questions with the source of their document, by kind."""
    timed, plain, misleading = [], [], []
    for subject in SUBJECTS:
        for words, back in TIMES.items():
            timed.append((f"which port did we choose for the {subject} {words}?", f"claude:{subject}-{back}"))
            asked = f"what did the handbook say {words} about the port of the {subject}?"
            misleading.append((asked, f"handbook/{subject}"))
        plain.append((f"what does the handbook say about the port of the {subject}?", f"handbook/{subject}"))
    return {"timed": timed, "plain": plain, "misleading": misleading}


def main() -> None:
    """Print one line per bonus."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default="local/granite-30m")
    embedder = open_embedder(read_settings({"models.embedder": parser.parse_args().embedder}))
    assert embedder is not None
    store, card = MemoryDatabase().store("default"), embedder.card
    store.write_model(StoredModel(name=card.name, fingerprint=card.fingerprint, dimension=card.dimension, active=True))
    index_documents(make_documents(), store=store, embedder=embedder, options=SplitOptions())
    questions = make_questions()
    print("bonus", *questions, sep="\t")
    for bonus in BONUSES:
        conversations.TIME_BONUS = bonus
        shares = []
        for cases in questions.values():
            right = 0
            for text, source in cases:
                options = SearchOptions(method="hybrid")
                found = find(text, SearchContext(store=store, embedder=embedder, options=options, at=NOW)).evidence
                right += bool(found) and found[0].document.source == source
            shares.append(f"{right / len(cases):.3f}")
        print(f"{bonus:.2f}", *shares, sep="\t")


if __name__ == "__main__":
    main()
