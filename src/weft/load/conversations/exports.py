"""
Conversations in JSON, JSON Lines and zip files, recognised by shape.

    file       first bytes name a key          objects have the shape        result
    .json      "chat_messages", "mapping" …    of a known host               one document per conversation
    .json      no such key                                                   the loader of JSON
    .jsonl     (first records are read)        of a known log                one document
    .zip       contains conversations.json     of a known host               one document per conversation
    .zip       contains users.json and days    of a Slack export             one document per channel and day
    .zip       anything else                                                 skipped as binary

The id of a conversation does not contain the path of the export. So a newer export in another file updates it.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from weft.config import LoadOptions
from weft.load.conversations.agent_logs import (
    PEEKED_RECORDS,
    LogRecord,
    find_log_host,
    is_gemini_session,
    read_gemini,
    read_log,
)
from weft.load.conversations.chatgpt import is_chatgpt, read_chatgpt
from weft.load.conversations.chats import MAX_SIDE_FILE_BYTES, is_slack_day, read_chat, read_slack
from weft.load.conversations.claude import is_claude, read_claude
from weft.load.conversations.turns import Conversation, Message, objects_of, to_document
from weft.load.file_reader import PARSER_ERRORS, SAMPLE_BYTES, LoadError, read_text, too_large
from weft.load.file_types import user_file_name
from weft.load.formats.json_file import load_json, parse_json
from weft.load.formats.json_lines import iter_records, load_json_lines
from weft.load.imports.confluence import ENTITIES_NAME, iter_confluence_zip
from weft.load.office.package import MAX_COMPRESSION_RATIO, MAX_ZIP_MEMBERS, MIN_CHECKED_BYTES
from weft.records import Document, Skipped
from weft.text.decode import decode

Reader: TypeAlias = Callable[[Mapping[str, object]], tuple[Conversation, "Iterator[Message] | list[Message]"]]

EXPORT_NAME = "conversations"
"""Stem of the export of Claude and ChatGPT; a large ChatGPT export has `conversations-000.json` and so on."""
USERS_NAME, CHANNELS_NAME = "users.json", "channels.json"
"""Members of every Slack export."""
SLACK_LISTS = {USERS_NAME, CHANNELS_NAME, *(f"{name}.json" for name in ("groups", "dms", "mpims", "integration_logs"))}
"""Lists beside the channels of a Slack export. The messages are read with the names in them."""

_SHAPES: tuple[tuple[Callable[[Mapping[str, object]], bool], Reader], ...] = (
    (is_claude, read_claude),
    (is_chatgpt, read_chatgpt),
    (is_gemini_session, read_gemini),
)
_KEYS = (b'"chat_messages"', b'"mapping"', b'"projectHash"', b'"ts"', b'"guild"', b'"Contents"')
"""A file whose first bytes have none of these keys has none of the shapes."""


def load_json_or_conversations(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    """Yield one document per conversation of an export; another file is loaded as JSON."""
    if path.name in SLACK_LISTS and all((path.parent / name).is_file() for name in (USERS_NAME, CHANNELS_NAME)):
        yield Skipped(source=source, reason="ignored", detail="list of a Slack export")
        return
    with path.open("rb") as stream:
        head = stream.read(SAMPLE_BYTES)
    if any(key in head for key in _KEYS):
        content = parse_json(read_text(path, options=options))
        records = content if isinstance(content, list) else [content]
        if _find_reader(records):
            yield from _iter_conversations(records, source=source, options=options)
            return
        if chat := read_chat(content, path=path, source=source):
            conversation, messages = chat
            yield to_document(messages, conversation)
            return
    yield from load_json(path, source=source, options=options)


def load_lines_or_log(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    """Yield the conversation of a session log; another file is loaded as JSON Lines."""
    peeked = islice(iter_records(path, source=source, options=options), PEEKED_RECORDS)
    host = find_log_host(record for _, record in peeked if not isinstance(record, Skipped))
    if not host:
        yield from load_json_lines(path, source=source, options=options)
        return
    records: list[LogRecord] = []
    for line, record in iter_records(path, source=source, options=options):
        if isinstance(record, Skipped):  # the last line of a log that is being written may be incomplete
            yield record
        else:
            records.append(LogRecord(line, record))
    name = user_file_name(source).name.partition(".")[0]
    conversation, messages = read_log(host, records, name=name)
    yield to_document(messages, conversation)


def load_zip(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    """Yield the conversations of a zipped export. Raises `LoadError` for another zip file."""
    if not zipfile.is_zipfile(path):
        raise LoadError("binary", "the zip file is incomplete")
    try:
        with zipfile.ZipFile(path) as archive:
            if ENTITIES_NAME in archive.namelist():
                yield from iter_confluence_zip(archive, source=source, options=options)
                return
            members = _find_exports(archive, options=options)
            if not members:
                yield from _iter_slack(archive, source=source, options=options)
                return
            for member in members:
                data = archive.read(member)  # returns at most the declared number of bytes
                content = parse_json(decode(data))
                records = content if isinstance(content, list) else [content]
                if not _find_reader(records):
                    raise LoadError("unknown shape", f"{member.filename}: not an export of Claude or ChatGPT")
                yield from _iter_conversations(records, source=f"{source}#{member.filename}", options=options)
    except LoadError:
        raise
    except (zipfile.BadZipFile, *PARSER_ERRORS) as error:
        reason = "encrypted" if "encrypted" in str(error) else "broken"
        raise LoadError(reason, f"zip: {error}") from error


def _iter_slack(archive: zipfile.ZipFile, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    """Yield one document per channel and day of a Slack export. Raises `LoadError` for another archive."""
    users = next((member for member in archive.infolist() if PurePosixPath(member.filename).name == USERS_NAME), None)
    days = _check_size([member for member in archive.infolist() if is_slack_day(member.filename)], options=options)
    if users is None or not days:
        raise LoadError("binary", "the zip file has neither conversations.json nor the days of a Slack export")
    names = parse_json(decode(archive.read(users))) if users.file_size <= MAX_SIDE_FILE_BYTES else []
    for member in days:
        place = f"{source}#{member.filename}"
        try:
            records = objects_of(parse_json(decode(archive.read(member))))
            conversation, messages = read_slack(records, users=names, source=place, day=member.filename)
            yield to_document(messages, conversation)
        except LoadError as error:
            yield Skipped(source=place, reason=error.reason, detail=error.detail)


def _find_exports(archive: zipfile.ZipFile, *, options: LoadOptions) -> list[zipfile.ZipInfo]:
    """Return the members with conversations, by name. Raises `LoadError` if they expand beyond the limits."""
    members = archive.infolist()
    if len(members) > MAX_ZIP_MEMBERS:
        raise LoadError("too large", f"{len(members):,} files; the limit is {MAX_ZIP_MEMBERS:,}")
    return _check_size([member for member in members if _is_export(member.filename)], options=options)


def _check_size(members: list[zipfile.ZipInfo], *, options: LoadOptions) -> list[zipfile.ZipInfo]:
    """Return the members by name. Raises `LoadError` if they expand beyond the limits."""
    size, packed = sum(member.file_size for member in members), sum(member.compress_size for member in members)
    if size > options.max_expanded_bytes:
        raise too_large(size, limit=options.max_expanded_bytes)
    if size > MIN_CHECKED_BYTES and size > MAX_COMPRESSION_RATIO * packed:
        raise LoadError("too large", f"the file expands from {packed:,} to {size:,} bytes")
    return sorted(members, key=lambda member: member.filename)


def _is_export(name: str) -> bool:
    path = PurePosixPath(name)
    stem = path.stem.lower()
    return path.suffix.lower() == ".json" and (stem == EXPORT_NAME or stem.startswith(f"{EXPORT_NAME}-"))


def _find_reader(records: Sequence[object]) -> Reader | None:
    """Return the reader of the first object with a known shape."""
    return next((found for record in records if (found := _reader_of(record))), None)


def _reader_of(record: object) -> Reader | None:
    if not isinstance(record, dict):
        return None
    return next((reader for has_shape, reader in _SHAPES if has_shape(record)), None)


def _iter_conversations(
    records: Sequence[object], *, source: str, options: LoadOptions
) -> Iterator[Document | Skipped]:
    """Yield one document per conversation; a damaged or empty one gives a `Skipped`."""
    for number, record in enumerate(records, start=1):
        place = f"{source}#{number}"
        if options.max_records is not None and number > options.max_records:
            detail = f"record {number} and later; the limit is {options.max_records:,} records"
            yield Skipped(source=source, reason="too many records", detail=detail)
            return
        reader = _reader_of(record)
        if reader is None:
            yield Skipped(source=place, reason="bad record", detail="not a conversation of a known shape")
            continue
        try:
            conversation, messages = reader(record if isinstance(record, dict) else {})
            yield to_document(messages, conversation)
        except LoadError as error:
            yield Skipped(source=place, reason=error.reason, detail=error.detail)
