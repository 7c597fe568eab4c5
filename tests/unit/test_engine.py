"""Engine of one namespace: indexing and queries."""

from dataclasses import replace

import pytest
from making import sources
from memory_store.store import MemoryDatabase

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.engine.opening.open_engine import open_engine
from weft.errors import ConfigError, InputError, NotFound, SchemaMismatch, StoreError
from weft.models.embedders.vector_cache import CachedEmbedder
from weft.records import Document, Filter
from weft.testing import FakeEmbedder

NO_EMBEDDER = {"models.embedder": "none"}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """No settings of the developer's, and a folder to write in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def open_at(tmp_path):
    """Give a function that opens an engine on the same file each time, and close what it opened."""
    opened = []

    def open_at(*, embedder=None, **overrides):
        given = {"store.db": str(tmp_path / "weft.db"), **{k.replace("__", "."): v for k, v in overrides.items()}}
        engine = Engine(read_settings(given, environment={}, folder=tmp_path), embedder=embedder)
        opened.append(engine)
        return engine

    yield open_at
    for engine in opened:
        engine.close()


@pytest.fixture
def engine(open_at):
    return open_at(embedder=FakeEmbedder())


def listed(engine):
    return [document.source for document in engine.documents()]


# ── embedders ───────────────────────────────────────────────────────────────────────────────────


def test_another_embedder_is_refused_with_the_command_that_switches(open_at):
    """Writes and queries are refused, so vectors of two models never mix."""
    open_at(embedder=FakeEmbedder()).add_text("cats purr", source="a")
    other = open_at(embedder=FakeEmbedder(name="fake/other", dimension=16))

    for call in (lambda: other.add_text("x", source="b"), lambda: other.query("cats")):
        with pytest.raises(SchemaMismatch, match="'fake/words'") as caught:
            call()
        assert "weft reembed --embedder fake/other" in caught.value.hint
        assert "--embedder fake/words" in caught.value.hint
    assert listed(other) == ["text:a"]


def test_no_embedder_is_a_choice_too(open_at):
    """Keywords only; a namespace with vectors is not written to without them, but can be asked."""
    plain = open_at(models__embedder="none", store__namespace="plain")
    plain.add_text("cats purr at night", source="a")
    result = plain.query("cats purr")
    assert plain.embedder is None
    assert (sources(result), result.status) == (["text:a"], "degraded")
    assert plain.stats().vectors == 0

    open_at(embedder=FakeEmbedder()).add_text("dogs bark at noon", source="b")
    without = open_at(models__embedder="none")
    with pytest.raises(SchemaMismatch, match="the settings name no embedder") as caught:
        without.add_text("x", source="c")
    assert caught.value.hint == "pass --embedder fake/words, or set models.embedder"
    assert sources(without.query("dogs bark")) == ["text:b"]


def test_a_namespace_of_keywords_only_is_not_half_embedded(open_at):
    """Adding with an embedder is refused until the rest has vectors; asking still works."""
    open_at(models__embedder="none").add_text("cats purr", source="a")
    engine = open_at(embedder=FakeEmbedder())
    with pytest.raises(SchemaMismatch) as caught:
        engine.add_text("dogs bark", source="b")

    assert "weft reembed" in caught.value.hint
    assert sources(engine.query("cats purr")) == ["text:a"]
    assert engine.reembed().chunks == 1
    engine.add_text("dogs bark", source="b")
    assert engine.query("cats purr").status == "ok"


def test_the_embedder_of_the_namespace_is_taken_unless_another_is_named(open_at):
    """The user need not repeat the name."""
    open_at(models__embedder="hash").add_text("cats purr", source="a")
    later = open_at()
    assert later.embedder.card.name == "hash"
    assert sources(later.query("cats purr")) == ["text:a"]

    assert open_at(models__embedder="none").embedder is None
    assert open_at(store__namespace="new").embedder.card.name == "local/granite-30m"


def test_reading_needs_no_embedder(open_at):
    """A store made with an embedder that is not here can be listed, read and cleaned up."""
    open_at(embedder=FakeEmbedder()).add_text("cats purr", source="a")
    engine = open_at()

    assert listed(engine) == ["text:a"]
    assert engine.stats().vectors == 1
    with pytest.raises(ConfigError, match="unknown embedder 'fake/words'"):
        engine.query("cats")
    assert engine.delete("text:a") == 1


def test_reembedding_switches_and_the_engine_goes_on_with_the_new_one(open_at):
    """In the same process and in the next."""
    open_at(embedder=FakeEmbedder()).add_text("cats purr", source="a")
    engine = open_at(models__embedder="hash")
    with pytest.raises(SchemaMismatch):
        engine.query("cats")

    assert engine.reembed().chunks == 1
    assert engine.embedder.card.name == "hash"
    assert sources(engine.query("cats purr")) == ["text:a"]
    assert open_at().embedder.card.name == "hash"
    with pytest.raises(ConfigError, match="the settings name no embedder"):
        open_at(models__embedder="none").reembed()


def test_asking_an_empty_namespace_loads_no_model(open_at):
    """There are no vectors to compare."""
    embedder = FakeEmbedder()
    result = open_at(embedder=embedder).query("anything")

    assert result.status == "no_match"
    assert "is empty" in result.notes[0]
    assert embedder.seen == []


def test_the_receipt_tells_embedded_from_known(open_at, tmp_path):
    """Cached texts are counted separately."""
    engine = open_at(embedder=CachedEmbedder(FakeEmbedder(), path=tmp_path / "vectors.db"))
    first = engine.add_text("cats purr", source="a")
    engine.delete("text:a")
    second = engine.add_text("cats purr", source="a")
    engine.embedder.close()

    assert (first.embedded, first.cached) == (1, 0)
    assert (second.embedded, second.cached) == (0, 1)


# ── documents ───────────────────────────────────────────────────────────────────────────────────


def test_texts_have_sources_that_are_never_taken_for_files(engine):
    """A name without a scheme gets one; the same name again replaces the text."""
    engine.add_text("# Cats\n\nThey purr.", source="docs/note")
    engine.add_text("a page", source="https://example.com/x", title="Page")
    receipt = engine.add_text("dogs bark", source="docs/note", title="Dogs")

    assert listed(engine) == ["https://example.com/x", "text:docs/note"]
    assert receipt.changed == 1
    assert [engine.get(source)[0].title for source in listed(engine)] == ["Page", "Dogs"]
    assert engine.query("purr", method="keyword").evidence == ()


@pytest.mark.parametrize("text", ["", "  \n ", "---\ntitle: x\n---\n"])
def test_a_text_without_words_is_refused(engine, text):
    """It could not be found."""
    with pytest.raises(InputError):
        engine.add_text(text, source="a")
    assert listed(engine) == []


def test_files_of_one_name_under_two_roots_are_two_documents(engine, tmp_path):
    """A source is a path, relative to where the store lies if that is possible."""
    elsewhere = tmp_path.parent / f"{tmp_path.name}-far"
    for folder in (tmp_path / "one", tmp_path / "two", elsewhere):
        folder.mkdir()
        (folder / "readme.md").write_text(f"about {folder.name}")
    receipt = engine.index(tmp_path / "one", tmp_path / "two", elsewhere)

    assert receipt.added == 3
    assert listed(engine) == [str(elsewhere / "readme.md"), "one/readme.md", "two/readme.md"]


def test_the_same_folder_from_another_place_is_the_same(engine, tmp_path, monkeypatch):
    """Sources do not depend on where one stands or how the path is written."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("alpha")
    engine.index("docs")
    monkeypatch.chdir(tmp_path / "docs")

    assert engine.index(".").unchanged == 1
    assert engine.index("../docs/a.md", tmp_path / "docs").unchanged == 1
    assert listed(engine) == ["docs/a.md"]


def test_an_index_is_counted_and_previewed_before_it_is_made(engine, tmp_path):
    """Neither call writes."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("alpha")
    (tmp_path / "docs" / "r.jsonl").write_text('{"text": "one"}\n{"text": "two"}\n')
    preview = engine.preview(tmp_path / "docs")

    assert engine.indexing.count(tmp_path / "docs") == preview.added == 3
    assert listed(engine) == []
    assert engine.index(tmp_path / "docs").added == 3


def test_documents_are_got_by_id_source_or_chunk(engine):
    """A chunk's id gives that chunk alone."""
    engine.add_text("# A\n\n" + "one two three. " * 200, source="a")
    document, chunks = engine.get("text:a")

    assert len(chunks) > 1
    assert engine.get(document.id) == (document, chunks)
    assert engine.get(chunks[1].id) == (document, [chunks[1]])
    for name in ("a", "text:", "", "d" + "0" * 24, "text:ab"):
        with pytest.raises(NotFound) as caught:
            engine.get(name)
        assert caught.value.hint == (
            "did you mean 'text:a'?" if name == "a" else "run `weft list` to list all documents"
        )


def test_documents_are_deleted_by_id_source_folder_or_file(engine):
    """A folder or a file of records takes all that is in it, and nothing of a similar name."""
    names = ["docs/a.md", "docs/b.md", "docs2/c.md", "r.jsonl#1", "r.jsonl#2", "x.md", "y.md"]
    engine.add(Document(source=name, title=name, text=name) for name in names)

    assert engine.delete("docs") == 2
    assert engine.delete("r.jsonl#1") == 1
    assert engine.delete("r.jsonl") == 1
    assert engine.delete(engine.get("x.md")[0].id, "x.md") == 1
    assert listed(engine) == ["docs2/c.md", "y.md"]


def test_nothing_is_deleted_when_one_name_is_unknown(engine):
    """All or nothing; and no name stands for everything."""
    engine.add_text("cats", source="a")
    for names in (("text:a", "nope"), ("",), (".",), ("tex",), ("/",)):
        with pytest.raises(NotFound):
            engine.delete(*names)
    assert listed(engine) == ["text:a"]


def test_namespaces_do_not_see_each_other(open_at):
    """Searches, sources and ids are checked."""
    mine, theirs = (open_at(embedder=FakeEmbedder(), store__namespace=name) for name in ("mine", "theirs"))
    mine.add_text("cats purr", source="a")
    theirs.add_text("dogs bark", source="a")
    foreign = theirs.get("text:a")[0].id

    assert mine.get("text:a")[1][0].text == "cats purr"
    assert mine.query("dogs bark", gate=False).evidence[0].chunk.text == "cats purr"
    for call in (mine.get, mine.delete):
        with pytest.raises(NotFound):
            call(foreign)
    assert mine.delete("text:a") == 1
    assert listed(theirs) == ["text:a"]


def test_namespaces_may_have_different_embedders(open_at):
    """The choice belongs to the namespace."""
    open_at(embedder=FakeEmbedder(), store__namespace="a").add_text("cats", source="a")
    other = open_at(embedder=FakeEmbedder(name="fake/other", dimension=8), store__namespace="b")
    other.add_text("cats", source="a")

    assert other.query("cats").status == "ok"


# ── questions ───────────────────────────────────────────────────────────────────────────────────


def test_options_hold_for_one_question(engine):
    """None leaves a field as the settings have it."""
    engine.add(Document(source=f"d{n}", title="cats", text=f"cats purr {n}") for n in range(5))

    assert len(engine.query("cats purr", top_k=2, method="hybrid").evidence) == 2
    assert len(engine.query("cats purr", top_k=None, method=None).evidence) == 5
    assert engine.query("cats purr", method="keyword").method == "keyword"
    assert len(engine.query("cats purr", top_k="2", method="hybrid").evidence) == 2
    with pytest.raises(ConfigError, match="min_score: 5"):
        engine.query("anything", min_score=5)
    assert engine.settings.search.top_k == 10


@pytest.mark.parametrize(
    "options, message",
    [
        ({"topk": 3}, "unknown search option 'topk'"),
        ({"top_k": 0}, "invalid search.top_k: 0"),
        ({"top_k": "many"}, "invalid search.top_k: 'many'"),
        ({"top_k": 2.5}, "invalid search.top_k: 2.5"),
        ({"method": "magic"}, "invalid search.method: 'magic'"),
        ({"fusion": "magic"}, "invalid search.fusion: 'magic'"),
        ({"vector_weight": -1.0}, "weights"),
        ({"vector_weight": float("nan")}, "weights"),
        ({"vector_weight": 0, "text_weight": 0}, "weights"),
        ({"gate": "perhaps"}, "invalid search.gate: 'perhaps'"),
        ({"graph": {"max_hops": 4}}, "invalid graph.max_hops: 4"),
        ({"graph": {"min_graph_score": -0.1}}, "invalid graph.min_graph_score: -0.1"),
        ({"graph": {"rounds": 0}}, "invalid graph.rounds: 0"),
    ],
)
def test_wrong_options_are_refused(engine, options, message):
    """The checks are those of the settings."""
    with pytest.raises(ConfigError, match=message):
        engine.query("cats", **options)


def test_a_filter_narrows_documents_and_questions(engine):
    """The same filter for both."""
    engine.add(Document(source=f"d/{n}", title="t", text="cats purr", metadata={"n": n}) for n in range(3))
    where = Filter(metadata=(("n", 1),))

    assert [document.source for document in engine.documents(where)] == ["d/1"]
    assert sources(engine.query("cats purr", where=where)) == ["d/1"]


def test_a_context_is_made_of_a_result(engine):
    """With the budget of the settings, or another for this call."""
    engine.add_text("cats purr " * 300, source="a")
    result = engine.query("cats purr")

    assert "\n[Score: " in engine.context(result).text
    assert engine.context(result, budget=40).tokens <= 40
    assert engine.context(result, budget=1).text == ""
    assert engine.context(replace(result, evidence=())).text == ""


# ── opening and closing ─────────────────────────────────────────────────────────────────────────


def test_leaving_the_block_closes_the_store(open_at):
    """Afterwards it says so, and closing again is harmless."""
    with open_at(embedder=FakeEmbedder()) as engine:
        engine.add_text("cats", source="a")
    engine.close()

    with pytest.raises(StoreError, match="closed"):
        engine.stats()


def test_an_engine_is_opened_by_path_and_settings(tmp_path):
    """Names as `group_field`; an embedder by name or as an object."""
    with open_engine(
        tmp_path / "a.db", namespace="mine", embedder="none", search_top_k=3, split_max_tokens=50
    ) as engine:
        assert (engine.settings.store.namespace, engine.settings.search.top_k) == ("mine", 3)
        assert engine.settings.split.max_tokens == 50
        assert engine.embedder is None
        assert engine.base == tmp_path
    with open_engine(embedder=FakeEmbedder()) as engine:
        assert engine.embedder.card.name == "fake/words"
        assert (tmp_path / "weft.db").exists()
    with open_engine(":memory:", embedder="none") as engine:
        assert engine.base == tmp_path


@pytest.mark.parametrize("settings", [{"search_topk": 3}, {"nonsense": 1}, {"namespace": " "}, {"db": "http://x"}])
def test_an_engine_is_not_opened_with_wrong_settings(settings):
    """A misspelt name is no silent default."""
    with pytest.raises(ConfigError):
        open_engine(**{"db": ":memory:", **settings})


def test_settings_come_from_environment_and_project_file(tmp_path, monkeypatch):
    """The command line reads the same settings."""
    (tmp_path / "weft.toml").write_text('[search]\nmethod = "keyword"\ntop_k = 4\n')
    monkeypatch.setenv("WEFT_SEARCH_TOP_K", "6")
    with open_engine(":memory:", embedder="none") as engine:
        assert (engine.settings.search.method, engine.settings.search.top_k) == ("keyword", 6)


def test_a_database_can_be_given(tmp_path):
    """Tests and custom stores use this."""
    settings = read_settings({"store.db": ":memory:"}, environment={}, folder=tmp_path)
    engine = Engine(settings, database=MemoryDatabase(), embedder=FakeEmbedder())
    engine.add_text("cats purr", source="a")

    assert sources(engine.query("cats")) == ["text:a"]
