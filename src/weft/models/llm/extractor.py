"""
Extractor that asks a language model for typed entities, relations and facts.

Each chunk is one request. Parsed replies are cached by prompt, model and chunk as soon as they arrive. So no request is
repeated, even if the process is killed.
"""

from __future__ import annotations

import hashlib
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import islice
from threading import Event, Lock
from typing import Any

from weft.errors import BadModelOutput, ModelUnavailable
from weft.extract.names import predicate_key
from weft.models.base import ChatModel, ChatReply, Extractor
from weft.models.http_client import RequestRefused
from weft.models.llm.budget import Account
from weft.models.llm.estimate import LlmEstimator, estimate_reply_tokens
from weft.models.llm.json_replies import read_json
from weft.models.llm.prices import Price
from weft.models.llm.prompt import SCHEMA, Prompt
from weft.models.llm.reply import Types, check_reply, join_reply
from weft.models.llm.reply_cache import ReplyCache
from weft.models.llm.statistics import ReplyCost
from weft.records import Chunk, Document, Extraction, GivenFact, LlmRun, Reading, Usage
from weft.text.tokens import guess_model_tokens

MAX_CONSECUTIVE_FAILURES = 10
"""Maximum number of consecutive requests that are refused or have an unreadable reply, before the run fails."""

FACT_SOURCE = "extracted"

_CHUNK_STATUSES = (400, 413, 422)
"""Status codes of errors that concern one request only."""


class _OutOfBudget(Exception):
    """A cost limit forbids the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOptions:
    """Options of the requests to a language model."""

    parallel: int = 4
    output_tokens: int = 2000
    price: Price | None = None
    overhead: int = 0
    """Tokens of a request besides its text."""


class LlmExtractor:
    """Adds the reply of a language model for every chunk to the extraction of `inner`."""

    def __init__(
        self,
        inner: Extractor,
        chat: ChatModel,
        *,
        prompt: Prompt,
        replies: ReplyCache,
        account: Account,
        options: RequestOptions,
        record: Callable[[LlmRun], None] = lambda run: None,
        stop: Event | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Create the extractor. `record` is called after each reply with the run so far, in the caller's thread."""
        self._inner = inner
        self._chat = chat
        self._prompt = prompt
        self._replies = replies
        self._account = account
        self._options = options
        self._system_tokens = guess_model_tokens(prompt.system) + options.overhead
        self._record = record
        self._stop = stop or Event()
        self._clock = clock
        self._run = uuid.uuid4().hex
        self._lock = Lock()
        self._consecutive_failures = 0
        self._types = Types(
            entities=frozenset(map(predicate_key, prompt.entity_types)),
            relations=frozenset(map(predicate_key, prompt.relation_types)),
        )

    @property
    def name(self) -> str:
        """Name and version: `rules-22+llm-openai/gpt-4o-mini-extract-1`."""
        return f"{self._inner.name}+{self._label}"

    @property
    def _label(self) -> str:
        return f"llm-{self._chat.name}-{self._prompt.fingerprint}"

    def extract(self, document: Document, chunks: Sequence[Chunk]) -> list[Extraction]:
        """Return one extraction per chunk. Raises `ModelUnavailable`, also if a limit is reached."""
        (reading,) = self.extract_all([(document, chunks)])
        if reading is None:
            raise ModelUnavailable(
                f"reached the limit of {self._account.total.stopped}",
                hint="raise llm.max_cost, llm.max_tokens or llm.max_minutes",
            )
        return list(reading.extractions)

    def extract_all(self, work: Sequence[tuple[Document, Sequence[Chunk]]]) -> list[Reading | None]:
        """
        Return one reading per document, with parallel requests; None if a limit was reached before its last chunk.

        Raises `ModelUnavailable` if the endpoint fails; replies until then are cached.
        """
        passages = [[self._prompt.passage(document, chunk) for chunk in chunks] for document, chunks in work]
        digests = {passage: passage_digest(passage) for found in passages for passage in found}
        known = self._replies.read(digests.values())
        missing = [passage for passage, digest in digests.items() if digest not in known]
        self._account.add(cached=len(digests) - len(missing))
        unreadable: dict[bytes, ReplyCost] = {}
        if missing:
            known |= self._ask_all({passage: digests[passage] for passage in missing}, unreadable)
        readings: list[Reading | None] = []
        for (document, chunks), found in zip(work, passages, strict=True):
            own = [digests[passage] for passage in found]
            is_complete = all(digest in known or digest in unreadable for digest in own)
            replies = [known.get(digest) for digest in own]
            readings.append(self._join(document, chunks, replies) if is_complete else None)
        self._write_receipt()
        return readings

    def offline(self, *, sample: int = 0) -> LlmEstimator:
        """Return an extractor of the same name that estimates the usage; it sends at most `sample` chunks."""
        return LlmEstimator(
            self._inner,
            name=self.name,
            passage=self._prompt.passage,
            replies=self._replies,
            options=self._options,
            digest=passage_digest,
            estimate=lambda passage: (self._guess(passage), estimate_reply_tokens(passage)),
            sample=sample,
            ask=self._ask_sample,
        )

    def _ask_sample(self, passages: Mapping[str, bytes]) -> dict[bytes, ReplyCost]:
        """Send the passages; return the costs of replies that could not be parsed."""
        unreadable: dict[bytes, ReplyCost] = {}
        self._ask_all(passages, unreadable)
        return unreadable

    def take_usage(self) -> Usage:
        """Return the usage since the last call."""
        return self._account.take()

    # ── requests ────────────────────────────────────────────────────────────────────────────────

    def _ask_all(
        self, passages: Mapping[str, bytes], unreadable: dict[bytes, ReplyCost]
    ) -> dict[bytes, dict[str, Any]]:
        """Return the parsed replies by digest; add the costs of the others to `unreadable`."""
        found: dict[bytes, dict[str, Any]] = {}
        failures: list[BaseException] = []
        start = self._clock()
        self._stop.clear()

        def ask(passage: str, digest: bytes) -> None:
            if self._stop.is_set() or failures:
                return
            try:
                items, cost = self._ask_one(passage, digest)
            except _OutOfBudget:
                return
            except Exception as error:  # noqa: BLE001  raised again below, when all threads have ended
                failures.append(error)
                return
            if items is None:
                unreadable[digest] = cost
            else:
                found[digest] = items

        pool, waiting = ThreadPoolExecutor(self._options.parallel), iter(passages.items())
        try:
            running = {pool.submit(ask, *item) for item in islice(waiting, self._options.parallel)}
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                self._write_receipt()  # before new requests: a killed run loses only the receipts of running requests
                running |= {pool.submit(ask, *item) for item in islice(waiting, len(done))}
        except BaseException:
            self._stop.set()  # running requests are finished and cached; no new request starts
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            self._account.add(seconds=self._clock() - start)
            self._write_receipt()
        if failures:
            raise failures[0]
        return found

    def _ask_one(self, passage: str, digest: bytes) -> tuple[dict[str, Any] | None, ReplyCost]:
        """
        Return the items of the reply to a passage, and its cost.

        An unreadable reply is retried once with a repair prompt; the items are None if that fails too.
        """
        start, question = self._clock(), passage
        spent = Counter[str]()

        def cost() -> ReplyCost:
            return ReplyCost(
                estimated_in=self._guess(passage),
                estimated_out=estimate_reply_tokens(passage),
                tokens_in=spent["in"],
                tokens_out=spent["out"],
                seconds=self._clock() - start,
            )

        for _ in range(2):
            try:
                reply = self._ask(question)
                spent.update({"in": reply.tokens_in, "out": reply.tokens_out})
                items = self._read(reply)
            except RequestRefused as error:
                if error.status not in _CHUNK_STATUSES:
                    raise
                self._count_failure(error)
                return None, cost()
            except (ValueError, BadModelOutput) as error:
                self._account.note("asked again")
                question = self._prompt.repair(passage, reason=str(error)[:200])
                failure = error
                continue
            self._replies.write(digest, items, cost())
            with self._lock:
                self._consecutive_failures = 0
            return items, cost()
        self._account.note("unreadable")
        self._count_failure(failure)
        return None, cost()

    def _ask(self, question: str) -> ChatReply:
        tokens = {
            "tokens_in": self._guess(question),
            "tokens_out": self._options.output_tokens,
        }
        if not self._account.reserve(**tokens):
            raise _OutOfBudget
        reply = None
        try:
            reply = self._chat.ask(system=self._prompt.system, user=question, schema=SCHEMA)
        finally:
            self._account.settle(reply, **tokens)
        return reply

    def _guess(self, question: str) -> int:
        return self._system_tokens + guess_model_tokens(question)

    def _read(self, reply: ChatReply) -> dict[str, Any]:
        value, form = read_json(reply.text)
        if form != "whole":
            self._account.note("truncated" if form == "salvaged" else "prose around JSON")
        return check_reply(value, self._account.note)

    def _count_failure(self, error: Exception) -> None:
        """Count a chunk without a usable reply. Raises `ModelUnavailable` after too many consecutive ones."""
        with self._lock:
            self._consecutive_failures += 1
            is_limit = self._consecutive_failures >= MAX_CONSECUTIVE_FAILURES
        if is_limit:
            raise ModelUnavailable(
                f"{self._chat.name} failed {MAX_CONSECUTIVE_FAILURES} times in a row; last error: {error}",
                hint="correct llm.model or llm.base_url, then run the command again; earlier replies are cached",
            ) from error

    def _write_receipt(self) -> None:
        self._record(LlmRun(id=self._run, at=time.time(), model=self._chat.name, usage=self._account.total))

    # ── merging ─────────────────────────────────────────────────────────────────────────────────

    def _join(
        self, document: Document, chunks: Sequence[Chunk], replies: Sequence[Mapping[str, Any] | None]
    ) -> Reading:
        extractions: list[Extraction] = []
        facts: list[GivenFact] = []
        for chunk, before, items in zip(chunks, self._inner.extract(document, chunks), replies, strict=True):
            if items is None:
                extractions.append(before)
                continue
            text = "\n".join([document.title, *chunk.heading, chunk.text])
            joined, stated = join_reply(
                before, items, text=text, types=self._types, note=self._account.note, by=self._label
            )
            extractions.append(joined)
            facts += (replace(fact, source=FACT_SOURCE, note=f"read by {self.name}") for fact in stated)
        return Reading(extractions=extractions, facts=tuple(facts), is_complete=None not in replies)


def passage_digest(passage: str) -> bytes:
    """Return the key of a passage in the reply cache."""
    return hashlib.sha256(passage.encode("utf-8", "surrogatepass")).digest()
