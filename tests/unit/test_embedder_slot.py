"""States of the embedder of an engine, and their transitions."""

import threading
from dataclasses import replace

import pytest

from weft.engine.embedder import EmbedderSlot
from weft.errors import ConfigError, ModelUnavailable
from weft.records import StoredModel
from weft.testing import FakeEmbedder


class LoadingEmbedder(FakeEmbedder):
    """Loads when it is allowed to, and fails if `problem` is set."""

    def __init__(self):
        super().__init__()
        self.go_on, self.problem = threading.Event(), ""

    def load(self):
        assert self.go_on.wait(60)
        if self.problem:
            raise ModelUnavailable(self.problem)


def stored(embedder):
    card = embedder.card
    return StoredModel(name=card.name, fingerprint=card.fingerprint, dimension=card.dimension, active=True)


def test_an_opened_embedder_of_this_process_is_quick_and_a_remote_one_never():
    """No read transaction is open while weights are loaded or a server is called."""
    local, remote = FakeEmbedder(), FakeEmbedder()
    remote._card = replace(remote.card, remote=True)
    slots = [EmbedderSlot(lambda: local), EmbedderSlot(lambda: remote), EmbedderSlot(lambda: None)]
    assert [slot.is_quick for slot in slots] == [False, False, False]
    for slot in slots:
        slot.get()
    assert [slot.is_quick for slot in slots] == [True, False, True]


def test_an_embedder_is_opened_once_and_then_ready():
    """The first use opens it."""
    opened = []

    def open_embedder():
        opened.append(FakeEmbedder())
        return opened[-1]

    slot = EmbedderSlot(open_embedder)
    assert (slot.state, opened) == ("loading", [])

    assert slot.get() is slot.get() is opened[0]
    assert (slot.state, slot.error, len(opened)) == ("ready", None, 1)


def test_a_failure_to_open_is_kept_and_tried_again():
    """The next use may succeed."""
    outcomes = [ConfigError("unknown embedder"), None]

    def open_embedder():
        if outcomes[0] is not None:
            raise outcomes.pop(0)
        return None

    slot = EmbedderSlot(open_embedder)
    with pytest.raises(ConfigError):
        slot.get()
    assert (slot.state, str(slot.error)) == ("failed", "unknown embedder")

    assert slot.get() is None
    assert slot.state == "ready"


def test_loading_has_a_deadline_and_a_state():
    """Calls fail while the weights load, and succeed afterwards."""
    inner = LoadingEmbedder()
    slot = EmbedderSlot(lambda: inner)
    slot.limit_waiting(0.01)
    assert slot.get().card == inner.card
    assert slot.state == "loading"
    with pytest.raises(ModelUnavailable, match="still being loaded"):
        slot.get().embed(["tea"])
    assert slot.state == "failed"
    inner.go_on.set()
    slot.load()

    assert (slot.state, slot.error) == ("ready", None)
    assert slot.get().embed(["tea"]).shape == (1, 64)


def test_an_embedder_that_fails_to_load_is_failed_until_it_loads():
    """The error says why."""
    inner = LoadingEmbedder()
    inner.go_on.set()
    inner.problem = "not fetched"
    slot = EmbedderSlot(lambda: inner)
    slot.limit_waiting(60)
    with pytest.raises(ModelUnavailable):
        slot.load()
    assert (slot.state, str(slot.error)) == ("failed", "not fetched")
    inner.problem = ""
    slot.load()

    assert slot.state == "ready"


def test_weights_are_loaded_beside_the_block_and_a_failure_is_left_to_the_first_call():
    """The block runs while the embedder loads; the block after it finds the weights loaded, or loads them again."""
    embedder = LoadingEmbedder()
    embedder.problem = "damaged"
    loaded = []
    load, embedder.load = embedder.load, lambda: loaded.append(threading.current_thread().name) or load()

    with EmbedderSlot(lambda: embedder).preloading():
        embedder.go_on.set()  # else the thread would wait for the end of the block, which waits for the thread

    assert [name.startswith("weft-preload") for name in loaded] == [True]


def test_a_replaced_embedder_is_used_at_once():
    """None is allowed too, for an engine without an embedder."""
    first, second = FakeEmbedder(), FakeEmbedder(name="fake/other")
    slot = EmbedderSlot(lambda: first)
    slot.get()
    slot.replace(second)
    assert (slot.state, slot.get()) == ("replaced", second)

    slot.replace(None)
    assert slot.get() is None


def test_a_slot_follows_its_namespace_only_if_the_choice_is_open():
    """Another process may have switched the namespace to another embedder."""
    first, second = FakeEmbedder(), FakeEmbedder(name="fake/other")
    current = [first]
    following, fixed = EmbedderSlot(lambda: current[0], follows=True), EmbedderSlot(lambda: current[0])
    for slot in (following, fixed):
        slot.get()
        slot.follow(stored(first))
        assert slot.get() is first
    current[0] = second
    for slot in (following, fixed):
        slot.follow(None)
        assert slot.get() is first
        slot.follow(stored(second))

    assert following.get() is second
    assert fixed.get() is first
