"""Bounded responses: every list has a limit, and a cursor or a mark if it is cut."""

import pytest
from serving import Running, wait

from weft.server.paging import MAX_ITEMS

SPOKES = 60
ITEMS = 8

ASKED = "as many as were sent, which the schema of the request bounds"
FEW = "of what the server has a handful of"
SET = "the settings say how many: server.max_upload_files, memory.max_facts"
CUT = "the first MAX_ITEMS; `omitted` counts the others"
BOUNDED = {
    ("GET", "/documents"): "pages",
    ("GET", "/documents/{id}"): "pages",
    ("GET", "/graph/entities"): "pages",
    ("GET", "/graph/neighbours"): "pages",
    ("GET", "/facts"): "pages",
    ("GET", "/keys"): "pages",
    ("GET", "/graph/entity"): "truncated",
    ("GET", "/facts/{id}"): "omitted",
    ("POST", "/forget"): CUT,
    ("GET", "/graph/path"): "max_hops",
    ("GET", "/graph/overview"): "limit",
    ("GET", "/related"): "limit",
    ("GET", "/links/broken"): "limit",
    ("POST", "/query"): "top_k",
    ("POST", "/search"): "top_k",
    ("POST", "/answer"): "top_k",
    ("GET", "/timeline"): "limit",
    ("POST", "/facts"): ASKED,
    ("POST", "/documents"): ASKED,
    ("POST", "/documents/upload"): SET,
    ("GET", "/jobs/{id}"): SET,
    ("POST", "/facts/recall"): SET,
    ("GET", "/stats"): FEW,
    ("GET", "/key"): FEW,
    ("POST", "/graph/edits"): FEW,
    ("POST", "/keys"): ASKED,
    ("DELETE", "/keys/{id}"): ASKED,
}
"""What bounds the lists in the answer of each route that has any."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A hub with many neighbours, a long document, and facts."""
    with Running(tmp_path_factory.mktemp("bounds") / "weft.db", server__max_inline_documents=100) as running:
        with running.client() as client:
            spokes = [f"# Spoke {n}\n\nThe Spoke {n} depends on the Hub. [[Hub]]" for n in range(SPOKES)]
            given = [{"text": text, "source": f"spoke:{n:02}"} for n, text in enumerate(spokes)]
            long = "\n\n".join(f"## Part {n}\n\n" + f"Sentence {n} of many. " * 60 for n in range(ITEMS))
            given.append({"text": "# Hub\n\n" + long, "source": "spoke:hub"})
            assert client.post("/documents", json={"documents": given}).status_code == 201
            facts = [{"subject": "user", "predicate": "likes", "value": f"thing {n}"} for n in range(ITEMS)]
            assert client.post("/facts", json={"facts": facts}).status_code == 201
        yield running


@pytest.fixture
def client(server):
    with server.client() as made:
        yield made


def resolve(schema, whole):
    """Yield a schema and all that it refers to or is made of."""
    if "$ref" in schema:
        schema = whole["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    yield schema
    for inner in [*schema.get("anyOf", ()), *schema.get("properties", {}).values()]:
        yield from resolve(inner, whole)


def answers_with_lists(whole):
    """Yield the routes whose answer, when all is well, holds a list or says nothing of what it holds."""
    for path, methods in whole["paths"].items():
        for method, route in methods.items():
            good = [answer for status, answer in route["responses"].items() if status.startswith("2")]
            shapes = [answer.get("content", {}).get("application/json", {}).get("schema") for answer in good]
            for shape in filter(lambda shape: shape is not None, shapes):
                found = list(resolve(shape, whole))
                if any(part.get("type") == "array" for part in found) or not found[0].get("properties"):
                    yield method.upper(), path


def parameters(whole, method, path):
    return {item["name"]: item["schema"] for item in whole["paths"][path][method.lower()].get("parameters", ())}


def test_no_list_is_forgotten(server):
    """Every route with a list in its answer is known below, and has the parameters that bound it."""
    whole = server.app.openapi()

    assert set(answers_with_lists(whole)) == set(BOUNDED)
    for (method, path), how in BOUNDED.items():
        if how in ("pages", "truncated", "omitted"):
            known = parameters(whole, method, path)
            assert known["limit"]["maximum"] == MAX_ITEMS, path
            assert ("after" in known) == (how == "pages"), path
        if how == "max_hops":
            assert parameters(whole, method, path)[how]["maximum"] <= 10
    question = whole["components"]["schemas"]["Question"]["properties"]["top_k"]["anyOf"][0]
    assert question["maximum"] == MAX_ITEMS
    for sent in ("GivenStatements", "GivenDocuments"):
        assert any("maxItems" in part for part in whole["components"]["schemas"][sent]["properties"].values())


def pages(client, path, name, wanted):
    """Return the items of each page."""
    found, after = [], ""
    while after is not None:
        answer = client.get(path, params={**wanted, "after": after, "limit": 3})
        assert answer.status_code == 200, answer.text
        found.append(answer.json()[name])
        after = answer.json()["next"]
    return found


@pytest.mark.parametrize(
    "path, name, wanted",
    [
        ("/documents", "documents", {"prefix": "spoke:"}),
        ("/documents/{hub}", "chunks", {}),
        ("/graph/entities", "entities", {}),
        ("/graph/neighbours", "neighbours", {"name": "Hub", "hops": 3}),
        ("/facts", "facts", {"subject": "user"}),
    ],
)
def test_pages_lead_through_all_of_a_list(client, path, name, wanted):
    """No page is longer than asked for, and all of them together are the list, in its order and without gaps."""
    hub = client.get("/documents", params={"prefix": "spoke:hub"}).json()["documents"][0]["id"]
    path = path.format(hub=hub)
    whole = client.get(path, params={**wanted, "limit": MAX_ITEMS}).json()
    found = pages(client, path, name, wanted)

    assert whole["next"] is None
    assert len(whole[name]) >= ITEMS
    assert {len(page) for page in found[:-1]} == {3}
    assert [item for page in found for item in page] == whole[name]


def test_neighbours_say_how_many_are_left(client):
    """However far it goes: the strongest relations of the hub are looked at, and no more."""
    near = {"name": "Hub", "hops": 3}
    first = client.get("/graph/neighbours", params={**near, "limit": 10}).json()
    rest = client.get("/graph/neighbours", params={**near, "limit": MAX_ITEMS, "after": first["next"]}).json()

    assert len(first["neighbours"]) == 10
    assert first["omitted"] == len(rest["neighbours"]) > 0
    assert (rest["omitted"], rest["next"]) == (0, None)
    assert 10 + len(rest["neighbours"]) <= 50 < SPOKES


def test_an_entity_says_that_it_was_cut(client):
    """Relations and mentions are bounded together."""
    cut = client.get("/graph/entity", params={"name": "Hub", "limit": 5}).json()
    whole = client.get("/graph/entity", params={"name": "Hub", "limit": MAX_ITEMS}).json()

    assert (len(cut["relations"]), len(cut["mentions"]), cut["truncated"]) == (5, 5, True)
    assert not whole["truncated"]
    assert len(whole["mentions"]) > SPOKES


def test_of_a_long_life_the_latest_is_told(client):
    """A fact that was confirmed and rejected many times."""
    fact = client.get("/facts").json()["facts"][0]["id"]
    client.post(f"/facts/{fact}/confirm")
    client.post(f"/facts/{fact}/reject", json={"reason": "no more"})
    whole = client.get(f"/facts/{fact}").json()
    cut = client.get(f"/facts/{fact}", params={"limit": 1}).json()

    assert whole["omitted"] == 0
    assert cut["history"] == whole["history"][-1:]
    assert cut["omitted"] == len(whole["history"]) - 1 > 0


@pytest.mark.parametrize("after", ["-1", "x", "1" * 10, "٣"])
def test_a_page_that_is_none_is_refused(client, after):
    """`after` is what `next` was."""
    assert client.get("/graph/entities", params={"after": after}).status_code == 422


def test_a_job_lists_some_of_what_it_skipped_and_counts_all(client, server):
    """A file with more bad records than any answer should hold, or the server keep."""
    lines = b'{"_id": "a", "text": "fine"}\n' + b"{broken\n" * (MAX_ITEMS + 5)
    job = wait(client, client.post("/documents/upload", files=[("files", ("rows.jsonl", lines))]).json())[-1][1]

    assert job["state"] == "done"
    assert len(job["receipt"]["skipped_files"]) == MAX_ITEMS
    assert sum(job["receipt"]["skipped"].values()) == MAX_ITEMS + 5
    assert len(server.app.state.weft.jobs.find(job["id"], namespace="default").receipt.skipped) == MAX_ITEMS


def test_the_preview_of_an_erasure_counts_what_it_does_not_list(client, monkeypatch):
    """Documents and facts are cut at the same number."""
    from weft.server.routes import erasure

    monkeypatch.setattr(erasure, "MAX_ITEMS", 5)
    answer = client.post("/forget", json={"matching": "Spoke"}).json()

    assert len(answer["documents"]) == 5
    assert answer["omitted"] == SPOKES + 1 - 5  # the hub too
