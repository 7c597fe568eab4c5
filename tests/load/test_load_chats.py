"""Slack and Discord exports, mail, subtitles and plain transcripts."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from loading import Load, only_document, only_reason

from weft.records import Document, Skipped

SLACK = [
    {"type": "message", "subtype": "channel_join", "user": "U1", "text": "joined", "ts": "1772446400.0"},
    {
        "type": "message",
        "user": "U1",
        "text": "Which <#C1|port> &amp; host, <@U2>?",
        "ts": "1772446500.0",
        "thread_ts": "1772446500.0",
    },
    {
        "type": "message",
        "user": "U2",
        "text": "See <https://example.org|the table>",
        "ts": "1772446900.0",
        "thread_ts": "1772446500.0",
    },
    {"type": "message", "user": "U3", "text": "Lunch?", "ts": "1772446600.0", "user_profile": {"real_name": "gamma"}},
    {"type": "message", "user": "U9", "text": "Later", "ts": "1772456600.0"},
]
USERS = [{"id": "U1", "name": "alpha"}, {"id": "U2", "profile": {"display_name": "beta"}}]
DISCORD = {
    "guild": {"id": "1", "name": "Harbour"},
    "channel": {"id": "77", "name": "lights"},
    "messages": [
        {"timestamp": "2026-03-02T10:15:00+00:00", "content": "Which port?", "author": {"nickname": "alpha"}},
        {
            "timestamp": "2026-03-02T10:16:00+00:00",
            "content": "",
            "attachments": [{"fileName": "map.png"}],
            "author": {"name": "beta"},
        },
    ],
}
MAILBOX = b"""From a@example.org Mon Mar  2 10:15:00 2026
From: alpha <a@example.org>
Subject: Harbour lights
Date: Mon, 2 Mar 2026 10:15:00 +0000
Message-ID: <1@example.org>

Which port?
>From the pier.

From b@example.org Mon Mar  2 10:16:00 2026
From: b@example.org
Subject: Re: Harbour lights
Date: Mon, 2 Mar 2026 11:16:00 +0100
Message-ID: <2@example.org>
In-Reply-To: <1@example.org>
Content-Type: text/html; charset=utf-8

<style>p {}</style><p>Port&nbsp;8080.</p><div>Done</div>

From c@example.org Mon Mar  2 10:17:00 2026
From: c@example.org
Subject: Other
Message-ID: <3@example.org>

On Monday alpha wrote:
> Which port?
No idea.
"""
VTT = """WEBVTT

NOTE a comment

1
00:00:01.000 --> 00:00:04.000
<v alpha>Which <i>port</i>?</v>

2
00:01:05.500 --> 00:01:09.000 align:start
beta: Port 8080,
and the host is beacon.
"""
SRT = "1\n00:00:01,000 --> 00:00:04,000\nalpha: Which port?\n\n2\n01:00:00,000 --> 01:00:02,000\n- beta: 8080.\n"


def test_a_slack_day_is_read_thread_by_thread_with_the_names_of_users(load: Load, tmp_path: Path) -> None:
    """A thread and the message after it start an exchange, as does a message after a pause."""
    folder = tmp_path / "general"
    folder.mkdir()
    (folder / "2026-03-02.json").write_text(json.dumps(SLACK))
    (tmp_path / "users.json").write_text(json.dumps(USERS))

    document = next(item for item in load() if item.source == "general/2026-03-02.json")

    assert isinstance(document, Document)
    assert document.text.split("\n\n") == [
        "alpha (2026-03-02 10:15): Which #port & host, @beta?",
        "beta (2026-03-02 10:21): See the table",
        "gamma (2026-03-02 10:16): Lunch?",
        "U9 (2026-03-02 13:03): Later",
    ]
    assert [turn.opens for turn in document.turns] == [True, False, True, True]
    assert (document.title, document.metadata["conversation"]) == ("#general 2026-03-02", "general")


def test_a_zipped_slack_export_is_read_like_the_unpacked_one(load: Load, tmp_path: Path) -> None:
    """An empty day is skipped by name; a zip file with days but without users is no Slack export."""
    with zipfile.ZipFile(tmp_path / "slack.zip", "w") as archive:
        archive.writestr("users.json", json.dumps(USERS))
        archive.writestr("general/2026-03-02.json", json.dumps(SLACK))
        archive.writestr("general/2026-03-03.json", "[]")
    with zipfile.ZipFile(tmp_path / "tables.zip", "w") as archive:
        archive.writestr("rows/2026-03-02.json", json.dumps(SLACK))

    document, empty, other = load()

    assert isinstance(document, Document)
    assert document.source == "slack.zip#general/2026-03-02.json"
    assert document.text.startswith("alpha (2026-03-02 10:15): Which #port & host, @beta?")
    assert (document.title, document.metadata["channel"]) == ("#general 2026-03-02", "general")
    assert isinstance(empty, Skipped) and isinstance(other, Skipped)
    assert (empty.source, empty.reason) == ("slack.zip#general/2026-03-03.json", "empty")
    assert (other.source, other.reason) == ("tables.zip", "binary")


def test_the_lists_of_a_slack_folder_are_no_documents(load: Load, tmp_path: Path) -> None:
    """As in the zip file. A file of that name elsewhere is JSON."""
    (tmp_path / "general").mkdir()
    (tmp_path / "general" / "2026-03-02.json").write_text(json.dumps(SLACK))
    for name in ("users", "channels", "dms"):
        (tmp_path / f"{name}.json").write_text(json.dumps(USERS))
    (tmp_path / "general" / "users.json").write_text(json.dumps(USERS))

    found = load()

    documents = [item.source for item in found if isinstance(item, Document)]
    assert documents == ["general/2026-03-02.json", "general/users.json#U1", "general/users.json#U2"]
    assert {(item.source, item.reason) for item in found if isinstance(item, Skipped)} == {
        (f"{name}.json", "ignored") for name in ("users", "channels", "dms")
    }


def test_a_discord_channel_is_one_conversation(load: Load, tmp_path: Path) -> None:
    """The file of DiscordChatExporter, and the folder of the data package."""
    (tmp_path / "a.json").write_text(json.dumps(DISCORD))
    folder = tmp_path / "c123456"
    folder.mkdir()
    own = [{"ID": 1, "Timestamp": "2026-03-02 10:15:00", "Contents": "Which port?", "Attachments": ""}]
    (folder / "messages.json").write_text(json.dumps(own))

    exported, package = load()

    assert isinstance(exported, Document) and isinstance(package, Document)
    assert (exported.source, exported.title) == ("discord:77", "Harbour #lights")
    assert exported.text == "alpha (2026-03-02 10:15): Which port?\n\nbeta (2026-03-02 10:16): [file: map.png]"
    assert package.source == "discord-package:123456"
    assert package.text == "user (2026-03-02 10:15): Which port?"


def test_a_line_from_in_a_mail_is_no_new_mail(load: Load, tmp_path: Path) -> None:
    """A separator follows a blank line; other programs leave such a line of a text unquoted."""
    text = b"Which port?\nFrom the pier I see no light.\nFrom: the port\n"
    (tmp_path / "a.mbox").write_bytes(b"From a\nFrom: alpha <a@example.org>\n\n" + text)

    (mail,) = load()
    assert isinstance(mail, Document)
    assert mail.text == "alpha: Which port?\nFrom the pier I see no light.\nFrom: the port"


def test_a_mailbox_gives_one_document_per_thread(load: Load, tmp_path: Path) -> None:
    """Replies join their thread in the order of time; quotations are left out, HTML is read."""
    (tmp_path / "a.mbox").write_bytes(MAILBOX)

    thread, other = load()

    assert isinstance(thread, Document) and isinstance(other, Document)
    assert (thread.source, thread.title) == ("a.mbox#1@example.org", "Harbour lights")
    assert thread.text == (
        "alpha (2026-03-02 10:15): Which port?\nFrom the pier.\n\nb@example.org (2026-03-02 10:16): Port 8080.\nDone"
    )
    assert thread.lines == [2, 2, 2, 11, 11]
    assert other.text == "c@example.org: No idea."


def test_one_mail_is_one_document(load: Load, tmp_path: Path) -> None:
    """It is cited by its first line."""
    (tmp_path / "a.eml").write_bytes(MAILBOX.split(b"\n\nFrom ")[0].partition(b"\n")[2])

    document = only_document(load())

    assert (document.source, document.metadata["conversation"]) == ("a.eml", "1@example.org")
    assert document.text.startswith("alpha (2026-03-02 10:15): Which port?")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.vtt", VTT, "alpha (00:00:01): Which port?\n\nbeta (00:01:05): Port 8080, and the host is beacon."),
        ("a.srt", SRT, "alpha (00:00:01): Which port?\n\nbeta (01:00:00): 8080."),
        ("2026-03-02 talk.srt", SRT, "alpha (2026-03-02 00:00): Which port?\n\nbeta (2026-03-02 01:00): 8080."),
        ("GMT20260302-101500_x.vtt", SRT, "alpha (2026-03-02 10:15): Which port?\n\nbeta (2026-03-02 11:15): 8080."),
    ],
)
def test_subtitles_keep_speakers_and_times(load: Load, tmp_path: Path, name: str, text: str, expected: str) -> None:
    """With a date in the name of the file the times are absolute."""
    (tmp_path / name).write_text(text)

    assert only_document(load()).text == expected


def test_a_text_in_which_user_and_assistant_speak_is_a_transcript(load: Load, tmp_path: Path) -> None:
    """Other names of the two roles are read as well; lines without a role continue the turn."""
    text = "[2026-03-02 10:15] Human: Which port?\nSecond line\n\nAI: 8080.\nuser (2026-03-02 10:17): Thanks"
    (tmp_path / "a.txt").write_text(text)

    document = only_document(load())

    assert document.form == "conversation"
    assert document.text == (
        "user (2026-03-02 10:15): Which port?\nSecond line\n\nassistant: 8080.\n\nuser (2026-03-02 10:17): Thanks"
    )
    assert document.lines == [1, 1, 1, 4, 4, 5]


@pytest.mark.parametrize("text", ["Note: a\nuser: b", "user: a\nuser: b", "The user: and\nassistant: x\nuser: y"])
def test_another_text_with_colons_stays_a_text(load: Load, tmp_path: Path, text: str) -> None:
    """Both roles must speak, and the first line must be a turn."""
    (tmp_path / "a.txt").write_text(text)

    assert only_document(load()).form == "text"


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.vtt", b"WEBVTT\n\nno cues", "unknown shape"),
        ("a.srt", b"1\n99:99", "unknown shape"),
        ("a.srt", b"1\n00:00:01,000 --> 00:00:04,000\n<i></i>\n", "unknown shape"),
        ("a.mbox", b"no mailbox\n", "broken"),
        ("a.eml", b"\n\nbody without headers", "broken"),
        ("a.eml", b"From: a@example.org\n\n", "empty"),
        ("a.eml", b"From: a@example.org\nContent-Type: multipart/mixed; boundary=x\n\n--x\n", "empty"),
        ("2026-03-02.json", b'[{"type": "message", "ts": 5, "text": []}]', "empty"),
        ("a.json", b'{"guild": {}, "channel": {}, "messages": [3, {"author": 4, "content": []}]}', "empty"),
        ("messages.json", b'[{"Contents": 3, "Timestamp": {}}]', "empty"),
    ],
)
def test_a_damaged_file_is_skipped_with_a_reason(
    load: Load, tmp_path: Path, name: str, data: bytes, reason: str
) -> None:
    """Wrong types, missing parts and empty messages."""
    (tmp_path / name).write_bytes(data)

    assert only_reason(load()) == reason


def test_a_deeply_nested_mail_does_not_end_the_run(load: Load, tmp_path: Path) -> None:
    """The parser of Python is recursive."""
    depth = 3000
    nested = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(depth))
    (tmp_path / "a.eml").write_text(f"From: a@example.org\n{nested}Content-Type: text/plain\n\nwords")

    (result,) = load()

    assert isinstance(result, Document) or result.reason in ("broken", "empty")


def test_a_mail_beyond_the_limit_is_skipped_and_the_others_are_read(load: Load, tmp_path: Path) -> None:
    """The limit on file size applies to one message, the limit on the expanded size to the mailbox."""
    large = b"From x\nFrom: x@example.org\n\n" + b"long line\n" * 1000 + b"\n"
    (tmp_path / "a.mbox").write_bytes(large + MAILBOX)

    results = load(max_file_bytes=2000)

    assert [getattr(item, "reason", "") for item in results] == ["too large", "", ""]
    assert only_reason(load(max_expanded_bytes=5000)) == "too large"
    assert isinstance(load(max_records=1)[0], Skipped)
