"""Re-ranking in all interfaces: the option of a query, and its report in the result."""

import json
import sys
from pathlib import Path

import jsonschema
import pytest
from serving import NOTE, OTHER, Running, add

sys.path.append(str(Path(__file__).parents[1] / "models"))
from loopback import in_json, serve

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "result.schema.json").read_text("utf-8"))
QUESTION = "which tokens does the auth service issue?"


def last_is_best(request):
    scores = enumerate(range(len(request["documents"])))
    return in_json({"results": [{"index": index, "relevance_score": score / 10} for index, score in scores]})


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serve(last_is_best) as running:
        yield running


def test_the_command_line_reranks_and_explains(weft, notes, endpoint):
    """By the settings, or where the question says so; `--explain` has the former rank and what the reranker said."""
    weft("index", "notes", "-q")
    settings = {
        "WEFT_RERANK_MODEL": "http/tiny",
        "WEFT_RERANK_BASE_URL": endpoint.url,
        "WEFT_RERANK_WEIGHT": "0",
        "WEFT_RERANK_DEADLINE_MS": "60000",
    }
    asked = ("query", QUESTION, "--method", "hybrid", "--no-gate")
    plain = weft(*asked, "--json", "--no-rerank", **settings).json
    assert not endpoint.requests
    ran = weft(*asked, "--json", **settings).json

    jsonschema.validate(ran, SCHEMA)
    assert (plain["reranked"], ran["reranked"]) == (False, True)
    assert ran["rerank"] == {"model": "http/tiny", "count": len(plain["results"]), "skipped": None}
    assert ran["results"][0]["rerank"]["former_rank"] == len(plain["results"]) > 1
    assert ran["confidence"] == plain["confidence"]
    told = weft(*asked, "--explain", "--rerank", WEFT_RERANK_ENABLED="false", **settings).out
    assert f"re-ranked from #{len(plain['results'])} (reranker 0." in told
    assert "chunks judged by http/tiny" in told


def test_the_command_line_answers_where_the_endpoint_fails(weft, notes, endpoint):
    """Exit code 0, a note that says why, no key in it."""
    weft("index", "notes", "-q")
    endpoint.script = [in_json({"message": "invalid token r-secret"}, status=401)]
    settings = {"WEFT_RERANK_MODEL": "http/tiny", "WEFT_RERANK_BASE_URL": endpoint.url, "RERANK_API_KEY": "r-secret"}
    told = weft("query", QUESTION, "--no-gate", "--explain", WEFT_RERANK_DEADLINE_MS="60000", **settings)

    assert "notes/auth.md" in told.out
    assert "note: not re-ranked, the order of the search is kept: " in told.out
    assert "returned status 401" in told.out
    assert "r-secret" not in told.out + told.err


def test_asking_for_a_reranker_that_is_not_set_is_wrong_usage(weft, notes):
    weft("index", "notes", "-q")
    assert "rerank.model is not set" in weft("query", QUESTION, "--rerank", expect=2).err


def test_http_reranks_by_the_settings_or_the_question(tmp_path, endpoint):
    """All namespaces share the reranker; a question may do without it."""
    settings = {"rerank__model": "jina/tiny", "rerank__base_url": endpoint.url, "rerank__deadline_ms": 60_000}
    with Running(tmp_path / "weft.db", **settings) as server, server.client() as client:
        add(client)
        add(client, OTHER, "oauth")
        with_it = client.post("/query", json={"query": "auth service tokens", "gate": False}).json()
        assert len(endpoint.requests) == 1
        without = client.post("/query", json={"query": "auth service tokens", "gate": False, "rerank": False}).json()

    jsonschema.validate(with_it, SCHEMA)
    assert (with_it["reranked"], without["reranked"]) == (True, False)
    assert (with_it["rerank"]["model"], without["rerank"]) == ("jina/tiny", None)
    assert any(NOTE.splitlines()[2] in text for text in endpoint.requests[0]["documents"])


def test_http_says_what_is_wrong_with_the_request(tmp_path):
    with Running(tmp_path / "weft.db") as server, server.client() as client:
        add(client)
        refused = client.post("/query", json={"query": "tokens", "rerank": True})
        assert client.post("/query", json={"query": "tokens", "rerank": "maybe"}).status_code == 422

    assert 400 <= refused.status_code < 600
    assert "rerank.model" in refused.text


def test_doctor_says_whether_the_reranker_can_be_opened(weft, endpoint):
    """Without asking it anything."""

    def finding(model, expect, **settings):
        ran = weft("doctor", "--json", expect=expect, WEFT_RERANK_MODEL=model, **settings)
        return next(item for item in ran.json if item["what"] == "reranker")

    assert finding("http/tiny", 0, WEFT_RERANK_BASE_URL=endpoint.url)["state"] == "ok"
    assert "is not set" in finding("http/tiny", 1)["detail"]
    assert not endpoint.requests


def test_eval_measures_the_reranker_of_the_settings(weft, tmp_path, endpoint):
    """The output has the number of questions without re-ranking."""
    folder = tmp_path / "tiny"
    (folder / "qrels").mkdir(parents=True)
    rows = [{"_id": f"d{i}", "title": f"{i}", "text": "apples and pears " + "more " * i} for i in range(3)]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "queries.jsonl").write_text("\n".join(json.dumps({"_id": f"q{i}", "text": "apples"}) for i in range(2)))
    (folder / "qrels" / "test.tsv").write_text("q0\td2\t1\nq1\td2\t1\n")
    settings = {"WEFT_RERANK_MODEL": "http/tiny", "WEFT_RERANK_BASE_URL": endpoint.url, "WEFT_RERANK_WEIGHT": "0"}
    endpoint.script = [in_json({}, status=400)]
    row = weft("eval", "tiny", "--json", "--method", "keyword", WEFT_RERANK_DEADLINE_MS="60000", **settings).json

    assert (row["reranker"], row["not_reranked"], len(endpoint.requests)) == ("http/tiny", 1, 2)
    assert "reranker" not in weft("eval", "tiny", "--json").json
