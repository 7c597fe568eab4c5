"""Retriever and tool for LangChain, with the real package."""

import asyncio
import json

import pytest

pytest.importorskip("langchain_core", reason="LangChain is not installed: pip install 'weft-search[langchain]'")

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.prompts import PromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, RunnablePassthrough
from langchain_core.utils.function_calling import convert_to_openai_tool
from libraries import ASKED, FAINT, FOREIGN, HeldEmbedder, answer_while_held, check_impaired, check_refused, open_pages
from pydantic import ValidationError

from weft.errors import ConfigError, InputError, StoreError
from weft.integrations.langchain import WeftRetriever, memory_search_tool
from weft.records import Filter
from weft.tools.memory_search import openai_tool


@pytest.fixture(scope="module")
def engine():
    with open_pages() as engine:
        yield engine


@pytest.fixture(scope="module")
def retriever(engine):
    return WeftRetriever(engine=engine)


def sources(documents):
    return [document.metadata["source"] for document in documents]


# ── documents ───────────────────────────────────────────────────────────────────────────────────


def test_documents_are_the_evidence_with_its_provenance(engine, retriever):
    """Same passages in the same order as the engine gives, each with where it is from and why it is here."""
    result = engine.query(ASKED)
    documents = retriever.invoke(ASKED)

    assert isinstance(retriever, BaseRetriever)
    assert all(type(document) is Document for document in documents)
    assert [document.id for document in documents] == [piece.chunk.id for piece in result.evidence]
    assert [document.page_content for document in documents] == [piece.chunk.text for piece in result.evidence]
    first = documents[0].metadata
    assert first["citation"] == "docs/OAuth Provider.md:1"
    assert (first["source"], first["start_line"], first["end_line"]) == ("docs/OAuth Provider.md", 1, 1)
    assert (first["rank"], first["status"], first["method"]) == (1, "ok", "mix")
    assert first["document"]["team"] == "identity"
    assert 0.5 <= first["confidence"] <= 1
    assert set(first["channels"]) == {"vector", "keyword", "graph"}
    json.dumps(first)


def test_the_way_through_the_graph_is_told(retriever):
    """A passage that the question does not name says how it was reached."""
    documents = retriever.invoke(ASKED)
    (hidden,) = (d.metadata for d in documents if d.metadata["source"] == "docs/Login Flow.md")

    assert (hidden["graph"]["entity"], hidden["graph"]["hops"]) == ("Auth Service", 1)
    assert hidden["graph"]["path"] == [
        {"source": "OAuth Provider", "type": "depended_on_by", "weight": 10.0, "target": "Auth Service"},
        {"source": "Auth Service", "type": "mentioned in", "weight": 0.0, "target": "docs/Login Flow.md:1"},
    ]


def test_nothing_relevant_is_an_empty_list(retriever):
    """The status has no document to stand in, so none there are says it."""
    assert retriever.invoke(FOREIGN) == []


def test_a_weak_answer_says_so(retriever):
    """It is given, and marked."""
    documents = retriever.invoke(FAINT)

    assert documents
    assert {document.metadata["status"] for document in documents} == {"low_confidence"}
    assert all(document.metadata["confidence"] < 0.5 and document.metadata["notes"] for document in documents)


def test_an_impaired_search_says_so():
    """Beside each passage that is still found."""
    check_impaired(lambda engine, question: WeftRetriever(engine=engine).invoke(question))


def test_names_of_any_script_are_kept(retriever):
    """Text, source and citation as they are."""
    first = retriever.invoke("星期一供应什么汤？")[0]

    assert (first.page_content, first.metadata["citation"]) == ("星期一供应番茄汤。", "docs/食堂菜单.md:1")


# ── options ─────────────────────────────────────────────────────────────────────────────────────


def test_options_of_the_retriever_and_of_one_call(engine):
    """Options of the call take precedence; every search setting is allowed."""
    retriever = WeftRetriever(engine=engine, top_k=1, method="keyword", where=Filter(source_prefix="docs/Auth"))

    assert sources(retriever.invoke("signatures clock")) == ["docs/Auth Service.md"]
    assert retriever.invoke("clock")[0].metadata["method"] == "keyword"
    assert sources(retriever.invoke("tokens", where=Filter(source_prefix="docs/OAuth"))) == ["docs/OAuth Provider.md"]
    assert retriever.invoke(FOREIGN) == []
    assert len(retriever.invoke(FOREIGN, gate=False, method="vector", top_k=3, where=None)) == 3
    assert retriever.bind(method="hybrid").invoke("clock")[0].metadata["method"] == "hybrid"


def test_a_filter_by_metadata(engine):
    """The filter is a record or its fields."""
    for where in (Filter(metadata=(("team", "kitchen"),)), {"metadata": [("team", "kitchen")]}):
        retriever = WeftRetriever(engine=engine, where=where)
        assert sources(retriever.invoke("soup, and sign-in tokens")) == ["docs/Canteen Menu.md"]


def test_wrong_options_are_refused_before_the_first_question(engine, retriever):
    """With what would be right; a wrong name too, of the retriever and of a call."""
    with pytest.raises(ConfigError, match="top_k: 0"):
        WeftRetriever(engine=engine, top_k=0)
    with pytest.raises(ConfigError, match=r"invalid search\.method"):
        WeftRetriever(engine=engine, method="magic")
    with pytest.raises(ValidationError, match="k\n  Extra inputs are not permitted"):
        WeftRetriever(engine=engine, k=3)
    with pytest.raises(ValidationError, match="instance of Engine"):
        WeftRetriever(engine="weft.db")
    with pytest.raises(ConfigError, match="unknown search option 'k'"):
        retriever.invoke(ASKED, k=3)


# ── asyncio, batches, chains ────────────────────────────────────────────────────────────────────


def test_asked_in_any_way_the_answer_is_the_same(retriever):
    """Single, batched, asynchronous and concurrent calls return the same documents."""
    asked = [ASKED, "soup on Mondays", FOREIGN, "星期一供应什么汤？"] * 5
    alone = [retriever.invoke(question) for question in asked]

    async def ask():
        together = await asyncio.gather(*(retriever.ainvoke(question) for question in asked))
        return together, await retriever.abatch(asked)

    assert retriever.batch(asked) == alone
    assert asyncio.run(ask()) == (alone, alone)


def test_the_event_loop_is_free_while_the_engine_works():
    """The retriever and the tool answer from a worker thread."""
    for ask in (
        lambda engine: WeftRetriever(engine=engine).ainvoke("soup on Mondays"),
        lambda engine: memory_search_tool(engine).ainvoke({"query": "soup on Mondays"}),
    ):
        embedder = HeldEmbedder()
        with open_pages(embedder=embedder) as engine:
            assert asyncio.run(answer_while_held(embedder, ask(engine)))
        assert embedder.released.is_set()


def test_it_is_a_link_of_a_chain(engine):
    """Up to the text that a model would be given."""

    def cite(documents):
        return "\n".join(f"[{d.metadata['citation']}] {d.page_content}" for d in documents)

    prompt = PromptTemplate.from_template("{context}\n\n{question}")
    chain = {"context": WeftRetriever(engine=engine, top_k=1) | cite, "question": RunnablePassthrough()} | prompt
    wanted = "[docs/Canteen Menu.md:1] Soup on Mondays, pasta on Tuesdays.\n\nsoup on Mondays"

    assert chain.invoke("soup on Mondays").text == wanted
    assert asyncio.run(chain.ainvoke("soup on Mondays")).text == wanted


def test_fields_can_be_configured_for_a_call(retriever):
    """Fields are configurable as in LangChain's own retrievers."""
    flexible = retriever.configurable_fields(top_k=ConfigurableField(id="top_k"))

    found = flexible.invoke(ASKED, config={"configurable": {"top_k": 1}})
    assert [bool(document.metadata["neighbour_of"]) for document in found] == [False, True]
    assert len(flexible.invoke(ASKED)) == len(retriever.invoke(ASKED)) > 1


class Watcher(BaseCallbackHandler):
    """Notes what it is told."""

    def __init__(self):
        self.seen = []

    def on_retriever_end(self, documents, **about):
        self.seen.append(len(documents))

    def on_retriever_error(self, error, **about):
        self.seen.append(error)


def test_callbacks_are_told(retriever):
    """Callbacks receive the documents and the errors."""
    watcher = Watcher()
    found = retriever.invoke("soup on Mondays", config={"callbacks": [watcher]})
    with pytest.raises(InputError) as caught:
        retriever.invoke("", config={"callbacks": [watcher]})

    assert watcher.seen == [len(found), caught.value]


# ── errors ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("question", ["", "  \n", {"question": ASKED}])
def test_what_is_no_question_is_refused(retriever, question):
    """Before the engine is asked."""
    check_refused(
        InputError, "invalid question", lambda: retriever.invoke(question), lambda: retriever.ainvoke(question)
    )


def test_a_closed_engine_is_an_error():
    """The call raises an error instead of returning an empty answer."""
    with open_pages() as engine:
        retriever = WeftRetriever(engine=engine)

    check_refused(StoreError, "the store is closed", lambda: retriever.invoke(ASKED), lambda: retriever.ainvoke(ASKED))


# ── the tool ────────────────────────────────────────────────────────────────────────────────────


def call(**arguments):
    return {"type": "tool_call", "id": "call-1", "name": "memory_search", "args": arguments}


def test_the_tool_is_told_to_models_as_it_is_defined(engine):
    """Word for word."""
    assert convert_to_openai_tool(memory_search_tool(engine)) == openai_tool()


def test_the_tool_answers_with_text_and_the_whole_answer(engine):
    """Alike with asyncio."""
    tool = memory_search_tool(engine)
    message = tool.invoke(call(query="soup on Mondays", maxResults="1"))

    assert message.content.startswith("status: ok, confidence: ")
    assert "Soup on Mondays, pasta on Tuesdays." in message.content
    assert message.artifact["results"][0]["citation"] == "docs/Canteen Menu.md:1"
    assert message.status == "success"
    assert asyncio.run(tool.ainvoke(call(query="soup on Mondays", maxResults="1"))).content == message.content
    assert tool.invoke(call(query=FOREIGN)).content.startswith("status: no_match")


def test_a_wrong_call_is_told_what_to_write_instead(engine):
    """The error is a message, so the model can correct its call."""
    tool = memory_search_tool(engine)
    for message in (
        tool.invoke(call(query="x", maxResults="ten")),
        asyncio.run(tool.ainvoke(call(query="x", maxResults="ten"))),
    ):
        assert message.status == "error"
        assert message.content == "error: invalid maxResults: 'ten'; pass maxResults as a whole number from 1 to 1000"
