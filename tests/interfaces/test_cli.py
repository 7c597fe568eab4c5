"""Contract of the command line: output, exit codes, options."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "result.schema.json").read_text("utf-8"))


def citations(ran):
    return [result["citation"] for result in ran.json["results"]]


def test_index_then_query_gives_cited_evidence(weft, notes):
    """Two commands: progress and receipt on stderr, evidence on stdout."""
    indexed = weft("index", "notes")
    asked = weft("query", "which tokens does the auth service issue?")

    assert indexed.out == ""
    assert "3 new" in indexed.err
    assert "skipped 1, binary: notes/data.bin" in indexed.err
    assert "notes/auth.md:7" in asked.out
    assert "JWT" in asked.out


def test_json_follows_the_published_schema(ask):
    """`--json` is stable, and the schema in the docs describes it."""
    for question in ("jwt tokens", "nothing of the kind whatsoever zzz", "*"):
        ran = ask("query", question, "--json", expect=0 if question.startswith("jwt") else 3)
        jsonschema.validate(ran.json, SCHEMA)
    assert ran.json["results"] == []


def test_global_options_work_before_and_after_the_verb(weft, notes):
    """`weft --db x query` and `weft query --db x` are the same."""
    weft("--db", "other.db", "-N", "mine", "index", "notes", "-q")
    before = weft("--db", "other.db", "--namespace", "mine", "--json", "query", "JWT")
    after = weft("query", "JWT", "--db", "other.db", "--namespace", "mine", "--json")

    assert citations(before) == citations(after) != []
    assert weft("query", "JWT", "--db", "other.db", "--json", expect=3).json["results"] == []


def test_the_store_is_chosen_by_flag_then_environment_then_file(weft, notes, tmp_path):
    """`--db` beats `WEFT_DB`, which beats `weft.toml`, which beats `./weft.db`."""
    (tmp_path / "weft.toml").write_text('[store]\ndb = "file.db"\n')

    def origin(*arguments, **environment):
        return weft("config", "--json", *arguments, **environment).json["store.db"]

    assert origin("--db", "flag.db", WEFT_DB="env.db") == {"value": "flag.db", "origin": "flag"}
    assert origin(WEFT_DB="env.db") == {"value": "env.db", "origin": "WEFT_DB"}
    assert origin()["value"] == "file.db"
    (tmp_path / "weft.toml").unlink()
    assert origin() == {"value": "weft.db", "origin": "default"}


def test_the_effective_weights_are_printed(weft):
    """Weights that are not set come from the fusion."""
    found = weft("config", "--json", WEFT_SEARCH_FUSION="rrf").json

    assert found["search.vector_weight"] == {"value": 0.5, "origin": "default with rrf"}


@pytest.mark.parametrize(
    "question, expected",
    [
        ("gpt-4o", "notes/models.txt"),
        ("C++", "notes/models.txt"),
        ("arXiv:2501.03236", "notes/models.txt"),
        ("2501.03236", "notes/models.txt"),
        ("密钥", "notes/zh.md"),
        ("gen-itgc", "notes/zh.md"),
        ("重跑", "notes/zh.md"),
        ("ERR_CONN_RESET", "notes/auth.md"),
    ],
)
def test_exact_terms_are_found(ask, question, expected):
    """Identifiers, ids, two-character words and ASCII glued to CJK."""

    assert citations(ask("query", question, "--json", "--method", "keyword"))[0].startswith(expected)


@pytest.mark.parametrize("question", ['"; DROP TABLE', "NEAR(", "*", "🙂", "", " ", "%s", "-- x", "\\", "' OR 1=1"])
def test_odd_questions_are_answered_sensibly(ask, question):
    """A question has no syntax; without a match the exit code is 3, and the store is unchanged."""
    ran = ask("query", "--json", "--", question, expect=3)

    assert (ran.json["status"], ran.json["results"]) == ("no_match", [])
    assert ran.json["notes"]
    assert ask("check").out == "no problems found\n"


def test_a_filter_narrows_the_answer(ask):
    """By path prefix and by metadata."""

    assert citations(ask("query", "tokens titles", "--in", "notes/mod", "--json", "--no-gate"))[0].startswith(
        "notes/models.txt"
    )
    assert {
        c.partition(":")[0] for c in citations(ask("query", "tokens", "--where", "tags=core", "--json", "--no-gate"))
    } == {"notes/auth.md"}
    assert "KEY=VALUE" in ask("query", "x", "--where", "oops", expect=2).err


def test_explain_says_why(ask):
    """Channels, ranks, scores, method and times in words."""
    out = ask("query", "JWT tokens", "--explain").out

    assert re.search(r"why: keyword match #1 \(BM25 [\d.]+\)", out)
    assert "method mix (the default" in out


def test_context_keeps_to_the_budget(ask):
    """`--context --budget` prints text for a model with its citation."""
    ran = ask("query", "JWT tokens", "--context", "--budget", "60", "--json")

    assert ran.json["tokens"] <= 60
    assert "[Score: " in ran.json["text"]
    assert ran.json["sources"][0]["citation"].startswith("notes/auth.md")


def test_context_has_the_requested_format(ask):
    """The question may precede or follow it; without a format the next word belongs to the question."""
    block = ask("query", "the Auth Service", "--context", "graph").out
    evidence = ask("query", "--context", "the Auth Service", "--no-gate").out

    assert block.startswith("## Knowledge Graph Context\nQuery entities: [Auth Service]\n\n### Auth Service (")
    assert ask("query", "--context=graph", "the Auth Service").out == block
    assert evidence.startswith("## Related Entities\n\n**Auth Service** (")
    assert "[Score: " in evidence
    assert ask("query", "the", "Auth", "Service", "--no-gate", "--context", "evidence").out == evidence
    assert ask("query", "--no-gate", "--context", "--", "the Auth Service").out == evidence
    both = ask("query", "the Auth Service", "--context", "evidence+graph").out
    assert both.startswith("[Score: ")
    assert "\n---\n\n## Knowledge Graph Context\n" in both
    assert "use one of evidence, graph" in ask("query", "x", "--context=grap", expect=2).err


def test_context_of_a_graph_that_did_not_contribute_is_a_line(ask):
    """The line states the reason; the exit code is that of the question."""
    ran = ask("query", "JWT tokens", "--context", "graph", "--method", "hybrid")

    assert ran.out == "No knowledge graph context: the method 'hybrid' does not use the graph\n"
    assert ask("query", "nothing of the kind zzz", "--context", "graph", expect=3).out.count("\n") == 1
    assert ask("query", "the Auth Service", "--context", "graph", "--json", "--budget", "60").json["tokens"] <= 60


def test_the_format_of_the_context_is_a_setting(ask):
    """`--context` without a format uses it."""
    ran = ask("query", "the Auth Service", "--context", WEFT_CONTEXT_FORMAT="graph", WEFT_CONTEXT_GRAPH_BUDGET="60")

    assert ran.out.startswith("## Knowledge Graph Context\n")
    assert "invalid context.graph_budget: 0" in ask("stats", WEFT_CONTEXT_GRAPH_BUDGET="0", expect=2).err


def test_running_index_again_does_nothing(weft, notes):
    """Unchanged files are skipped; only a changed file is indexed."""
    weft("index", "notes", "-q")
    generation = weft("stats", "--json").json["generation"]
    again = weft("index", "notes", "--json").json
    assert (again["unchanged"], again["embedded"], again["added"]) == (3, 0, 0)
    assert weft("stats", "--json").json["generation"] == generation

    (notes / "models.txt").write_text("Now something else.\n")
    changed = weft("index", "notes", "--json").json
    assert (changed["changed"], changed["unchanged"]) == (1, 2)


def test_only_prune_deletes_documents_of_deleted_files(weft, notes):
    """Without the option a deleted file stays indexed."""
    weft("index", "notes", "-q")
    (notes / "zh.md").unlink()

    assert weft("index", "notes", "--json").json["pruned"] == 0
    assert weft("index", "notes", "--prune", "--json").json["pruned"] == 1
    assert weft("query", "密钥", expect=3)


def test_prune_of_a_deleted_folder_names_the_command_that_deletes_its_documents(weft, notes):
    """A folder that is not mounted looks the same, so nothing is deleted."""
    weft("index", "notes", "-q")
    shutil.rmtree(notes)
    refused = weft("index", "notes", "--prune", expect=1)

    assert "file or folder not found" in refused.err
    assert "to delete 3 documents of it, run `weft delete notes`" in refused.err
    assert len(weft("list", "--json").json) == 3
    assert "run `weft delete" not in weft("index", "elsewhere", "--prune", expect=1).err


def test_a_store_that_nobody_may_write_answers_questions(weft, notes, tmp_path):
    """Also to root, who may write any file; nothing appears beside it, and a write is refused."""
    weft("index", "notes", "-q")
    folder = tmp_path / "image"
    folder.mkdir()
    weft("backup", str(folder / "weft.db"))
    (folder / "weft.db").chmod(0o444)
    folder.chmod(0o555)
    try:
        asked = weft("query", "which tokens does the auth service issue?", "--db", str(folder / "weft.db"))
        assert "JWT" in asked.out
        assert weft("stats", "--json", "--db", str(folder / "weft.db")).json["documents"] == 3
        (notes / "more.md").write_text("# More\n")
        refused = weft("index", "notes", "--db", str(folder / "weft.db"), expect=1)
        assert "cannot write" in refused.err
        assert [path.name for path in folder.iterdir()] == ["weft.db"]
    finally:
        folder.chmod(0o755)


def test_an_estimate_has_minutes_and_leaves_files_out(weft, notes):
    """The minutes follow from texts that the local embedder embeds; nothing is written."""
    whole = weft("estimate", "notes", "--json").json
    part = weft("estimate", "notes", "--exclude", "*.md", "--json").json

    assert whole["embedder"]["minutes"] >= 0
    assert part["documents"] < whole["documents"]
    assert "embedding minutes: about" in weft("estimate", "notes").out


def test_prune_checks_the_disk_not_the_filter(weft, notes):
    """Documents excluded by --include are kept; --dry-run prints the deletions."""
    (notes / "plain.txt").write_text("Plain words.\n")
    (notes / "old.txt").write_text("Old words.\n")
    weft("index", "notes")
    (notes / "old.txt").unlink()
    ran = weft("index", "notes", "--prune", "--include", "*.md", "--dry-run")
    assert "would delete 1 document without a file" in ran.err
    assert "notes/old.txt" in weft("list").out

    assert "deleted 1 document without a file" in weft("index", "notes", "--prune", "--include", "*.md").err
    listed = weft("list").out
    assert "notes/plain.txt" in listed and "notes/old.txt" not in listed


@pytest.mark.parametrize("names", [["notes"], ["notes/auth.md", "notes/pool.md"]])
def test_deleting_several_documents_asks_first(weft, notes, names):
    """With sources, ids and folders alike; a no, or the end of standard input, deletes nothing."""
    for name in ("auth", "pool"):
        (notes / f"{name}.md").write_text(f"# {name}\n")
    weft("index", "notes")
    before = weft("list").out

    ran = weft("delete", *names, expect=2)
    assert "--yes" in ran.err and "interrupted" not in ran.err
    assert "nothing was deleted" in weft("delete", *names, stdin="n\n", expect=1).err
    assert weft("list").out == before
    assert weft("delete", *names, "--json", stdin="y\n").json["deleted"] > 1


def test_deleting_one_document_does_not_ask(weft, notes):
    """Deleting several documents with --yes does not ask either."""
    weft("index", "notes")
    names = [document["source"] for document in weft("list", "--json").json]
    assert weft("delete", names[0], names[0], "--json").json == {"deleted": 1}
    assert weft("delete", *names[1:], "--yes", "--json").json == {"deleted": len(names) - 1}


def test_dropping_a_namespace_needs_a_yes(weft, notes):
    """The confirmation is the same as for several documents."""
    weft("index", "notes")
    assert "--yes" in weft("namespaces", "--drop", "default", expect=2).err
    assert "default" in weft("namespaces").out


def test_dry_run_writes_nothing(weft, notes, tmp_path):
    """It prints the planned work."""
    ran = weft("index", "notes", "--dry-run", "--json")

    assert ran.json["added"] == 3
    assert weft("stats", "--json").json["documents"] == 0


def test_a_second_text_without_a_source_replaces_the_first_with_a_note(weft):
    """An equal text, or a text with a separate source, gives no note."""
    first = weft("index", "-", stdin="Remember the milk.\n")
    again = weft("index", "-", stdin="Remember the milk.\n")
    other = weft("index", "-", stdin="Remember the bread.\n")
    named = [weft("index", "-", "--source", "memo", stdin=text).err for text in ("one\n", "two\n")]

    assert "replaced the earlier text" in other.err
    assert "--source NAME" in other.err
    assert not any("replaces" in text for text in (first.err, again.err, *named))


def test_standard_input_is_a_document(weft):
    """`-` reads it; --source names it."""
    weft("index", "-", "--source", "stdin:memo", stdin="Remember the milk.\n")

    assert citations(weft("query", "milk", "--json")) == ["stdin:memo:1"]
    assert "Remember the milk." in weft("get", "stdin:memo").out
    assert weft("index", "-", stdin="", expect=1).err.startswith("error: no text")


def test_get_list_and_delete(weft, notes):
    """A document by source or id, a chunk by id; deleting removes it everywhere."""
    weft("index", "notes", "-q")
    listed = weft("list", "--json").json
    assert [d["source"] for d in listed] == ["notes/auth.md", "notes/models.txt", "notes/zh.md"]
    whole = weft("get", "notes/auth.md", "--json").json
    assert whole["metadata"]["tags"] == ["identity", "core"]
    assert weft("get", whole["chunks"][0]["id"], "--json").json["chunks"] == whole["chunks"][:1]
    assert weft("delete", "notes/auth.md", "--json").json == {"deleted": 1}
    assert "no document" in weft("get", "notes/auth.md", expect=1).err
    assert weft("delete", "notes", "--yes", "--json").json == {"deleted": 2}
    assert weft("list", "--json").json == []


def test_every_spelling_of_a_path_finds_its_documents(weft, notes):
    """Paths are resolved as in `index`; a filter without documents is reported as the reason."""
    weft("index", "./notes", "-q")
    for folder in ("notes", "notes/", "./notes", str(notes)):
        assert len(weft("list", "--in", folder, "--json").json) == 3
        assert weft("query", "sign in", "--in", folder, "--no-gate", "--json").json["results"]
    assert weft("get", "./notes/auth.md", "--json").json["source"] == "notes/auth.md"
    assert weft("delete", str(notes / "auth.md"), "--json").json == {"deleted": 1}
    assert weft("query", "sign in", "--in", "elsewhere", "--json", expect=3).json["notes"] == [
        "no document passes the filter"
    ]


def test_namespaces_are_apart(weft, notes):
    """Two owners of one file do not see each other."""
    weft("-N", "a", "index", "notes/auth.md", "-q")
    weft("-N", "b", "index", "notes/zh.md", "-q")

    assert [n["namespace"] for n in weft("namespaces", "--json").json] == ["a", "b"]
    assert weft("-N", "a", "query", "密钥", "--json", expect=3).json["results"] == []
    weft("namespaces", "--drop", "a", "--yes")
    assert [n["namespace"] for n in weft("namespaces", "--json").json] == ["b"]


def test_backup_check_repair_and_compact(weft, notes, tmp_path):
    """The maintenance verbs work on a consistent store, and refuse to overwrite."""
    weft("index", "notes", "-q")
    weft("backup", "copy.db")

    assert weft("--db", "copy.db", "check", "--deep").out == "no problems found\n"
    assert "vector search: exact\n" in weft("--db", "copy.db", "stats").out
    assert "exists" in weft("backup", "copy.db", expect=1).err
    assert weft("repair").out == "no problems found\n"
    weft("compact")
    assert weft("query", "JWT", "--json").json["status"] == "degraded"  # the hash embedder always is


def test_another_embedder_is_refused_with_the_command_that_switches(weft, notes):
    """Two models never mix; `reembed` switches."""
    weft("index", "notes", "-q", "--embedder", "none")
    refused = weft("index", "notes", "--embedder", "hash", expect=1)
    assert "run weft reembed, or pass --embedder none to search without vectors" in refused.err

    assert weft("reembed", "--embedder", "hash", "--json").json["chunks"] == weft("stats", "--json").json["chunks"]
    assert weft("stats", "--json").json["models"][0]["name"] == "hash"
    assert "--embedder hash" in weft("index", "notes", "--embedder", "none", expect=1).err


def test_errors_are_clear_and_have_their_codes(weft, notes, tmp_path):
    """1 for errors, 2 for usage and settings, with a hint, never a traceback."""
    assert "weft index" in weft("query", "x", expect=1).err
    assert "not found" in weft("index", "nowhere", expect=1).err
    assert not (tmp_path / "weft.db").exists()
    assert "Missing argument 'QUESTION...'" in weft("query", expect=2).err
    assert "Did you mean 'query'?" in weft("qurey", "x", expect=2).err
    assert "unknown embedder" in weft("index", "notes", "--embedder", "magic", expect=2).err
    (tmp_path / "weft.toml").write_text("[search]\ntop_q = 3\n")
    assert "did you mean 'search.top_k'?" in weft("stats", expect=2).err
    (tmp_path / "weft.toml").write_text("[search\n")
    assert "cannot read" in weft("stats", expect=2).err
    (tmp_path / "weft.toml").unlink()
    (tmp_path / "text.db").write_text("hello " * 500)
    assert "not a SQLite file" in weft("--db", "text.db", "stats", expect=1).err
    assert "create the folder" in weft("--db", "no/where.db", "index", "notes", expect=1).err


def test_a_file_given_by_name_that_cannot_be_read_is_an_error(weft, notes):
    """In a folder or among other files it is skipped, because the rest is indexed."""
    (notes / "broken.ipynb").write_text("{")

    assert "error: cannot index 'notes/data.bin': binary" in weft("index", "notes/data.bin", expect=1).err
    broken = weft("index", "notes/broken.ipynb", "--json", expect=1)
    assert "error: cannot index 'notes/broken.ipynb': broken" in broken.err
    assert broken.json["documents"] == 0
    assert weft("index", "notes/data.bin", "notes/auth.md", "--json").json["documents"] == 1
    assert weft("index", "notes", "--json").json["documents"] == 3


def close_reader_early(arguments, *, cwd):
    """Run `weft ARGUMENTS` whose output nobody reads; return the exit code and the errors."""
    reader, writer = os.pipe()
    os.close(reader)
    env = {**os.environ, "WEFT_EMBEDDER": "hash"}
    try:
        done = subprocess.run([sys.executable, "-m", "weft", *arguments], stdout=writer, stderr=-1, cwd=cwd, env=env)
    finally:
        os.close(writer)
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize("arguments", [("query", "tokens"), ("query", "tokens", "--json")])
def test_a_closed_pipe_is_no_error(ask, arguments):
    """`weft query … | head` succeeds, whether a library or Weft itself writes the output."""
    assert close_reader_early(arguments, cwd=ask.keywords["cwd"]) == (0, "")


def test_every_verb_has_help(weft):
    """`--help` lists each verb with a sentence, and each verb explains its options."""
    overview = weft("--help").out
    from weft.cli.main import COMMANDS

    for name, (_, sentence) in COMMANDS.items():
        assert name in overview
        assert sentence in overview
        assert "Usage:" in weft(name, "--help").out
    assert "Exit codes" in overview
    assert re.fullmatch(r"weft, version \d+\.\d+\.\d+\n", weft("--version").out)
    assert "_WEFT_COMPLETE" in weft("completion", "bash").out


def test_doctor_and_models_answer_without_a_store(weft):
    """They show what a new machine lacks."""
    states = {row["what"]: row["state"] for row in weft("doctor", "--json").json}
    assert states["store"] == "absent"
    assert states["SQLite"] == "ok"
    names = {row["name"]: row["state"] for row in weft("models", "list", "--json").json}
    assert names["local/granite-30m"] == "not fetched"
    assert weft("models", "show", "local/minilm-l6", "--json").json["licence"] == "Apache-2.0"
    assert "unknown local model" in weft("models", "fetch", "hash", expect=1).err


def test_an_unknown_namespace_is_reported_with_those_that_exist(ask):
    """A typing error is seen at once, and the status is not degraded by an embedder that nothing needed."""
    note = "namespace 'nobody' does not exist; existing namespaces: 'default'"
    result = ask("-N", "nobody", "query", "anything", "--json", expect=3).json

    assert result["notes"] == [note]
    assert result["degraded"] is None
    for verb in (("list",), ("stats",), ("entity", "list")):
        assert ask(*verb, "-N", "nobody").err == f"note: {note}\n"
    assert "note" not in ask("list").err + ask("namespaces", "-N", "nobody").err
