"""Hostile documents sent to a server and to a worker: they are skipped, and other requests are not affected."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from serving import Running, add, wait

from weft.config.options import MEBIBYTE
from weft.engine.opening.open_engine import open_engine
from weft.engine.parsing import parser_process
from weft.engine.parsing.parser_pool import ParserPool
from weft.engine.worker_process import work
from weft.index.job_queue import make_job
from weft.records import Document
from weft.testing import FakeEmbedder

HOSTILE = (sys.executable, str(Path(__file__).parents[1] / "store" / "hostile_parser.py"))

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")


def send(client, *names):
    """Upload files of these names; return the job."""
    answer = client.post("/documents/upload", files=[("files", (name, b"Some text.")) for name in names])
    assert answer.status_code == 202
    return answer.json()


def children(pid):
    """Return the ids of the child processes of a process."""
    return [int(number) for number in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid):
    """Return whether a process runs; one that ended may wait for its new parent to notice."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_hostile_upload_is_skipped_while_other_namespaces_write_and_ask(tmp_path):
    """Its job goes on with the other files; a server that stops leaves no process."""
    go_on = tmp_path / "go-on"
    parsers = ParserPool(2, command=(*HOSTILE, str(go_on)))
    with Running(tmp_path / "weft.db", parsers=parsers, load__max_cpu_seconds=1) as server:
        evil, good = server.make_key("evil"), server.make_key("good")
        with server.client(evil) as attacker, server.client(good) as client:
            job = send(attacker, "a.md", "b.spin", "c.die", "d.hold")
            add(client)
            found = client.post("/query", json={"query": "Auth Service"}).json()
            assert client.get("/health").json()["status"] == "ok"
            state = attacker.get(f"/jobs/{job['id']}").json()["state"]
            go_on.touch()
            done = wait(attacker, job)[-1][1]
            pids = [process.pid for process in parsers._live]

    assert state == "running"  # the other namespace did not wait for it
    assert found["results"]
    assert (done["state"], done["receipt"]["added"]) == ("done", 2)
    assert done["receipt"]["skipped"] == {"broken": 1, "too slow": 1}
    assert [item["source"] for item in done["receipt"]["skipped_files"]] == ["upload:b.spin", "upload:c.die"]
    assert pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_stopping_does_not_wait_for_a_hostile_document(tmp_path):
    """After its grace period a job is interrupted in the middle of a document."""
    parsers = ParserPool(1, command=HOSTILE)
    server = Running(tmp_path / "weft.db", parsers=parsers, server__shutdown_seconds=1)
    with server, server.client() as client:
        job = send(client, "a.md", "b.hang")
        while client.get(f"/jobs/{job['id']}").json()["state"] != "running":
            time.sleep(0.01)
        state = server.app.state.weft.jobs
    assert state.find(job["id"], namespace="default").state == "interrupted"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_killed_server_leaves_no_parser_process(tmp_path):
    """Their standard input closes with it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "weft", "serve", "--port", "0"],
        cwd=tmp_path,
        env={**os.environ, "WEFT_EMBEDDER": "hash"},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        lines = [process.stderr.readline() for _ in range(2)]
        address = next(word for line in lines for word in line.split() if word.startswith("http"))
        with httpx.Client(base_url=address, timeout=60) as client:
            add(client)
        pids = children(process.pid)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert len(pids) == 1
    for _ in range(600):
        if not is_running(pids[0]):
            break
        time.sleep(0.05)
    assert not is_running(pids[0])


def test_a_worker_fails_the_job_of_a_hostile_document_at_once(tmp_path, monkeypatch):
    """The error names the limit; the other jobs are done."""
    monkeypatch.setattr(parser_process, "MAX_OUTPUT_BYTES", MEBIBYTE)
    with (
        open_engine(tmp_path / "weft.db", embedder=FakeEmbedder(), memory_from_files=False) as engine,
        ParserPool(1) as parsers,
    ):
        components = engine.indexing.components()
        documents = [
            Document(source="big", title="Big", text="", metadata={"big": "x" * MEBIBYTE}),
            Document(source="small", title="Small", text="The Auth Service uses OAuth."),
        ]
        engine.store.jobs.enqueue(
            [make_job(d, components.describe(d, None), run="r", recipe=components.recipe) for d in documents]
        )
        tally = work(engine, threading.Event(), until="empty", parsers=parsers)
        (failed,) = engine.store.jobs.failed(limit=10)

        assert (tally.done, tally.failed) == (1, 1)
        assert (failed.source, failed.attempts) == ("big", 1)
        assert failed.error == "too large: parsing produced more than 1 MiB"
        assert [document.source for document in engine.documents()] == ["small"]
