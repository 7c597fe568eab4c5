"""Exports of Claude and ChatGPT, and session logs of Claude Code, Codex and Gemini CLI."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from loading import Load, only_document, only_reason

from weft.records import Document, Skipped

DAY = "2026-03-02T10:15:00.000000Z"
TIME = 1772446500
"""The same as seconds since 1970."""
CLAUDE = {
    "uuid": "1f0c",
    "name": "Harbour lights",
    "created_at": DAY,
    "chat_messages": [
        {"sender": "human", "created_at": DAY, "text": "old", "content": [{"type": "text", "text": "Which port?"}]},
        {
            "sender": "assistant",
            "created_at": "2026-03-02T10:16:00Z",
            "text": "",
            "content": [
                {"type": "thinking", "thinking": "secret thoughts"},
                {"type": "tool_use", "name": "lookup", "input": {"n": 3, "query": "ports of the lights"}},
                {"type": "tool_result", "content": "a thousand lines"},
                {"type": "text", "text": "Port 8080."},
            ],
        },
        {"sender": "human", "created_at": "2026-03-09T08:00:00Z", "text": "And the host?", "content": []},
    ],
}
CLAUDE_TEXT = """user (2026-03-02 10:15): Which port?

assistant (2026-03-02 10:16): [lookup: ports of the lights]

Port 8080.

user (2026-03-09 08:00): And the host?"""


def node(id: str, parent: str | None, role: str, text: str, *, children: list[str], **message: Any) -> dict[str, Any]:
    """Return a node of a ChatGPT tree."""
    content = {"content_type": "text", "parts": [text]}
    fields = {"author": {"role": role}, "content": content, "create_time": TIME, "recipient": "all", **message}
    return {"id": id, "parent": parent, "children": children, "message": fields}


CHATGPT = {
    "title": "Harbour lights",
    "conversation_id": "67ab",
    "current_node": "c",
    "mapping": {
        "root": {"id": "root", "parent": None, "children": ["s"], "message": None},
        "s": node("s", "root", "system", "You are helpful", children=["a"]),
        "a": node("a", "s", "user", "Which port?", children=["b", "c"]),
        "b": node("b", "a", "assistant", "An answer that was regenerated", children=[]),
        "t": node("t", "a", "assistant", '{"query": "ports"}', children=["c"], recipient="browser"),
        "c": node("c", "t", "assistant", "Port 8080.", children=[]),
    },
}
CLAUDE_CODE = [
    {"type": "summary", "summary": "A title that changes", "leafUuid": "x"},
    {"type": "user", "sessionId": "s", "cwd": "/srv/harbour", "isMeta": True, "message": {"content": "x"}},
    {"type": "user", "sessionId": "s", "timestamp": DAY, "message": {"role": "user", "content": "Which port?"}},
    {
        "type": "assistant", "sessionId": "s", "timestamp": DAY,
        "message": {"content": [{"type": "tool_use", "name": "Bash", "input": {"command": "ls\ndocs"}}]},
    },
    {"type": "user", "sessionId": "s", "message": {"content": [{"type": "tool_result", "content": "x"}]}},
    {"type": "assistant", "sessionId": "s", "message": {"content": [{"type": "text", "text": "8080."}]}},
    {"type": "user", "sessionId": "s", "isSidechain": True, "timestamp": DAY, "message": {"content": "a subagent"}},
    {"type": "user", "sessionId": "s", "message": {"content": "<system-reminder>x</system-reminder>"}},
]  # fmt: skip
CODEX = [
    {"timestamp": DAY, "type": "session_meta", "payload": {"id": "019a", "cwd": "/srv/harbour"}},
    {"timestamp": DAY, "type": "response_item", "payload": {"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "<environment_context>x</environment_context>"},
        {"type": "input_text", "text": "Which port?"}]}},
    {"timestamp": DAY, "type": "event_msg", "payload": {"type": "user_message", "message": "Which port?"}},
    {"timestamp": DAY, "type": "response_item", "payload": {
        "type": "function_call", "name": "shell", "arguments": '{"command": "ls docs"}'}},
    {"timestamp": DAY, "type": "response_item", "payload": {"type": "reasoning", "summary": []}},
    {"timestamp": DAY, "type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [
        {"type": "output_text", "text": "8080."}]}},
]  # fmt: skip
OLD_CODEX = [
    {"id": "old1", "timestamp": DAY, "instructions": None},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Which port?"}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "8080."}]},
]
GEMINI = {
    "sessionId": "9c2e",
    "projectHash": "ab",
    "startTime": DAY,
    "messages": [
        {"id": "1", "timestamp": DAY, "type": "info", "content": "Update available"},
        {"id": "2", "timestamp": DAY, "type": "user", "content": [{"text": "Which "}, {"text": "port?"}]},
        {"id": "3", "timestamp": DAY, "type": "gemini", "content": "8080.", "toolCalls": [{"name": "ls", "args": {}}]},
    ],
}
GEMINI_LOG = [
    {"sessionId": "9c2e", "projectHash": "ab", "startTime": DAY, "messages": []},
    {"id": "2", "timestamp": DAY, "type": "user", "content": "Which port?"},
    {"id": "3", "timestamp": DAY, "type": "gemini", "content": "Wrong."},
    {"id": "4", "timestamp": DAY, "type": "user", "content": "No."},
    {"$rewindTo": "3"},
    {"id": "5", "timestamp": DAY, "type": "gemini", "content": "80"},
    {"$set": {"lastUpdated": DAY}},
    {"id": "5", "timestamp": DAY, "type": "gemini", "content": "8080."},
]


def write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    """Write one object per line."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def test_a_claude_export_keeps_roles_times_and_folded_tools(load: Load, tmp_path: Path) -> None:
    """Thoughts and tool results are left out; the id is that of the conversation, not of the file."""
    (tmp_path / "conversations.json").write_text(json.dumps([CLAUDE]))

    document = only_document(load())

    assert (document.source, document.title, document.form, document.unit) == (
        "claude:1f0c", "Harbour lights", "conversation", "turn",
    )  # fmt: skip
    assert document.text == CLAUDE_TEXT
    assert [turn.opens for turn in document.turns] == [True, False, True]
    assert document.turns[0].time == TIME * 1_000_000
    assert document.lines == [1, 1, 2, 2, 2, 2, 3]
    assert document.metadata == {
        "kind": "conversation", "host": "claude", "conversation": "1f0c",
        "start": "2026-03-02T10:15:00Z", "end": "2026-03-09T08:00:00Z",
    }  # fmt: skip


def test_a_chatgpt_export_follows_the_shown_branch(load: Load, tmp_path: Path) -> None:
    """System messages and regenerated answers are left out."""
    (tmp_path / "conversations.json").write_text(json.dumps([CHATGPT]))

    document = only_document(load())

    assert (document.source, document.title) == ("chatgpt:67ab", "Harbour lights")
    assert document.text == (
        "user (2026-03-02 10:15): Which port?\n\nassistant (2026-03-02 10:15): [browser: ports]\n\n"
        "assistant (2026-03-02 10:15): Port 8080."
    )


@pytest.mark.parametrize(
    ("name", "records", "source", "text"),
    [
        ("5e1a.jsonl", CLAUDE_CODE, "claude-code:5e1a", "[Bash: ls docs]\n\n8080."),
        ("rollout-x.jsonl", CODEX, "codex:019a", "[shell: ls docs]\n\n8080."),
        ("rollout-y.jsonl", OLD_CODEX, "codex:old1", "8080."),
        ("session-z.jsonl", GEMINI_LOG, "gemini-cli:9c2e", "8080."),
    ],
)
def test_a_session_log_is_one_conversation(
    load: Load, tmp_path: Path, name: str, records: list[dict[str, Any]], source: str, text: str
) -> None:
    """Each host writes one record per step; the steps of an answer are one turn."""
    write_lines(tmp_path / name, records)

    document = only_document(load())

    stamp = " (2026-03-02 10:15)" if records is not OLD_CODEX else ""
    assert document.source == source
    assert document.text == f"user{stamp}: Which port?\n\nassistant{stamp}: {text}"
    assert document.title == "Which port?"
    assert document.metadata.get("folder", "/srv/harbour") == "/srv/harbour"


def test_a_log_is_cited_by_its_lines(load: Load, tmp_path: Path) -> None:
    """The first turn is on line 3 of the file, the answer begins on line 4."""
    write_lines(tmp_path / "5e1a.jsonl", CLAUDE_CODE)

    assert (only_document(load()).unit, only_document(load()).lines) == ("line", [3, 3, 4, 4, 4])


def test_a_gemini_session_is_one_conversation(load: Load, tmp_path: Path) -> None:
    """Versions before the append-only log write one object."""
    (tmp_path / "session-z.json").write_text(json.dumps(GEMINI))

    document = only_document(load())

    assert document.source == "gemini-cli:9c2e"
    assert document.text.endswith("user (2026-03-02 10:15): Which port?\n\nassistant (2026-03-02 10:15): 8080.\n\n[ls]")


def test_a_zip_file_is_read_if_it_is_an_export(load: Load, tmp_path: Path) -> None:
    """Numbered parts are read too; another zip file is skipped as before."""
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.writestr("conversations-000.json", json.dumps([CLAUDE]))
        archive.writestr("export/conversations-001.json", json.dumps([CHATGPT]))
        archive.writestr("users.json", "[]")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("notes.md", "words")

    results = load()

    assert [getattr(item, "reason", "") or item.source for item in results] == ["claude:1f0c", "chatgpt:67ab", "binary"]


def test_secrets_are_masked_in_text_and_title(load: Load, tmp_path: Path) -> None:
    """Only the values are replaced."""
    key = "sk-" + "a1B2" * 6
    lines = ["-----BEGIN RSA PRIVATE KEY-----", "MIIabc", "-----END RSA PRIVATE KEY-----", "done"]
    text = f"My key is {key} and password: hunter22\n" + "\n".join(lines) + "\n" + "filler " * 600 + key
    record = {**CLAUDE, "name": f"About {key}", "chat_messages": [{"sender": "human", "text": text}]}
    (tmp_path / "conversations.json").write_text(json.dumps([record]))

    document = only_document(load())

    assert document.title == "About [an API key]"
    begin, _, *end = lines
    masked = "\n".join([begin, "[a private key]", *end])
    assert document.text.startswith(f"user: My key is [an API key] and password: [a password]\n{masked}\nfiller")
    assert key not in document.text and "MIIabc" not in document.text and "hunter22" not in document.text


DEEP = "[" * 100_000
HOSTILE = {
    "wrong types": [
        {"uuid": "a", "chat_messages": [None, 3, {"sender": 4, "text": ["x"], "content": {}, "created_at": []}]},
        {"id": "b", "mapping": {"x": {"message": 3, "parent": ["y"], "children": 9}}, "current_node": 7},
        {"uuid": "c", "chat_messages": "text"},
        "text",
        None,
    ],
    "circle": [
        {
            "id": "a",
            "current_node": "x",
            "mapping": {"x": {"parent": "y", "message": {}}, "y": {"parent": "x", "message": {}}},
        }
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_damaged_conversation_is_skipped_with_a_reason(load: Load, tmp_path: Path, name: str) -> None:
    """The others of its file are still read."""
    (tmp_path / "conversations.json").write_text(json.dumps([*HOSTILE[name], CLAUDE]))

    *bad, good = load()

    assert isinstance(good, Document) and good.source == "claude:1f0c"
    assert len(bad) == len(HOSTILE[name])
    assert all(isinstance(item, Skipped) and item.reason in ("empty", "bad record") for item in bad)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (json.dumps([CLAUDE])[:200], "broken"),
        (f'{{"mapping": {DEEP}', "broken"),
        ('{"mapping": 3}', ""),
        ('[{"chat_messages": 1, "text": "x"}]', ""),
    ],
    ids=["truncated", "deep", "other JSON", "other list"],
)
def test_a_file_of_another_shape_is_loaded_as_json(load: Load, tmp_path: Path, text: str, reason: str) -> None:
    """A key of an export alone makes no conversation."""
    (tmp_path / "conversations.json").write_text(text)

    (result,) = load()

    assert getattr(result, "reason", "") == reason
    assert isinstance(result, Skipped) or result.form != "conversation"


def test_a_log_that_is_being_written_is_read_up_to_its_last_line(load: Load, tmp_path: Path) -> None:
    """The incomplete line is reported; times and contents of wrong types are left out."""
    write_lines(
        tmp_path / "s.jsonl", [*CLAUDE_CODE[:3], {"type": "assistant", "sessionId": 3, "message": 4, "timestamp": {}}]
    )
    with (tmp_path / "s.jsonl").open("a") as stream:
        stream.write('{"type": "assistant", "sess')

    skipped, document = load()

    assert isinstance(skipped, Skipped) and (skipped.source, skipped.reason) == ("s.jsonl#L5", "bad record")
    assert isinstance(document, Document) and document.text == "user (2026-03-02 10:15): Which port?"


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"conversations.json": b'[{"mapping": ' + b" " * 3_000_000}, "too large"),
        ({"conversations.json": b"[1, 2]"}, "unknown shape"),
        ({"conversations.json": b"[["}, "broken"),
        ({f"{number}.txt": b"" for number in range(20_001)}, "too large"),
    ],
    ids=["bomb", "shape", "truncated", "members"],
)
def test_a_hostile_zip_file_is_skipped(load: Load, tmp_path: Path, members: dict[str, bytes], reason: str) -> None:
    """The sizes in its directory are checked before anything is unpacked."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)

    assert only_reason(load()) == reason


def test_a_truncated_zip_file_is_skipped(load: Load, tmp_path: Path) -> None:
    """A download that was cut short has no directory."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps([CLAUDE]))
    data = (tmp_path / "a.zip").read_bytes()
    (tmp_path / "a.zip").write_bytes(data[: len(data) // 2])

    assert only_reason(load()) == "binary"


def test_the_limits_of_load_apply_to_exports(load: Load, tmp_path: Path) -> None:
    """The number of records, and the expanded size of a zip file."""
    (tmp_path / "conversations.json").write_text(json.dumps([CLAUDE, CHATGPT]))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps([CLAUDE]))

    many = load(tmp_path / "conversations.json", max_records=1)

    assert [getattr(item, "reason", item.source) for item in many] == ["claude:1f0c", "too many records"]
    assert only_reason(load(tmp_path / "a.zip", max_expanded_bytes=100)) == "too large"
