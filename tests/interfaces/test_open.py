"""`weft open` and the page open citations in the editor, and nothing but files of documents."""

import json
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from browsing import ask, opened, show
from serving import NOTE, Running, add, refused

from weft.admin.editor import editor_command, page_address
from weft.admin.source_files import SourceFile
from weft.config import read_settings
from weft.engine.opening.open_engine import open_engine
from weft.errors import ConfigError
from weft.records import Document

NAME = "a b; touch $(x) {line}.md"
"""A file name that a shell would take apart."""


@pytest.fixture
def editor(tmp_path):
    """A program that writes its arguments to a file, and the command that runs it."""
    program = tmp_path / "bin" / "myedit"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport json, os, sys\n"
        "with open('written.part', 'w') as file:\n    json.dump(sys.argv[1:], file)\n"
        f"os.replace('written.part', {str(tmp_path / 'written.json')!r})\n"
    )
    program.chmod(0o755)
    return program


@pytest.fixture
def store(tmp_path):
    """A store of two files and a text."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / NAME).write_text("# Tea\n\nTea with milk.\n\n## Cup\n\nA cup of porcelain.\n")
    (tmp_path / "rows.jsonl").write_text('{"id": "r1", "title": "Row", "text": "A row about boats."}\n')
    (tmp_path / "private.txt").write_text("not indexed")
    with open_engine(tmp_path / "weft.db", embedder="hash") as engine:
        engine.index(tmp_path / "notes", tmp_path / "rows.jsonl")
    return tmp_path / "weft.db"


def place(weft_here, *arguments):
    found = weft_here("open", "--json", *arguments)
    return found["path"], found["line"]


def test_a_citation_is_a_file_and_a_line(tmp_path, store, weft_here):
    """As answers print it, shortened, by id, and by a path from another folder; a record has no line of its file."""
    file = str(tmp_path / "notes" / NAME)
    chunk = weft_here("query", "porcelain cup", "--json")["results"][0]

    assert place(weft_here, chunk["citation"]) == (file, chunk["chunk"]["start_line"])
    assert place(weft_here, f"notes/{NAME}:5-7") == place(weft_here, f"notes/{NAME}:5") == (file, 5)
    assert place(weft_here, f"{NAME}:2") == (file, 2)
    assert place(weft_here, chunk["document"]["id"]) == (file, None)
    assert place(weft_here, chunk["chunk"]["id"]) == (file, chunk["chunk"]["start_line"])
    assert place(weft_here, f"{file}:7") == (file, 7)
    assert place(weft_here, "rows.jsonl#r1:1") == (str(tmp_path / "rows.jsonl"), None)
    assert weft_here("open", "--print", f"notes/{NAME}:5") == f"{file}:5\n"


def test_other_files_are_refused(tmp_path, store, weft_here):
    """A file that is not indexed, a text without file, a file that is gone, and no editor: each says what to do."""
    with open_engine(store, embedder="hash") as engine:
        engine.add([Document(source="text:memo", title="Memo", text="A text about tea.")])
    (tmp_path / "notes" / NAME).unlink()

    assert "run `weft list`" in weft_here("open", tmp_path / "private.txt", expect=1)
    assert "not read from a file" in weft_here("open", "text:memo", expect=1)
    assert "no longer exists" in weft_here("open", f"notes/{NAME}:5", expect=1)


def test_the_editor_gets_the_path_as_one_argument(tmp_path, store, editor, weft_here, monkeypatch):
    """The setting is stronger than `VISUAL`, and that than `EDITOR`; an editor that fails is reported."""
    file = str(tmp_path / "notes" / NAME)
    monkeypatch.setenv("EDITOR", "false")
    monkeypatch.setenv("VISUAL", f"{editor} -w")
    monkeypatch.setenv("WEFT_EDITOR_COMMAND", "vscode://file{path}")  # for the page
    weft_here("open", f"notes/{NAME}:5")
    assert json.loads((tmp_path / "written.json").read_text()) == ["-w", file]
    monkeypatch.setenv("WEFT_EDITOR_COMMAND", f"{editor} --at={{line}} {{path}}")
    weft_here("open", f"notes/{NAME}:5")
    assert json.loads((tmp_path / "written.json").read_text()) == ["--at=5", file]
    monkeypatch.setenv("WEFT_EDITOR_COMMAND", "false")
    assert "exited with 1" in weft_here("open", f"notes/{NAME}:5", expect=1)


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("vim", ["+12", "/n/a.md"]),
        ("code", ["--goto", "/n/a.md:12"]),
        ("subl", ["/n/a.md:12"]),
        ("pycharm", ["--line", "12", "/n/a.md"]),
        ("unknown", ["/n/a.md"]),
    ],
)
def test_known_editors_have_their_syntax(tmp_path, monkeypatch, name, arguments):
    """Without a line each gets the path alone."""
    program = tmp_path / name
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    settings = read_settings({"editor.command": name}, environment={})

    command = editor_command(settings, SourceFile(path=Path("/n/a.md"), line=12))
    assert command == [str(program), *arguments]
    assert editor_command(settings, SourceFile(path=Path("/n/a.md"), line=None))[1:] == ["/n/a.md"]


@pytest.mark.parametrize(
    "url", ["javascript://%0aalert(1)//{path}", "https://x.test/{path}", "vscode://file", "://{path}"]
)
def test_an_address_that_a_browser_opens_itself_is_refused(url):
    """Only schemes of other programs, with a path."""
    with pytest.raises(ConfigError, match=r"editor\.command"):
        read_settings({"editor.command": url}, environment={})


def test_the_address_of_a_file_is_escaped():
    """No sign of a file name ends the path of the address."""
    settings = read_settings({"editor.command": "vscode://file{path}:{line}"}, environment={})

    found = page_address(settings, SourceFile(path=Path("/n/a b?#{line}.md"), line=3))
    assert found == "vscode://file/n/a%20b%3F%23%7Bline%7D.md:3"


def first_document(client, source):
    return next(d["id"] for d in client.get("/documents").json()["documents"] if d["source"] == source)


def test_a_server_opens_nothing_unless_it_is_told_to(tmp_path, store, editor):
    """By default, with a key that reads, off loopback and for a terminal editor it refuses; other namespaces too."""
    command = {"editor__command": str(editor)}
    with Running(store) as server, server.client() as client:
        id = first_document(client, f"notes/{NAME}")
        assert client.get("/key").json()["can_open"] is False
        assert refused(client.post(f"/documents/{id}/open")) == (403, "not_allowed")
    with Running(store, host="0.0.0.0", **command) as server:
        with server.client(server.make_key("default")) as client:
            assert refused(client.post(f"/documents/{id}/open")) == (403, "not_allowed")
        with server.client(server.make_key("default", access="read")) as reader:
            assert reader.get("/key").json()["can_open"] is False
    with Running(store, **command) as server:
        with server.client(server.make_key("default", access="read")) as reader:
            assert refused(reader.post(f"/documents/{id}/open")) == (403, "not_allowed")
        with server.client(server.make_key("other")) as stranger:
            assert refused(stranger.post(f"/documents/{id}/open")) == (404, "not_found")
    settings = {"editor__command": "vim"}
    with Running(tmp_path / "new.db", **settings) as server, server.client() as client:
        add(client, NOTE, "auth")
        id = client.get("/documents").json()["documents"][0]["id"]
        assert refused(client.post(f"/documents/{id}/open"))[0] == 422
    assert not (tmp_path / "written.json").exists()


@pytest.mark.browser
def test_the_page_opens_a_citation(browser, tmp_path, store, editor):
    """The button is there if the server may open files; it runs the editor with the first line of the chunk."""
    with Running(store, editor__command=f"{editor} {{path}} {{line}}") as server:
        with server.client() as client, opened(browser, server.url) as page:
            show(page, f"#/document?id={first_document(client, f'notes/{NAME}')}")
            page.get_by_role("button", name="in the editor").first.click()
            page.get_by_text("Opened", exact=True).first.wait_for()
        end = time.monotonic() + 30
        while not (tmp_path / "written.json").exists() and time.monotonic() < end:
            time.sleep(0.05)
    assert json.loads((tmp_path / "written.json").read_text()) == [str(tmp_path / "notes" / NAME), "3"]


@pytest.mark.browser
def test_an_answer_has_the_button_only_if_it_works(browser, tmp_path):
    """By default it stays hidden, for screen readers too; an upload has no file, which the button says."""
    for settings, count in (({}, 0), ({"editor__command": "vscode://file{path}:{line}"}, 1)):
        with ExitStack() as stack:
            server = stack.enter_context(Running(tmp_path / "weft.db", **settings))
            add(stack.enter_context(server.client()))
            page = stack.enter_context(opened(browser, server.url))
            ask(page, "which JWT tokens does the Auth Service issue?")
            page.wait_for_load_state("networkidle")
            buttons = page.get_by_role("button", name="in the editor")
            assert buttons.count() == count
            if count:
                buttons.click()
                page.get_by_text("was not read from a file").first.wait_for()
