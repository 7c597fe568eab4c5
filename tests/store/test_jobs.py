"""Jobs in every store: claims, leases, takeover, and completion with a write."""

import re
import threading

import pytest
from contract import make_batch
from memory_store.store import MemoryDatabase
from opening import EACH, open_empty

from weft.errors import ClaimLost
from weft.records import Done, Job, JobCounts, JobResult, Usage
from weft.store.postgres import schema
from weft.store.sql_files import load_schema
from weft.text.ids import document_id

SPENT = Usage(calls=1, tokens_in=9, cost=0.5, failures={"server": 2})
ADDED = JobResult(outcome="added", chunks=1, embedded=2, cached=1, facts=3, embedding=SPENT)


@pytest.fixture(params=EACH)
def database(request):
    made = open_empty(request.param, request)
    yield made
    assert made.check() == []
    made.close()


def job(source, *, run="r", content_hash="h", recipe="x", payload='{"text": "\\u0000 密钥"}', namespace="default"):
    id = document_id(namespace, source)
    return Job(id=id, run=run, source=source, content_hash=content_hash, recipe=recipe, payload=payload)


def claim(store, worker="w", *, recipe="x", limit=9, lease=60.0, attempts=3):
    return store.jobs.claim(worker, recipe=recipe, limit=limit, lease=lease, attempts=attempts)


def sources(jobs):
    return sorted(item.source for item in jobs)


def done(*items, worker="w", result=ADDED):
    return Done(worker=worker, results={item.id: result for item in items})


def test_what_is_claimed_is_nobody_elses(store):
    """Each job goes to one worker, whole, and no more than were asked for."""
    store.jobs.enqueue([job("a"), job("b"), job("c")])
    first = claim(store, "one", limit=2)
    second = claim(store, "two")

    assert len(first) == 2
    assert sources([*first, *second]) == ["a", "b", "c"]
    assert {(item.payload, item.content_hash, item.run, item.attempts) for item in first} == {
        ('{"text": "\\u0000 密钥"}', "h", "r", 1)
    }
    assert claim(store, "three") == []
    assert store.jobs.counts() == JobCounts(running=3)


def test_a_namespace_has_its_own_jobs(database, store):
    """Jobs of other namespaces are not claimed, counted or renewed; a dropped namespace has none."""
    store.jobs.enqueue([job("a")])
    other = database.store("other")

    assert claim(other) == []
    assert other.jobs.counts() == JobCounts()
    other.jobs.enqueue([job("a", namespace="other")])
    assert len(claim(other)) == 1
    assert other.jobs.release("w", counted=True) == 1
    assert store.jobs.counts() == JobCounts(waiting=1)
    database.drop("default")
    assert database.store("default").jobs.counts() == JobCounts()
    assert other.jobs.counts() == JobCounts(waiting=1)


def test_a_worker_with_other_settings_leaves_a_job_alone(store):
    """It is offered only what is to be indexed as it would; enqueued for it, the job is begun anew."""
    store.jobs.enqueue([job("a"), job("b", recipe="other")])

    assert sources(claim(store)) == ["a"]
    assert claim(store) == []
    assert store.jobs.counts(recipe="x") == JobCounts(running=1)
    assert store.jobs.counts(recipe="other") == JobCounts(waiting=1)
    store.jobs.enqueue([job("a", recipe="other")])
    assert sources(claim(store, recipe="other")) == ["a", "b"]


def test_writing_finishes_the_job_in_the_same_transaction(store):
    """The result waits for whoever wanted it, and is told once."""
    store.jobs.enqueue([job("a"), job("b", run="other")])
    found = claim(store)
    store.write(make_batch("a", ["alpha"]), make_batch("b", ["beta"]), done=done(*found))

    assert store.jobs.counts() == JobCounts(done=2)
    (collected,) = store.jobs.collect("r", limit=9)
    assert (collected.source, collected.result, collected.payload) == ("a", ADDED, "")
    assert store.jobs.collect("r", limit=9) == []
    assert store.jobs.counts() == JobCounts(done=1)
    assert store.stats().documents == 2


def test_what_was_taken_over_is_not_written(store):
    """A worker that was not heard of writes nothing of what another one has by now, and all or nothing."""
    store.jobs.enqueue([job("a"), job("b")])
    slow = claim(store, "slow", lease=-1.0)
    quick = claim(store, "quick", limit=1)
    (taken,) = quick
    left = next(item for item in slow if item.id != taken.id)
    generation = store.stats().generation
    with pytest.raises(ClaimLost):
        store.write(make_batch("a", ["old"]), make_batch("b", ["old"]), done=done(*slow, worker="slow"))

    assert (store.stats().documents, store.stats().generation) == (0, generation)
    store.write(make_batch(left.source, ["left"]), done=done(left, worker="slow"))
    store.write(make_batch(taken.source, ["new"]), done=done(taken, worker="quick"))
    assert store.jobs.counts() == JobCounts(done=2)
    with pytest.raises(ClaimLost):
        store.write(done=done(taken, worker="quick"))


def test_a_worker_that_is_heard_of_keeps_its_jobs(store):
    """Renewing is for all a worker has and for nobody else's."""
    store.jobs.enqueue([job("a"), job("b")])
    claim(store, "one", lease=-1.0, limit=1)
    claim(store, "two", lease=-1.0, limit=1)
    store.jobs.renew("one", lease=60.0)

    (taken,) = claim(store, "three")
    assert claim(store, "three") == []
    assert taken.attempts == 2


def test_what_was_begun_before_comes_last_and_alone(store):
    """A job that kills its worker then affects no other job."""
    store.jobs.enqueue([job("a"), job("b")])
    claim(store, "gone", lease=-1.0)
    store.jobs.enqueue([job("c"), job("d")])

    assert sources(claim(store)) == ["c", "d"]
    assert [len(claim(store)) for _ in range(3)] == [1, 1, 0]


def test_what_fails_again_and_again_is_kept_with_its_error(store):
    """It is never lost, claimed no more, and begins anew when it is enqueued again."""
    store.jobs.enqueue([job("a")])
    for text in ("first", "second", "last \x00 \ud800" + "!" * 5000):
        (found,) = claim(store)
        store.jobs.fail("w", found.id, text, attempts=3)

    assert claim(store) == []
    assert store.jobs.counts() == JobCounts(failed=1)
    (failed,) = store.jobs.failed("r", limit=9)
    assert (failed.source, failed.attempts, failed.error[:6]) == ("a", 3, "last �")
    assert len(failed.error) == 2000
    assert store.jobs.failed("other", limit=9) == []
    assert store.jobs.failed(limit=9) == [failed]
    store.jobs.enqueue([job("a", run="again")])
    assert [item.attempts for item in claim(store)] == [1]


def test_what_ends_every_worker_is_failed_at_last(store):
    """Workers that end without a word are counted too, until one more would be too many."""
    store.jobs.enqueue([job("a")])
    for begun in (1, 2, 3):
        assert [item.attempts for item in claim(store, f"w{begun}", lease=-1.0)] == [begun]

    assert claim(store) == []
    assert store.jobs.counts() == JobCounts(failed=1)
    assert "worker" in store.jobs.failed(limit=9)[0].error


def test_what_is_given_back_can_be_taken_at_once(store):
    """Counted where the worker died of it, not counted where it merely stopped."""
    store.jobs.enqueue([job("a"), job("b")])
    claim(store, "stopped")
    assert store.jobs.release("stopped", counted=False) == 2
    assert [item.attempts for item in claim(store, "died")] == [1, 1]
    assert store.jobs.release("died", counted=True) == 2

    assert [item.attempts for item in claim(store)] == [2]
    store.jobs.fail("died", job("a").id, "too late", attempts=3)
    assert store.jobs.counts() == JobCounts(waiting=1, running=1)


def test_enqueueing_again_leaves_one_job_for_a_document(store):
    """The same content goes on where it is under way; other content begins anew, and the old one is lost."""
    store.jobs.enqueue([job("a"), job("b")])
    old = claim(store)
    store.jobs.enqueue([job("a", run="new"), job("b", run="new", content_hash="other", payload="newer")])

    assert store.jobs.counts("new") == JobCounts(waiting=1, running=1)
    assert store.jobs.counts("r") == JobCounts()
    a, b = sorted(old, key=lambda item: item.source)
    store.write(make_batch("a", ["alpha"]), done=done(a))
    with pytest.raises(ClaimLost):
        store.write(make_batch("b", ["old"]), done=done(b))
    assert [(item.source, item.payload) for item in claim(store, "next")] == [("b", "newer")]
    assert sources(store.jobs.collect("new", limit=9)) == ["a"]


def test_what_is_written_or_deleted_by_hand_overtakes_its_job(store):
    """A job that waits, runs or failed is older than what somebody writes meanwhile, and must not come after it."""
    store.jobs.enqueue([job("a"), job("b"), job("c")])
    running = claim(store, limit=1)
    store.write(make_batch("a", ["by hand"]))
    store.delete([document_id("default", "b"), document_id("default", "c")])

    assert store.jobs.counts() == JobCounts()
    with pytest.raises(ClaimLost):
        store.write(done=done(*running))


def test_a_run_withdraws_what_nobody_began(store):
    """Running jobs are finished, finished jobs are deleted, other runs are unchanged."""
    store.jobs.enqueue([job("a"), job("b")])
    finished, _ = claim(store)
    store.write(done=done(finished))
    store.jobs.enqueue([job("c"), job("d", run="other")])

    assert store.jobs.withdraw("r") == 1
    assert store.jobs.counts("r") == JobCounts(running=1)
    assert store.jobs.counts("other") == JobCounts(waiting=1)


def test_jobs_are_no_content(database, store):
    """The generation stays as it is, and a namespace of jobs alone holds nothing."""
    generation = store.stats().generation
    store.jobs.enqueue([job("a")])
    store.write(done=done(*claim(store), result=JobResult(outcome="unchanged")))
    store.jobs.collect("r", limit=9)

    assert store.stats().generation == generation
    assert database.namespaces() == []


def test_threads_that_claim_at_once_share_no_job(database, store):
    """Forty jobs, four workers who claim two at a time: each job is claimed once."""
    if isinstance(database, MemoryDatabase):
        pytest.skip("the store in memory has one caller at a time")
    store.jobs.enqueue([job(f"{number:02}") for number in range(40)])
    taken, together = [], threading.Barrier(4)

    def work(name):
        together.wait()
        while found := claim(store, name, limit=2):
            taken.extend(found)

    threads = [threading.Thread(target=work, args=(f"w{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sources(taken) == [f"{number:02}" for number in range(40)]
    assert store.jobs.counts() == JobCounts(running=40)


def test_every_table_with_a_namespace_is_spread_by_it():
    """On a cluster only the version and the keys are on every node."""
    tables = set(re.findall(r"CREATE TABLE (weft\.\w+)", load_schema("postgres")))

    assert tables - schema.distributed_tables() == {"weft.schema_version", "weft.api_key"}
