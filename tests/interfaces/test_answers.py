"""Answers in all interfaces: the command line, HTTP whole and streamed, and the page in a browser."""

import json
import sys
from pathlib import Path

import pytest
from browsing import ask, opened
from serving import NOTE, OTHER, Running, add

sys.path.append(str(Path(__file__).parents[1] / "models"))
from loopback import Answer, serve

QUESTION = "which tokens does the auth service issue?"
SCRIPT = "<img src=x onerror=\"document.title='broken'\">"


def events(text):
    body = f"data: {json.dumps({'choices': [{'delta': {'content': text}}]})}\n\ndata: [DONE]\n\n"
    return Answer(body=body.encode(), headers={"Content-Type": "text/event-stream"})


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serve(lambda request: events(f"It issues JWT tokens [1].\nIt was painted green {SCRIPT} [1].")) as running:
        yield running


@pytest.fixture
def server(tmp_path, endpoint):
    with Running(tmp_path / "weft.db", llm__model="openai/tiny", llm__base_url=endpoint.url) as running:
        with running.client() as client:
            add(client)
            add(client, OTHER, "oauth")
        yield running


def test_the_command_line_quotes_then_shows_the_passages(weft, notes, endpoint):
    weft("index", "notes", "-q")
    ran = weft("ask", QUESTION, "--in", "notes")
    first, citation, *rest = ran.out.splitlines()
    assert first.startswith("“") and first.endswith("”") and citation.startswith("  notes/")
    assert any(" · confidence " in line for line in rest)
    found = weft("ask", QUESTION, "--json").json
    assert found["quote"]["text"] == first[1:-1]
    assert found["quote"]["citation"] in {result["citation"] for result in found["result"]["results"]}
    assert (found["sentences"], found["model"], found["note"]) == ([], None, None)
    refused = weft("ask", QUESTION, "--write", expect=2)
    assert "llm.model" in refused.err
    assert weft("ask", "wie backt man Sauerteigbrot?", expect=3).out.startswith("no match")


def test_the_command_line_marks_what_the_passages_do_not_support(weft, notes, endpoint):
    weft("index", "notes", "-q")
    out = weft("ask", QUESTION, WEFT_LLM_MODEL="openai/tiny", WEFT_LLM_BASE_URL=endpoint.url).out
    lines = out.splitlines()
    assert "It issues JWT tokens." in lines
    assert f"It was painted green {SCRIPT}.  (not supported by the passages)" in lines
    assert "written by openai/tiny answer-1" in lines


def test_http_returns_the_answer_whole_and_in_parts(server):
    with server.client() as client:
        whole = client.post("/answer", json={"query": QUESTION}).json()
        with client.stream("POST", "/answer", json={"query": QUESTION, "stream": True}) as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            parts = [part.split("\n") for part in "".join(response.iter_text()).split("\n\n") if part]
        quoted = client.post("/answer", json={"query": QUESTION, "write": False}).json()
        unknown = client.post("/answer", json={"query": "wie backt man Brot?", "stream": True, "gate": True})
    assert [sentence["supported"] for sentence in whole["sentences"]] == [True, False]
    assert whole["quote"]["text"] == "It issues JWT tokens."
    assert whole["result"]["results"][0]["citation"] == whole["sentences"][0]["citations"][0]
    read = [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in parts]
    assert [name for name, _ in read] == ["quote", "sentence", "sentence", "end"]
    assert read[0][1]["quote"] == whole["quote"] and read[1][1] == whole["sentences"][0]
    assert read[-1][1]["sentences"] == whole["sentences"]
    assert (quoted["sentences"], quoted["model"]) == ([], None)
    assert '"status": "no_match"' in unknown.text


def test_http_refuses_before_the_stream_begins(server, tmp_path):
    """An error has a status of its own, and a key reads only its namespaces."""
    with server.client() as client:
        invalid = client.post("/answer", json={"query": QUESTION, "stream": True, "namespaces": ["a/../b"]})
        assert invalid.status_code == 403
        assert client.post("/answer", json={"query": " "}).status_code == 422
    key = server.make_key("other")
    with server.client(key) as client:
        refused = client.post("/answer", json={"query": QUESTION, "stream": True, "namespaces": ["default"]})
        assert refused.status_code == 403
    with Running(tmp_path / "plain.db") as plain, plain.client() as client:
        add(client)
        assert client.post("/answer", json={"query": QUESTION, "write": True, "stream": True}).status_code == 422
        answer = client.post("/answer", json={"query": QUESTION}).json()
    assert answer["quote"]["text"] in NOTE and answer["model"] is None


@pytest.mark.browser
def test_the_page_shows_the_line_above_the_passages(server, browser):
    """Text of a model or a document stays text; a citation moves to its passage."""
    with opened(browser, server.url) as page:
        ask(page, QUESTION)
        line = page.locator("section.line")
        line.locator(".unsupported").wait_for()
        assert line.locator("blockquote").inner_text() == "It issues JWT tokens."
        assert SCRIPT in line.locator(".written").inner_text() and page.title() != "broken"
        assert line.locator("img").count() == 0
        assert page.locator(".verdict ~ .line ~ .evidence").count() == 1
        line.locator(".written button").first.click()
        assert page.evaluate("document.activeElement.matches('.evidence article')")
        assert "openai/tiny" in line.inner_text()
        ask(page, "wie backt man Sauerteigbrot?")
        assert page.locator("section.line").is_hidden()
