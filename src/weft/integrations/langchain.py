"""Retriever and tool for LangChain."""

from __future__ import annotations

from typing import Any

from weft.engine.async_engine import AsyncEngine
from weft.engine.engine import Engine
from weft.errors import MissingExtra, WeftError
from weft.integrations.passages import (
    Passage,
    answer_to_text,
    check_options,
    error_to_text,
    find_passages,
    find_passages_async,
)
from weft.records import Filter
from weft.tools.memory_search import anthropic_tool

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import StructuredTool, ToolException
    from pydantic import ConfigDict
except ImportError as error:
    raise MissingExtra("langchain-core", extra="langchain") from error


class WeftRetriever(BaseRetriever):
    """
    Retrieves passages that answer a question; returns an empty list if nothing relevant is stored.

    The settings of the engine are the defaults. A call can override every setting of `[search]`:
    `retriever.invoke(question, top_k=3)`. The caller closes the engine.
    """

    model_config = ConfigDict(extra="forbid")

    engine: Engine
    top_k: int | None = None
    """Maximum number of documents that answer. Connected passages follow."""
    method: str | None = None
    where: Filter | None = None

    def model_post_init(self, context: Any, /) -> None:
        """Check the options at construction instead of at the first question."""
        super().model_post_init(context)
        check_options(self.engine, self._options())

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        found = find_passages(self.engine, query, **{**self._options(), **options})
        return [_to_document(passage) for passage in found]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        found = await find_passages_async(self.engine, query, **{**self._options(), **options})
        return [_to_document(passage) for passage in found]

    def _options(self) -> dict[str, Any]:
        return {"top_k": self.top_k, "method": self.method, "where": self.where}


def memory_search_tool(engine: Engine) -> StructuredTool:
    """
    Return `memory_search` as a tool: the message is text for the model, the artifact is the whole answer.

    An invalid call returns a message with the error and the hint.
    """

    def call(**arguments: Any) -> tuple[str, dict[str, Any]]:
        try:
            values = engine.memory_search(**arguments)
        except WeftError as error:
            raise ToolException(error_to_text(error)) from error
        return answer_to_text(values), values

    async def call_async(**arguments: Any) -> tuple[str, dict[str, Any]]:
        try:
            values = await AsyncEngine(engine).memory_search(**arguments)
        except WeftError as error:
            raise ToolException(error_to_text(error)) from error
        return answer_to_text(values), values

    definition = anthropic_tool()
    return StructuredTool(
        name=definition["name"],
        description=definition["description"],
        args_schema=definition["input_schema"],
        func=call,
        coroutine=call_async,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )


def _to_document(passage: Passage) -> Document:
    return Document(id=passage.id, page_content=passage.text, metadata=dict(passage.metadata))
