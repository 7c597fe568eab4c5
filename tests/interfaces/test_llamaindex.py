"""Retriever and tool for LlamaIndex, with the real package."""

import asyncio
import json

import pytest

pytest.importorskip("llama_index.core", reason="LlamaIndex is not installed: pip install 'weft-search[llamaindex]'")

from libraries import ASKED, FAINT, FOREIGN, HeldEmbedder, answer_while_held, check_impaired, check_refused, open_pages
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from llama_index.core.tools import ToolSelection, acall_tool_with_selection, call_tool_with_selection

from weft.errors import ConfigError, InputError, StoreError
from weft.integrations.llamaindex import MemorySearchTool, WeftRetriever
from weft.records import Filter
from weft.tools.memory_search import openai_tool


@pytest.fixture(scope="module")
def engine():
    with open_pages() as engine:
        yield engine


@pytest.fixture(scope="module")
def retriever(engine):
    return WeftRetriever(engine)


def sources(nodes):
    return [node.metadata["source"] for node in nodes]


def seen(nodes):
    """Return what two answers to the same question have in common; events and times aside."""
    return [(node.node_id, node.score, node.metadata) for node in nodes]


# ── nodes ───────────────────────────────────────────────────────────────────────────────────────


def test_nodes_are_the_evidence_with_its_provenance(engine, retriever):
    """Same passages in the same order with the same scores as the engine gives, each with where it is from."""
    result = engine.query(ASKED)
    nodes = retriever.retrieve(ASKED)

    assert isinstance(retriever, BaseRetriever)
    assert all(type(node) is NodeWithScore for node in nodes)
    assert [(node.node_id, node.score) for node in nodes] == [(p.chunk.id, p.score) for p in result.evidence]
    assert [node.text for node in nodes] == [piece.chunk.text for piece in result.evidence]
    assert [node.node.ref_doc_id for node in nodes] == [piece.document.id for piece in result.evidence]
    first = nodes[0].metadata
    assert (first["citation"], first["source"]) == ("docs/OAuth Provider.md:1", "docs/OAuth Provider.md")
    assert (first["start_line"], first["end_line"], first["rank"]) == (1, 1, 1)
    assert (first["status"], first["method"]) == ("ok", "mix")
    assert set(first["channels"]) == {"vector", "keyword", "graph"}
    assert nodes[-1].metadata["graph"]["path"][0]["type"] == "depended_on_by"
    json.dumps([node.metadata for node in nodes])


def test_a_model_is_told_of_citation_and_status_only(retriever):
    """The rest of the metadata is for programs; a vector of the node is one of its text alone."""
    node = retriever.retrieve("soup on Mondays")[0].node

    assert node.get_content(MetadataMode.LLM) == (
        "citation: docs/Canteen Menu.md:1\nstatus: ok\n\nSoup on Mondays, pasta on Tuesdays."
    )
    assert node.get_content(MetadataMode.EMBED) == node.get_content() == "Soup on Mondays, pasta on Tuesdays."


def test_nothing_relevant_is_an_empty_list(retriever):
    """The status has no node to stand in, so none there are says it."""
    assert retriever.retrieve(FOREIGN) == []


def test_a_weak_answer_says_so(retriever):
    """It is given, and marked."""
    nodes = retriever.retrieve(FAINT)

    assert nodes
    assert {node.metadata["status"] for node in nodes} == {"low_confidence"}
    assert all(node.metadata["confidence"] < 0.5 and node.metadata["notes"] for node in nodes)


def test_an_impaired_search_says_so():
    """Beside each passage that is still found."""
    check_impaired(lambda engine, question: WeftRetriever(engine).retrieve(question))


def test_the_text_of_a_bundle_is_asked(retriever):
    """Vectors and texts for a vector in it are of another model."""
    bundle = QueryBundle("星期一供应什么汤？", embedding=[0.5] * 3, custom_embedding_strs=["login", "tokens"])
    nodes = retriever.retrieve(bundle)

    assert (nodes[0].text, nodes[0].metadata["citation"]) == ("星期一供应番茄汤。", "docs/食堂菜单.md:1")
    assert seen(nodes) == seen(retriever.retrieve("星期一供应什么汤？"))


# ── options ─────────────────────────────────────────────────────────────────────────────────────


def test_options_narrow_the_answer(engine):
    """Options set the number, the method and the documents."""
    narrow = WeftRetriever(engine, top_k=1, method="keyword", where=Filter(source_prefix="docs/Auth"))
    kitchen = WeftRetriever(engine, where=Filter(metadata=(("team", "kitchen"),)))

    assert sources(narrow.retrieve("signatures clock")) == ["docs/Auth Service.md"]
    assert narrow.retrieve("clock")[0].metadata["method"] == "keyword"
    assert sources(kitchen.retrieve("soup, and sign-in tokens")) == ["docs/Canteen Menu.md"]


def test_wrong_options_are_refused_before_the_first_question(engine):
    """With what would be right."""
    with pytest.raises(ConfigError, match="top_k: 0"):
        WeftRetriever(engine, top_k=0)
    with pytest.raises(ConfigError, match=r"invalid search\.method"):
        WeftRetriever(engine, method="magic")
    with pytest.raises(ConfigError, match="invalid engine of type str"):
        WeftRetriever("weft.db")
    with pytest.raises(TypeError, match="similarity_top_k"):
        WeftRetriever(engine, similarity_top_k=3)


# ── asyncio, query engines ──────────────────────────────────────────────────────────────────────


def test_asked_with_asyncio_the_answer_is_the_same(retriever):
    """Sequential and concurrent calls return the same nodes."""
    asked = [ASKED, "soup on Mondays", FOREIGN, "星期一供应什么汤？"] * 5

    async def ask():
        return await asyncio.gather(*(retriever.aretrieve(QueryBundle(question)) for question in asked))

    together = asyncio.run(ask())
    assert [seen(nodes) for nodes in together] == [seen(retriever.retrieve(question)) for question in asked]


def test_the_event_loop_is_free_while_the_engine_works():
    """The retriever and the tool answer from a worker thread."""
    for ask in (
        lambda engine: WeftRetriever(engine).aretrieve("soup on Mondays"),
        lambda engine: MemorySearchTool(engine).acall(query="soup on Mondays"),
    ):
        embedder = HeldEmbedder()
        with open_pages(embedder=embedder) as engine:
            assert asyncio.run(answer_while_held(embedder, ask(engine)))
        assert embedder.released.is_set()


def test_it_serves_a_query_engine(engine):
    """Up to the text that a model would be given, which the mock repeats, with LlamaIndex's own steps in between."""
    asking = RetrieverQueryEngine.from_args(
        WeftRetriever(engine, top_k=1),
        llm=MockLLM(),
        node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=0.0)],
    )
    for response in (asking.query("soup on Mondays"), asyncio.run(asking.aquery("soup on Mondays"))):
        assert "citation: docs/Canteen Menu.md:1\nstatus: ok\n\nSoup on Mondays, pasta on Tuesdays." in str(response)
        assert sources(response.source_nodes) == ["docs/Canteen Menu.md"]


def test_callbacks_are_told(engine):
    """Settings of LlamaIndex's own retrievers hold for this one."""
    watcher = LlamaDebugHandler(print_trace_on_end=False)
    WeftRetriever(engine, callback_manager=CallbackManager([watcher])).retrieve("soup on Mondays")

    (pair,) = watcher.get_event_pairs(CBEventType.RETRIEVE)
    assert sources(pair[1].payload["nodes"])[0] == "docs/Canteen Menu.md"


# ── errors ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("question", ["", "  \n"])
def test_what_is_no_question_is_refused(retriever, question):
    """Before the engine is asked."""
    check_refused(
        InputError, "invalid question", lambda: retriever.retrieve(question), lambda: retriever.aretrieve(question)
    )


def test_a_closed_engine_is_an_error():
    """The call raises an error instead of returning an empty answer."""
    with open_pages() as engine:
        retriever = WeftRetriever(engine)

    check_refused(
        StoreError, "the store is closed", lambda: retriever.retrieve(ASKED), lambda: retriever.aretrieve(ASKED)
    )


# ── the tool ────────────────────────────────────────────────────────────────────────────────────


def test_the_tool_is_told_to_models_as_it_is_defined(engine):
    """Word for word; LlamaIndex leaves out what it does not know of a schema."""
    told, defined = MemorySearchTool(engine).metadata.to_openai_tool(), openai_tool()
    del defined["function"]["parameters"]["additionalProperties"]

    assert told == defined


def test_the_tool_answers_with_text_and_the_whole_answer(engine):
    """Alike with asyncio, and by position."""
    tool = MemorySearchTool(engine)
    output = tool.call(query="soup on Mondays", maxResults="1")

    assert output.content.startswith("status: ok, confidence: ")
    assert "Soup on Mondays, pasta on Tuesdays." in output.content
    assert output.raw_output["results"][0]["citation"] == "docs/Canteen Menu.md:1"
    assert not output.is_error
    assert asyncio.run(tool.acall(query="soup on Mondays", maxResults="1")).content == output.content
    assert tool("soup on Mondays", maxResults=1).content == output.content
    assert tool(query=FOREIGN).content.startswith("status: no_match")


def test_a_wrong_call_is_told_what_to_write_instead(engine):
    """The output is marked as an error, so the model can correct its call."""
    tool = MemorySearchTool(engine)
    wrong = ToolSelection(tool_id="1", tool_name="memory_search", tool_kwargs={"query": "x", "maxResults": "ten"})
    for output in (
        call_tool_with_selection(wrong, [tool]),
        asyncio.run(acall_tool_with_selection(wrong, [tool])),
    ):
        assert output.is_error
        assert output.content == "error: invalid maxResults: 'ten'; pass maxResults as a whole number from 1 to 1000"
