"""Uploads of files, without access to the file system by names in a request."""

import gzip
import io
import json
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest
from serving import Running, refused, wait


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """The temporary folder of the server: what is left in it was not removed."""
    folder = tmp_path_factory.mktemp("scratch")
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    yield folder
    tempfile.tempdir = before


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home") / "deep" / "inside"


@pytest.fixture(scope="module")
def client(home, scratch):
    home.mkdir(parents=True)
    limits = {"server__max_upload_files": 5, "server__max_upload_bytes": 200_000, "server__max_body_bytes": 20_000}
    with Running(home / "weft.db", **limits) as server, server.client() as made:
        yield made


def send(client, *files):
    """Upload files; return the answer."""
    return client.post("/documents/upload", files=[("files", (name, data)) for name, data in files])


def sources(client):
    return {document["source"] for document in client.get("/documents", params={"limit": 1000}).json()["documents"]}


def test_files_become_documents_in_their_formats(client, scratch):
    """The receipt of the job lists unreadable files; the temporary copies are deleted."""
    lines = "".join(json.dumps({"_id": f"r{n}", "text": f"record {n}"}) + "\n" for n in range(30))
    files = [
        ("plan.md", b"---\ntitle: The Plan\n---\n# The Plan\n\nLaunch the raft.\n"),
        ("table.csv", b"city,river\nBasel,Rhine\n"),
        ("rows.jsonl", lines.encode()),
        ("noise.bin", bytes(range(256)) * 10),
    ]
    answer = send(client, *files)
    job = wait(client, answer.json())[-1][1]

    assert (answer.status_code, answer.json()["total"]) == (202, 4)
    assert job["state"] == "done"
    assert job["receipt"]["added"] == 32
    assert job["receipt"]["skipped"] == {"binary": 1}
    assert {"upload:plan.md", "upload:table.csv", "upload:rows.jsonl#r29"} <= sources(client)
    found = client.post("/query", json={"query": "launch the raft"}).json()["results"][0]
    assert found["citation"].startswith("upload:plan.md:")
    assert list(scratch.iterdir()) == []


def test_the_same_name_replaces_what_was_there(client):
    """In one request, where the receipt says so, and in the next."""
    both = wait(client, send(client, ("a/same.md", b"one"), ("b/same.md", b"two")).json())[-1][1]
    again = wait(client, send(client, ("same.md", b"three")).json())[-1][1]["receipt"]

    assert (both["total"], both["receipt"]["added"], both["receipt"]["skipped"]) == (2, 1, {"duplicate": 1})
    assert both["receipt"]["skipped_files"][0]["source"] == "upload:same.md"
    assert (again["added"], again["changed"]) == (0, 1)
    assert "upload:same.md" in sources(client)


@pytest.mark.parametrize(
    "name, source",
    [
        ("../../../escaped.md", "upload:escaped.md"),
        ("/etc/absolute.md", "upload:absolute.md"),
        ("..\\..\\windows.md", "upload:windows.md"),
        ("C:\\Users\\drive.md", "upload:drive.md"),
        ("~/tilde.md", "upload:tilde.md"),
        ("nul\x00byte.md", "upload:nulbyte.md"),
        ("..", "upload:file"),
        (".hidden", "upload:hidden"),
        ("übung 部署.md", "upload:übung 部署.md"),
        ("long" * 500 + ".md", None),
        ("$(touch x);`id`.md", "upload:$(touch x);`id`.md"),
    ],
)
def test_a_name_is_never_a_path(client, home, scratch, name, source):
    """No file name makes the server write outside the sandbox, and the sandbox is deleted."""
    before = set(home.parents[1].rglob("*"))
    answer = client.post(
        "/documents/upload",
        content=(
            b'--b\r\nContent-Disposition: form-data; name="files"; filename="'
            + name.replace("\\", "\\\\").encode()
            + b'"\r\n\r\n# Some text\r\n--b--\r\n'
        ),
        headers={"Content-Type": "multipart/form-data; boundary=b"},
    )
    assert answer.status_code == 202, answer.text
    assert wait(client, answer.json())[-1][1]["state"] == "done"

    found = sources(client)
    assert source is None or source in found
    assert not any(".." in name or "/" in name or "\\" in name for name in found if name.startswith("upload:"))
    assert set(home.parents[1].rglob("*")) - before <= {Path(f"{home}/weft.db{end}") for end in ("-wal", "-shm")}
    assert list(scratch.iterdir()) == []


def packed():
    """Yield archives of all kinds, under their own names and under harmless ones."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("a.md", "hello")
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.md"), io.BytesIO())
    for name, content in {
        "zip": data.getvalue(),
        "tar": tar.getvalue(),
        "gz": gzip.compress(b"hello", mtime=0),
    }.items():
        yield f"a.{name}", content
        yield "harmless.md", content
    yield "rows.jsonl.gz", b"not even packed"
    yield "a.tar.md", b"plain"
    yield "a.7z", b"7z"


@pytest.mark.parametrize("name, data", list(packed()))
def test_archives_are_refused(client, scratch, name, data):
    """By name or by their first bytes, with everything that came with them."""
    answer = send(client, ("fine.md", b"fine"), (name, data))

    assert refused(answer) == (415, "archive")
    assert "upload:fine.md" not in sources(client)
    assert list(scratch.iterdir()) == []


def test_an_office_file_is_no_archive(client):
    """It is a zip file, and is parsed in a process of its own like every upload."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("content.xml", "<d><p>The harbour master keeps the log.</p></d>")
    job = wait(client, send(client, ("log.odt", packed.getvalue())).json())[-1][1]
    refused = send(client, ("log.zip", packed.getvalue()))

    assert (job["state"], job["receipt"]["added"]) == ("done", 1)
    assert refused.status_code == 415


def test_a_swollen_document_is_skipped(client):
    """A DOCX is packed too, but what comes out of it is bounded."""
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * 60_000_000)
    with zipfile.ZipFile(io.BytesIO(bomb.getvalue())) as archive:
        assert archive.infolist()[0].file_size == 60_000_000
    job = wait(client, send(client, ("bomb.docx", bomb.getvalue())).json())[-1][1]

    assert job["state"] == "done"
    assert job["receipt"]["added"] == 0
    assert len(job["receipt"]["skipped_files"]) == 1


def test_uploads_are_bounded_in_number_and_size(client, scratch):
    """Too many files and too many bytes are refused before anything is kept."""
    many = send(client, *((f"{n}.md", b"x") for n in range(6)))
    large = send(client, ("large.md", b"x" * 200_001))
    other = client.post("/documents", json={"documents": [{"text": "x" * 20_001, "source": "x"}]})

    assert refused(many) == (413, "too_many_files")
    assert refused(large) == (413, "too_large")
    assert refused(other) == (413, "too_large")
    assert list(scratch.iterdir()) == []


def test_a_form_without_files_is_refused(client):
    """Fields of another name, plain fields, and what is no form at all."""
    other = client.post("/documents/upload", files=[("other", ("a.md", b"x"))])
    assert refused(other) == (422, "invalid_request")
    assert client.post("/documents/upload", data={"files": "text"}).status_code in (400, 422)
    assert client.post("/documents/upload", json={"files": []}).status_code in (400, 422)
    assert client.post("/documents/upload").status_code in (400, 422)
