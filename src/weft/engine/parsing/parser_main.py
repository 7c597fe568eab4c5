"""Parser process: reads requests from standard input and answers on standard output (`parser_messages.py`)."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

from weft.config import LoadOptions, MemoryOptions, SplitOptions
from weft.engine.adapters import open_packer, open_tagger
from weft.engine.parsing.parser_messages import (
    CPU_SECONDS_PER_MILLION_CHARACTERS,
    FULL_PRIORITY,
    BatchInput,
    FileInput,
    Input,
    Message,
    PayloadInput,
    Recipe,
    TextInput,
    from_request,
    iter_messages,
    skipped_message,
    to_request,
)
from weft.engine.uploads import text_document
from weft.errors import WeftError
from weft.extract.rules import RuleExtractor
from weft.index.job_queue import read_payload
from weft.index.note_facts import make_fact_reader
from weft.index.plan import prepare
from weft.load.run import load_file
from weft.masking.masked_documents import mask_documents
from weft.processes import limits
from weft.processes.parent_connection import ParentConnection
from weft.records import Document, Skipped

MAX_LOG_MESSAGES = 100
"""Log messages that one request may forward; further ones are dropped."""
MAX_LOG_CHARACTERS = 1000

logger = logging.getLogger(__name__)


class Parser:
    """Answers requests of the parent."""

    def __init__(self) -> None:
        self._rules = RuleExtractor(open_tagger())
        self._pack = open_packer()

    def answer(self, request: dict[str, Any]) -> Iterator[Message]:
        """Yield the messages of one request, without the last one. Errors of a parser propagate."""
        item, recipe = from_request(request)
        seconds = recipe.load.max_cpu_seconds
        documents = _load(item, recipe)
        if not isinstance(item, PayloadInput):  # a queued document was masked before
            documents = mask_documents(documents, recipe.memory)
        while True:
            limits.limit_cpu(seconds)
            found = next(documents, None)
            if found is None:
                return
            if isinstance(found, Skipped):
                yield skipped_message(found)
                continue
            yield ["loaded", len(found.text)]
            limits.limit_cpu(seconds + len(found.text) * CPU_SECONDS_PER_MILLION_CHARACTERS / 1e6)
            yield from iter_messages(
                prepare(
                    found,
                    namespace=recipe.namespace,
                    options=recipe.split,
                    extractor=self._rules if recipe.extracts else None,
                    extractor_name=recipe.extractor_name,
                    fact_reader=make_fact_reader(namespace=recipe.namespace, options=recipe.memory, now=recipe.now),
                ),
                pack=self._pack if recipe.packs else None,
            )

    def warm_up(self) -> None:
        """Parse a small text, so that all tables are loaded before the first request."""
        recipe = Recipe(
            namespace="warm-up",
            load=LoadOptions(),
            split=SplitOptions(),
            memory=MemoryOptions(),
            now=datetime.now(timezone.utc),
            extracts=True,
        )
        item = TextInput(
            source="text:a", text="---\ntitle: Auth\n---\n# Auth\n\nThe Auth Service uses the Cache (AC).\n"
        )
        for _ in self.answer(to_request(item, recipe)):
            pass


def _load(item: Input, recipe: Recipe) -> Iterator[Document | Skipped]:
    match item:
        case FileInput():
            yield from load_file(item.path, source=item.source, options=recipe.load)
        case TextInput():
            yield text_document(item.text, source=item.source, title=item.title, metadata=item.metadata)
        case PayloadInput():
            yield read_payload(item.payload, source=item.source)
        case BatchInput():
            yield from (read_payload(payload, source=item.source) for payload in item.payloads)


def main() -> None:
    """Answer requests until the parent ends."""
    parent = ParentConnection()
    forwarder = LogForwarder(parent)
    logging.getLogger().addHandler(forwarder)
    parser = Parser()
    parser.warm_up()
    if FULL_PRIORITY not in sys.argv:
        limits.lower_priority()
    limits.limit_memory()
    requests = parent.requests()
    parent.send(["ready"])
    for request in requests:
        forwarder.remaining = MAX_LOG_MESSAGES
        _answer(parser, request, parent)
        parent.send(["finished"])


def _answer(parser: Parser, request: dict[str, Any], parent: ParentConnection) -> None:
    """Write the answer to one request. Any error of the document becomes a message."""
    source = request["source"]
    try:
        for message in parser.answer(request):
            parent.send(message, flush="payloads" not in request)
    except WeftError as error:
        parent.send(["error", str(error), error.hint])
    except MemoryError:
        limits.lift_memory_limit()
        limit = limits.MAX_MEMORY_BYTES // 2**20
        detail = f"parsing needed more than {limit:,} MiB of memory"
        parent.send(skipped_message(Skipped(source=source, reason="too large", detail=detail)))
        parent.send(["ended"])
    except Exception as error:
        logger.exception("parsing failed")
        text = f"{type(error).__name__}: {error}"[:MAX_LOG_CHARACTERS]
        parent.send(skipped_message(Skipped(source=source, reason="broken", detail=text)))


class LogForwarder(logging.Handler):
    """Handler that sends warnings and errors to the parent."""

    def __init__(self, parent: ParentConnection) -> None:
        super().__init__(logging.WARNING)
        self._parent = parent
        self.remaining = MAX_LOG_MESSAGES

    def emit(self, record: logging.LogRecord) -> None:
        """Send one record, unless the request has sent too many."""
        if self.remaining > 0:
            self.remaining -= 1
            trace = "".join(traceback.format_exception(*record.exc_info)) if record.exc_info else ""
            text = f"{record.getMessage()[:MAX_LOG_CHARACTERS]}\n{trace[-MAX_LOG_CHARACTERS:]}".rstrip()
            self._parent.send(["log", record.name, record.levelno, text])


if __name__ == "__main__":
    main()
