"""The tool for function-calling models: its definition, its arguments, its answers."""

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from memory_store.store import MemoryDatabase

from weft.config import read_settings
from weft.context.serialise import result_to_dict
from weft.engine.engine import Engine
from weft.engine.opening.open_engine import open_engine
from weft.errors import InputError
from weft.records import Document
from weft.testing import FakeEmbedder
from weft.tools.memory_search import DEFAULTS, MEMORY_SEARCH, SPELLINGS, anthropic_tool, memory_search, openai_tool

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    "OAuth Provider": ([], "Issues identity tokens for sign-in."),
    "Auth Service": (["OAuth Provider"], "Checks signatures. Relies on [[OAuth Provider]]."),
    "Login Flow": (["Auth Service"], "The pages where people sign in, by [[Auth Service]]."),
    "Canteen Menu": ([], "Soup on Mondays, pasta on Tuesdays."),
}
ASKED = "what if OAuth Provider changes"


def open_on(pages, **overrides):
    """Return an engine that holds these pages: by title, what it depends on and its text."""
    values = {name.replace("_", ".", 1): value for name, value in overrides.items()}
    engine = Engine(
        read_settings({"graph.extractor": "rules", **values}, environment={}),
        database=MemoryDatabase(),
        embedder=FakeEmbedder(),
    )
    documents = [
        Document(source=f"docs/{n}.md", title=title, text=text, metadata={"depends_on": needs}, form="markdown")
        for n, (title, (needs, text)) in enumerate(pages.items())
    ]
    engine.add(documents)
    return engine


@pytest.fixture(scope="module")
def engine():
    return open_on(PAGES)


def without_times(values):
    return {name: value for name, value in values.items() if name not in ("timings_ms", "facts", "context")}


def ids(values):
    return [result["chunk"]["id"] for result in values["results"]]


# ── the answer ──────────────────────────────────────────────────────────────────────────────────


def test_the_answer_is_that_of_a_query_with_its_text(engine):
    """The document of `weft query --json`, and the context in the budget of the settings."""
    result = engine.query(ASKED, top_k=10)
    values = engine.memory_search(ASKED)

    assert without_times(values) == without_times(result_to_dict(replace(result, evidence=result.evidence[:10])))
    assert values["method"] == "mix"
    assert values["graph_context"]["recognised"] == ["OAuth Provider"]
    assert values["context"] == engine.context(result).text
    assert values["context"].startswith("## Related Entities\n\n**OAuth Provider** (")
    assert "[Score: " in values["context"]
    assert json.loads(json.dumps(values)) == values


def test_the_text_keeps_to_the_budget_of_the_settings():
    """However much is asked for."""
    engine = open_on({f"Page {n}": ([], f"cats purr {n} " * 40) for n in range(9)}, context_budget=150)
    values = engine.memory_search("cats purr")

    assert len(values["results"]) == 9
    assert 0 < engine._token_counter.get().count(values["context"]) <= 150
    assert values["context"].endswith("]\n")


def test_the_ranked_union_is_cut_where_it_was_asked_for(engine):
    """Of two places, one is the best hybrid result, the other the best result of the graph."""
    whole, hybrid = engine.query(ASKED, top_k=2), engine.query(ASKED, top_k=2, method="hybrid")
    values = engine.memory_search(ASKED, max_results=2)

    assert len(whole.evidence) == 2
    shown = [result["chunk"]["id"] for result in (*values["results"], *values["connected"])]
    assert hybrid.evidence[0].chunk.id in shown
    assert len(shown) == 2
    assert [result["rank"] for result in values["results"]] == list(range(1, len(values["results"]) + 1))


def test_nothing_found_is_an_answer_too(engine):
    """No results, no text, and the reason."""
    values = engine.memory_search("zebra crossing etiquette")

    assert (values["status"], values["results"], values["context"]) == ("no_match", [], "")
    assert values["notes"]


def test_without_the_graph_it_is_plain_hybrid(engine):
    """No graph context; and the settings decide where the graph is wanted."""
    values = engine.memory_search(ASKED, use_graph=False)

    assert (values["method"], values["graph_context"], values["reason"]) == ("hybrid", None, "")
    assert "Related Entities" not in values["context"]
    assert open_on(PAGES, search_method="keyword").memory_search(ASKED)["method"] == "keyword"


def test_the_least_graph_score_holds_for_this_call():
    """It is `[graph] min_graph_score`; the settings stay as they are."""
    pages = {
        "Old Mill": ([], "Grinds corn."),
        "Water Wheel": (["Old Mill"], "Turns the stones."),
        "Picture Book": ([], "On page nine stands the [[Old Mill]]."),
    }
    engine = open_on(pages, graph_algorithm="expand", search_method="graph")
    weak, strong = (engine.memory_search("Old Mill", min_graph_score=score) for score in (0.3, 0.9))

    assert {result["source"]["entity"] for result in weak["results"]} == {"Water Wheel", "Picture Book"}
    assert {result["source"]["entity"] for result in strong["results"]} == {"Water Wheel"}
    assert ids(engine.memory_search("Old Mill")) == ids(weak)
    assert engine.settings.graph.min_graph_score == 0.3


@pytest.mark.parametrize("method", ["graph", "mix"])
def test_what_weak_links_lead_to_is_not_brought_in_where_the_score_is_raised(method):
    """Dependants are returned; a book that mentions the entity, and pages linked from it, are not."""
    pages = {
        "Old Mill": ([], "Grinds corn."),
        "Water Wheel": (["Old Mill"], "Turns the stones."),
        "Picture Book": ([], "On page nine stands the [[Old Mill]], on page ten the [[Tall Ship]]."),
        "Tall Ship": ([], "Sails at noon."),
    }
    engine = open_on(pages, search_method=method, search_gate=False)

    def brought(score):
        values = engine.memory_search("Old Mill", min_graph_score=score)
        found = [*values["results"], *values["connected"]]
        return {result["document"]["title"] for result in found if result["source"].get("path")}

    assert brought(0.3) == set(pages)
    # A wikilink weighs 8. In `mix` without the gate, every page is a text result as well.
    assert brought(0.7) == {"Old Mill", "Water Wheel", "Picture Book"} | ({"Tall Ship"} if method == "mix" else set())
    assert {"Old Mill", "Water Wheel"} <= brought(0.9) <= brought(0.7)


# ── the arguments ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "arguments, expected",
    [
        ({"maxResults": 1, "useGraph": False, "minGraphScore": 0.5}, 1),
        ({"maxResults": "1"}, 1),
        ({"max_results": " 1 ", "use_graph": "False", "min_graph_score": "0.5"}, 1),
        ({"max_results": 1.0, "min_graph_score": 1}, 1),
        ({"max_results": 1, "maxResults": 1}, 1),
        ({"max_results": "1", "maxResults": 1.0}, 1),
        ({"max_results": None, "maxResults": 1, "useGraph": None}, 1),
        ({"max_results": 1000, "useGraph": "true"}, 3),
    ],
)
def test_arguments_are_read_as_models_write_them(engine, arguments, expected):
    """In camelCase or not, numbers in text or not, null for what is not given; the same twice is no contradiction."""
    assert len(memory_search(engine, "OAuth Provider sign-in tokens", **arguments)["results"]) == expected


@pytest.mark.parametrize(
    "arguments, field",
    [
        ({"query": ""}, "query"),
        ({"query": " \n"}, "query"),
        ({"query": 7}, "query"),
        ({"query": None}, "query"),
        ({}, "query"),
        ({"query": "x", "max_results": 0}, "max_results"),
        ({"query": "x", "maxResults": 1001}, "maxResults"),
        ({"query": "x", "max_results": "ten"}, "max_results"),
        ({"query": "x", "max_results": 2.5}, "max_results"),
        ({"query": "x", "max_results": True}, "max_results"),
        ({"query": "x", "max_results": [5]}, "max_results"),
        ({"query": "x", "max_results": float("nan")}, "max_results"),
        ({"query": "x", "max_results": 10**400}, "max_results"),
        ({"query": "x", "max_results": ""}, "max_results"),
        ({"query": "x", "min_graph_score": 2}, "min_graph_score"),
        ({"query": "x", "minGraphScore": "-0.1"}, "minGraphScore"),
        ({"query": "x", "min_graph_score": "inf"}, "min_graph_score"),
        ({"query": "x", "relationsOffset": -1}, "relationsOffset"),
        ({"query": "x", "use_graph": "perhaps"}, "use_graph"),
        ({"query": "x", "useGraph": 1}, "useGraph"),
        ({"query": "x", "max_results": 5, "maxResults": 6}, "maxResults"),
        ({"query": "x", "use_graph": True, "useGraph": False}, "useGraph"),
        ({"query": "x", "limit": 5}, "maxResults"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_name(engine, arguments, field):
    """The hint tells a model what to write instead."""
    with pytest.raises(InputError) as caught:
        engine.memory_search(**arguments)

    assert field in caught.value.hint
    assert len(str(caught.value)) < 200


# ── the definition ──────────────────────────────────────────────────────────────────────────────


def test_the_published_definition_is_that_of_the_code():
    """Files and code say the same, so that a server and its users do."""
    published = json.loads((DOCS / "memory_search.schema.json").read_text("utf-8"))
    result = json.loads((DOCS / "result.schema.json").read_text("utf-8"))
    output = published["outputSchema"]

    assert published == MEMORY_SEARCH, (
        "write json.dumps(MEMORY_SEARCH, indent=2, ensure_ascii=False) to docs/memory_search.schema.json"
    )
    assert {**output["properties"], "context": None} == {**result["properties"], "context": None}, (
        "cp docs/result.schema.json src/weft/engine/"
    )
    assert output["required"] == [*result["required"], "facts", "context"]
    assert {name: output[name] for name in ("$schema", "type", "additionalProperties", "$defs")} == {
        name: result[name] for name in ("$schema", "type", "additionalProperties", "$defs")
    }


def test_the_definition_is_sound():
    """Both schemas are ones of 2020-12, nothing else may be given, and the defaults are those that hold."""
    accepts = MEMORY_SEARCH["inputSchema"]
    for schema in (accepts, MEMORY_SEARCH["outputSchema"]):
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        jsonschema.Draft202012Validator.check_schema(schema)
    assert list(accepts["properties"]) == ["query", *SPELLINGS]
    assert {SPELLINGS[n]: p["default"] for n, p in accepts["properties"].items() if "default" in p} == DEFAULTS
    assert all(each["description"] for each in accepts["properties"].values())
    assert (accepts["required"], accepts["additionalProperties"]) == (["query"], False)


def test_real_answers_and_calls_follow_the_definition(engine):
    """Answers of every kind, and calls as a model makes them from the definition."""
    calls = [
        {"query": ASKED},
        {"query": ASKED, "maxResults": 1, "useGraph": False, "minGraphScore": 0},
        {"query": "zebra crossing etiquette", "maxResults": 1000, "minGraphScore": 1},
        {"query": "*"},
    ]
    for call in calls:
        jsonschema.validate(call, MEMORY_SEARCH["inputSchema"])
        jsonschema.validate(engine.memory_search(**call), MEMORY_SEARCH["outputSchema"])
    for call in ({}, {"query": ""}, {"query": "x", "maxResults": 0}, {"query": "x", "max_results": 5}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(call, MEMORY_SEARCH["inputSchema"])


def test_each_api_gets_the_definition_in_its_own_shape():
    """Each call returns a copy."""
    chat, messages = openai_tool(), anthropic_tool()

    assert chat["type"] == "function"
    assert set(chat["function"]) == {"name", "description", "parameters"}
    assert set(messages) == {"name", "description", "input_schema"}
    assert chat["function"]["name"] == messages["name"] == "memory_search"
    assert chat["function"]["parameters"] == messages["input_schema"]
    assert messages["input_schema"]["properties"] == MEMORY_SEARCH["inputSchema"]["properties"]
    assert len(messages["description"]) < 1024
    messages["input_schema"]["properties"].clear()
    assert anthropic_tool() != messages
    json.dumps([chat, anthropic_tool()])


class ScriptedModel:
    """A client whose model calls the tool wrongly, then rightly, then answers with what it was told."""

    def __init__(self):
        self.chat = SimpleNamespace(completions=self)
        self.arguments = ['{"query": "milk", "maxResults": "ten"}', '{"query": "milk", "maxResults": "2"}']

    def create(self, *, model, messages, tools):
        assert tools == [openai_tool()]
        calls = []
        if self.arguments:
            function = SimpleNamespace(name="memory_search", arguments=self.arguments.pop(0))
            calls = [SimpleNamespace(id="call-1", function=function)]
        told = [m["content"] for m in messages if isinstance(m, dict) and m["role"] == "tool"]
        return SimpleNamespace(
            choices=[SimpleNamespace(message=SimpleNamespace(tool_calls=calls, content=" | ".join(told)))]
        )


def test_the_loop_in_the_docs_runs(tmp_path, monkeypatch):
    """A wrong call is told what to write instead, and the next one is answered."""
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "python.md").read_text("utf-8"), re.DOTALL)
    (loop,) = (block for block in blocks if "openai_tool" in block)
    monkeypatch.chdir(tmp_path)
    with open_engine("weft.db", embedder="none") as engine:
        engine.add_text("Remember the milk.", source="memo")
    scope = {}
    exec(loop, scope)
    said = scope["answer"](ScriptedModel(), "any", "what should I remember?")

    assert said.startswith(
        "error: invalid maxResults: 'ten'; pass maxResults as a whole number from 1 to 1000 | [Score: "
    )
    assert "Remember the milk." in said


# ── properties ──────────────────────────────────────────────────────────────────────────────────

NAMES = ["Apple Tree", "Birch Wood", "Cedar Gate", "Delta Works"]
WORDS = ["apple", "tree", "wood", "gate", "river", "stone", "bridge", "works", "*", "birch"]
TEXTS = st.lists(st.sampled_from([*WORDS, *(f"[[{name}]]" for name in NAMES)]), min_size=1, max_size=12).map(" ".join)
CORPORA = st.dictionaries(
    st.sampled_from([*NAMES, "Notes", "More Notes"]),
    st.tuples(st.lists(st.sampled_from(NAMES), max_size=2, unique=True), TEXTS),
    max_size=6,
)
QUESTIONS = st.lists(st.sampled_from([*NAMES, *WORDS]), min_size=1, max_size=4).map(" ".join)


@settings(max_examples=settings.default.max_examples // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(pages=CORPORA, asked=QUESTIONS, count=st.integers(1, 5), gate=st.booleans())
@example(
    pages={
        "Apple Tree": ([], "bridge"),  # the best of the keyword channel
        "Cedar Gate": ([], "apple apple apple [[Birch Wood]] [[Birch Wood]]"),
        "Birch Wood": ([], "apple"),
        "Notes": ([], "[[Birch Wood]] [[Birch Wood]]"),
    },
    asked="Birch Wood bridge",
    count=3,
    gate=False,
)
def test_without_the_graph_it_is_hybrid_and_with_it_nothing_is_lost(pages, asked, count, gate):
    """Same chunks, scores and order; with the graph, hybrid's results are in the answer, its best half in the cut."""
    with open_on(pages, search_gate=gate) as engine:
        hybrid = engine.query(asked, method="hybrid", top_k=count)
        plain = engine.memory_search(asked, max_results=count, use_graph=False)
        uncut = engine.query(asked, top_k=count)
        woven = engine.memory_search(asked, max_results=count)

    assert without_times(plain) == without_times(result_to_dict(hybrid))
    assert len(uncut.evidence) <= count
    assert len(ids(woven)) + len(woven["connected"]) == min(count, len(uncut.evidence) + len(uncut.connected))
    assert {piece.chunk.id for piece in hybrid.evidence[: (count + 1) // 2]} <= {*ids(woven)}
