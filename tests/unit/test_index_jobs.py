"""Documents handed out as jobs, and the workers that index them."""

import threading
from dataclasses import replace

import pytest
from memory_store.jobs import MemoryJobs
from memory_store.store import MemoryDatabase

import weft.index.job_queue as jobs
import weft.index.job_worker as work
from weft.config import MemoryOptions, SplitOptions
from weft.errors import InputError, ModelUnavailable, StoreUnavailable
from weft.extract.rules import RuleExtractor
from weft.index.job_queue import Components, index_by_jobs, make_job, read_payload
from weft.index.job_worker import Worker
from weft.index.run import index_documents
from weft.records import (
    Candidate,
    Document,
    Extraction,
    Filter,
    JobCounts,
    Receipt,
    Skipped,
    StatedRelation,
    StoredModel,
)
from weft.testing import FakeEmbedder

GIVEN = Extraction(
    candidates=(Candidate(key="lantern", name="Lantern", kind="given", description="a light"),),
    stated_relations=(StatedRelation(source="lantern", target="works", type="made_by", weight=7.0),),
)
DOCUMENTS = [
    Document(source="a.md", title="Alpha", text="# Alpha\n\nAlpha is a lantern.", form="markdown"),
    Document(source="b.pdf", title="Beta", text="one\ntwo\n密钥 \x7f", lines=range(3, 6), unit="page"),
    Document(source="c", title="", text="", lines=(), metadata={"n": 1.5, "tags": ["x", None, True]}),
    Document(source="d", title="Lantern", text="Lantern by Works.", given=GIVEN, metadata={"year": 1999}),
]


class WorkerPool:
    """Workers in this process; `maintain` runs all open jobs."""

    def __init__(self, components, **options):
        self.components, self.options = components, options
        self.shut_down_count = 0

    def maintain(self, jobs):
        Worker(self.components, **self.options).run(threading.Event(), until="empty")

    def shut_down(self):
        self.shut_down_count += 1


class Interrupted(WorkerPool):
    def maintain(self, jobs):
        raise KeyboardInterrupt


@pytest.fixture
def components():
    return make_components()


def make_components(embedder=None, extractor=None):
    store, embedder = MemoryDatabase().store("default"), embedder or FakeEmbedder()
    card = embedder.card
    store.write_model(StoredModel(name=card.name, fingerprint=card.fingerprint, dimension=card.dimension, active=True))
    return Components(
        store=store,
        embedder=embedder,
        options=SplitOptions(),
        extractor=extractor or RuleExtractor(),
        fact_reader=lambda: None,
        memory=MemoryOptions(),
    )


def index_here(items, components):
    return index_documents(
        items,
        store=components.store,
        embedder=components.embedder,
        options=components.options,
        extractor=components.extractor,
    )


def enqueue(components, *documents):
    made = [make_job(d, components.describe(d, None), run="r", recipe=components.recipe) for d in documents]
    components.store.jobs.enqueue(made)


def store_content(store):
    """Return documents, chunks and entities of a store."""
    found = store.find_documents(where=Filter())
    return found, [store.find_chunks(d.id) for d in found], store.graph.entities_after("", limit=99)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.source)
def test_a_job_carries_its_document(components, document):
    """The worker computes the same content hash."""
    info = components.describe(document, None)
    read = read_payload(make_job(document, info, run="r", recipe="x").payload, source="a")

    assert components.describe(read, None) == info
    assert (read.text, read.form, read.unit, read.given) == (
        document.text,
        document.form,
        document.unit,
        document.given,
    )


def test_workers_leave_the_same_store_and_receipt(components):
    """New, changed and unchanged documents and what was skipped are counted as without workers."""
    other, skipped = make_components(), Skipped(source="x.bin", reason="binary")
    items = [*DOCUMENTS, skipped, replace(DOCUMENTS[0], text="# Alpha\n\nAlpha is another one.")]
    receipts = []
    for round in (items, items[1:], [items[-1]]):
        steps = []
        receipt = index_by_jobs(round, components, pool=WorkerPool(components), on_step=steps.append)
        receipts.append((receipt, index_here(round, other)))
        assert len(steps) == len(round)

    for mine, theirs in receipts:
        assert replace(mine, seconds=0) == replace(theirs, seconds=0)
    assert receipts[0][0].changed == 1, "the second one of the same source"
    assert store_content(components.store) == store_content(other.store)
    assert components.store.jobs.counts() == JobCounts()
    assert sorted(components.embedder.seen) == sorted(other.embedder.seen)


def test_nothing_is_started_where_nothing_changed(components):
    """Unchanged documents are no jobs."""
    index_here(DOCUMENTS, components)

    assert index_by_jobs(DOCUMENTS, components, pool=Interrupted(components)).unchanged == len(DOCUMENTS)


def test_a_document_that_is_too_large_for_a_job_is_indexed_here(components, monkeypatch):
    """The bound is on what is sent, not on what can be indexed."""
    monkeypatch.setattr(jobs, "MAX_PAYLOAD_CHARS", 300)
    other = make_components()
    large = Document(source="large", title="Large", text="word " * 100)
    pool = Interrupted(components)
    receipt = index_by_jobs([large], components, pool=pool)

    assert replace(receipt, seconds=0) == replace(index_here([large], other), seconds=0)
    assert store_content(components.store) == store_content(other.store)


class Picky(RuleExtractor):
    """Cannot bear one document."""

    def extract(self, document, chunks):
        if document.source == "b.pdf":
            raise ZeroDivisionError("not this one")
        return super().extract(document, chunks)


def test_a_document_that_cannot_be_indexed_is_reported_and_kept():
    """Three attempts, then it is among what was skipped, with its error; the others are there."""
    components = make_components(extractor=Picky())
    receipt = index_by_jobs(DOCUMENTS, components, pool=WorkerPool(components))

    assert receipt.added == len(DOCUMENTS) - 1
    (skipped,) = receipt.skipped
    assert (skipped.source, skipped.reason) == ("b.pdf", "failed")
    assert "not this one" in skipped.detail
    (kept,) = components.store.jobs.failed(limit=9)
    assert kept.attempts == 3


class Failing(FakeEmbedder):
    """Fails for all that comes with one text, as a write of it would."""

    def embed(self, texts, *, kind="document"):
        if any("two" in text for text in texts):
            raise InputError("two is too much")
        return super().embed(texts, kind=kind)


def test_one_of_a_group_that_cannot_be_written_takes_no_others_with_it():
    """A failed group is written one by one."""
    components = make_components(embedder=Failing())
    receipt = index_by_jobs(DOCUMENTS, components, pool=WorkerPool(components))

    assert receipt.added == len(DOCUMENTS) - 1
    assert [item.source for item in receipt.skipped] == ["b.pdf"]


def test_an_interrupted_run_takes_back_what_nobody_began(components):
    """The pool is shut down first, so that what it gives back is taken back too."""
    pool = Interrupted(components)
    with pytest.raises(KeyboardInterrupt):
        index_by_jobs(DOCUMENTS, components, pool=pool)

    assert pool.shut_down_count == 1
    assert components.store.jobs.counts() == JobCounts()
    assert components.store.stats().documents == 0


class Thief(FakeEmbedder):
    """While a text is embedded, its job is taken over by somebody else, once."""

    store = None

    def embed(self, texts, *, kind="document"):
        store, self.store = self.store, None
        if store is not None:
            store.jobs.release("slow", counted=True)
            self.stolen = store.jobs.claim("thief", recipe=self.recipe, limit=1, lease=60, attempts=3)
        return super().embed(texts, kind=kind)


def test_a_job_that_was_taken_over_is_left_to_who_has_it():
    """The slow worker writes nothing of it, and goes on with what it still has."""
    embedder = Thief()
    components = make_components(embedder=embedder)
    embedder.store, embedder.recipe = components.store, components.recipe
    enqueue(components, DOCUMENTS[0])
    tally = Worker(components, name="slow").run(threading.Event(), until="once")

    assert (tally.done, tally.failed) == (0, 0)
    assert [job.attempts for job in embedder.stolen] == [2]
    assert components.store.stats().documents == 0
    assert components.store.jobs.counts() == JobCounts(running=1)


def test_a_worker_without_its_model_gives_back_what_it_has(components):
    """It is not the jobs' fault, so no attempt is counted."""
    enqueue(components, *DOCUMENTS)
    components.embedder.failing = "no such model"
    with pytest.raises(ModelUnavailable):
        Worker(components).run(threading.Event(), until="empty")

    assert components.store.jobs.counts() == JobCounts(waiting=4)
    components.embedder.failing = ""
    assert {
        job.attempts for job in components.store.jobs.claim("w", recipe=components.recipe, limit=9, lease=9, attempts=3)
    } == {1}


def test_a_worker_waits_for_a_store_that_is_away(components, monkeypatch):
    """With `until="stopped"` it waits; otherwise it raises."""
    monkeypatch.setattr(work, "MIN_IDLE_S", 0.001)
    monkeypatch.setattr(work, "MAX_IDLE_S", 0.001)
    enqueue(components, *DOCUMENTS)
    failures, claim = [StoreUnavailable("away")] * 3, MemoryJobs.claim

    def away(jobs, *arguments, **options):
        if failures:
            raise failures.pop()
        return claim(jobs, *arguments, **options)

    stop, done = threading.Event(), []

    def note(step):
        done.append(step.source)
        if len(done) == len(DOCUMENTS):
            stop.set()

    monkeypatch.setattr(MemoryJobs, "claim", away)
    with pytest.raises(StoreUnavailable):
        Worker(components).run(threading.Event(), until="empty")
    Worker(components, on_step=note).run(stop)

    assert sorted(done) == sorted(document.source for document in DOCUMENTS)


def test_a_stopped_worker_finishes_its_transaction_and_gives_back_the_rest(components, monkeypatch):
    """Jobs that were not started return to the queue without a counted attempt."""
    monkeypatch.setattr("weft.index.batch_writer.TEXTS_PER_GROUP", 1)
    enqueue(components, *DOCUMENTS)
    stop = threading.Event()
    tally = Worker(components, on_step=lambda step: stop.set()).run(stop)

    assert tally.done == components.store.stats().documents == 1
    assert components.store.jobs.counts() == JobCounts(waiting=3, done=1)


def test_a_worker_leaves_jobs_alone_that_want_other_settings(components):
    """All settings that affect the index are part of the recipe."""
    enqueue(components, *DOCUMENTS)
    others = [
        replace(components, options=SplitOptions(max_tokens=99)),
        replace(components, extractor=None),
        replace(components, embedder=None),
        replace(components, memory=MemoryOptions(from_files=False)),
        replace(components, memory=MemoryOptions(single_valued=("status",))),
    ]

    for other in others:
        assert Worker(other).run(threading.Event(), until="empty").done == 0
    assert Worker(components).run(threading.Event(), until="once").done == 1
    assert Worker(components).run(threading.Event(), until="empty").done == 3


def test_a_job_whose_document_is_damaged_fails(components):
    """A document with another content hash is not written."""
    (document, *_) = DOCUMENTS
    job = make_job(document, components.describe(document, None), run="r", recipe=components.recipe)
    components.store.jobs.enqueue([replace(job, payload=job.payload.replace("lantern", "torch"))])
    Worker(components).run(threading.Event(), until="empty")

    assert components.store.jobs.counts() == JobCounts(failed=1)
    assert components.store.stats().documents == 0
    assert index_by_jobs([document], components, pool=WorkerPool(components)) != Receipt()
    assert components.store.stats().documents == 1
