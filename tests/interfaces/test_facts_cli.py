"""Facts on the command line."""

import json
from pathlib import Path

import jsonschema

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "result.schema.json").read_text("utf-8"))


def state(weft, *arguments):
    return weft("fact", "add", *arguments, "--json").json


def test_the_life_cycle_of_a_fact(weft):
    """Each verb once, from add to forget."""
    first = state(weft, "user", "prefers", "dark mode", "--confidence", "0.8")
    id = first["fact"]["id"]

    assert (first["outcome"], first["fact"]["status"]) == ("added", "staged")
    assert weft("fact", "confirm", id, "--json").json["status"] == "confirmed"
    assert weft("fact", "add", "user", "prefers", "dark mode").out.strip() == f"{id}  strengthened, confirmed"
    shown = weft("recall", "what do I prefer?", "--explain").out
    assert shown.startswith("### 👤 USER CONTEXT\n- prefers: dark mode\n")
    assert "status 1.2" in shown and "start: user" in shown
    assert weft("fact", "expire", id, "--at", "2999-01-01", "--json").json["valid_to"] == "2999-01-01T00:00:00+00:00"
    actions = [event["action"] for event in weft("fact", "history", id, "--json").json]
    assert actions == ["added", "confirmed", "strengthened", "expired"]
    weft("fact", "reject", id, "--reason", "a mistake")
    assert weft("recall", "what do I prefer?", expect=3).out == "no match\n"
    assert weft("fact", "list", "--json").json[0]["access_count"] == 1
    assert weft("fact", "forget", id, "--json").json == {"forgotten": 1}
    assert weft("fact", "list", "--json").json == []
    assert "no fact" in weft("fact", "history", id, expect=1).err


def test_a_rule_of_the_project_is_recalled_by_its_topic_in_its_folder(weft, tmp_path):
    """The verb of a rule is no topic."""
    state(weft, f"project {tmp_path.resolve()}", "rule use npm", "never")
    state(weft, "project /elsewhere", "rule use yarn", "never")

    assert "npm: never" in weft("recall", "Install lodash with npm").out
    assert weft("recall", "Install lodash with yarn", expect=3).out == "no match\n"
    assert weft("recall", "Which trails may I use?", expect=3).out == "no match\n"


def test_json_lines_are_read_wholly_or_not_at_all(weft):
    """The error has the number of the invalid line."""
    rows = [
        {"subject": "user", "predicate": "works on", "object": "JACQ Project"},
        {"subject": "JACQ Project", "predicate": "uses", "object": "DuckDB", "valid_from": "2026-01-01"},
        {"subject": "user", "predicate": "card", "value": "4111111111111111"},
    ]
    lines = "\n".join(json.dumps(row) for row in rows)

    refused = weft("fact", "add", "--from", "-", stdin=lines + '\n{"subject": 1}\n', expect=1).err
    assert "line 4" in refused and "nothing was written" in refused
    assert "hint: run `weft fact add --help`" in refused
    assert "does not exist" in weft("fact", "list", expect=1).err
    assert "2 added, 0 strengthened, 0 known, 1 refused" in weft("fact", "add", "--from", "-", stdin=lines).err
    found = weft("recall", "What is JACQ?", "--as-of", "2026-01-01", "--json").json
    assert [(f["subject"], f["object"]) for f in found["facts"]] == [("JACQ Project", "DuckDB")]
    assert found["context"]["text"] == "### 💡 CONTEXT: JACQ Project\n- uses: DuckDB\n"


def test_invalid_facts_are_explained(weft):
    """Refusals, wrong dates, missing arguments."""
    assert "secret" in weft("fact", "add", "user", "api key", "tulip", expect=1).err
    weft("fact", "add", "user", "likes", "tea", WEFT_MEMORY_ALLOW_SECRETS="1")
    weft("fact", "add", "user", "api key", "tulip", WEFT_MEMORY_ALLOW_SECRETS="1")
    assert "secret" in weft("audit").out
    assert "2026-01-31" in weft("recall", "x", "--as-of", "soon", expect=2).err
    assert "--from" in weft("fact", "add", "user", expect=2).err


def test_a_query_returns_facts_on_request(weft, notes):
    """Before the unchanged list, in JSON under the schema, and in the context for a model."""
    weft("index", "notes", "-q")
    weft("fact", "add", "Auth Service", "run by", "the platform team")
    plain = weft("query", "auth service").out
    woven = weft("query", "auth service", "--facts").out
    values = weft("query", "auth service", "--facts", "--json").json
    text = weft("query", "auth service", "--facts", "--context", "--budget", "60", "--json").json

    told = "### 💡 CONTEXT: Auth Service\n- run_by: the platform team\n"
    assert "run_by" not in plain
    assert woven == f"{told}\n{plain}"
    jsonschema.validate(values, SCHEMA)
    assert [fact["value"] for fact in values["facts"]["facts"]] == ["the platform team"]
    assert text["text"].startswith(told) and text["tokens"] <= 60
    assert text["sources"][0]["type"] == "fact"
    assert "facts" not in weft("query", "auth service", "--json").json


def test_facts_alone_answer_a_query(weft, notes):
    """The exit code is 0 with them and 3 without."""
    weft("index", "notes", "-q")
    weft("fact", "add", "user", "favourite_colour", "teal")

    assert weft("query", "what is my favourite colour?", expect=3).out.startswith("no match")
    answered = weft("query", "what is my favourite colour?", "--facts").out
    assert answered.startswith("### 👤 USER CONTEXT\n- favourite_colour: teal\n")
    assert "no passage is relevant enough" in answered
