"""Embedders that load in the background, and placeholders for unusable embedders."""

import threading

import pytest

from weft.errors import ModelUnavailable, SchemaMismatch
from weft.models.embedders.deferred_embedder import DeferredEmbedder, UnavailableEmbedder
from weft.testing import FakeEmbedder


class SlowEmbedder(FakeEmbedder):
    """Loads once it is let go on, and fails where it has a reason to."""

    def __init__(self):
        super().__init__()
        self.loads, self.go_on, self.problem = 0, threading.Event(), ""

    def load(self):
        self.loads += 1
        assert self.go_on.wait(60)
        if self.problem:
            raise ModelUnavailable(self.problem, hint="mend it")


def finish(embedder):
    for thread in threading.enumerate():
        if thread.name == "weft-load":
            thread.join(60)
    return embedder


def test_a_model_is_waited_for_only_so_long_in_all():
    """Two questions start one load; the second finds its patience used up."""
    inner = SlowEmbedder()
    embedder = DeferredEmbedder(inner, seconds=0.01)
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match="still being loaded"):
            embedder.embed(["tea"])
    patient = DeferredEmbedder(inner, seconds=60)
    inner.go_on.set()

    assert inner.loads == 1
    assert finish(embedder).embed(["tea"]).shape == patient.embed(["tea"]).shape == (1, 64)
    assert embedder.error is None


def test_a_failure_is_kept_until_something_goes_well():
    """The error and its hint are kept; the next question loads again."""
    inner = SlowEmbedder()
    inner.go_on.set()
    inner.problem = "the model is gone"
    embedder = DeferredEmbedder(inner, seconds=60)
    with pytest.raises(ModelUnavailable, match="the model is gone"):
        embedder.embed(["tea"])
    assert embedder.error.hint == "mend it"
    with pytest.raises(ModelUnavailable):
        embedder.load()
    inner.problem = ""

    assert len(embedder.embed(["tea", "milk"])) == 2
    assert embedder.error is None


def test_an_embedder_without_weights_is_not_waited_for():
    """It is asked at once, and its failures are kept too."""
    inner = FakeEmbedder()
    embedder = DeferredEmbedder(inner, seconds=0)
    assert len(embedder.embed(["tea"])) == 1
    embedder.load()
    inner.failing = "no network"
    with pytest.raises(ModelUnavailable):
        embedder.embed(["tea"])

    assert str(embedder.error) == "no network"


def test_an_absent_embedder_says_why():
    """In the words of what hinders it."""
    absent = UnavailableEmbedder(
        name="x", fingerprint="x-1", dimension=3, error=SchemaMismatch("another", hint="reembed")
    )
    with pytest.raises(ModelUnavailable, match="another") as raised:
        absent.embed(["tea"])

    assert raised.value.hint == "reembed"
    assert (absent.card.name, absent.card.dimension) == ("x", 3)
