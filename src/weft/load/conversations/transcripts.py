"""
Transcripts: WebVTT and SRT files, and plain text with `role: text` lines.

    WebVTT (W3C, 2019)                      SRT                                     plain
    00:01:05.000 --> 00:01:09.000           1                                       user: Which port?
    <v Speaker>The port is 8080.            00:01:05,000 --> 00:01:09,000           assistant: 8080.
                                            Speaker: The port is 8080.

The date of a recording is read from the name of its file (`2026-03-02 standup.vtt`, `GMT20260302-101500_….vtt`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from weft.config import LoadOptions
from weft.load.conversations.turns import ASSISTANT, USER, Conversation, Message, read_time, to_document
from weft.load.file_reader import LoadError, read_text
from weft.load.file_types import file_title, user_file_name
from weft.load.formats.plain import plain_document
from weft.load.line_map import collapse
from weft.load.restructuredtext.document import is_rst, rst_document
from weft.records import Document, to_microseconds

SUBTITLES, TRANSCRIPT = "subtitles", "transcript"
MAX_TURN_CHARACTERS = 600
"""A turn of one speaker ends after this many characters, because subtitles have no paragraphs."""
MAX_PEEKED_LINES = 200
"""Number of lines in which both a user and an assistant must speak for a text to be a transcript."""

_CLOCK = r"(?:(\d{1,3}):)?(\d\d):(\d\d)[.,](\d{1,3})"
_CUE = re.compile(rf"{_CLOCK}\s+-->\s+{_CLOCK}")
_VOICE = re.compile(r"<v(?:\.[^\s>]{1,40})?\s+([^<>\n]{1,80})>")
_MARKUP = re.compile(r"</?[^<>\n]{0,200}>|\{\\[^{}\n]{0,100}\}")
_SPEAKER = re.compile(r"(?:-\s?)?([^\W\d_][^:\n.!?,]{0,39}):\s+(?=\S)")
_DATE = re.compile(r"(?<!\d)(\d{4})-?(\d\d)-?(\d\d)(?!\d)(?:[-_T ]{1,2}(\d\d)[-:.]?(\d\d)[-:.]?(\d\d)?(?!\d))?")
_TURN = re.compile(
    r"(?:\[(?P<before>[^\[\]\n]{1,40})\]\s?)?"
    r"(?P<role>user|human|you|me|assistant|ai|bot|model|claude|chatgpt|gemini|system|tool)"
    r"(?:\s?\((?P<after>[^()\n]{1,40})\))?\s?:(?:\s+(?P<text>.*))?",
    re.IGNORECASE,
)
"""
Start of a turn of a plain transcript.

    user: Which port?                        matches
    [2026-03-02 10:15] Human: Which port?    matches, with a time
    assistant (2026-03-02 10:16): 8080.      matches, with a time
    Note: the port                           does not match
"""
_ROLES = {
    **dict.fromkeys(("human", "you", "me", "user"), USER),
    **dict.fromkeys(("ai", "bot", "model", "claude", "chatgpt", "gemini", "assistant"), ASSISTANT),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cue:
    """A cue of a subtitle file; times are seconds from the start of the recording."""

    start: int
    speaker: str
    text: str
    line: int


def load_subtitles(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the single document of a WebVTT or SRT file. Raises `LoadError` if it has no cues."""
    cues = list(_iter_cues(read_text(path, options=options).split("\n")))
    if not cues:
        raise LoadError("unknown shape", "no cues such as `00:01:05.000 --> 00:01:09.000`")
    begin = _find_date(user_file_name(source).stem)
    messages = [_to_message(cue, begin=begin) for cue in _join_speakers(cues)]
    conversation = Conversation(source=source, host=SUBTITLES, id=source, title=file_title(source))
    yield to_document(messages, conversation)


def load_plain_or_transcript(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the single document of a text file: a conversation if a user and an assistant speak in its first lines."""
    text = read_text(path, options=options)
    lines = text.split("\n")
    if not _is_transcript(lines):
        yield (
            rst_document(text, source=source, options=options) if is_rst(text) else plain_document(text, source=source)
        )
        return
    conversation = Conversation(source=source, host=TRANSCRIPT, id=source, title=file_title(source))
    yield to_document(_read_turns(lines), conversation)


def _is_transcript(lines: Sequence[str]) -> bool:
    first = next((line for line in lines[:MAX_PEEKED_LINES] if line.strip()), "")
    if not _TURN.fullmatch(first.rstrip()):
        return False
    found = [_TURN.fullmatch(line.rstrip()) for line in lines[:MAX_PEEKED_LINES] if len(line) < 10_000]
    roles = {_ROLES.get(match["role"].lower()) for match in found if match}
    return {USER, ASSISTANT} <= roles


def _read_turns(lines: Sequence[str]) -> Iterator[Message]:
    current: Message | None = None
    body: list[str] = []
    for number, line in enumerate(lines, start=1):
        match = _TURN.fullmatch(line.rstrip()) if len(line) < 10_000 else None
        if match is None:
            body.append(line)
            continue
        if current:
            yield replace(current, text="\n".join(body))
        role = match["role"].lower()
        time = read_time(match["before"] or match["after"])
        current, body = Message(role=_ROLES.get(role, role), text="", time=time, line=number), [match["text"] or ""]
    if current:
        yield replace(current, text="\n".join(body))


def _iter_cues(lines: Sequence[str]) -> Iterator[_Cue]:
    """Yield the cues with text; numbers, notes, styles and the header stand outside cues."""
    at = 0
    while at < len(lines):
        times = _CUE.match(lines[at].strip())
        at += 1
        if times is None:
            continue
        line, body = at, []
        while at < len(lines) and lines[at].strip():
            body.append(lines[at].strip())
            at += 1
        hours, minutes, seconds = (int(part or 0) for part in times.group(1, 2, 3))
        start = hours * 3600 + minutes * 60 + seconds
        yield from _split_speakers(body, start=start, line=line)


def _split_speakers(body: Sequence[str], *, start: int, line: int) -> Iterator[_Cue]:
    """Yield one cue per speaker in the lines of a cue."""
    for text in body:
        voice = _VOICE.search(text)
        plain = collapse(_MARKUP.sub("", text))
        named = None if voice else _SPEAKER.match(plain)
        speaker = collapse(voice[1]) if voice else named[1].strip() if named else ""
        if spoken := plain[named.end() :] if named else plain:
            yield _Cue(start=start, speaker=speaker, text=spoken, line=line)


def _join_speakers(cues: Sequence[_Cue]) -> list[_Cue]:
    """Return the cues with neighbours of one speaker joined; a cue without a speaker continues the one before it."""
    joined: list[_Cue] = []
    for cue in cues:
        last = joined[-1] if joined else None
        is_same = last is not None and cue.speaker in ("", last.speaker)
        if last and is_same and len(last.text) < MAX_TURN_CHARACTERS:
            joined[-1] = replace(last, text=f"{last.text} {cue.text}")
        else:
            joined.append(replace(cue, speaker=cue.speaker or (last.speaker if last else "speaker")))
    return joined


def _to_message(cue: _Cue, *, begin: int | None) -> Message:
    clock = f"{cue.start // 3600:02}:{cue.start // 60 % 60:02}:{cue.start % 60:02}"
    time = begin + cue.start * 1_000_000 if begin is not None else None
    return Message(role=cue.speaker, text=cue.text, time=time, clock=clock, line=cue.line, opens=False)


def _find_date(name: str) -> int | None:
    """Return the date, and time of day if there is one, in a file name, in microseconds since 1970."""
    for match in _DATE.finditer(name):
        try:
            parts = [int(part or 0) for part in match.groups()]
            found = datetime(*parts[:3], *parts[3:], tzinfo=timezone.utc)  # type: ignore[misc, arg-type]
        except ValueError:
            continue
        if found.year >= 1970:
            return to_microseconds(found)
    return None
