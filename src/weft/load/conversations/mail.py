"""
Mail: one message (`.eml`), or the threads of a mailbox (`.mbox`, RFC 4155 and the mboxrd quoting).

A thread is found by the headers `References`, `In-Reply-To` and `Message-ID` (RFC 5322). Quoted lines are left out,
because the quoted message is a turn of its own.
"""

from __future__ import annotations

import email
import email.policy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import parseaddr, parsedate_to_datetime
from html.parser import HTMLParser
from pathlib import Path

from weft.config import LoadOptions
from weft.load.conversations.turns import Conversation, Message, to_document
from weft.load.cpu_limit import cpu_limit
from weft.load.file_reader import PARSER_ERRORS, LoadError, read_bytes, too_large
from weft.load.file_types import file_title
from weft.load.line_map import collapse
from weft.records import Document, Skipped, to_microseconds
from weft.text.decode import clean, decode

HOST = "mail"
MAX_HTML_CHARACTERS = 1_000_000
"""Longer HTML bodies are cut."""
MAX_PARTS = 1000
"""Maximum number of MIME parts that are searched for a body."""
MAX_PARSED_PARTS = 10_000
"""A message with more MIME parts is skipped."""
MAX_HEADER_CHARACTERS = 10_000
"""Longer headers are cut: the header parser of Python needs time that grows with the square of their length."""
MAX_CONTENT_HEADER_CHARACTERS = 2000
"""The same for headers that begin with `Content-`, which every part has."""

_REPLY = re.compile(r"(?:(?:re|aw|fw|fwd|wg|sv|antw)(?:\[\d{1,3}\])?\s{0,5}:\s{0,5})+", re.IGNORECASE)
_INTRODUCTION = re.compile(r"[^\n]{1,300}(?:wrote|schrieb|écrit|escribió)\s?:", re.IGNORECASE)
"""Line above a quotation: `On Monday the author wrote:`."""
_MESSAGE_ID = re.compile(r"<[^<>\s]{1,500}>")
_BLOCKS = frozenset({"br", "div", "h1", "h2", "h3", "h4", "h5", "h6", "li", "p", "table", "tr", "ul", "ol", "hr"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mail:
    """A parsed message with the ids that link it to a thread."""

    message: Message
    id: str
    above: tuple[str, ...]
    """Ids of earlier messages of the thread, oldest first."""
    subject: str


class _Policy(email.policy.EmailPolicy):
    """Parser settings with limits."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        """Return name and value of a header; a long value is cut."""
        name, value = super().header_source_parse(sourcelines)
        is_content = name.lower().startswith("content-")
        return name, value[: MAX_CONTENT_HEADER_CHARACTERS if is_content else MAX_HEADER_CHARACTERS]


def load_mail(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the single document of an `.eml` file."""
    data = read_bytes(path, options=options)
    with cpu_limit(options.max_cpu_seconds):
        mail = _parse(data, line=1)
    title = mail.subject or file_title(source)
    conversation = Conversation(source=source, host=HOST, id=_thread_id(mail) or source, title=title)
    yield to_document([mail.message], conversation)


def load_mailbox(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    """Yield one document per thread of a mailbox; a message that cannot be read gives a `Skipped`."""
    threads: dict[str, list[_Mail]] = {}
    thread_of: dict[str, str] = {}
    for number, (line, data) in enumerate(_iter_messages(path, options=options), start=1):
        if options.max_records is not None and number > options.max_records:
            detail = f"line {line} and later; the limit is {options.max_records:,} records"
            yield Skipped(source=source, reason="too many records", detail=detail)
            break
        try:
            if data is None:
                raise LoadError("too large", f"the message has more than {options.max_file_bytes:,} bytes")
            with cpu_limit(options.max_cpu_seconds):
                mail = _parse(data, line=line)
        except LoadError as error:
            yield Skipped(source=f"{source}#L{line}", reason=error.reason, detail=f"line {line}: {error.detail}")
            continue
        known = next((thread_of[id] for id in mail.above if id in thread_of), "")
        thread = known or _thread_id(mail) or f"L{line}"
        thread_of |= dict.fromkeys((*mail.above, mail.id), thread)
        threads.setdefault(thread, []).append(mail)
    for thread, mails in threads.items():
        ordered = sorted(mails, key=lambda mail: (mail.message.time or 0, mail.message.line))
        conversation = Conversation(source=f"{source}#{thread}", host=HOST, id=thread, title=ordered[0].subject)
        try:
            yield to_document([mail.message for mail in ordered], conversation)
        except LoadError as error:
            yield Skipped(source=f"{source}#{thread}", reason=error.reason, detail=error.detail)


def _thread_id(mail: _Mail) -> str:
    return (*mail.above, mail.id)[0].strip("<>")


def _iter_messages(path: Path, *, options: LoadOptions) -> Iterator[tuple[int, bytes | None]]:
    """Yield the line and the bytes of each message; None replaces one larger than `max_file_bytes`."""
    lines: list[bytes] = []
    start, size, total, is_blank = 1, 0, 0, True
    with path.open("rb") as stream:
        for number, line in enumerate(iter(lambda: stream.readline(options.max_file_bytes + 1), b""), start=1):
            total += len(line)
            if total > options.max_expanded_bytes:
                raise too_large(total, limit=options.max_expanded_bytes)
            if is_blank and line.startswith(b"From "):
                if number > 1:
                    yield start, b"".join(lines) if size <= options.max_file_bytes else None
                lines, start, size = [], number + 1, 0
                continue
            if number == 1:
                raise LoadError("broken", "the mailbox does not start with a line `From `")
            is_blank = not line.strip()
            size += len(line)
            if size <= options.max_file_bytes:
                lines.append(line[1:] if line.startswith(b">") and line.lstrip(b">").startswith(b"From ") else line)
    yield start, b"".join(lines) if size <= options.max_file_bytes else None


def _parse(data: bytes, *, line: int) -> _Mail:
    """Return a parsed message. Raises `LoadError` if it has no headers or cannot be read."""
    try:
        parsed = _read_message(data)
        name, address = parseaddr(_header(parsed, "from"))
        if not parsed.keys() or not (name or address):
            raise LoadError("broken", "the mail has no sender")
        above = tuple(_MESSAGE_ID.findall(f"{_header(parsed, 'references')} {_header(parsed, 'in-reply-to')}"))
        message = Message(role=name or address, text=_body(parsed), time=_time(_header(parsed, "date")), line=line)
        subject = collapse(clean(_header(parsed, "subject")))
        prefix = _REPLY.match(subject)
        id = next(iter(_MESSAGE_ID.findall(_header(parsed, "message-id"))), "")
        return _Mail(message=message, id=id, above=above, subject=subject[prefix.end() if prefix else 0 :])
    except LoadError:
        raise
    except PARSER_ERRORS as error:
        raise LoadError("broken", f"mail: {error}") from error


def _read_message(data: bytes) -> EmailMessage:
    """Return a message whose headers are parsed on use. Raises `LoadError` if it has too many parts."""
    parts = 0

    def make_part(policy: email.policy.Policy | None = None) -> EmailMessage:
        nonlocal parts
        parts += 1
        if parts > MAX_PARSED_PARTS:
            raise LoadError("too large", f"the mail has more than {MAX_PARSED_PARTS:,} parts")
        return EmailMessage(policy)

    return email.message_from_bytes(data, policy=_Policy(message_factory=make_part))  # type: ignore[arg-type]


def _header(parsed: EmailMessage, name: str) -> str:
    try:
        return str(parsed.get(name, ""))
    except PARSER_ERRORS:  # the header parser of Python fails for some malformed values
        return ""


def _time(value: str) -> int | None:
    try:
        return max(0, to_microseconds(parsedate_to_datetime(value)))
    except (ValueError, TypeError, OverflowError):
        return None


def _body(parsed: EmailMessage) -> str:
    """Return the text of the first plain part, else of the first HTML part, without quoted lines."""
    parts = []
    for number, part in enumerate(parsed.walk()):
        if number >= MAX_PARTS:
            break
        if part.get_content_maintype() == "text" and part.get_content_disposition() != "attachment":
            parts.append(part)
    for kind in ("plain", "html"):
        for part in parts:
            if part.get_content_subtype() == kind and (text := _part_text(part)).strip():
                return _without_quotes(_plain_html(text) if kind == "html" else text)
    return ""


def _part_text(part: EmailMessage) -> str:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    try:
        return clean(data.decode(part.get_content_charset("utf-8"), errors="strict"))
    except (LookupError, UnicodeError):
        return decode(data)


def _without_quotes(text: str) -> str:
    lines = text.split("\n")
    kept = [line for line in lines if not line.startswith(">")]
    if len(kept) < len(lines):
        kept = [line for line in kept if not _INTRODUCTION.fullmatch(line.strip())]
    return "\n".join(kept).strip()


class _TextReader(HTMLParser):
    """Collects the text of HTML; blocks become lines, scripts and styles are left out."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Start a line at a block; hide the content of scripts and styles."""
        self._hidden += tag in ("script", "style")
        if tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        """End a hidden element."""
        if tag in ("script", "style"):
            self._hidden = max(0, self._hidden - 1)

    def handle_data(self, data: str) -> None:
        """Add text."""
        if not self._hidden:
            self.pieces.append(data)


def _plain_html(text: str) -> str:
    reader = _TextReader()
    reader.feed(text[:MAX_HTML_CHARACTERS])
    reader.close()
    lines = (collapse(line) for line in "".join(reader.pieces).split("\n"))
    return "\n".join(filter(None, lines))
