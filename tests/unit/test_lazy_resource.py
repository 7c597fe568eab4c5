"""Resource that is created once, in any thread, with a deadline for waiting callers."""

import threading

import pytest

from weft.system.lazy_resource import DeadlinePassed, LazyResource


def test_a_value_is_made_once_by_whichever_thread_asks_first():
    """The other threads wait for it."""
    made, go_on = [], threading.Event()

    def make():
        assert go_on.wait(60)
        made.append(object())
        return made[-1]

    resource, found = LazyResource(make), []
    assert resource.state == "unstarted"
    threads = [threading.Thread(target=lambda: found.append(resource.get())) for _ in range(3)]
    for thread in threads:
        thread.start()
    go_on.set()
    for thread in threads:
        thread.join(60)

    assert found == made * 3
    assert (resource.state, resource.error) == ("ready", None)


def test_a_deadline_passes_for_all_waiters_of_one_attempt():
    """The attempt goes on, and its value is there later."""
    go_on, done = threading.Event(), threading.Event()
    resource = LazyResource(lambda: go_on.wait(60), on_done=done.set)
    with pytest.raises(DeadlinePassed):
        resource.get_within(0.01)
    with pytest.raises(DeadlinePassed):
        resource.get_within(60)
    assert resource.state == "loading"
    go_on.set()

    assert done.wait(60)
    assert resource.state == "ready"
    assert resource.get_within(0) is resource.get() is True


def test_a_failure_is_kept_until_the_next_attempt():
    """Every call tries again."""
    outcomes = [ValueError("first"), OSError("second"), ValueError("third"), "made"]

    def make():
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    resource = LazyResource(make)
    with pytest.raises(ValueError, match="first"):
        resource.get()
    assert (resource.state, str(resource.error)) == ("failed", "first")
    with pytest.raises(OSError, match="second"):
        resource.get_within(60)
    with pytest.raises(ValueError, match="third"):
        resource.get()

    assert resource.get() == "made"
    assert (resource.state, resource.error) == ("ready", None)


def test_an_interrupted_attempt_leaves_nobody_waiting():
    """Ctrl-C reaches the caller; the next call tries again."""
    outcomes = [KeyboardInterrupt(), "made"]

    def make():
        if isinstance(outcomes[0], BaseException):
            raise outcomes.pop(0)
        return outcomes[0]

    resource = LazyResource(make)
    with pytest.raises(KeyboardInterrupt):
        resource.get()

    assert resource.state == "failed"
    assert resource.get() == "made"


def test_a_system_without_threads_is_a_failure(monkeypatch):
    """The caller gets it at once, and the callback runs."""

    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    done = []
    resource = LazyResource(lambda: 1, on_done=lambda: done.append(True))
    with pytest.raises(RuntimeError, match="new thread"):
        resource.get_within(60)

    assert (resource.state, done) == ("failed", [True])
    assert resource.get() == 1
