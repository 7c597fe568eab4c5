"""A foreign folder does not choose a model: neither by its store, nor by a folder with the name of a model."""

import sys
from dataclasses import replace
from types import ModuleType

import pytest

from weft.config import read_settings
from weft.engine.embedder import find_name
from weft.engine.engine import Engine
from weft.engine.namespaces import Engines
from weft.errors import ConfigError, ModelUnavailable
from weft.models.embedders.sentence_transformers import SentenceTransformersEmbedder
from weft.models.extractors.spacy import SpacyExtractor
from weft.models.rerankers.sentence_transformers import SentenceTransformersReranker
from weft.testing import FakeEmbedder
from weft.tools.calls import call_tool

pytestmark = pytest.mark.hostile

REMOTE = ["openai/text-embedding-3-small", "sentence-transformers/evil/model", "fastembed/evil/model", "xlocal/a"]


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """Give a function that plants `weft.db` with the vectors of an embedder in the current folder."""
    monkeypatch.chdir(tmp_path)

    def plant(name, **given):
        settings = read_settings({"store.db": "weft.db"}, environment={})
        with Engine(settings, embedder=FakeEmbedder(name=name)) as engine:
            engine.add_text("The crane lifts forty tonnes.", source="crane")
        return read_settings(environment={}, **given)

    return plant


@pytest.mark.parametrize("name", REMOTE)
def test_the_store_of_a_folder_does_not_choose_an_endpoint_or_a_foreign_model(planted, name):
    """It is an error that says how to choose the embedder; a model that calls tools gets an answer by keywords."""
    settings = planted(name)
    with Engine(settings) as engine:
        with pytest.raises(ConfigError, match="named by the store"):
            engine.query("how many tonnes does the crane lift?")
        answer = call_tool(engine, "memory_search", {"query": "how many tonnes does the crane lift?"}).values
    assert "named by the store of this folder" in answer["warning"] and answer["results"]

    engines = Engines(settings)
    with pytest.raises(ConfigError, match="named by the store"):
        engines.engine("default").embedder_slot.get()
    engines.close()


@pytest.mark.parametrize("name", ["hash", "local/granite-30m", "use/multilingual"])
def test_embedders_that_send_nothing_are_followed(planted, name):
    """`weft index` chooses among them by the script of the text."""
    settings = planted(name)
    with Engine(settings, embedder=FakeEmbedder(name=name)) as engine:
        assert find_name(engine.store, settings) == name


@pytest.mark.parametrize("key", ["store.db", "models.embedder"])
def test_the_user_chooses_by_naming_the_store_or_the_embedder(planted, key, tmp_path):
    """A project file chooses nothing before `weft trust`."""
    settings = planted(REMOTE[0])
    with Engine(settings, embedder=FakeEmbedder(name=REMOTE[0])) as engine:
        chosen = replace(settings, origins={key: "flag"})
        assert find_name(engine.store, chosen) == (REMOTE[0] if key == "store.db" else "")

        named = replace(settings, origins={"store.db": str(tmp_path / "weft.toml")})
        with pytest.raises(ConfigError):
            find_name(engine.store, named)


LOADERS = {
    "sentence_transformers": lambda name: SentenceTransformersEmbedder(name).load(),
    "sentence_transformers as reranker": lambda name: SentenceTransformersReranker(name).rerank("a", ["b"]),
    "spacy": lambda name: SpacyExtractor(None, pipeline=name)._load(),
}


@pytest.mark.parametrize("library", LOADERS)
@pytest.mark.parametrize("name", ["owner/model", "model"])
def test_a_folder_with_the_name_of_a_model_is_not_loaded(tmp_path, monkeypatch, library, name):
    """The libraries prefer it to the model of that name, and run the code in it."""
    loaded = []
    module = ModuleType(library.split()[0])
    module.__spec__ = object()
    for function in ("SentenceTransformer", "CrossEncoder", "load"):
        setattr(module, function, lambda given, **options: loaded.append(given))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).mkdir(parents=True)
    with pytest.raises(ModelUnavailable, match="current folder"):
        LOADERS[library](name)
    assert loaded == []


def test_settings_of_plots_in_the_folder_do_not_apply(tmp_path, monkeypatch):
    """They can make matplotlib run LaTeX with commands of the file."""
    matplotlib = pytest.importorskip("matplotlib")
    from weft.evaluate.report import _figure

    monkeypatch.setitem(matplotlib.rcParams, "text.usetex", True)
    _figure(width=4)

    assert matplotlib.rcParams["text.usetex"] is False
