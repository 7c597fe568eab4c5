"""Retriever and tool for LlamaIndex."""

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
    from llama_index.core.bridge.pydantic import BaseModel, ConfigDict
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
    from llama_index.core.tools import ToolMetadata, ToolOutput
    from llama_index.core.tools.types import AsyncBaseTool
except ImportError as error:
    raise MissingExtra("llama-index-core", extra="llamaindex") from error

MODEL_METADATA = frozenset({"citation", "status"})
"""Metadata that LlamaIndex writes above the text of a node for a model. Models do not see the other fields."""


class WeftRetriever(BaseRetriever):
    """
    Retrieves passages that answer a question; returns an empty list if nothing relevant is stored.

    The settings of the engine are the defaults; `settings` are arguments of `BaseRetriever`. The caller closes the
    engine. Only the text of a `QueryBundle` is used, because its vectors come from another model.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        top_k: int | None = None,
        method: str | None = None,
        where: Filter | None = None,
        **settings: Any,
    ) -> None:
        self._engine = engine
        self._options: dict[str, Any] = {"top_k": top_k, "method": method, "where": where}
        check_options(engine, self._options)
        super().__init__(**settings)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = find_passages(self._engine, query_bundle.query_str, **self._options)
        return [_to_node(passage) for passage in found]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = await find_passages_async(self._engine, query_bundle.query_str, **self._options)
        return [_to_node(passage) for passage in found]


class MemorySearchArguments(BaseModel):
    """The arguments of `memory_search` with the schema of its definition; the engine validates them."""

    model_config = ConfigDict(extra="allow")

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
        schema: dict[str, Any] = anthropic_tool()["input_schema"]
        return schema


class MemorySearchTool(AsyncBaseTool):
    """
    `memory_search` as a tool: the content is text for the model, the raw output is the whole answer.

    An invalid call returns an output marked as an error, with the hint.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def metadata(self) -> ToolMetadata:
        """The definition of the tool for the model."""
        definition = anthropic_tool()
        return ToolMetadata(
            name=definition["name"], description=definition["description"], fn_schema=MemorySearchArguments
        )

    def call(self, /, *query: Any, **arguments: Any) -> ToolOutput:
        """Answer a call."""
        try:
            values = self._engine.memory_search(*query, **arguments)
        except WeftError as error:
            return self._to_error(error, {"args": query, "kwargs": arguments})
        return self._to_output(values, {"args": query, "kwargs": arguments})

    async def acall(self, /, *query: Any, **arguments: Any) -> ToolOutput:
        """Answer a call in a thread."""
        try:
            values = await AsyncEngine(self._engine).memory_search(*query, **arguments)
        except WeftError as error:
            return self._to_error(error, {"args": query, "kwargs": arguments})
        return self._to_output(values, {"args": query, "kwargs": arguments})

    def _to_output(self, values: dict[str, Any], arguments: dict[str, Any]) -> ToolOutput:
        name, text = self.metadata.get_name(), answer_to_text(values)
        return ToolOutput(tool_name=name, content=text, raw_input=arguments, raw_output=values)

    def _to_error(self, error: WeftError, arguments: dict[str, Any]) -> ToolOutput:
        name, text = self.metadata.get_name(), error_to_text(error)
        return ToolOutput(tool_name=name, content=text, raw_input=arguments, raw_output=text, is_error=True)


def _to_node(passage: Passage) -> NodeWithScore:
    node = TextNode(
        id_=passage.id,
        text=passage.text,
        metadata=dict(passage.metadata),
        excluded_llm_metadata_keys=sorted(passage.metadata.keys() - MODEL_METADATA),
        excluded_embed_metadata_keys=sorted(passage.metadata),
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=passage.document_id)},
    )
    return NodeWithScore(node=node, score=passage.score)
