"""`weft import` and `weft export`."""

import json
import os
import stat
from xml.etree import ElementTree

import pytest

LINES = """\
{"subject": "Auth Service", "predicate": "depends on", "object": "Session Store", "weight": 8}
{"subject": "Login Flow", "predicate": "uses", "object": "Auth Service", "weight": 6}
{"subject": "nobody"}
"""


@pytest.fixture
def graph(weft, tmp_path):
    """Run `weft ARGUMENTS` where a graph of three entities was imported."""
    (tmp_path / "graph.jsonl").write_text(LINES)
    weft("import", "graph.jsonl", "-q")
    return weft


def test_an_import_prints_a_receipt(weft, tmp_path):
    """The receipt is text on stderr or JSON on stdout, with the number of each skipped line."""
    (tmp_path / "graph.jsonl").write_text(LINES)
    first = weft("import", "graph.jsonl")
    again = weft("import", "graph.jsonl", "--json").json

    assert first.out == ""
    assert "imported graph.jsonl (triples): 3 entities, 2 relations" in first.err
    assert "2 new" in first.err
    assert "skipped line 3: object is missing" in first.err
    assert (again["added"], again["unchanged"], again["format"], again["skipped"]) == (
        0,
        2,
        "triples",
        ["line 3: object is missing"],
    )
    assert weft("path", "login flow", "session store").out == (
        "Login Flow —uses(6)→ Auth Service —depends_on(8)→ Session Store\n"
    )
    assert weft("check").out == "no problems found\n"


def test_statements_go_to_documents_that_are_indexed(weft, notes, tmp_path):
    """--remove deletes them again, by name or by file."""
    weft("index", "notes", "-q", "--no-graph")
    record = {"subject": "Auth Service", "predicate": "owned by", "object": "Core Team", "document": "notes/auth.md"}
    (tmp_path / "owners.jsonl").write_text(json.dumps(record) + "\n")
    for arguments in (("--name", "owners"), ()):
        done = weft("import", "owners.jsonl", *arguments, "--json").json
        assert (done["documents"], done["annotated"], done["not_found"]) == (0, 1, 0)
        assert weft("path", "Auth Service", "Core Team").out == "Auth Service —owned_by(5)→ Core Team\n"
        assert "removed" in weft("import", *(arguments or ("owners.jsonl",)), "--remove").err
        assert "no entity" in weft("entity", "show", "Core Team", expect=1).err
    assert "no import" in weft("import", "owners.jsonl", "--remove", expect=1).err


def test_passages_that_are_not_found_are_counted(weft, tmp_path):
    """The receipt names the remedy."""
    (tmp_path / "o.jsonl").write_text('{"_id": "d7", "entities": ["Ada"], "triples": [["Ada", "met", "Mary"]]}\n')

    assert "1 passage was not found" in weft("import", "o.jsonl").err


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        (("import", "missing.jsonl"), 1, "cannot read missing.jsonl"),
        (("import", "none.txt"), 1, "unknown graph format"),
        (("import", "none.txt", "--format", "graphml"), 1, "no valid graphml item"),
        (("import",), 2, "FILE is missing"),
        (("import", "--remove"), 2, "FILE is missing"),
        (("import", "none.txt", "--name", "*"), 1, "none.txt"),
        (("import", "none.txt", "--format", "xml"), 2, "'xml' is not one of"),
        (("import", "none.txt", "--remove"), 1, "does not exist"),
        (("export", "g.txt"), 2, "pass --format, or use one of"),
        (("export",), 1, "does not exist"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_invalid_calls_are_explained(weft, tmp_path, arguments, code, message):
    """The exit codes are those of the other verbs."""
    (tmp_path / "none.txt").write_text("Just a text.\n")

    assert message in weft(*arguments, expect=code).err


def test_an_export_goes_to_standard_output(graph):
    """The format is triples or the requested one; nothing else is printed."""
    lines = [json.loads(line) for line in graph("export", "-q").out.splitlines()]

    assert [(line["subject"], line["predicate"], line["object"], line["weight"]) for line in lines] == [
        ("Auth Service", "depends_on", "Session Store", 8.0),
        ("Login Flow", "uses", "Auth Service", 6.0),
    ]
    assert graph("export", "-", "--format", "graphml").out.startswith("<?xml")
    assert "co_occurs_with" in graph("export", "--derived").out


@pytest.mark.parametrize(
    "name, start, form",
    [
        ("g.jsonl", '{"subject"', "triples"),
        ("g.csv", "subject,", "triples-csv"),
        ("g.json", "{\n", "lightrag"),
        ("g.graphml", "<?xml", "graphml"),
        ("g.GraphML", "<?xml", "graphml"),
    ],
)
def test_the_suffix_selects_the_format(graph, tmp_path, name, start, form):
    """An existing file is replaced."""
    (tmp_path / name).write_text("old")
    done = graph("export", name, "--json").json

    assert (done["format"], done["entities"], done["relations"]) == (form, 3, 2)
    assert (tmp_path / name).read_text().startswith(start)
    assert not list(tmp_path.glob(".*.part"))


def test_texts_are_exported_if_the_format_has_them(graph, tmp_path):
    """LightRAG reads them as its chunks."""
    graph("export", "g.json", "-q")
    found = json.loads((tmp_path / "g.json").read_text())

    assert [chunk["content"] for chunk in found["chunks"]] == [
        "Auth Service depends on Session Store",
        "Login Flow uses Auth Service",
    ]
    assert found["relationships"][0]["source_id"] == found["chunks"][0]["source_id"]


@pytest.mark.parametrize(
    "name, form, empty",
    [
        ("g.jsonl", "triples", ""),
        ("g.csv", "triples-csv", "subject,predicate,object,weight,description,passage,subject_type,object_type\n"),
        ("m.jsonl", "memory", ""),
        ("g.json", "lightrag", '{"chunks": [], "entities": [], "relationships": []}'),
        ("g.graphml", "graphml", None),
    ],
)
def test_an_empty_graph_is_a_valid_empty_file(graph, tmp_path, name, form, empty):
    """A script that exports a new namespace does not fail."""
    assert "has no graph" in graph("export", name, "--format", form, "-N", "empty").err
    text = (tmp_path / name).read_text()

    if form == "graphml":
        assert not [tag for tag in ElementTree.fromstring(text).iter() if tag.tag.endswith(("node", "edge"))]
    elif form == "lightrag":
        assert json.loads(text) == json.loads(empty)
    else:
        assert text.replace("\r", "") == empty


def test_a_failed_export_leaves_the_old_file(graph, tmp_path):
    """No temporary file is left."""
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "g.csv").write_text("old")

    assert "cannot write 'nowhere/g.csv'" in graph("export", "nowhere/g.csv", expect=1).err
    assert [path.name for path in folder.iterdir()] == ["g.csv"]
    assert (folder / "g.csv").read_text() == "old"


@pytest.mark.skipif(os.name == "nt", reason="no such permissions")
def test_an_export_keeps_the_permissions_and_follows_a_link(graph, tmp_path):
    """The file belongs to the user."""
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "real.csv").chmod(0o640)
    (tmp_path / "link.csv").symlink_to("real.csv")
    graph("export", "link.csv", "-q")

    assert (tmp_path / "link.csv").is_symlink()
    assert stat.S_IMODE((tmp_path / "real.csv").stat().st_mode) == 0o640
    assert (tmp_path / "real.csv").read_text().startswith("subject,")


def test_an_export_can_be_imported(graph, tmp_path):
    """Into another namespace, with the same relations."""
    graph("export", "g.graphml", "-q")
    graph("import", "g.graphml", "-q", "-N", "other")

    first, second = (
        json.loads(f"[{','.join(graph('export', '-q', '-N', name).out.splitlines())}]") for name in ("default", "other")
    )
    for line in [*first, *second]:
        line.pop("passage")
        line.pop("description", None)
    assert first == second
