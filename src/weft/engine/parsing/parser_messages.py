"""
Messages between a server and its parser processes.

The parent sends one request per file or text. The process answers with these lists, in this order. A message has at
most `CHUNKS_PER_MESSAGE` chunks, so that decoding it does not delay other threads of the parent.

    ["ready"]                               once, after the start
    ["log", logger, level, text]            at any time
    ["loaded", characters]                  before a document is split
    ["document", info, is_plan, facts, payload]
    ["chunks", [[chunk, terms, candidates, stated_relations, mentions, entity_texts, packed], …]]
    ["end"]                                 the document is complete
    ["skipped", [source, reason, detail]]
    ["error", message, hint]                an `InputError` of the caller
    ["finished"]                            the request is done
    ["ended"]                               the request is done, and the process must be replaced
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from itertools import starmap
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from weft.config import LoadOptions, MemoryOptions, Settings, SplitOptions, is_server
from weft.index.job_queue import read_payload, write_payload
from weft.index.plan import Draft, Plan, Prepared, indexed_texts
from weft.models.base import Extractor
from weft.records import (
    Candidate,
    Chunk,
    DocumentInfo,
    Extraction,
    Fact,
    Metadata,
    Skipped,
    StatedMention,
    StatedRelation,
)

MAX_OUTPUT_BYTES = 512 * 1024 * 1024
"""All messages of one document. A text of 50 MB, the largest accepted one, gives about 400 MB."""

CHUNKS_PER_MESSAGE = 32

CPU_SECONDS_PER_MILLION_CHARACTERS = 20
"""Allowance for splitting and extraction, which take linear time; 4 were measured."""

FULL_PRIORITY = "--full-priority"
"""Argument of a parser process that an index run waits for."""

FACT_TIMES = ("created", "valid_from", "valid_to", "last_accessed")

Message: TypeAlias = list[Any]
Packer: TypeAlias = Callable[[str, Mapping[str, int]], "tuple[bytes, bytes] | None"]
"""Returns text and terms of a chunk in compressed form; None if one of them is too short."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInput:
    """A file to parse."""

    source: str
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class TextInput:
    """A posted text to parse."""

    source: str
    text: str
    title: str = ""
    metadata: Metadata | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadInput:
    """A queued document to split and extract."""

    source: str
    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchInput:
    """Loaded documents of an index run to split and extract. The answer is sent as a whole."""

    source: str
    """Source of the first document."""
    payloads: Sequence[str]


Input: TypeAlias = FileInput | TextInput | PayloadInput | BatchInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Options that a parser process needs to load, split and extract one document."""

    namespace: str
    load: LoadOptions
    split: SplitOptions
    memory: MemoryOptions
    now: datetime
    packs: bool = False
    """True if the process compresses texts and terms, for a store in a file."""
    extracts: bool
    """True if the rules extract entities and relations in the parser process."""
    extractor_name: str = ""
    """Name of an extractor that the parent runs."""


def make_recipe(settings: Settings, *, extractor: Extractor | None, now: datetime) -> Recipe:
    """Return the recipe of the settings. Extractors with a model run in the parent; parser processes load none."""
    is_rules = settings.graph.extractor == "rules"
    return Recipe(
        namespace=settings.store.namespace,
        load=settings.load,
        split=settings.split,
        memory=settings.memory,
        now=now,
        packs=not is_server(settings.store.db),
        extracts=is_rules,
        extractor_name="" if is_rules or extractor is None else extractor.name,
    )


def to_request(item: Input, recipe: Recipe) -> dict[str, Any]:
    """Return the request to parse an input."""
    values = asdict(recipe) | {"now": recipe.now.isoformat()}
    match item:
        case FileInput():
            given: dict[str, Any] = {"path": str(item.path)}
        case TextInput():
            given = {"text": item.text, "title": item.title, "metadata": dict(item.metadata) if item.metadata else None}
        case PayloadInput():
            given = {"payload": item.payload}
        case BatchInput():
            given = {"payloads": list(item.payloads)}
    return {"source": item.source, **given, "recipe": values}


def from_request(request: Mapping[str, Any]) -> tuple[Input, Recipe]:
    """Return the input and the recipe of a request."""
    values, source = dict(request["recipe"]), request["source"]
    groups = {"load": LoadOptions, "split": SplitOptions, "memory": MemoryOptions}
    values |= {name: kind(**_with_tuples(values[name])) for name, kind in groups.items()}
    recipe = Recipe(**values | {"now": datetime.fromisoformat(values["now"])})
    if "path" in request:
        return FileInput(source=source, path=Path(request["path"])), recipe
    if "payload" in request:
        return PayloadInput(source=source, payload=request["payload"]), recipe
    if "payloads" in request:
        return BatchInput(source=source, payloads=request["payloads"]), recipe
    item = TextInput(source=source, text=request["text"], title=request["title"], metadata=request["metadata"])
    return item, recipe


def _with_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


class _Rows(Generic[T]):
    """Conversion of one record class to rows, and back. Both processes run the same version."""

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind
        self._names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
        self._get = attrgetter(*self._names)

    def to_rows(self, items: Sequence[T]) -> list[tuple[Any, ...]]:
        """Return the fields of each record in the order of the class."""
        return list(map(self._get, items))

    def from_rows(self, rows: Sequence[Sequence[Any]], **changed: Any) -> list[T]:
        """Return the records of rows; `changed` maps fields to conversions."""
        made = []
        for row in rows:
            values = dict(zip(self._names, row, strict=True))
            values |= {name: convert(values[name]) for name, convert in changed.items()}
            made.append(self._kind(**values))
        return made


_CHUNKS, _FACTS, _INFOS, _SKIPPED = _Rows(Chunk), _Rows(Fact), _Rows(DocumentInfo), _Rows(Skipped)


def skipped_message(item: Skipped) -> Message:
    """Return the message of a skipped file or record."""
    return ["skipped", _SKIPPED.to_rows([item])[0]]


def read_skipped(message: Message) -> Skipped:
    """Return the skipped file or record of a message."""
    return _SKIPPED.from_rows([message[1]])[0]


def iter_messages(prepared: Prepared, *, pack: Packer | None) -> Iterator[Message]:
    """Yield the messages of a prepared document; `pack` compresses text and terms of a chunk."""
    is_plan = isinstance(prepared, Plan)
    info = prepared.document if isinstance(prepared, Plan) else prepared.info
    payload = write_payload(prepared.document) if isinstance(prepared, Draft) else ""
    facts = [_times_to_text(row) for row in _FACTS.to_rows(prepared.facts)]
    yield ["document", _INFOS.to_rows([info])[0], is_plan, facts, payload]
    rows = _chunk_rows(prepared, pack=pack)
    for start in range(0, len(rows), CHUNKS_PER_MESSAGE):
        yield ["chunks", rows[start : start + CHUNKS_PER_MESSAGE]]
    yield ["end"]


def _times_to_text(row: Sequence[Any]) -> list[Any]:
    return [value.isoformat() if isinstance(value, datetime) else value for value in row]


def _chunk_rows(prepared: Prepared, *, pack: Packer | None) -> list[Message]:
    extractions: Sequence[Extraction] = (Extraction(),) * len(prepared.chunks)
    mentions: Sequence[Sequence[StatedMention]] = ((),) * len(prepared.chunks)
    entity_texts: dict[str, list[tuple[str, str]]] = {}
    if isinstance(prepared, Plan):
        extractions, mentions = prepared.extractions, prepared.mentions
        for (chunk_id, key), text in prepared.entity_texts.items():
            entity_texts.setdefault(chunk_id, []).append((key, text))
    return [
        [
            row,
            terms,
            extraction.candidates,
            extraction.stated_relations,
            found,
            entity_texts.get(chunk.id, []),
            [b64encode(value).decode() for value in (pack and pack(chunk.text, terms)) or ()],
        ]
        for chunk, row, terms, extraction, found in zip(
            prepared.chunks, _CHUNKS.to_rows(prepared.chunks), prepared.terms, extractions, mentions, strict=True
        )
    ]


class PreparedReader:
    """Assembles one prepared document from its messages. Raises `ValueError`, `TypeError` or `LookupError`."""

    def __init__(self, message: Message) -> None:
        _, info, self._is_plan, facts, self._payload = message
        self._info = _INFOS.from_rows([info])[0]
        self._facts = tuple(_FACTS.from_rows(facts, **dict.fromkeys(FACT_TIMES, _read_time)))
        self._chunks: list[Chunk] = []
        self._terms: list[Counter[str]] = []
        self._extractions: list[Extraction] = []
        self._mentions: list[tuple[StatedMention, ...]] = []
        self._entity_texts: dict[tuple[str, str], str] = {}
        self._packed: list[tuple[bytes, bytes] | None] = []

    def add(self, message: Message) -> None:
        """Add a message with chunks."""
        for row, terms, candidates, stated_relations, mentions, entity_texts, packed in message[1]:
            chunk = _CHUNKS.from_rows([row], heading=tuple)[0]
            self._chunks.append(chunk)
            self._terms.append(Counter(terms))
            self._extractions.append(
                Extraction(
                    candidates=tuple(starmap(Candidate, candidates)),
                    stated_relations=tuple(starmap(StatedRelation, stated_relations)),
                )
            )
            self._mentions.append(tuple(starmap(StatedMention, mentions)))
            self._entity_texts |= {(chunk.id, key): text for key, text in entity_texts}
            self._packed.append((b64decode(packed[0]), b64decode(packed[1])) if packed else None)

    def build(self) -> Prepared:
        """Return the document."""
        chunks, terms, texts = (
            tuple(self._chunks),
            tuple(self._terms),
            indexed_texts(self._chunks, title=self._info.title),
        )
        if not self._is_plan:
            return Draft(
                document=read_payload(self._payload, source=self._info.source),
                info=self._info,
                chunks=chunks,
                terms=terms,
                texts=texts,
                is_new=True,
                facts=self._facts,
            )
        return Plan(
            document=self._info,
            chunks=chunks,
            terms=terms,
            texts=texts,
            is_new=True,
            extractions=tuple(self._extractions),
            mentions=tuple(self._mentions),
            packed=tuple(self._packed),
            entity_texts=self._entity_texts,
            facts=self._facts,
        )


def _read_time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
