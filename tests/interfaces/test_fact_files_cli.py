"""`weft fact import` and `weft fact export`: normal, killed, interrupted, concurrent."""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import datetime, timezone

import pytest

from weft.store.sqlite.database import SqliteDatabase

MEMORY = [
    {"type": "entity", "name": "Auth Service", "entityType": "service", "observations": ["runs on port 8443"]},
    {"type": "entity", "name": "空的实体", "entityType": "概念", "observations": []},
    {"type": "entity", "name": "Session Store", "entityType": "", "observations": []},
    {"type": "relation", "from": "Auth Service", "to": "Session Store", "relationType": "dependsOn"},
]


def write(path, records):
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


def lines(text):
    return sorted(text.splitlines())


def test_a_memory_file_is_imported_and_exported(weft, tmp_path):
    """The file becomes facts, also with `weft import`; the export equals the file."""
    path = write(tmp_path / "memory.jsonl", MEMORY)

    assert "3 entities, facts: 2 added" in weft("import", path).err
    assert "2 known" in weft("fact", "import", path).err
    assert lines(weft("fact", "export", "--format", "memory").out) == lines(path.read_text("utf-8"))
    assert weft("list", "--json").json == []
    assert "wrote" in weft("fact", "export", "facts.jsonl").err
    copied = weft("--db", "copy.db", "fact", "import", "facts.jsonl", "--json").json
    assert (copied["form"], copied["added"]) == ("facts", 2)
    assert weft("--db", "copy.db", "fact", "export").out == weft("fact", "export").out
    assert '"depends_on"' in weft("export", "--facts").out
    assert weft("check").code == 0


def test_a_memory_file_becomes_documents_on_request(weft, tmp_path):
    """Options that do not apply are explained."""
    path = write(tmp_path / "memory.jsonl", MEMORY)
    weft("import", path, "--as", "documents", "--name", "mine")

    assert len(weft("list", "--json").json) > 0
    assert weft("fact", "list", "--json").json == []
    assert "--as documents" in weft("import", path, "--name", "mine", expect=2).err
    assert "requires --format memory" in weft("import", path, "--format", "triples", "--as", "facts", expect=2).err
    assert "pass an ID" in weft("fact", "forget", expect=2).err
    assert "no entity" in weft("fact", "forget", "--entity", "nobody", expect=1).err


def test_notes_state_facts(weft, notes):
    """The receipt counts them, they are deleted with their file, and a setting disables them."""
    (notes / "store.md").write_text("# Session Store\n\n- Status: live\n- Owner: [[Platform Team]]\n")
    assert "2 facts" in weft("index", "notes").err
    assert "status: live" in weft("recall", "what is the Session Store?").out.lower()
    (notes / "store.md").unlink()
    weft("index", "notes", "--prune")
    assert weft("fact", "list", "--json").json == []
    (notes / "store.md").write_text("# Session Store\n\n- Status: live\n- Tier: 1\n")
    assert weft("index", "notes", "--json", WEFT_MEMORY_FROM_FILES="false").json["facts"] == 0


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\x01\x02" * 99,
        b'{"subject": "a\xff", "predicate": "b", "value": "c"}\n',
        b'{"subject":' + b"[" * 99_999,
    ],
    ids=["empty", "binary", "no UTF-8", "deep"],
)
def test_a_file_without_facts_is_explained(weft, tmp_path, data):
    """The error is one line and a hint, without a traceback; nothing is written."""
    (tmp_path / "x.jsonl").write_bytes(data)
    weft("fact", "add", "user", "likes", "tea")
    for verb in (("fact", "import"), ("fact", "add", "--from")):
        weft(*verb, "x.jsonl", expect=0 if not data and "add" in verb else 1)
    assert len(weft("fact", "list", "--json").json) == 1


# ── at any moment ───────────────────────────────────────────────────────────────────────────────


def start(folder, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "weft", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "WEFT_EMBEDDER": "hash"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def wait_for_writing(db, process):
    """Wait until the process holds the store against other writers, or is done."""
    while process.poll() is None:
        if db.exists():
            found = SqliteDatabase(str(db))
            is_free = found.store("default").facts.touch([], at=TIME)
            found.close()
            if not is_free:
                return
        time.sleep(0.005)


TIME = datetime(2026, 1, 1, tzinfo=timezone.utc)
MANY = [
    {"type": "entity", "name": f"Thing {n}", "entityType": "", "observations": [f"is number {n}"]} for n in range(1500)
]


@pytest.mark.parametrize(
    ("kill", "wait"),
    [
        pytest.param(signal.SIGKILL, 0.05, id="kill"),
        pytest.param(signal.SIGINT, 0.05, id="Ctrl-C"),
        *(pytest.param(signal.SIGKILL, wait, id=str(wait), marks=pytest.mark.slow) for wait in (0.0, 0.2)),
    ],
)
def test_a_killed_import_wrote_nothing_or_all(tmp_path, weft, kill, wait):
    """The store is consistent, and the next import completes the work."""
    db, path = tmp_path / "weft.db", write(tmp_path / "memory.jsonl", MANY)
    process = start(tmp_path, "fact", "import", path)
    wait_for_writing(db, process)
    time.sleep(wait)
    process.send_signal(kill)
    _, errors = process.communicate(timeout=60)

    assert "Traceback" not in errors
    database = SqliteDatabase(str(db))
    assert database.check() == []
    assert database.store("default").facts.count() in ((0, 0), (1500, 1500))
    database.close()
    found = weft("fact", "import", path, "--json").json
    assert sum(found[name] for name in ("added", "known")) == 1500


def test_two_imports_at_once_take_turns(tmp_path):
    """Both files are imported, each fact once."""
    halves = [write(tmp_path / f"{n}.jsonl", MANY[n * 200 : n * 200 + 400]) for n in range(2)]
    processes = [start(tmp_path, "fact", "import", half) for half in halves]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    database = SqliteDatabase(str(tmp_path / "weft.db"))

    assert database.store("default").facts.count() == (600, 600)
    assert database.check() == []
    database.close()
