"""Access control: keys, namespaces, hosts and origins."""

import json

import pytest
from serving import NOTE, OTHER, Running, add, refused, wait

from weft.engine.api_keys import Keyring
from weft.load.conversations.turns import Conversation, Message, to_document
from weft.server.assets import ASSETS
from weft.server.auth import PUBLIC

SECRET = "Zanzibar ledger"
"""Stands in everything that is stored in namespace A, and nowhere else."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Running(tmp_path_factory.mktemp("keys") / "weft.db") as running:
        yield running


@pytest.fixture(scope="module")
def choosy(tmp_path_factory):
    """A server that knows one more name and one more origin."""
    known = {"server__allowed_hosts": "weft.example.org", "server__allowed_origins": "https://notes.example.org"}
    with Running(tmp_path_factory.mktemp("choosy") / "weft.db", **known) as running:
        yield running


@pytest.fixture(scope="module")
def kept(server):
    """Ids of the content of namespace A, and keys for A and B."""
    keys = {"a": server.make_key("a"), "b": server.make_key("b"), "a_reads": server.make_key("a", access="read")}
    with server.client(keys["a"]) as client:
        text = f"# {SECRET}\n\nThe {SECRET} depends on the Vault Room. [[Vault Room]] keeps the {SECRET}.\n"
        add(client, text, f"{SECRET} file")
        add(client, "# Vault Room\n\nHolds it.\n", "vault")
        add(client, f"# Shelf\n\nSee [[{SECRET} map]].\n", "shelf.md")
        fact = {"subject": "user", "predicate": "owns", "value": SECRET}
        found = {"fact": client.post("/facts", json={"facts": [fact]}).json()["facts"][0]["fact"]["id"]}
        found["document"] = client.get("/documents").json()["documents"][0]["id"]
        given = {"documents": [{"text": f"{SECRET} again", "source": "again"}], "background": True}
        job = client.post("/documents", json=given).json()
        wait(client, job)
    with server.client(keys["b"]) as client:
        add(client, "# Own Things\n\nThe Own Things belong to B.\n", "own")
    talk = Conversation(source="claude:talk", host="claude", id="talk", title="Talk")
    said = [Message(role="user", text=f"Where is the {SECRET}?", time=1_760_000_000_000_000)]
    server.engines.engine("a").add([to_document(said, talk)])
    return {**keys, **found, "job": job["id"]}


def requests(kept):
    """Requests of each route for the content of namespace A: arguments, and True if the route writes."""
    document, fact, job = kept["document"], kept["fact"], kept["job"]
    name = {"name": SECRET}
    question = {"json": {"query": f"{SECRET} vault", "gate": False, "facts": True, "context": "evidence+graph"}}
    return {
        ("POST", "/query"): ("/query", question, False),
        ("POST", "/search"): ("/search", question, False),
        ("POST", "/answer"): ("/answer", {"json": {"query": f"{SECRET} vault", "gate": False}}, False),
        ("GET", "/timeline"): ("/timeline", {}, False),
        ("GET", "/documents"): ("/documents", {}, False),
        ("GET", "/documents/{id}"): (f"/documents/{document}", {}, False),
        ("POST", "/documents"): ("/documents", {"json": {"documents": [{"text": "x", "source": "x"}]}}, True),
        ("GET", "/related"): ("/related", {"params": {"id": document}}, False),
        ("POST", "/documents/upload"): ("/documents/upload", {"files": [("files", ("u.md", b"# Up"))]}, True),
        ("DELETE", "/documents/{id}"): (f"/documents/{document}", {}, True),
        ("DELETE", "/documents"): ("/documents", {"params": {"source": f"text:{SECRET} file"}}, True),
        ("GET", "/graph/entities"): ("/graph/entities", {"params": {"limit": 1000}}, False),
        ("GET", "/graph/entity"): ("/graph/entity", {"params": name}, False),
        ("GET", "/graph/neighbours"): ("/graph/neighbours", {"params": {**name, "hops": 3}}, False),
        ("GET", "/graph/overview"): ("/graph/overview", {}, False),
        ("GET", "/graph/path"): ("/graph/path", {"params": {"source": SECRET, "target": "Vault Room"}}, False),
        ("GET", "/facts"): ("/facts", {}, False),
        ("POST", "/facts"): (
            "/facts",
            {"json": {"facts": [{"subject": "user", "predicate": "is", "value": "b"}]}},
            True,
        ),
        ("POST", "/facts/recall"): ("/facts/recall", {"json": {"query": f"who owns the {SECRET}?"}}, False),
        ("GET", "/facts/{id}"): (f"/facts/{fact}", {}, False),
        ("POST", "/facts/{id}/confirm"): (f"/facts/{fact}/confirm", {}, True),
        ("POST", "/facts/{id}/reject"): (f"/facts/{fact}/reject", {}, True),
        ("DELETE", "/facts/{id}"): (f"/facts/{fact}", {}, True),
        ("POST", "/forget"): ("/forget", {"json": {"matching": SECRET, "erase": True}}, True),
        ("GET", "/jobs/{id}"): (f"/jobs/{job}", {}, False),
        ("GET", "/jobs/{id}/events"): (f"/jobs/{job}/events", {}, False),
        ("GET", "/stats"): ("/stats", {}, False),
        ("GET", "/links/broken"): ("/links/broken", {}, False),
        ("GET", "/key"): ("/key", {}, False),
        ("GET", "/metrics"): ("/metrics", {}, False),
    }


ADMIN = {
    ("GET", "/keys"): ("/keys", {}),
    ("POST", "/keys"): ("/keys", {"json": {"name": "new"}}),
    ("DELETE", "/keys/{id}"): ("/keys/0123456789ab", {}),
    ("POST", "/graph/edits"): ("/graph/edits", {"json": {"kind": "delete", "name": "x"}}),
}
"""Requests of each route that needs an admin key."""


EDITOR = {("POST", "/documents/{id}/open")}
"""Off by default; `test_open.py` asks it for documents of others."""


def routes(found):
    """Yield every route of an application as method and path, also those in routers and mounts."""
    for route in found:
        inner = getattr(route, "original_router", route)
        if hasattr(inner, "routes"):
            yield from routes(inner.routes)
        else:
            yield from ((method, route.path) for method in route.methods)


def held(server, namespace):
    """Return all that a namespace holds, as text."""
    engine = server.engines.engine(namespace)
    return (
        sorted((d.source, d.content_hash) for d in engine.documents()),
        sorted((f.id, f.status, f.value) for f in engine.memory.list()),
    )


def test_no_route_is_forgotten(server, kept):
    """Every route is either public or asked below for what belongs to somebody else."""
    schema = server.app.openapi()["paths"]
    documented = {(method.upper(), path) for path, methods in schema.items() for method in methods}
    served = {(method, path) for method, path in routes(server.app.routes) if method != "HEAD"}

    assert served == set(requests(kept)) | set(ADMIN) | EDITOR | {("GET", path) for path in PUBLIC}
    assert served - documented == {("GET", path) for path in ("/openapi.json", "/docs", *ASSETS)}


def test_a_key_for_a_sees_what_b_must_not(server, kept):
    """The next test can fail."""
    silent = {"/jobs/{id}", "/jobs/{id}/events", "/stats", "/key", "/metrics"}
    with server.client(kept["a_reads"]) as client:
        for (method, path), (url, arguments, writes) in requests(kept).items():
            if not writes:
                answer = client.request(method, url, **arguments)
                assert answer.status_code == 200, f"{method} {path}: {answer.text}"
                shown = answer.text.replace(json.dumps(arguments.get("json", {}).get("query", ""))[1:-1] or "\0", "")
                assert path in silent or SECRET in shown, f"{method} {path}"


def test_a_key_for_b_sees_nothing_of_a(server, kept):
    """No request with any id returns or changes content of A."""
    before = held(server, "a")
    with server.client(kept["b"]) as client:
        for (method, path), (url, arguments, _) in requests(kept).items():
            answer = client.request(method, url, **arguments)
            asked = json.dumps(arguments.get("json", {}).get("query", ""))[1:-1]
            shown = answer.text.replace(asked, "") if asked else answer.text
            if answer.status_code == 404:  # it repeats what was asked for, and nothing else
                shown = shown.replace(repr(SECRET), "").replace(repr(f"text:{SECRET} file"), "")

            assert answer.status_code in (200, 201, 202, 404), f"{method} {path}: {answer.text}"
            assert SECRET not in shown, f"{method} {path}"
            assert "Vault" not in shown.replace("target", ""), f"{method} {path}"

    assert held(server, "a") == before


def test_a_key_for_b_cannot_name_a(server, kept):
    """The namespace header is refused too."""
    with server.client(kept["b"], **{"X-Weft-Namespace": "a"}) as client:
        for (method, path), (url, arguments, _) in requests(kept).items():
            answer = client.request(method, url, **arguments)
            assert refused(answer) == (403, "wrong_namespace"), f"{method} {path}"


def test_counts_are_those_of_the_namespace(server, kept):
    """Metrics of one say nothing of the other."""
    with server.client(kept["a_reads"]) as client:
        client.get("/graph/path", params={"source": SECRET, "target": "Vault Room"})
    with server.client(server.make_key("quiet")) as client:
        text = client.get("/metrics").text

    assert "/graph/path" not in text
    assert "weft_documents 0" in text


def test_a_key_that_reads_cannot_write(server, kept):
    """It is told so, and nothing has changed."""
    before = held(server, "a")
    with server.client(kept["a_reads"]) as client:
        for (method, path), (url, arguments, writes) in requests(kept).items():
            answer = client.request(method, url, **arguments)
            assert (answer.status_code == 403) == writes, f"{method} {path}: {answer.text}"
            assert not writes or refused(answer) == (403, "read_only")

    assert held(server, "a") == before


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer wrong"}, {"X-API-Key": ""}, {"Authorization": "Basic eDp5"}]
)
def test_without_a_right_key_nothing_is_answered(server, kept, headers):
    """Once a key exists, loopback needs one too; public routes stay public."""
    with server.client(**headers) as client:
        for (method, path), (url, arguments, _) in requests(kept).items():
            answer = client.request(method, url, **arguments)
            assert refused(answer) == (401, "wrong_key" if headers else "no_key"), f"{method} {path}"
            assert answer.headers["www-authenticate"] == "Bearer"
        for (method, _), (url, arguments) in ADMIN.items():
            assert refused(client.request(method, url, **arguments))[0] == 401
        assert {client.get(path).status_code for path in PUBLIC} == {200}


def test_the_key_may_stand_in_either_header(server, kept):
    """`Authorization: Bearer` and `X-API-Key`."""
    with server.client(**{"X-API-Key": kept["b"]}) as client:
        assert client.get("/stats").json()["namespace"] == "b"


def test_a_revoked_key_is_refused_at_once(server):
    """The server need not be started again."""
    text = server.make_key("c")
    with server.client(text) as client:
        assert client.get("/stats").status_code == 200
        Keyring(server.engines.database).revoke(text.split("_")[1])
        assert client.get("/stats").status_code == 401


def test_a_key_for_several_namespaces_says_which(server):
    """The header chooses, also beyond ASCII; without it there is no guessing."""
    with server.client(server.make_key("one", "zweite Ablage ü")) as client:
        assert refused(client.get("/stats")) == (400, "which_namespace")
        name = "zweite Ablage ü".encode()
        assert client.get("/stats", headers={"X-Weft-Namespace": name}).json()["namespace"] == "zweite Ablage ü"


def test_revoking_the_last_key_does_not_open_the_door(tmp_path):
    """Without keys loopback may ask; once there was one, only forgetting it opens again."""
    with Running(tmp_path / "weft.db") as server, server.client() as client:
        assert client.get("/stats").status_code == 200
        assert client.get("/stats", headers={"X-Weft-Namespace": "other"}).status_code == 403
        text = server.make_key("default")
        assert client.get("/stats").status_code == 401
        ring = Keyring(server.engines.database)
        ring.revoke(text.split("_")[1])
        assert client.get("/stats").status_code == 401
        ring.forget(text.split("_")[1])
        assert client.get("/stats").status_code == 200


def test_at_an_address_others_can_reach_there_is_no_way_in_without_a_key(tmp_path):
    """Deleting all keys while the server runs does not open it."""
    with Running(tmp_path / "weft.db", host="0.0.0.0") as server, server.client() as client:
        assert client.get("/stats").status_code == 401
        assert client.get("/health").status_code == 200
        with server.client(server.make_key("default")) as known:
            assert known.get("/stats").status_code == 200


@pytest.mark.parametrize(
    "host, status",
    [
        ("localhost", 200),
        ("LOCALHOST:8321", 200),
        ("[::1]:8321", 200),
        ("127.0.0.1", 200),
        ("weft.example.org", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("10.0.0.7", 421),
        ("user@localhost", 421),
        ("localhost/x", 421),
        ("", 421),
    ],
)
def test_the_host_must_be_ours(choosy, host, status):
    """A name that somebody else made lead here is turned away, before anything is looked at."""
    with choosy.client() as client:
        answer = client.get("/stats", headers={"Host": host})

    assert answer.status_code == status
    assert status == 200 or refused(answer) == (421, "wrong_host")


def test_a_page_from_elsewhere_may_not_ask(choosy):
    """Its own pages may, and those the settings name, which are told so."""
    with choosy.client() as client:
        own = client.get("/stats", headers={"Origin": choosy.url})
        named = client.get("/stats", headers={"Origin": "https://notes.example.org"})
        evil = [
            refused(client.post("/query", json={"query": "x"}, headers={"Origin": origin}))
            for origin in ("https://evil.example", "null", "http://[", "http://localhost:1", "", "http://127.0.0.1")
        ]
        wanted = {"Origin": "https://notes.example.org", "Access-Control-Request-Method": "POST"}
        asked_first = client.options("/query", headers=wanted)

    assert own.status_code == named.status_code == asked_first.status_code == 200
    assert named.headers["access-control-allow-origin"] == "https://notes.example.org"
    assert "access-control-allow-origin" not in own.headers
    assert evil == [(403, "wrong_origin")] * 6


def test_two_namespaces_hold_the_same_document_apart(server):
    """Deleting it in one leaves the other as it was."""
    first, second = server.make_key("twin-1"), server.make_key("twin-2")
    with server.client(first) as one, server.client(second) as two:
        add(one, NOTE)
        add(two, NOTE)
        add(two, OTHER, "oauth")
        assert one.delete("/documents", params={"source": "text:auth"}).json() == {"deleted": 1}
        assert one.get("/stats").json()["documents"] == 0
        assert two.get("/stats").json()["documents"] == 2


def test_only_an_admin_key_manages_keys(server, kept, tmp_path):
    """A key that reads or writes is refused; so is loopback access without keys, which has no key to answer for."""
    for key in (kept["a"], kept["a_reads"]):
        with server.client(key) as client:
            for (method, _), (url, arguments) in ADMIN.items():
                assert refused(client.request(method, url, **arguments)) == (403, "admin_only")
    with Running(tmp_path / "weft.db") as fresh, fresh.client() as client:
        assert client.get("/key").json()["access"] == "write"
        assert refused(client.post("/keys", json={"name": "first"})) == (403, "admin_only")


def test_an_admin_key_creates_lists_and_revokes(server, caplog):
    """The text of a key is in the answer to its creation and nowhere else; a revoked key is refused at once."""
    caplog.set_level("INFO", logger="weft.server")
    with server.client(server.make_key("team", access="admin")) as client:
        made = client.post("/keys", json={"name": "dashboard"})
        assert made.status_code == 201 and made.headers["cache-control"] == "no-store"
        record = made.json()
        text = record.pop("key")
        listed = client.get("/keys")

        assert record == listed.json()["keys"][-1]
        assert (record["access"], record["namespaces"], record["revoked"]) == ("read", ["team"], None)
        assert text.split("_")[2] not in listed.text + caplog.text
        with server.client(text) as reader:
            assert reader.get("/key").json()["name"] == "dashboard"
            assert client.delete(f"/keys/{record['id']}").json()["revoked"] is not None
            assert reader.get("/key").status_code == 401
        assert f"key {record['id']} revoked by key {client.get('/key').json()['id']}: read" in caplog.text


def test_an_admin_key_ends_at_its_namespaces(server, kept):
    """It neither creates, lists nor revokes keys that open another namespace too, and it writes like any other."""
    outside = [kept["b"], server.make_key("team", "b")]
    with server.client(server.make_key("team", "crew", access="admin"), **{"X-Weft-Namespace": "crew"}) as client:
        made = client.post("/keys", json={"name": "boss", "access": "admin", "namespaces": ["team"]}).json()
        assert client.post("/keys", json={}).json()["namespaces"] == ["crew"]
        for namespaces in (["b"], ["team", "b"]):
            answer = client.post("/keys", json={"name": "x", "namespaces": namespaces})
            assert refused(answer) == (403, "wrong_namespace")
        ids = {key["id"] for key in client.get("/keys").json()["keys"]}
        assert made["id"] in ids and not ids & {text.split("_")[1] for text in outside}
        for text in outside:
            assert refused(client.delete(f"/keys/{text.split('_')[1]}")) == (404, "not_found")
        own = client.get("/key").json()["id"]
        assert refused(client.delete(f"/keys/{own}")) == (403, "own_key")
        assert add(client)["added"] == 1
    with server.client(outside[0]) as client:
        assert client.get("/key").status_code == 200


def test_broken_links_are_listed_and_counted(server):
    """By source and line; a link that is mended disappears."""
    with server.client(server.make_key("links")) as client:
        add(client, "# Index\n\nSee [[Harbour]] and\n[[Quay]] and [[Mole]].\n", "index.md")
        found = client.get("/links/broken", params={"limit": 2}).json()
        assert found["total"] == 3
        assert [(link["source"], link["line"], link["target"]) for link in found["links"]] == [
            ("text:index.md", 3, "Harbour"),
            ("text:index.md", 4, "Mole"),
        ]
        assert client.get(f"/documents/{found['links'][0]['document_id']}").json()["document"]["title"] == "Index"
        add(client, "# Harbour\n\nShips.\n", "Harbour.md")
        assert client.get("/links/broken").json()["total"] == 2
