"""`weft entity`, `weft neighbours`, `weft path`."""

import pytest


@pytest.fixture
def graph(weft, tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    pages = {
        "oauth": "---\ntitle: OAuth Provider\naliases: [issuer adapter]\n---\nIssues identity tokens.\n",
        "auth": "---\ntitle: Auth Service\ndepends_on: [OAuth Provider]\n---\nRelies on [[OAuth Provider]].\n",
        "login": "---\ntitle: Login Flow\ndepends_on: [Auth Service]\n---\nPages by [[Auth Service]].\n",
    }
    for name, text in pages.items():
        (docs / f"{name}.md").write_text(text)
    weft("index", "docs", "-q", "--graph")
    return weft


def test_a_path_is_printed_in_words(graph):
    """Each relation has its name in the walked direction, and its weight."""
    out = graph("path", "oauth provider", "login flow").out

    assert out == "OAuth Provider —depended_on_by(10)→ Auth Service —depended_on_by(10)→ Login Flow\n"
    assert "no entity" in graph("path", "Nobody", "Login Flow", expect=1).err


def test_neighbours_come_nearest_first(graph):
    """Entities one hop away come before those two hops away."""
    rows = graph("neighbours", "OAuth Provider", "--hops", "2", "--min-weight", "7", "--json").json

    assert [(row["name"], row["hops"]) for row in rows] == [("Auth Service", 1), ("Login Flow", 2)]


def test_explain_prints_the_path(graph):
    """A result of the graph has its path."""
    out = graph("query", "OAuth Provider", "--method", "mix", "--explain").out

    assert "path: OAuth Provider —" in out
    assert "entities recognised: OAuth Provider" in out


def test_entities_can_be_shown_renamed_merged_and_unmerged(graph):
    """Aliases of the documents are listed, and every merge can be undone."""
    shown = graph("entity", "show", "issuer adapter", "--json").json
    assert (shown["name"], shown["aliases"]) == ("OAuth Provider", ["issuer adapter"])
    ends = {"source": "OAuth Provider", "target": "Auth Service"}
    assert {"type": "depended_on_by", "weight": 10.0, **ends, "extractors": ["rules"]} in shown["relations"]
    assert shown["extractors"] == ["rules"]
    assert {step["type"] for step in shown["relations"] if not step["extractors"]} <= {"mentions_of", "co_occurs_with"}
    assert graph("entity", "unmerge", "issuer adapter", "--json").json["name"] == "issuer adapter"
    assert graph("entity", "merge", "issuer adapter", "OAuth Provider", "--json").json["aliases"] == ["issuer adapter"]
    assert len(graph("entity", "alias", "Login Flow", "sign-in pages", "--json").json["aliases"]) == 1
    assert graph("entity", "show", "Sign-in Pages", "--json").json["name"] == "Login Flow"
    assert graph("entity", "rename", "Login Flow", "Front Door", "--json").json["name"] == "Front Door"
    assert graph("entity", "unmerge", "sign-in pages", "--json").json["aliases"] == []
    assert "OAuth Provider" in graph("entity", "list").out
    assert graph("check").out == "no problems found\n"


def test_an_entity_is_deleted_and_restored_with_its_aliases(graph, tmp_path):
    """Neither name nor relations are left, documents stay; the command that restores it is printed."""
    (tmp_path / "docs" / "tide.md").write_text("# Tide Table\n\nThe Tide Table depends on the [[Auth Service]].\n")
    graph("index", "docs", "-q")
    graph("entity", "alias", "Tide Table", "ebb pages")
    before = graph("entity", "show", "Tide Table", "--json").json
    assert graph("entity", "delete", "ebb pages").err == (
        "deleted Tide Table; undo: weft entity restore 'tide table'\n"
    )
    for name in ("Tide Table", "ebb pages"):
        assert "no entity" in graph("entity", "show", name, expect=1).err
    relations = graph("entity", "show", "Auth Service", "--json").json["relations"]
    assert "Tide Table" not in {step["target"] for step in relations}
    assert "Tide Table" in graph("query", "Tide Table", "--method", "keyword").out
    assert graph("check").out == "no problems found\n"
    assert "no deleted entity" in graph("entity", "restore", "Auth Service", expect=1).err
    graph("entity", "restore", "ebb pages")
    assert graph("entity", "show", "Tide Table", "--json").json == before
    assert graph("check").out == "no problems found\n"


def test_an_alias_is_shown_as_it_was_entered(graph):
    """The alias is not shown as its lookup key; unmerge deletes it."""
    assert graph("entity", "alias", "Login Flow", "  The LogIn-Pages ", "--json").json["aliases"] == ["The LogIn-Pages"]
    assert "also: The LogIn-Pages  (named by you; undo: weft entity unmerge 'The LogIn-Pages')" in (
        graph("entity", "show", "login pages").out
    )
    assert graph("check").out == "no problems found\n"
    assert graph("entity", "unmerge", "The LogIn-Pages", "--json").json["aliases"] == []
    assert graph("entity", "alias", "Login Flow", "the login pages", "--json").json["aliases"] == ["the login pages"]


def test_a_renamed_entity_is_found_by_its_displayed_name(graph):
    """It can be shown, walked from and renamed again; its own name still finds it, unless another entity has it."""
    id = graph("entity", "rename", "Login Flow", "Front Doors", "--json").json["id"]
    for name in ("Front Doors", "front door", "Login Flow"):
        assert graph("entity", "show", name, "--json").json["id"] == id
    assert "Front Doors" in graph("path", "OAuth Provider", "Front Doors").out
    assert graph("entity", "rename", "Front Doors", "OAuth Provider", "--json").json["id"] == id
    assert graph("entity", "show", "OAuth Provider", "--json").json["id"] != id
    assert graph("entity", "rename", id, "Login Flow", "--json").json["name"] == "Login Flow"
    assert "no entity" in graph("entity", "show", "Front Doors", expect=1).err


def test_a_subject_of_facts_alone_is_an_entity(graph):
    """Until its last fact is deleted."""
    graph("fact", "add", "OAuth Provider", "made by", "--object", "Kestrel Works")
    graph("fact", "add", "Kestrel Works", "feeds", "--object", "Login Flow", "--confidence", "0.5")
    assert graph("entity", "show", "kestrel works").out.splitlines() == [
        "Kestrel Works  e:kestrel work",
        "mentioned 0 times in 0 chunks",
        "  —made_by_of(10)→ OAuth Provider",
        "  —feeds(5)→ Login Flow",
    ]
    assert [row["name"] for row in graph("neighbours", "Kestrel Works", "--json").json] == [
        "OAuth Provider",
        "Login Flow",
    ]
    way = "OAuth Provider —made_by(10)→ Kestrel Works\n"
    assert graph("path", "OAuth Provider", "Kestrel Works").out == way
    assert "Kestrel Works" in graph("entity", "list").out and "Kestrel Works" not in graph("stats").out
    assert "occurs in facts only" in graph("entity", "rename", "Kestrel Works", "KW", expect=1).err
    assert "Kestrel Works —feeds(5)→ Login Flow" in graph("query", "Kestrel Works", "--explain").out
    assert graph("check").out == "no problems found\n"
    graph("fact", "forget", "--entity", "Kestrel Works")
    assert "no entity" in graph("neighbours", "Kestrel Works", expect=1).err
    assert "Kestrel Works" not in graph("entity", "list").out


def test_without_a_graph_the_reason_says_how_to_build_one(weft, notes):
    """`mix` is then equal to `hybrid`."""
    weft("index", "notes", "--no-graph", "-q")
    result = weft("query", "JWT tokens", "--method", "mix", "--json").json

    assert "weft index --graph" in result["graph_context"]["skipped"]
    assert result["results"]


@pytest.fixture
def misspelt(weft, tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    pages = {"one": "Kubernetes", "two": "Kubernets", "three": "SR-052", "four": "SR-053"}
    for name, title in pages.items():
        (docs / f"{name}.md").write_text(f"---\ntitle: {title}\n---\n{title} is a system. See also [[Kubernetes]].\n")
    weft("index", "docs", "-q", "--graph")
    return weft


def test_similar_names_are_listed_and_not_merged(misspelt):
    """With the difference and the chunk counts; names that differ in a number are never listed."""
    head, *rows = misspelt("entity", "similar").out.splitlines()

    assert head.split("\t") == ["name", "chunks", "into", "chunks", "why", "related to both"]
    assert [row.split("\t")[:5] for row in rows] == [["Kubernets", "1", "Kubernetes", "4", "one letter is missing"]]
    assert "nothing was merged" in misspelt("entity", "similar").err
    [pair] = misspelt("entity", "similar", "--json").json
    assert (pair["entity"]["name"], pair["into"]["name"], pair["undo"]) == ("Kubernets", "Kubernetes", None)
    assert misspelt("entity", "show", "Kubernets", "--json").json["aliases"] == []


def test_similar_names_are_merged_after_a_yes_and_unmerged_as_printed(misspelt):
    """A no, or the end of standard input, merges nothing; the command that reverts it is printed."""
    assert "nothing was merged" in misspelt("entity", "similar", "--merge", stdin="n\n", expect=1).err
    assert (
        "pass --yes, which merges without confirmation"
        in misspelt("entity", "similar", "--merge", stdin="", expect=2).err
    )
    assert len(misspelt("entity", "similar", "--json").json) == 1
    said = misspelt("entity", "similar", "--merge", stdin="y\n").err
    assert "merged Kubernets into Kubernetes; undo: weft entity unmerge Kubernets" in said
    assert misspelt("entity", "show", "Kubernets", "--json").json["name"] == "Kubernetes"
    assert misspelt("entity", "similar", "--json").json == []
    assert "no names differ by a typo" in misspelt("entity", "similar").err
    misspelt("entity", "unmerge", "Kubernets")
    [pair] = misspelt("entity", "similar", "--merge", "--yes", "--json").json
    assert pair["undo"] == "weft entity unmerge Kubernets"
    assert misspelt("check").out == "no problems found\n"
