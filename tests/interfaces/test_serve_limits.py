"""Limits of a server: large, slow and many requests, concurrent writers, shutdown."""

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from serving import Running, add, refused, wait

from weft.records import Filter
from weft.store.sqlite.database import SqliteDatabase
from weft.testing import FakeEmbedder


class HaltingEmbedder(FakeEmbedder):
    """Stops at texts that hold a word, until it may go on; it tells when it has come there."""

    def __init__(self, word):
        super().__init__()
        self.word = word
        self.reached = threading.Event()
        self.go = threading.Event()

    def embed(self, texts, *, kind="document"):
        if any(self.word in text for text in texts):
            self.reached.set()
            assert self.go.wait(120)
        return super().embed(texts, kind=kind)


def post(client, text, source, **more):
    return client.post("/documents", json={"documents": [{"text": text, "source": source}], **more})


def follow(client, job, *, until, seconds=120):
    """Ask for a job until it has processed so many documents: it counts them after their transaction."""
    end = time.monotonic() + seconds
    while (running := client.get(f"/jobs/{job['id']}").json())["processed"] < until and time.monotonic() < end:
        time.sleep(0.01)
    return running


def raw(server, data):
    """Send bytes over a connection; return what comes back."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=120) as connection:
        connection.sendall(data)
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode()


def test_a_body_that_is_too_large_is_refused_however_it_comes(tmp_path):
    """By what its length says, and by what really comes where it does not say."""
    with Running(tmp_path / "weft.db", server__max_body_bytes=1000) as server, server.client() as client:
        body = json.dumps({"query": "x" * 2000}).encode()
        told = client.post("/query", content=body)
        untold = client.post("/query", content=iter([body[:600], body[600:]]))
        fine = client.post("/query", json={"query": "x" * 900})

    assert refused(told) == refused(untold) == (413, "too_large")
    assert fine.status_code == 200


def test_a_body_that_does_not_come_is_not_waited_for(tmp_path):
    """After the time limit the connection is free again."""
    head = b"POST /query HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
    with Running(tmp_path / "weft.db", server__seconds=1) as server:
        answer = raw(server, head + b'Content-Length: 500\r\n\r\n{"query": ')

    assert answer.startswith("HTTP/1.1 408")
    assert "slow_request" in answer


def test_more_requests_than_allowed_are_told_to_come_back(tmp_path):
    """Requests in progress are answered."""
    embedder = HaltingEmbedder("boulder")
    with (
        Running(tmp_path / "weft.db", embedder=embedder, server__max_requests=1) as server,
        server.client() as client,
        ThreadPoolExecutor(1) as pool,
    ):
        first = pool.submit(post, client, "a boulder", "boulder")
        assert embedder.reached.wait(120)
        second = client.get("/stats")
        embedder.go.set()

        assert refused(second) == (503, "busy")
        assert second.headers["retry-after"] == "1"
        assert first.result().status_code == 201


def test_a_question_that_takes_too_long_is_given_up(tmp_path):
    """With a status of its own; the server goes on answering others."""
    embedder = HaltingEmbedder("endless")
    with Running(tmp_path / "weft.db", embedder=embedder, server__seconds=1) as server, server.client() as client:
        add(client)
        slow = client.post("/query", json={"query": "an endless question"})
        for _ in range(60):  # on a busy machine, a second may be too short for any question
            fine = client.post("/query", json={"query": "which tokens are issued?"})
            if fine.status_code != 504:
                break
        embedder.go.set()

    assert refused(slow) == (504, "timeout")
    assert fine.status_code == 200


def test_a_write_is_done_or_refused_never_unclear(tmp_path):
    """A started write is completed beyond the limit; a write that cannot start is refused."""
    embedder = HaltingEmbedder("boulder")
    with (
        Running(tmp_path / "weft.db", embedder=embedder, server__seconds=1) as server,
        server.client() as client,
        ThreadPoolExecutor(1) as pool,
    ):
        first = pool.submit(post, client, "a boulder", "first")
        assert embedder.reached.wait(120)
        second = post(client, "a pebble", "second")
        embedder.go.set()

        assert refused(second) == (503, "busy")
        assert first.result().status_code == 201
        assert [d["source"] for d in client.get("/documents").json()["documents"]] == ["text:first"]


def test_what_waits_is_bounded_in_size(tmp_path):
    """Files on disk and texts in memory, of all jobs together; when they are done, there is room again."""
    embedder = HaltingEmbedder("boulder")
    text = {"documents": [{"text": "x " * 4000, "source": "text"}], "background": True}
    with (
        Running(tmp_path / "weft.db", embedder=embedder, server__max_upload_bytes=10_000) as server,
        server.client() as client,
    ):

        def upload(data):
            return client.post("/documents/upload", files=[("files", ("a.md", data))])

        first = upload(b"a boulder").json()
        assert embedder.reached.wait(120)
        uploads = [upload(b"x " * 4000).status_code for _ in range(3)]
        texts = [client.post("/documents", json=text) for _ in range(4)]
        small = upload(b"a pebble")
        embedder.go.set()
        for job in (first, small.json()):
            assert wait(client, job)[-1][1]["state"] == "done"

        assert uploads == [202, 202, 202]
        assert [answer.status_code for answer in texts] == [202, 202, 202, 503]
        assert refused(texts[-1]) == (503, "busy")
        assert upload(b"x " * 4000).status_code == 202


def test_no_write_of_many_at_once_is_lost(tmp_path):
    """Documents and facts of sixteen clients, all of them there, and the store is sound."""
    with Running(tmp_path / "weft.db") as server:

        def work(number):
            with server.client() as client:
                for turn in range(4):
                    assert post(client, f"Worker {number} wrote note {turn}.", f"{number}-{turn}").status_code == 201
                    fact = {"subject": f"worker {number}", "predicate": "wrote", "value": f"note {turn}"}
                    assert client.post("/facts", json={"facts": [fact]}).status_code == 201
                    assert client.post("/query", json={"query": f"worker {number}"}).status_code == 200

        with ThreadPoolExecutor(16) as pool:
            list(pool.map(work, range(16)))
        with server.client() as client:
            stats = client.get("/stats").json()
        assert (stats["documents"], stats["facts"]) == (64, 64)
        assert server.engines.database.check() == []


def test_others_write_while_a_job_runs(tmp_path):
    """A job is cut into small transactions; between two of them whoever waits has a turn."""
    embedder = HaltingEmbedder("boulder")
    many = [{"text": f"stone {n}" if n != 20 else "a boulder", "source": f"many:{n:03}"} for n in range(40)]
    with (
        Running(tmp_path / "weft.db", embedder=embedder, server__max_inline_documents=8) as server,
        server.client() as client,
        ThreadPoolExecutor(1) as pool,
    ):
        job = client.post("/documents", json={"documents": many}).json()
        assert embedder.reached.wait(120)
        between = pool.submit(post, client, "meanwhile", "meanwhile")
        running = follow(client, job, until=17)  # the first document, and two groups
        embedder.go.set()

        assert (running["state"], running["processed"]) == ("running", 17)
        assert between.result().status_code == 201
        assert wait(client, job)[-1][1]["receipt"]["added"] == 40


def test_a_job_that_fails_says_why(tmp_path):
    """Earlier writes of the job are kept."""
    embedder = FakeEmbedder()
    with Running(tmp_path / "weft.db", embedder=embedder) as server, server.client() as client:
        add(client)
        embedder.failing = "the model is away"
        job = wait(client, post(client, "more", "more", background=True).json())[-1][1]
        answer = post(client, "more", "more")

    assert (job["state"], job["error"]["code"]) == ("failed", "model_unavailable")
    assert refused(answer) == (503, "model_unavailable")


def stop_during(tmp_path, act, *, until, **settings):
    """Stop a server while `act(client)` has it write, which goes on `until(jobs)`; return answer and sources."""
    embedder = HaltingEmbedder("boulder")
    server = Running(tmp_path / "weft.db", embedder=embedder, **settings)
    with server, server.client() as client, ThreadPoolExecutor(2) as pool:
        answer = pool.submit(act, client)
        assert embedder.reached.wait(120)
        stopped = pool.submit(server.stop)
        while not until(server.app.state.weft.jobs):
            assert not stopped.done()
            threading.Event().wait(0.01)
        embedder.go.set()
        stopped.result(60)
        got = answer.result()
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    problems = database.check()
    sources = [document.source for document in database.store("default").find_documents(Filter())]
    database.close()
    assert problems == []
    return got, sources


def asked_to_stop(jobs):
    return jobs.closing.is_set()


def test_a_write_under_way_is_finished_when_the_server_stops(tmp_path):
    """The client is answered, and what it was told is true."""
    answer, sources = stop_during(tmp_path, lambda client: post(client, "a boulder", "boulder"), until=asked_to_stop)

    assert answer.status_code == 201
    assert sources == ["text:boulder"]


def test_a_job_goes_on_to_its_end_when_the_server_stops(tmp_path):
    """Event streams end first; the job has `shutdown_seconds` to finish."""
    many = [{"text": "a boulder" if n == 0 else f"stone {n}", "source": f"many:{n:02}"} for n in range(40)]

    def act(client):
        return wait(client, client.post("/documents", json={"documents": many}).json())

    events, sources = stop_during(tmp_path, act, until=asked_to_stop)

    assert [name for name, _ in events] == ["progress"] * len(events)
    assert len(sources) == 40


def test_a_job_that_has_no_more_time_stops_after_a_transaction(tmp_path):
    """Its transactions are complete; the remaining documents are not started."""
    many = [{"text": "a boulder" if n == 0 else f"stone {n}", "source": f"many:{n:02}"} for n in range(40)]

    def act(client):
        return client.post("/documents", json={"documents": many})

    _, sources = stop_during(tmp_path, act, until=lambda jobs: jobs.is_stopping, server__shutdown_seconds=1)

    assert sources == [f"many:{n:02}" for n in range(16)]
