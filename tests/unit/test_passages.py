"""Passages for the integrations."""

import importlib
import json
import sys

import pytest

from weft.errors import ConfigError, InputError, MissingExtra
from weft.integrations.passages import answer_to_text, check_options, error_to_text, find_passages
from weft.records import Document


@pytest.fixture
def engine(open_at):
    engine = open_at(extractor="rules")
    engine.add(
        [
            Document(source="a.md", title="Old Mill", text="Grinds corn.", metadata={"source": "theirs", "n": 1}),
            Document(
                source="b.md", title="Water Wheel", text="Turns the Old Mill.", metadata={"depends_on": ["Old Mill"]}
            ),
            Document(source="c.md", title="Mill Race", text="Leads water.", metadata={"depends_on": ["Water Wheel"]}),
        ]
    )
    return engine


def test_a_passage_says_all_that_the_engine_knows_of_it(engine):
    """The metadata has position, channels and confidence, separate from the document's metadata."""
    result = engine.query("what needs the Old Mill")
    passages = find_passages(engine, "what needs the Old Mill")

    assert [passage.id for passage in passages] == [piece.chunk.id for piece in result.evidence]
    for rank, (passage, piece) in enumerate(zip(passages, result.evidence, strict=True), start=1):
        told = passage.metadata
        assert (passage.text, passage.score) == (piece.chunk.text, piece.score)
        assert (told["citation"], told["source"], told["rank"]) == (piece.citation, piece.document.source, rank)
        assert (told["start_line"], told["end_line"]) == (piece.chunk.start_line, piece.chunk.end_line)
        assert told["channels"].keys() == piece.channels.keys()
        assert (told["status"], told["method"]) == (result.status, result.method)
        assert json.loads(json.dumps(told)) == told
    first = next(passage for passage in passages if passage.metadata["source"] == "a.md")
    assert first.metadata["document"] == {"source": "theirs", "n": 1}


def test_connected_passages_follow_at_most_top_k_passages(engine):
    """They name the entity whose neighbours they describe."""
    asked = "Mill Race"
    result, passages = engine.query(asked, top_k=1), find_passages(engine, asked, top_k=1)

    assert len(result.evidence) == 1 and result.connected
    assert [passage.id for passage in passages] == [p.chunk.id for p in (*result.evidence, *result.connected)]
    assert [bool(passage.metadata["neighbour_of"]) for passage in passages] == [False] + [True] * len(result.connected)


@pytest.mark.parametrize("question", ["", " \n", None, {"question": "Old Mill"}, 7])
def test_a_question_that_is_none_is_refused(engine, question):
    """A chain that hands on the wrong thing should not look like one that found nothing."""
    with pytest.raises(InputError, match="invalid question") as caught:
        find_passages(engine, question)

    assert caught.value.hint == "pass a non-empty string"


def test_options_are_checked_by_the_engine(engine):
    """Unknown options are refused."""
    check_options(engine, {"top_k": 3, "method": None, "where": None})
    for options in ({"top_k": 0}, {"method": "magic"}):
        with pytest.raises(ConfigError, match=next(iter(options))):
            check_options(engine, options)
    with pytest.raises(ConfigError, match="invalid engine of type str") as caught:
        check_options("weft.db", {})
    assert "open_engine" in caught.value.hint


def test_the_text_of_an_error_says_what_to_do():
    """The hint is included if there is one."""
    assert error_to_text(InputError("no", hint="yes")) == "error: no; yes"
    assert error_to_text(InputError("no")) == "error: no"


def test_the_text_of_an_answer_begins_with_how_sure_it_is(engine):
    """An empty answer has its reason."""
    found, missed = (engine.memory_search(query) for query in ("Old Mill", "zebra etiquette"))

    assert answer_to_text(found) == f"status: ok, confidence: {found['confidence']:.2f}\n\n{found['context']}"
    assert answer_to_text(missed).startswith("status: no_match, confidence: 0.0")
    assert answer_to_text(missed).endswith(missed["notes"][-1])


@pytest.mark.parametrize(
    "module, package, extra",
    [
        ("weft.integrations.langchain", "langchain_core.callbacks", "langchain"),
        ("weft.integrations.llamaindex", "llama_index.core.bridge.pydantic", "llamaindex"),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_helps(monkeypatch, module, package, extra):
    """The test hides the package if it is installed."""
    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(MissingExtra) as caught:
        importlib.import_module(module)
    assert caught.value.hint == f"run pip install 'weft-search[{extra}]'"
