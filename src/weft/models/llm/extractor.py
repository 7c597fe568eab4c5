"""
Adds what a language model reads to another extractor: typed entities, relations and facts.

Each chunk is one request. Replies that could be read are kept in a file by prompt, model and chunk, as soon as they
come, so nothing is paid for twice, also when the process is killed.
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
from weft.models.llm.estimate import LlmPreview, expect_reply
from weft.models.llm.json_replies import read_json
from weft.models.llm.prices import Price
from weft.models.llm.prompt import SCHEMA, Prompt
from weft.models.llm.reply import Types, check_reply, join_reply
from weft.models.llm.reply_cache import ReplyFile
from weft.models.llm.statistics import Paid
from weft.records import Chunk, Document, Extraction, GivenFact, LlmRun, Reading, Usage
from weft.text.tokens import guess_model_tokens

MAX_REFUSED = 10
"""Requests in a row that may be refused or go unread before the run is given up: something else is wrong then."""

FACT_SOURCE = "extracted"

_OF_THIS_CHUNK = (400, 413, 422)
"""Refusals that say something about one request, not about all of them."""


class _OutOfBudget(Exception):
    """A bound forbids the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How a model is asked."""

    parallel: int = 4
    output_tokens: int = 2000
    price: Price | None = None
    overhead: int = 0
    """Tokens that a request has beside what is said in it."""


class LlmExtractor:
    """Reads with `inner` first, then asks a language model about every chunk, and adds what is new."""

    def __init__(
        self,
        inner: Extractor,
        chat: ChatModel,
        *,
        prompt: Prompt,
        replies: ReplyFile,
        account: Account,
        asking: Asking,
        record: Callable[[LlmRun], None] = lambda run: None,
        stop: Event | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Open it. `record` keeps what the run has cost, and is told with each reply, in the thread of the caller."""
        self._inner = inner
        self._chat = chat
        self._prompt = prompt
        self._replies = replies
        self._account = account
        self._asking = asking
        self._record = record
        self._stop = stop or Event()
        self._clock = clock
        self._run = uuid.uuid4().hex
        self._lock = Lock()
        self._in_a_row = 0
        self._types = Types(
            entities=frozenset(map(predicate_key, prompt.entity_types)),
            relations=frozenset(map(predicate_key, prompt.relation_types)),
        )

    @property
    def name(self) -> str:
        """`rules-12+llm-openai/gpt-4o-mini-extract-1`."""
        return f"{self._inner.name}+{self._label}"

    @property
    def _label(self) -> str:
        return f"llm-{self._chat.name}-{self._prompt.fingerprint}"

    def extract(self, document: Document, chunks: Sequence[Chunk]) -> list[Extraction]:
        """Return what each chunk of one document says. Raises `ModelUnavailable`, also where a bound is reached."""
        (reading,) = self.extract_all([(document, chunks)])
        if reading is None:
            raise ModelUnavailable(f"the bound of {self._account.total.stopped} is reached", hint="raise it, or wait")
        return list(reading.extractions)

    def extract_all(self, work: Sequence[tuple[Document, Sequence[Chunk]]]) -> list[Reading | None]:
        """
        Return what each document says, several requests at once; None where a bound left some chunk unasked.

        Raises `ModelUnavailable` when the endpoint stays away; what it replied until then is kept.
        """
        passages = [[self._prompt.passage(document, chunk) for chunk in chunks] for document, chunks in work]
        digests = {passage: _digest(passage) for found in passages for passage in found}
        known = self._replies.read(digests.values())
        missing = [passage for passage, digest in digests.items() if digest not in known]
        self._account.add(cached=len(digests) - len(missing))
        unread: dict[bytes, Paid] = {}
        if missing:
            known |= self._ask_all({passage: digests[passage] for passage in missing}, unread)
        readings: list[Reading | None] = []
        for (document, chunks), found in zip(work, passages, strict=True):
            mine = [digests[passage] for passage in found]
            is_asked = all(digest in known or digest in unread for digest in mine)
            replies = [known.get(digest) for digest in mine]
            readings.append(self._join(document, chunks, replies) if is_asked else None)
        self._write_receipt()
        return readings

    def offline(self, *, sample: int = 0) -> LlmPreview:
        """
        Return the same extractor as it would be without the model, counting what would be asked.

        It asks about a `sample` of so many chunks at most, in the end, to know what the replies are like.
        """
        return LlmPreview(
            self._inner,
            name=self.name,
            passage=self._prompt.passage,
            replies=self._replies,
            asking=self._asking,
            digest=_digest,
            guess=lambda passage: (self._guess(passage), expect_reply(passage)),
            sample=sample,
            ask=self._ask_sample,
        )

    def _ask_sample(self, passages: Mapping[str, bytes]) -> dict[bytes, Paid]:
        """Ask, and return what was paid for replies that could not be read."""
        unread: dict[bytes, Paid] = {}
        self._ask_all(passages, unread)
        return unread

    def take_usage(self) -> Usage:
        """Return what was asked since the last call, and what it cost."""
        return self._account.take()

    # ── asking ──────────────────────────────────────────────────────────────────────────────────

    def _ask_all(self, passages: Mapping[str, bytes], unread: dict[bytes, Paid]) -> dict[bytes, dict[str, Any]]:
        """Return the replies to passages by digest, and note in `unread` which could not be read and what they cost."""
        found: dict[bytes, dict[str, Any]] = {}
        failures: list[BaseException] = []
        start = self._clock()
        self._stop.clear()

        def ask(passage: str, digest: bytes) -> None:
            if self._stop.is_set() or failures:
                return
            try:
                items, paid = self._ask_one(passage, digest)
            except _OutOfBudget:
                return
            except Exception as error:  # noqa: BLE001  raised again below, when all threads have ended
                failures.append(error)
                return
            if items is None:
                unread[digest] = paid
            else:
                found[digest] = items

        pool, waiting = ThreadPoolExecutor(self._asking.parallel), iter(passages.items())
        try:
            running = {pool.submit(ask, *item) for item in islice(waiting, self._asking.parallel)}
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                self._write_receipt()  # before more is asked, so that a killed run has lost no more than was under way
                running |= {pool.submit(ask, *item) for item in islice(waiting, len(done))}
        except BaseException:
            self._stop.set()  # requests under way are finished and kept, no further one is made
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            self._account.add(seconds=self._clock() - start)
            self._write_receipt()
        if failures:
            raise failures[0]
        return found

    def _ask_one(self, passage: str, digest: bytes) -> tuple[dict[str, Any] | None, Paid]:
        """
        Return the items of the reply to a passage, and what it cost, with one more try where it cannot be read.

        None where that fails too.
        """
        start, question = self._clock(), passage
        spent = Counter[str]()

        def paid() -> Paid:
            guessed, expected, seconds = self._guess(passage), expect_reply(passage), self._clock() - start
            into, out = spent["in"], spent["out"]
            return Paid(guessed=guessed, expected=expected, tokens_in=into, tokens_out=out, seconds=seconds)

        for _ in range(2):
            try:
                reply = self._ask(question)
                spent.update({"in": reply.tokens_in, "out": reply.tokens_out})
                items = self._read(reply)
            except RequestRefused as error:
                if error.status not in _OF_THIS_CHUNK:
                    raise
                self._give_up(error)
                return None, paid()
            except (ValueError, BadModelOutput) as error:
                self._account.note("asked again")
                question = self._prompt.repair(passage, reason=str(error)[:200])
                failure = error
                continue
            self._replies.write(digest, items, paid())
            with self._lock:
                self._in_a_row = 0
            return items, paid()
        self._account.note("unreadable")
        self._give_up(failure)
        return None, paid()

    def _ask(self, question: str) -> ChatReply:
        tokens = {
            "tokens_in": self._guess(question),
            "tokens_out": self._asking.output_tokens,
        }
        if not self._account.may_ask(**tokens):
            raise _OutOfBudget
        reply = None
        try:
            reply = self._chat.ask(system=self._prompt.system, user=question, schema=SCHEMA)
        finally:
            self._account.settle(reply, **tokens)
        return reply

    def _guess(self, question: str) -> int:
        return guess_model_tokens(self._prompt.system + question) + self._asking.overhead

    def _read(self, reply: ChatReply) -> dict[str, Any]:
        value, how = read_json(reply.text)
        if how != "whole":
            self._account.note("truncated" if how == "salvaged" else "prose around JSON")
        return check_reply(value, self._account.note)

    def _give_up(self, error: Exception) -> None:
        """Leave a chunk to the other extractor, unless that happens too often in a row."""
        with self._lock:
            self._in_a_row += 1
            too_often = self._in_a_row >= MAX_REFUSED
        if too_often:
            raise ModelUnavailable(
                f"{self._chat.name} failed {MAX_REFUSED} times in a row, at last so: {error}",
                hint="check llm.model and the endpoint; what was replied is kept",
            ) from error

    def _write_receipt(self) -> None:
        self._record(LlmRun(id=self._run, at=time.time(), model=self._chat.name, usage=self._account.total))

    # ── together ────────────────────────────────────────────────────────────────────────────────

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


def _digest(passage: str) -> bytes:
    return hashlib.sha256(passage.encode("utf-8", "surrogatepass")).digest()
