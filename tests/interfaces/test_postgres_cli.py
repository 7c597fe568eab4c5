"""Command line on a PostgreSQL server: the same verbs with another --db."""

import json
import re
from functools import partial
from pathlib import Path

import pytest
from serving import Running, refused

from weft.config import read_settings
from weft.engine.lazy_engine import LazyEngine
from weft.errors import StoreUnavailable

postgres = pytest.importorskip("postgres", reason="psycopg is not installed: pip install 'weft-search[postgres]'")


@pytest.fixture
def server(weft_here, postgres_address):
    """Run `weft ARGUMENTS` on an empty database whose address has a password."""
    return partial(weft_here, "--db", postgres_address)


def test_only_the_address_changes(server, weft_here, notes):
    """The same verbs give the same answers as on a file."""
    on_file = partial(weft_here, "--db", "weft.db")
    for run in (server, on_file):
        run("index", "notes", "-q")
    question = ("query", "ERR_CONN_RESET", "--json")
    answers = [[piece["citation"] for piece in run(*question)["results"]] for run in (server, on_file)]

    assert answers[0] == answers[1] != []
    assert server("list", "--json") == on_file("list", "--json")
    assert server("check") == "no problems found\n"
    assert "0 new, 0 changed" in server("index", "notes", "-vv")


def test_no_output_contains_the_password(server, weft_here, tmp_path):
    """Statistics, settings, the doctor, and errors."""
    stats = server("stats", "--json")

    assert stats["db"].startswith("postgresql://")
    assert stats["bytes"] > 0
    assert server("config", "--json")["store.db"]["value"] == stats["db"]
    assert "is consistent" in server("doctor")
    assert "pg_dump" in server("backup", tmp_path / "copy.db", expect=1)
    for verb in ("stats", "doctor"):
        assert "127.0.0.1:1" in weft_here(verb, "-vv", "--db", "postgresql://me:sesame@127.0.0.1:1/db", expect=1)
    assert "malformed server address" in weft_here("stats", "--db", "postgresql://me:ses/ame@host/db", expect=2)


def test_an_ordinary_role_works_and_the_owner_administers(server, weft_here, postgres_dsn, notes):
    """Roles are set up as in docs/scaling.md; verbs on all namespaces name the remedy."""
    server("index", "notes", "-q", "--namespace", "other")
    with postgres.new_role(postgres_dsn, grants=granted_in_docs()) as role:
        run = partial(weft_here, "--db", postgres.address(role))
        run("index", "notes", "-q")
        assert run("query", "ERR_CONN_RESET", "--json")["results"]
        assert run("stats", "--json")["documents"] == 3
        assert run("copy", "--from", postgres.address(role), "--to", "back.db", "--json")[0]["documents"] == 3
        doctor = run("doctor")
        assert "may not check all namespaces" in doctor and "namespace default" in doctor and "other" not in doctor
        for verb in (["namespaces"], ["check"], ["keys", "list"], ["keys", "create", "mine"]):
            assert "set --db to the owner of the tables" in run(*verb, expect=1)

    assert [found["namespace"] for found in server("namespaces", "--json")] == ["default", "other"]
    assert server("check") == "no problems found\n"
    created = server("keys", "create", "laptop", "--json")
    assert [key["id"] for key in server("keys", "list", "--json")] == [created["id"]]


def granted_in_docs():
    """Return the grants that docs/scaling.md lists, without GRANT and the role."""
    text = (Path(__file__).parents[2] / "docs" / "scaling.md").read_text("utf-8")
    return re.findall(r"^GRANT (.*) TO app;$", text, re.MULTILINE)


def test_a_set_is_measured_in_a_namespace_of_its_own(server, tmp_path):
    """It is kept for the next run, and the current namespace is unchanged."""
    folder = tmp_path / "tiny"
    (folder / "qrels").mkdir(parents=True)
    rows = [{"_id": name, "title": name, "text": f"{name} purrs softly"} for name in ("cat", "lynx", "tiger")]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "does a lynx purr"}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\tlynx\t1\n")
    first, second = (server("eval", folder, "--json", "--method", "keyword") for _ in range(2))

    assert first["recall@5"] == second["recall@5"] == 1.0
    assert first["index_seconds"] == second["index_seconds"]
    (found,) = server("namespaces", "--json")
    assert found["namespace"].startswith("eval tiny ")
    assert found["documents"] == 3


def test_other_interfaces_do_not_reveal_the_password(postgres_address, caplog):
    """In responses, logs and the reason of a missing engine."""
    with Running(postgres_address) as running, running.client() as client:
        said = "".join(client.get(path).text for path in ("/health", "/ready", "/stats", "/metrics", "/documents"))
    nobody = read_settings({"store.db": "postgresql://me:sesame@127.0.0.1:1/db"})
    with LazyEngine(nobody) as standby, pytest.raises(StoreUnavailable) as raised:
        standby.engine()

    assert '"documents":0' in said
    assert "127.0.0.1:1" in str(raised.value)
    assert "sesame" not in said + str(raised.value) + raised.value.hint + caplog.text


def test_keys_are_managed_over_http(postgres_dsn, postgres_address):
    """Created, listed, used, and refused once revoked; a server under an ordinary role refuses to manage them."""
    with Running(postgres_address) as running:
        text = running.make_key("team", access="admin")
        with running.client(text) as admin:
            made = admin.post("/keys", json={"name": "dashboard"}).json()
            assert [key["name"] for key in admin.get("/keys").json()["keys"]] == ["test", "dashboard"]
            with running.client(made["key"]) as reader:
                assert reader.get("/key").json()["namespaces"] == ["team"]
                assert reader.get("/stats", headers={"X-Weft-Namespace": "other"}).status_code == 403
                assert admin.delete(f"/keys/{made['id']}").json()["revoked"] is not None
                assert reader.get("/key").status_code == 401
    with (
        postgres.new_role(postgres_dsn, grants=granted_in_docs()) as role,
        Running(postgres.address(role)) as running,
        running.client(text) as admin,
    ):
        assert admin.get("/key").json()["access"] == "admin"
        assert refused(admin.get("/keys")) == (403, "store_denied")


def test_a_namespace_is_copied_to_a_server_and_back(weft_here, server, postgres_address, notes):
    """Writes and differences are printed; a second run writes nothing."""
    weft_here("index", "notes", "-q")
    weft_here("index", "notes", "-q", "--namespace", "other")
    there = weft_here("copy", "--to", postgres_address)
    (again,) = weft_here("copy", "--to", postgres_address, "--json")
    (back,) = weft_here("copy", "--from", postgres_address, "--to", "back.db", "--json")

    assert "written: 3 documents" in there
    assert "identical by checksums" in there
    assert again["written"] == {} == again["removed"]
    assert back["documents"] == back["written"]["document"] == 3
    assert back["differences"] == []
    assert [found["namespace"] for found in server("namespaces", "--json")] == ["default"]
    assert len(weft_here("copy", "--all", "--to", postgres_address, "--json")) == 2
    weft_here("delete", "notes/zh.md")
    assert "extra: document notes/zh.md" in weft_here("copy", "--to", "back.db", expect=1)
    assert "deleted: 1 document" in weft_here("copy", "--to", "back.db", "--prune")
    assert "no namespace" in weft_here("copy", "--to", "back.db", "--namespace", "nobody", expect=1)
