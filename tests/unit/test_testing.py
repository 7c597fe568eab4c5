"""Fakes shipped with the package, and pickled errors."""

import numpy as np
import pytest

from weft.errors import ConfigError, MissingExtra, ModelUnavailable, WeftError
from weft.testing import FakeEmbedder
from weft.text.ids import chunk_id, digest, document_id


def test_texts_that_share_words_are_close(embedder):
    """The cosine grows with the number of shared words."""
    cats, more, dogs = embedder.embed(["cats purr", "cats purr softly", "dogs bark"])

    assert cats @ more > 0.5 > cats @ dogs


def test_vectors_are_of_unit_length_and_depend_on_the_text_alone(embedder):
    """The protocol requires this, also for texts without words."""
    texts = ["cats", "", "*", "密钥", "\ud800"]
    vectors = embedder.embed(texts)

    assert vectors.shape == (5, 64)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    assert np.array_equal(vectors[::-1], FakeEmbedder().embed(texts[::-1], kind="query"))
    assert embedder.embed([]).shape == (0, 64)


def test_it_remembers_and_fails_on_demand(embedder):
    """`seen` has all embedded texts; while `failing` is set, calls raise."""
    embedder.embed(["a", "b"])
    embedder.failing = "no network"
    with pytest.raises(ModelUnavailable, match="no network"):
        embedder.embed(["c"])

    assert embedder.seen == ["a", "b"]


def test_another_name_or_dimension_is_another_embedder():
    """The fingerprint says so."""
    cards = [FakeEmbedder(), FakeEmbedder(name="x"), FakeEmbedder(dimension=8)]

    assert len({embedder.card.fingerprint for embedder in cards}) == 3


def test_ids_derive_from_what_they_name():
    """From nothing else; parts are not glued together, and any text will do."""
    assert digest(("ab", "c")) != digest(("a", "bc"))
    assert document_id("a", "b") == document_id("a", "b") != document_id("b", "a")
    assert chunk_id("d", "text", 0) != chunk_id("d", "text", 1)
    assert len(document_id("n", "\ud800")) == len(chunk_id("d", "", 0)) == 25


def test_errors_carry_a_hint():
    """For a missing extra, the hint is the pip command."""
    assert ConfigError("wrong", hint="right").hint == "right"
    assert WeftError("wrong").hint == ""
    missing = MissingExtra("lxml", extra="html")
    assert isinstance(missing, ImportError)
    assert (str(missing), missing.hint) == ("'lxml' is not installed", "run pip install 'weft-search[html]'")
