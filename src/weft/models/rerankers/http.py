"""Reranker for endpoints with the `/rerank` API of Cohere and Jina, hosted or local."""

from __future__ import annotations

import importlib.util
import math
import random
import time
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from weft.errors import BadModelOutput, ConfigError, MissingExtra
from weft.models.base import replace_surrogates
from weft.models.embedders.openai import check_endpoint
from weft.models.http_client import Transport
from weft.text.plurals import counted

Kind: TypeAlias = Literal["cohere", "jina", "http"]

URLS = {"cohere": "https://api.cohere.com/v2", "jina": "https://api.jina.ai/v1"}
ATTEMPTS = 3
ENDPOINT_HINT = "set rerank.base_url to an endpoint with the /rerank API of Cohere or Jina"


class HttpReranker:
    """
    A reranker behind HTTP.

    A request has `query`, `documents`, `top_n` and `model`; each of the `results` has `index` and `relevance_score`.
    No attempt, and no wait before a retry, takes longer than `seconds`. The API key appears in no representation,
    message or log.
    """

    def __init__(
        self,
        model: str,
        *,
        kind: Kind,
        api_key: str,
        base_url: str = "",
        seconds: float,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Create the reranker; no request is sent. An empty `base_url` selects Cohere or Jina."""
        if importlib.util.find_spec("httpx") is None:
            raise MissingExtra("httpx", extra="openai")
        base_url = (base_url or URLS.get(kind, "")).rstrip("/")
        if not base_url:
            raise ConfigError(
                f"the endpoint of {kind}/{model} is not set",
                hint="set rerank.base_url to an address such as http://localhost:8000/v1",
            )
        check_endpoint(base_url, api_key=api_key)
        self._model = model
        self._kind = kind
        self._base_url = base_url
        self._transport = Transport(
            f"{base_url}/rerank",
            api_key=api_key,
            attempts=ATTEMPTS,
            timeout_seconds=seconds,
            sleep=sleep,
            jitter=jitter,
            setting="rerank.base_url",
            key_name="RERANK_API_KEY" if kind == "http" else f"{kind.upper()}_API_KEY",
            max_wait_seconds=seconds,
        )

    def __repr__(self) -> str:
        return f"HttpReranker({self.name}, base_url={self._base_url!r})"

    @property
    def name(self) -> str:
        """Name in the settings: `cohere/rerank-v3.5`."""
        return f"{self._kind}/{self._model}"

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text. Raises `ModelUnavailable`, or `BadModelOutput` for an invalid response."""
        if not texts:
            return []
        # The APIs reject the empty string, but not a space.
        documents = [replace_surrogates(text) or " " for text in texts]
        body: dict[str, object] = {
            "model": self._model,
            "query": replace_surrogates(query) or " ",
            "documents": documents,
            "top_n": len(texts),
        }
        if self._kind == "jina":
            body["return_documents"] = False
        return read_scores(self._transport.post(body), count=len(texts))

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        self._transport.close()


def read_scores(answer: object, *, count: int) -> list[float]:
    """
    Return the scores of a response in the order of the texts. Raises `BadModelOutput`.

    A server may omit the least relevant texts; they get the lowest score of the response.
    """
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list) or not results or not all(isinstance(result, dict) for result in results):
        raise BadModelOutput("the response of the endpoint has no list `results`", hint=ENDPOINT_HINT)
    scores: dict[int, float] = {}
    for result in results:
        index, score = result.get("index"), result.get("relevance_score")
        if type(index) is not int or not 0 <= index < count or index in scores:
            message = f"the endpoint returned the invalid index {index!r} for {counted(count, 'text')}"
            raise BadModelOutput(message, hint=ENDPOINT_HINT)
        if type(score) not in (int, float) or not math.isfinite(score):
            raise BadModelOutput(f"the endpoint returned the invalid score {score!r}", hint=ENDPOINT_HINT)
        scores[index] = float(score)
    lowest = min(scores.values())
    return [scores.get(index, lowest) for index in range(count)]
