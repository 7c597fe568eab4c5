"""`weft serve` and `weft keys` in separate processes."""

import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest


@contextmanager
def started(folder, *arguments):
    """Run `weft serve` at a free port; give the process and a client. It is ended by a signal."""
    process = subprocess.Popen(
        [sys.executable, "-m", "weft", "serve", "--port", "0", *arguments],
        cwd=folder,
        env={**os.environ, "WEFT_EMBEDDER": "hash", "PYTHONUTF8": "1"},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        said = process.stderr.readline()
        if said.startswith("note: "):
            said += process.stderr.readline()
        address = re.search(r"listening at (http://\S+)", said)
        assert address, said + process.stderr.read()
        process.said = said
        with httpx.Client(base_url=address[1], timeout=60) as client:
            yield process, client
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_an_index_made_by_the_command_line_is_served(tmp_path, weft, notes):
    """The command line sees writes over HTTP, and a signal stops it cleanly. A store that is there needs no word."""
    weft("index", "notes", "-q")
    with started(tmp_path) as (process, client):
        assert process.said.startswith("listening at")
        answer = client.post("/query", json={"query": "which tokens does the auth service issue?"}).json()
        given = {"documents": [{"text": "The gatekeeper wears a red hat.", "source": "hat"}]}
        assert client.post("/documents", json=given).status_code == 201
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert not (tmp_path / "weft.db-wal").exists()

    assert answer["results"][0]["citation"].startswith("notes/auth.md:")
    assert "red hat" in weft("query", "what does the gatekeeper wear?").out
    assert weft("check").out == "no problems found\n"


def test_a_signal_in_the_middle_of_writing_loses_nothing_that_was_answered(tmp_path, weft):
    """
    Clients write until the server is gone; what they were told is written is there, and the store is sound.

    A file that was not there is named before anybody asks, for its name may be misspelled.
    """
    with started(tmp_path) as (process, client):
        assert process.said.startswith("note: created an empty store 'weft.db'")
        told = []

        def work(number):
            for turn in range(10_000):
                source = f"{number}-{turn}"
                given = {"documents": [{"text": f"Note {turn} of {number}.", "source": source}]}
                try:
                    answer = client.post("/documents", json=given)
                except httpx.TransportError:
                    return
                if answer.status_code != 201:
                    return
                told.append(f"text:{source}")
                if len(told) == 30:
                    process.send_signal(signal.SIGTERM)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
        process.wait(60)
    kept = {row["source"] for row in weft("list", "--limit", 100_000, "--json").json}

    assert len(told) >= 30
    assert set(told) <= kept
    assert weft("check").out == "no problems found\n"


def test_keys_are_made_listed_and_revoked(tmp_path, weft):
    """The key is printed once, on stdout alone; the list does not hold it. With a key, others may be served."""
    made = weft("keys", "create", "laptop", "--write", "--for", "work", "--for", "home")
    reader = weft("keys", "create", "--json").json
    listed = weft("keys", "list", "--json").json

    assert re.fullmatch(r"weft_[0-9a-f]{12}_[\w-]{43}\n", made.out)
    assert (reader["access"], reader["namespaces"]) == ("read", ["default"])
    assert [(key["name"], key["access"], key["namespaces"]) for key in listed] == [
        ("laptop", "write", ["home", "work"]),
        ("", "read", ["default"]),
    ]
    assert made.out.strip() not in weft("keys", "list").out
    with started(tmp_path, "--host", "0.0.0.0") as (_, client):
        assert client.get("/stats").status_code == 401
        assert client.get("/stats", headers={"X-API-Key": reader["key"]}).status_code == 200
        assert client.get("/stats", headers={"X-API-Key": reader["key"], "Host": "evil.example"}).status_code == 421
        headers = {"Authorization": f"Bearer {reader['key']}"}
        assert client.get("/stats", headers=headers).json()["namespace"] == "default"
        weft("keys", "revoke", reader["id"])
        assert client.get("/stats", headers=headers).status_code == 401
    assert weft("keys", "list", "--json").json[1]["revoked"]
    weft("keys", "revoke", reader["id"], "--forget")
    assert len(weft("keys", "list", "--json").json) == 1
    assert "no key 'nonsense'" in weft("keys", "revoke", "nonsense", expect=1).err


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_an_address_others_can_reach_is_refused_without_a_key(weft, host):
    """Before the port is opened, with the way out."""
    refused = weft("serve", "--host", host, "--port", "0", expect=2)

    assert "is reachable from other machines, but no key exists" in refused.err
    assert "weft keys create" in refused.err


def test_a_revoked_key_is_no_key(weft):
    """An address others can reach needs one that opens."""
    key = weft("keys", "create", "--json").json
    weft("keys", "revoke", key["id"])

    assert "but no key exists" in weft("serve", "--host", "0.0.0.0", "--port", "0", expect=2).err


def test_a_port_that_is_taken_is_an_error_with_a_hint(tmp_path, weft):
    """No traceback is printed. A store in memory is never a misspelled one."""
    with started(tmp_path, "--db", ":memory:") as (process, client):
        assert process.said.startswith("listening at")
        refused = weft("serve", "--port", client.base_url.port, expect=1)

    assert "cannot listen" in refused.err
    assert "--port" in refused.err


@pytest.mark.parametrize("package", ["fastapi", "uvicorn", "python_multipart"])
def test_without_the_extra_the_pip_command_is_named(tmp_path, weft, package):
    """The rest of the command line does without it."""
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u\nfind = u.find_spec\n"
        f"u.find_spec = lambda name, *a: None if name == {package!r} else find(name, *a)\n"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    refused = weft("serve", expect=1, PYTHONPATH=path)

    assert f"{package!r} is not installed" in refused.err
    assert "pip install 'weft-search[serve]'" in refused.err
