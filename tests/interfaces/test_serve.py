"""Responses of every HTTP route."""

import json
from datetime import datetime
from pathlib import Path

import jsonschema
import pytest
from serving import NOTE, OTHER, Running, add, refused, wait

from weft import Engine
from weft.load.conversations.turns import Conversation, Message, to_document
from weft.records import Usage, to_microseconds
from weft.testing import FakeEmbedder

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "result.schema.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Running(tmp_path_factory.mktemp("serve") / "weft.db") as running:
        with running.client() as client:
            add(client)
            add(client, OTHER, "oauth")
        yield running


@pytest.fixture
def client(server):
    with server.client() as made:
        yield made


def test_health_and_readiness_are_told_without_a_key(client):
    """They say nothing of what is stored."""
    assert client.get("/health").json()["status"] == "ok"
    assert client.get("/ready").json() == {"status": "ready"}
    for path in ("/health", "/ready"):  # as load balancers ask
        asked = client.head(path)
        assert (asked.status_code, asked.content) == (200, b"")


def test_a_server_that_stops_or_cannot_read_its_store_is_not_ready(server, client, monkeypatch):
    """It is there all the same."""
    from weft.engine.api_keys import Keyring
    from weft.errors import StoreUnavailable

    def fail(self):
        raise StoreUnavailable("the disk is gone")

    closing = server.app.state.weft.jobs.closing
    closing.set()
    stopping = client.get("/ready")
    closing.clear()
    with monkeypatch.context() as broken:
        broken.setattr(Keyring, "is_empty", fail)
        unread, health = client.get("/ready"), client.get("/health")

    assert refused(stopping) == (503, "stopping")
    assert refused(unread) == (503, "store_unavailable")
    assert health.status_code == client.get("/ready").status_code == 200


@pytest.mark.parametrize("path", ["/query", "/search"])
def test_a_question_gets_the_answer_of_the_command_line(client, path):
    """The document of `weft query --json`, under the published schema."""
    answer = client.post(path, json={"query": "which tokens does the auth service issue?", "top_k": 3}).json()

    jsonschema.validate(answer, SCHEMA)
    assert answer["status"] == "ok"
    assert answer["results"][0]["citation"].startswith("text:auth:")
    assert "JWT" in answer["results"][0]["chunk"]["text"]


def test_a_question_may_be_narrowed_and_ask_for_facts_and_context(client):
    """Options are those of a call of the engine."""
    body = {"query": "tokens", "source_prefix": "text:oauth", "method": "keyword", "facts": True, "gate": False}
    answer = client.post("/query", json={**body, "context": "evidence", "budget": 200}).json()

    assert {result["document"]["source"] for result in answer["results"]} == {"text:oauth"}
    assert answer["method"] == "keyword"
    assert 0 < answer["context"]["tokens"] <= 200
    assert answer["facts"]["status"] == "no_match"


def test_a_question_about_nothing_known_is_not_an_error(client):
    """The status says so."""
    answer = client.post("/query", json={"query": "zebra migration in the serengeti"})

    assert (answer.status_code, answer.json()["status"], answer.json()["results"]) == (200, "no_match", [])


def test_documents_are_added_listed_read_changed_and_deleted(client):
    """The life of a document over HTTP."""
    document = {"text": "# Chronicle\n\nOnce.", "source": "life/one", "metadata": {"kind": "tale", "tags": ["a", "b"]}}
    added = client.post("/documents", json={"documents": [document]})
    found = client.get("/documents", params={"prefix": "text:life"}).json()["documents"]
    whole = client.get(f"/documents/{found[0]['id']}").json()

    assert (added.status_code, added.json()["added"]) == (201, 1)
    assert [(d["source"], d["title"], d["metadata"]) for d in found] == [
        ("text:life/one", "Chronicle", {"kind": "tale", "tags": ["a", "b"]})
    ]
    assert "Once." in whole["chunks"][0]["text"]
    chunk = client.get(f"/documents/{whole['chunks'][0]['id']}").json()
    assert chunk["document"] == whole["document"]
    asked = {"query": "once", "metadata": {"kind": "tale"}, "gate": False}
    assert len(client.post("/query", json=asked).json()["results"]) == 1
    assert client.post("/documents", json={"documents": [{**document, "text": "Twice."}]}).json()["changed"] == 1
    assert client.delete(f"/documents/{found[0]['id']}").json() == {"deleted": 1}
    assert client.get(f"/documents/{found[0]['id']}").status_code == 404
    assert client.delete("/documents", params={"source": "text:life"}).status_code == 404


def test_the_graph_takes_part_as_a_question_says(client):
    """Field by field, for this question alone; a field it does not have, or a value beyond its bounds, is refused."""
    asked = {"query": "what if OAuth Provider changes", "method": "mix"}
    plain = client.post("/query", json=asked).json()
    without = client.post("/query", json={**asked, "graph": {"enabled": False}}).json()
    other = client.post("/query", json={**asked, "graph": {"algorithm": "expand", "max_hops": 2}}).json()

    hybrid = client.post("/query", json={**asked, "use_graph": False}).json()
    weights = {"fusion": "weighted", "text_weight": 0.2, "graph_weight": 0.9}
    aliases = {"fusion": "weighted", "alpha": 0.2, "beta": 0.9}
    ranked = [client.post("/query", json={**asked, "graph": graph}).json()["results"] for graph in (weights, aliases)]

    assert ranked[0] == ranked[1]
    assert (plain["method"], hybrid["method"], hybrid["graph_context"]) == ("mix", "hybrid", None)
    assert (without["method"], without["graph_context"]) == ("hybrid", None)
    assert (plain["graph_context"]["skipped"], other["graph_context"]["skipped"]) == (None, None)
    assert client.post("/query", json=asked).json()["graph_context"] == plain["graph_context"]
    for wrong in ({"max_hops": 4}, {"max_frontier": 1_000_000}, {"algorithm": "fly"}):
        assert client.post("/query", json={**asked, "graph": wrong}).status_code == 422


def test_documents_come_in_pages(client):
    """`next` leads on until there is no more."""
    client.post("/documents", json={"documents": [{"text": f"page {n}", "source": f"pages:{n}"} for n in range(5)]})
    seen, after = [], ""
    while after is not None:
        page = client.get("/documents", params={"prefix": "pages:", "after": after, "limit": 2}).json()
        seen += [document["source"] for document in page["documents"]]
        after = page["next"]

    assert seen == [f"pages:{n}" for n in range(5)]
    assert client.delete("/documents", params={"source": "pages:3"}).json() == {"deleted": 1}


def test_many_documents_become_a_job(client):
    """It tells its progress, and what it did in the end; one bad document refuses all before anything is written."""
    many = [{"text": f"Item {n} of the long list.", "source": f"many:{n}"} for n in range(40)]
    bad = client.post("/documents", json={"documents": [*many, {"text": " \n", "source": "empty"}]})
    answer = client.post("/documents", json={"documents": many})
    events = wait(client, answer.json())

    assert refused(bad) == (422, "invalid_input")
    assert (answer.status_code, answer.headers["location"]) == (202, f"/jobs/{answer.json()['id']}")
    assert [name for name, _ in events][-1] == "end"
    assert {name for name, _ in events[:-1]} == {"progress"}
    assert [job["processed"] for _, job in events] == sorted(job["processed"] for _, job in events)
    job = client.get(answer.headers["location"]).json()
    assert (job["state"], job["total"], job["processed"], job["receipt"]["added"]) == ("done", 40, 40, 40)
    assert job == events[-1][1]


def test_a_single_document_may_be_a_job_too(client):
    """The client can request a job."""
    before = client.get("/stats").json()["documents"]
    given = {"documents": [{"text": "later", "source": "later"}], "background": True}
    answer = client.post("/documents", json=given)

    assert answer.status_code == 202
    assert wait(client, answer.json())[-1][1]["receipt"]["added"] == 1
    assert client.get("/stats").json()["documents"] == before + 1


class Counting(FakeEmbedder):
    """An embedder that counts its requests, as one behind an endpoint does."""

    usage = Usage()

    def embed(self, texts, *, kind="document"):
        self.usage += Usage(calls=1, tokens_in=len(texts), cost=0.5)
        return super().embed(texts, kind=kind)

    def estimate_usage(self, texts):
        return Usage(calls=1)


def test_a_receipt_tells_what_embedding_cost(tmp_path):
    """At once and as a job, of all its transactions."""
    many = [{"source": f"n/{number}", "text": f"Note {number}."} for number in range(40)]
    with (
        Running(tmp_path / "weft.db", embedder=Counting(), graph__extractor="none") as server,
        server.client() as client,
    ):
        one = add(client)["embedding"]
        job = wait(client, client.post("/documents", json={"documents": many}).json())[-1][1]

    assert (one["calls"], one["tokens"], one["cost"], one["tokens_estimated"]) == (1, 1, 0.5, False)
    asked = job["receipt"]["embedding"]
    assert asked["calls"] > 1 and (asked["tokens"], asked["cost"]) == (40, 0.5 * asked["calls"])


def test_the_graph_is_walked(client):
    """Entities, what is around them, and how they are connected."""
    top = client.get("/graph/entities", params={"limit": 5}).json()["entities"]
    shown = client.get("/graph/entity", params={"name": "auth service"}).json()
    near = client.get("/graph/neighbours", params={"name": "Auth Service", "hops": 2}).json()
    path = client.get("/graph/path", params={"source": "Auth Service", "target": "oauth provider"}).json()

    assert {"Auth Service", "OAuth Provider"} <= {entity["name"] for entity in top}
    assert shown["entity"]["name"] == "Auth Service"
    assert "OAuth Provider" in {step["target"] for step in shown["relations"]}
    assert shown["mentions"][0]["citation"].startswith("text:")
    assert near["neighbours"][0]["entity"]["name"] == "OAuth Provider"
    assert near["neighbours"][0]["path"][0]["source"] == "Auth Service"
    assert near["omitted"] == 0
    assert path["found"]
    assert path["path"][-1]["target"] == "OAuth Provider"
    assert client.get("/graph/entity", params={"name": "nobody at all"}).status_code == 404


def test_the_whole_graph_comes_in_columns(client):
    """Relations refer to entities by position; a symmetric relation has no direction and is listed once."""
    whole = client.get("/graph/overview").json()
    names, kinds, relations = whole["entities"]["name"], whole["relation_types"], whole["relations"]
    stated = {
        (names[source], kinds[type]["name"], names[target])
        for source, type, target in zip(relations["source"], relations["type"], relations["target"], strict=True)
    }

    assert ("Auth Service", "depends_on", "OAuth Provider") in stated
    assert {len(column) for column in whole["entities"].values()} == {len(names)}
    assert whole["entities"]["spread"] == sorted(whole["entities"]["spread"], reverse=True)
    assert {whole["folders"][folder] for folder in whole["entities"]["folder"]} == set(whole["folders"])
    assert {kind["name"] for kind in kinds if not kind["directed"]} <= {"co_occurs_with", "related_to"}
    assert all((b, kind, a) not in stated for a, kind, b in stated if kind == "co_occurs_with")
    assert relations["weight"] == sorted(relations["weight"], reverse=True)
    assert whole["total_entities"] >= len(names)
    assert len(client.get("/graph/overview", params={"limit": 1}).json()["entities"]["name"]) == 1


def test_facts_are_stated_recalled_confirmed_rejected_and_forgotten(client):
    """The life of a fact over HTTP."""
    stated = {"subject": "user", "predicate": "drinks", "value": "green tea"}
    link = {
        "subject": "user",
        "predicate": "works with",
        "object": "Auth Service",
        "valid_from": "2026-01-01T00:00:00Z",
    }
    done = client.post("/facts", json={"facts": [stated, link, {**stated, "value": "password: hunter2!"}]})
    first, second = (item["fact"]["id"] for item in done.json()["facts"][:2])
    recalled = client.post("/facts/recall", json={"query": "what does the user drink?"}).json()

    assert [item["outcome"] for item in done.json()["facts"]] == ["added", "added", "refused"]
    assert "green tea" in recalled["context"]["text"]
    assert recalled["facts"][0]["value"] == "green tea"
    assert client.post(f"/facts/{first}/confirm").json()["status"] == "confirmed"
    assert client.post(f"/facts/{second}/reject", json={"reason": "no more"}).json()["status"] == "rejected"
    assert client.get(f"/facts/{second}").json()["history"][-1]["detail"] == "no more"
    assert client.get(f"/facts/{second}").json()["fact"]["object"] == "Auth Service"
    assert {fact["id"] for fact in client.get("/facts", params={"subject": "user"}).json()["facts"]} == {first, second}
    assert len(client.get("/facts", params={"limit": 1}).json()["facts"]) == 1
    assert client.delete(f"/facts/{first}").json() == {"forgotten": 1}
    assert client.get(f"/facts/{first}").status_code == 404


def test_related_documents_are_listed_with_reasons(client):
    """By id or source of a document; an unknown one is 404."""
    source = client.get("/documents").json()["documents"][0]["source"]
    found = client.get("/related", params={"id": source, "limit": 5}).json()["related"]

    assert found and all(item["relations"] or item["shared"] or item["cosine"] is not None for item in found)
    assert source not in [item["document"]["source"] for item in found]
    assert refused(client.get("/related", params={"id": "nothing.md"})) == (404, "not_found")


@pytest.mark.parametrize(
    "given, meant",
    [
        ("2026-01-31", "2026-01-31T00:00:00+00:00"),
        ("2026-01-31T12:00:00", "2026-01-31T12:00:00+00:00"),
        ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00+00:00"),
        ("2026-01-31T12:00:00+02:00", "2026-01-31T10:00:00+00:00"),
    ],
)
def test_a_date_is_taken_as_on_the_command_line(client, given, meant):
    """Midnight where there is no time, UTC where there is no zone."""
    fact = {"subject": "user", "predicate": "moved to", "value": f"Basel {given}", "valid_from": given}
    done = client.post("/facts", json={"facts": [fact]}).json()["facts"][0]["fact"]
    recalled = client.post("/facts/recall", json={"query": "where did the user move to?", "as_of": given}).json()
    client.delete(f"/facts/{done['id']}")

    assert done["valid_from"] == meant
    assert recalled["at"] == meant
    assert done["id"] in [known["id"] for known in recalled["facts"]]


@pytest.mark.parametrize(
    "given",
    ["31.01.2026", "soon", "", "501", "-1.5", "1.5", 501, 1.5, True, "0001-01-01T00:00:00+02:00", ["2026-01-31"]],
)
def test_what_is_no_date_is_refused(client, given):
    """With the name of the field."""
    answer = client.post("/facts/recall", json={"query": "x", "as_of": given})

    assert answer.status_code == 422
    assert "as_of" in answer.text


def test_what_the_namespace_holds_is_told(client):
    """Counts, models, and where confidence comes from; no path of the machine."""
    stats = client.get("/stats").json()

    assert stats["namespace"] == "default"
    assert stats["documents"] >= 2
    assert stats["entities"] >= 2
    assert stats["models"][0]["name"] == "fake/words"
    assert "weft.db" not in json.dumps(stats)


def test_prometheus_reads_the_counts(client):
    """Requests by route and status, times, and what is there now."""
    client.get("/graph/entity", params={"name": "nobody at all"})
    answer = client.get("/metrics")

    assert answer.headers["content-type"].startswith("text/plain")
    assert 'weft_requests_total{method="GET",route="/graph/entity",status="404"}' in answer.text
    assert 'weft_request_seconds_bucket{route="/graph/entity",le="+Inf"}' in answer.text
    assert "weft_jobs_under_way 0" in answer.text


def test_every_answer_has_a_request_id(client):
    """A valid id of the client is used."""
    own = client.get("/health", headers={"X-Request-ID": "trace-1.2"})
    bad = client.get("/documents/none", headers={"X-Request-ID": "a b\tc" + "x" * 100})

    assert own.headers["x-request-id"] == "trace-1.2"
    assert len(bad.headers["x-request-id"]) == 32
    assert bad.json()["request_id"] == bad.headers["x-request-id"]
    assert bad.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "method, path, body, status, code",
    [
        ("GET", "/nowhere", None, 404, "not_found"),
        ("PUT", "/query", None, 405, "method_not_allowed"),
        ("POST", "/query", {}, 422, "invalid_request"),
        ("POST", "/query", {"query": "x", "topk": 1}, 422, "invalid_request"),
        ("POST", "/query", {"query": "x", "vector_weight": 0, "text_weight": 0}, 422, "invalid_option"),
        (
            "POST",
            "/facts",
            {"facts": [{"subject": "a", "predicate": "b", "value": "c", "object": "d"}]},
            422,
            "invalid_input",
        ),
        (
            "POST",
            "/facts",
            {"facts": [{"subject": "a", "predicate": "b", "value": "c", "supersedes": "none"}]},
            404,
            "not_found",
        ),
        ("GET", "/jobs/none", None, 404, "not_found"),
        ("GET", "/jobs/none/events", None, 404, "not_found"),
        ("DELETE", "/documents/none", None, 404, "not_found"),
        ("POST", "/facts/none/confirm", None, 404, "not_found"),
    ],
)
def test_every_error_has_one_shape(client, method, path, body, status, code):
    """Code and hint for programs and people."""
    assert refused(client.request(method, path, json=body)) == (status, code)


def test_what_nobody_foresaw_is_an_error_with_an_id_and_nothing_more(client, monkeypatch, caplog):
    """The log has the rest."""
    from weft.engine.memory import Memory

    def fail(*arguments, **options):
        raise ZeroDivisionError("a private detail")

    monkeypatch.setattr(Memory, "page", fail)
    answer = client.get("/facts")

    assert refused(answer) == (500, "failed")
    assert "private" not in answer.text
    assert answer.headers["x-request-id"] in caplog.text
    assert "a private detail" in caplog.text


def test_a_store_that_fails_keeps_its_path_to_itself(client, monkeypatch):
    """The path of the file is not in the response."""
    from weft.engine.memory import Memory
    from weft.errors import StoreUnavailable

    def fail(*arguments, **options):
        raise StoreUnavailable("'/srv/private/weft.db' is busy", hint="try again")

    monkeypatch.setattr(Memory, "page", fail)
    answer = client.get("/facts")

    assert refused(answer) == (503, "store_unavailable")
    assert "private" not in answer.text


def test_half_characters_are_refused(client):
    """Text that no encoding holds is not a question, and the error can be written down."""
    answer = client.post("/query", content=b'{"query": "\\ud800 x"}', headers={"Content-Type": "application/json"})

    assert refused(answer) == (422, "invalid_request")


def test_the_schema_names_every_route(client, server):
    """OpenAPI 3.1, and a page that shows it without scripts or anything from elsewhere."""
    schema = client.get("/openapi.json").json()
    page = client.get("/docs")

    assert schema["openapi"].startswith("3.1")
    assert {"/query", "/search", "/documents", "/documents/upload", "/jobs/{id}/events"} <= set(schema["paths"])
    assert all(path in page.text for path in schema["paths"])
    assert "<script" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "//" not in page.text.replace("</", "<")


def test_an_answer_over_http_is_that_of_the_engine(client, server):
    """The door adds and takes away nothing."""
    from weft.context.serialise import result_to_dict

    engine = server.engines.engine("default")
    question = "what does the auth service depend on?"
    direct, asked = result_to_dict(engine.query(question)), client.post("/query", json={"query": question}).json()

    assert {**direct, "timings_ms": 0} == {**asked, "timings_ms": 0}
    assert NOTE.split("\n")[2] in {result["chunk"]["text"] for result in asked["results"]}


@pytest.mark.parametrize("selection", [{"conversation": "text:lamp"}, {"matching": "QUIBBLETHORN"}])
def test_a_conversation_is_listed_and_then_erased_without_a_trace(tmp_path, selection):
    """A preview deletes nothing; facts are erased by a text."""
    chat = {"text": "user: Who is Quibblethorn?\n", "source": "lamp", "metadata": {"kind": "conversation"}}
    kept = {"text": "The lamp burns oil.", "source": "oil"}
    with (
        Running(tmp_path / "weft.db", models__cache_dir=str(tmp_path / "cache")) as running,
        running.client() as client,
    ):
        client.post("/documents", json={"documents": [chat, kept]})
        preview = client.post("/forget", json=selection).json()
        again = client.post("/forget", json={**selection, "erase": True}).json()
        after = client.post("/forget", json={**selection, "erase": True}).json()
        left = [document["source"] for document in client.get("/documents").json()["documents"]]

    assert [document["source"] for document in preview["documents"]] == ["text:lamp"]
    assert (preview["deleted"], again["deleted"], again["compacted"], after["deleted"]) == (False, True, True, False)
    assert again["documents"] == preview["documents"]
    assert left == ["text:oil"]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files and not [path for path in files if b"quibblethorn" in path.read_bytes().lower()]


def test_an_erasure_without_a_selection_is_refused(client):
    """It would match everything."""
    assert refused(client.post("/forget", json={"erase": True})) == (422, "invalid_input")
    assert refused(client.post("/forget", json={"matching": " ", "erase": True})) == (422, "invalid_request")


def test_an_erasure_says_that_another_process_reads_the_file(tmp_path, monkeypatch):
    """The rows are deleted then; only old pages remain."""
    from weft.errors import StoreUnavailable
    from weft.store.sqlite.database import SqliteDatabase

    def fail(self):
        raise StoreUnavailable("another process is reading it")

    with Running(tmp_path / "weft.db") as running, running.client() as client:
        add(client)
        monkeypatch.setattr(SqliteDatabase, "compact", fail)
        answer = client.post("/forget", json={"matching": "JWT tokens", "erase": True}).json()
        left = client.get("/documents").json()["documents"]

    assert (answer["deleted"], answer["compacted"], left) == (True, False, [])


def test_the_timeline_lists_exchanges_by_day(tmp_path):
    """By name of the time, and by its limits; an unknown time is refused."""
    messages = [
        Message(role=role, text=f"{role} of the {day}nd", time=to_microseconds(datetime(2026, 3, day, 10, 15)))
        for day in (2, 22)
        for role in ("user", "assistant")
    ]
    chat = to_document(messages, Conversation(source="claude:1", host="claude", id="1", title="Lights"))
    with Running(tmp_path / "weft.db") as running, running.client() as client:
        with Engine(running.engines.settings, embedder=FakeEmbedder()) as engine:
            engine.add([chat])
        found, later = (
            client.get("/timeline", params=given).json() for given in ({"when": "2026-03-02"}, {"after": "2026-03-03"})
        )
        unknown, empty = (
            client.get("/timeline", params=given).status_code for given in ({"when": "sometime"}, {"limit": 0})
        )
    (entry,) = found["days"][0].pop("entries")

    assert found == {"days": [{"day": "2026-03-02"}], "truncated": False}
    assert entry.pop("chunk_id")
    assert entry == {
        "time": "2026-03-02T10:15:00+00:00",
        "title": "Lights",
        "source": "claude:1",
        "citation": "claude:1:t1-4",
        "text": "user of the 2nd",
    }
    assert [day["day"] for day in later["days"]] == ["2026-03-22"]
    assert (unknown, empty) == (422, 422)
