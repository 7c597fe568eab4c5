"""Overlap of reading, embedding and writing in the write path."""

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import ClassVar

import pytest
from making import adopt

from weft.config import SplitOptions
from weft.index import batch_writer, run
from weft.index.run import index_documents
from weft.records import Document, Filter
from weft.testing import FakeEmbedder

TEXTS_PER_GROUP = 8
MAX_PENDING_TEXTS = 16 * TEXTS_PER_GROUP
"""An eighth of the real sizes, in the same proportions."""


def doc(source, text):
    return Document(source=source, title="Title", text=text, form="markdown")


def notes(count):
    return [doc(f"note {number}", f"text number {number}") for number in range(count)]


class Waiting(FakeEmbedder):
    """Starts one call when allowed, or after a timeout; tests can wait for its progress."""

    def __init__(self, held_call=1):
        super().__init__()
        self.calls, self.held_call = 0, held_call
        self.may_begin = threading.Event()
        self.begun = []
        self.given = threading.Condition()

    def embed(self, texts, *, kind="document"):
        self.calls += 1
        if self.calls == self.held_call:
            self.begun.append(self.may_begin.wait(60))
        vectors = super().embed(texts, kind=kind)
        with self.given:
            self.given.notify_all()
        return vectors

    def wait_for(self, count):
        with self.given:
            return self.given.wait_for(lambda: len(self.seen) >= count, timeout=60)

    def beginning_at(self, place, documents):
        """Yield documents; the model may begin when one is asked for."""
        for number, document in enumerate(documents):
            if number == place:
                self.may_begin.set()
            yield document


def test_the_next_documents_are_read_while_the_model_works(database):
    """The first group is not embedded before a document of the second was asked for."""
    embedder = Waiting()
    store = adopt(database.store("default"), embedder)
    documents = embedder.beginning_at(TEXTS_PER_GROUP + 1, notes(2 * TEXTS_PER_GROUP))
    receipt = index_documents(documents, store=store, embedder=embedder, options=SplitOptions())

    assert embedder.begun == [True]
    assert receipt.added == 2 * TEXTS_PER_GROUP
    assert store.stats().vectors == 2 * TEXTS_PER_GROUP


@pytest.fixture(autouse=True)
def whole_groups(monkeypatch):
    """Groups are small, and the first are as large as the others, so that texts can be counted in groups."""
    monkeypatch.setattr(run, "FIRST_GROUPS_CHUNKS", ())
    for name in ("TEXTS_PER_GROUP", "MAX_PENDING_TEXTS", "MAX_FIRST_LOAD_TEXTS", "MAX_TEXTS_PER_CALL"):
        monkeypatch.setattr(batch_writer, name, getattr(batch_writer, name) // 8)
    assert (batch_writer.TEXTS_PER_GROUP, batch_writer.MAX_PENDING_TEXTS) == (TEXTS_PER_GROUP, MAX_PENDING_TEXTS)


def test_the_first_groups_are_small(database, embedder, monkeypatch):
    """Their documents are searchable while the others are embedded."""
    monkeypatch.setattr(run, "FIRST_GROUPS_CHUNKS", (1, 3))
    store = adopt(database.store("default"), embedder)
    groups, make = [], batch_writer.make_batches
    monkeypatch.setattr(batch_writer, "make_batches", lambda plans, **o: groups.append(len(plans)) or make(plans, **o))
    index_documents(notes(5 + TEXTS_PER_GROUP), store=store, embedder=embedder, options=SplitOptions())

    assert groups == [1, 3, TEXTS_PER_GROUP, 1]


@pytest.mark.parametrize(
    "apart",
    [
        1,
        TEXTS_PER_GROUP - 1,
        TEXTS_PER_GROUP,
        2 * TEXTS_PER_GROUP,
        MAX_PENDING_TEXTS,
        MAX_PENDING_TEXTS + TEXTS_PER_GROUP,
        MAX_PENDING_TEXTS + 2 * TEXTS_PER_GROUP,
    ],
)
def test_a_document_that_comes_again_is_read_against_what_is_stored(database, embedder, apart):
    """However far apart the two come, the first is written by then, and what changed is counted."""
    store = adopt(database.store("default"), embedder)
    documents = [doc("a.md", "first"), *notes(apart), doc("a.md", "second")]
    receipt = index_documents(documents, store=store, embedder=embedder, options=SplitOptions())

    assert (receipt.added, receipt.changed) == (apart + 1, 1)
    (found,) = [
        chunk.text
        for info in store.find_documents(Filter(source_prefix="a.md"))
        for chunk in store.find_chunks(info.id)
    ]
    assert found == "second"


def test_the_model_goes_on_while_one_group_takes_long_to_be_written(database, monkeypatch):
    """The second write does not end before all that may be under way beside it is embedded."""
    embedder = Waiting(held_call=2)
    store = adopt(database.store("default"), embedder)
    write, writes, went_on = store.write, [], []

    def slow(*batches, **options):
        writes.append(len(batches))
        if len(writes) == 2:
            went_on.append(embedder.wait_for(2 * TEXTS_PER_GROUP + MAX_PENDING_TEXTS))
        write(*batches, **options)

    monkeypatch.setattr(store, "write", slow)
    documents = embedder.beginning_at(TEXTS_PER_GROUP + MAX_PENDING_TEXTS, notes(2 * MAX_PENDING_TEXTS))
    receipt = index_documents(documents, store=store, embedder=embedder, options=SplitOptions())

    assert embedder.begun == went_on == [True]
    assert receipt.added == store.stats().vectors == 2 * MAX_PENDING_TEXTS


def test_the_first_group_is_written_before_a_third_is_planned(database, monkeypatch):
    """Planning would only delay the first searchable document: the model has the second group to work on."""
    embedder = Waiting()
    store = adopt(database.store("default"), embedder)
    write, read, read_at_write = store.write, [], []
    monkeypatch.setattr(
        store, "write", lambda *batches, **options: read_at_write.append(len(read)) or write(*batches, **options)
    )

    def documents():
        for note in notes(4 * TEXTS_PER_GROUP):
            read.append(note)
            if len(read) == 2 * TEXTS_PER_GROUP:
                embedder.may_begin.set()
            yield note

    index_documents(documents(), store=store, embedder=embedder, options=SplitOptions())

    assert embedder.begun == [True]
    assert read_at_write[0] == 2 * TEXTS_PER_GROUP


class Noting(ThreadPoolExecutor):
    """Keeps the futures, so that tests can wait until a group is embedded and handed over."""

    futures: ClassVar[list[Future]] = []

    def submit(self, *arguments, **options):
        self.futures.append(super().submit(*arguments, **options))
        return self.futures[-1]


def test_where_reading_takes_long_nothing_waits_to_be_written(database, monkeypatch):
    """Each group is embedded before the next one is read, as where a language model reads: the first is written."""
    monkeypatch.setattr(batch_writer, "ThreadPoolExecutor", Noting)
    monkeypatch.setattr(Noting, "futures", [])
    embedder = Waiting()
    store = adopt(database.store("default"), embedder)
    embedder.may_begin.set()
    steps, seen = [], []

    def documents():
        for number, document in enumerate(notes(3 * TEXTS_PER_GROUP)):
            if number and number % TEXTS_PER_GROUP == 0:
                assert not wait(Noting.futures, 60).not_done
            seen.append(len(steps))
            yield document

    index_documents(documents(), store=store, embedder=embedder, options=SplitOptions(), on_step=steps.append)

    assert 3 * TEXTS_PER_GROUP <= MAX_PENDING_TEXTS, "else it would be written for there is too much"
    assert seen[-1] >= TEXTS_PER_GROUP
    assert len(steps) == 3 * TEXTS_PER_GROUP


class Counting(FakeEmbedder):
    """Counts the texts that it embedded."""

    def __init__(self):
        super().__init__()
        self.embedded = 0

    def embed(self, texts, *, kind="document"):
        vectors = super().embed(texts, kind=kind)
        self.embedded += len(texts)
        return vectors


def test_groups_that_are_embedded_quickly_share_a_transaction(database, monkeypatch):
    """The first group is written at once; the others wait for the next transaction, which writes them together."""
    monkeypatch.setattr("weft.index.batch_writer.COMMIT_SECONDS", 1e9)
    embedder = Counting()
    store = adopt(database.store("default"), embedder)
    write, written = store.write, []

    def after_embedding():
        """Yield documents of a group when those of the group before are embedded."""
        for place, note in enumerate(notes(6 * TEXTS_PER_GROUP)):
            while place % TEXTS_PER_GROUP == 1 and embedder.embedded < place - 1:
                time.sleep(0.001)
            yield note

    def count(*batches, **options):
        written.append(len(batches))
        write(*batches, **options)

    monkeypatch.setattr(store, "write", count)
    index_documents(after_embedding(), store=store, embedder=embedder, options=SplitOptions())

    assert sum(written) == store.stats().documents == 6 * TEXTS_PER_GROUP
    assert len(written) < 6


def test_the_first_load_of_a_namespace_has_larger_transactions(database, monkeypatch):
    """After the first group the rest is written together; later runs write every few groups."""
    size = 4
    monkeypatch.setattr(batch_writer, "TEXTS_PER_GROUP", size)
    monkeypatch.setattr(batch_writer, "MAX_PENDING_TEXTS", 2 * size)
    monkeypatch.setattr(batch_writer, "MAX_FIRST_LOAD_TEXTS", 16 * size)
    for name in ("COMMIT_SECONDS", "FIRST_LOAD_SECONDS"):
        monkeypatch.setattr(batch_writer, name, 1e9)
    embedder = Counting()
    store = adopt(database.store("default"), embedder)
    write, written = store.write, []
    monkeypatch.setattr(
        store, "write", lambda *batches, **options: written.append(len(batches)) or write(*batches, **options)
    )

    def load(name):
        """Index documents; each group comes when the one before is embedded."""
        before = embedder.embedded

        def documents():
            for place in range(15 * size):
                while place % size == 1 and embedder.embedded - before < place - 1:
                    time.sleep(0.001)
                yield doc(f"{name} {place}.md", f"Number {place}.")

        written.clear()
        index_documents(documents(), store=store, embedder=embedder, options=SplitOptions())
        return len(written)

    assert load("first") <= 3, "the first group, those that are embedded, and the last one"
    assert load("second") > 3


class Slow(FakeEmbedder):
    """Takes longer than reading does."""

    def embed(self, texts, *, kind="document"):
        time.sleep(0.05)
        return super().embed(texts, kind=kind)


@pytest.mark.parametrize("size", [0, 1, TEXTS_PER_GROUP, MAX_PENDING_TEXTS + 1])
def test_what_is_under_way_is_bounded(database, size):
    """For any document size, at most the pending texts, one group and one document are in memory."""
    embedder = Slow()
    store = adopt(database.store("default"), embedder)
    texts = [f"# {part}\n\nPassage {part} of this one.\n\n" for part in range(size)]
    under_way, highest = [0], [0]

    def documents():
        for number in range(max(4, 8 * TEXTS_PER_GROUP // max(1, size))):
            under_way[0] += max(1, size)
            highest[0] = max(highest[0], under_way[0])
            yield doc(f"note {number}", f"Number {number}.\n\n{''.join(texts)}" if texts else "")

    def written(step):
        under_way[0] -= max(1, size)

    split = SplitOptions(max_tokens=30, min_tokens=0)
    index_documents(documents(), store=store, embedder=embedder, options=split, on_step=written)

    assert under_way == [0]
    assert highest[0] <= max(MAX_PENDING_TEXTS, size) + TEXTS_PER_GROUP + max(TEXTS_PER_GROUP, size)


class Interrupted(Waiting):
    """Goes on when it is interrupted, and not before."""

    def interrupt(self):
        self.may_begin.set()


def test_ctrl_c_does_not_wait_for_the_model_to_finish(database):
    """The embedder is interrupted; other errors let it finish."""
    embedder = Interrupted()
    store = adopt(database.store("default"), embedder)

    def documents():
        yield from notes(TEXTS_PER_GROUP + 1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index_documents(documents(), store=store, embedder=embedder, options=SplitOptions())
    assert embedder.begun == [True]
    assert store.find_documents(Filter(), limit=1) == []


@pytest.mark.parametrize("preferred, expected", [(0, TEXTS_PER_GROUP), (100, 100), (1000, 150)])
def test_an_embedder_that_is_faster_with_large_calls_gets_them(database, preferred, expected):
    """A GPU or a remote endpoint names its size; others get the usual groups."""

    class Bulk(FakeEmbedder):
        texts_per_call = preferred
        calls: ClassVar[list[int]] = []

        def embed(self, texts, *, kind="document"):
            self.calls.append(len(texts))
            return super().embed(texts, kind=kind)

    embedder = Bulk()
    store = adopt(database.store("default"), embedder)
    receipt = index_documents(notes(150), store=store, embedder=embedder, options=SplitOptions())

    assert receipt.added == store.stats().vectors == 150
    assert embedder.calls[0] == expected
    assert sum(embedder.calls) == 150
