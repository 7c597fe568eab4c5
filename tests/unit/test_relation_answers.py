"""Answers of the graph to questions about relations."""

import json
from itertools import pairwise

import pytest

from weft import Engine
from weft.config import Settings, StoreOptions
from weft.context.serialise import result_to_dict
from weft.errors import NotFound
from weft.testing import FakeEmbedder
from weft.tools.calls import call_tool

NOTES = {
    "docs/auth.md": "# Auth Service\n\nThe Auth Service depends on Session Store. See [[Login Flow]].\n",
    "docs/store.md": "---\nowner: Identity Team\n---\n# Session Store\n\nThe Session Store depends on Redis Cluster. "
    "Back to [Auth](auth.md).\n",
    "docs/login.md": "# Login Flow\n\nThe Login Flow uses the Auth Service. See [auth](auth.md).\n",
    "docs/redis.md": "# Redis Cluster\n\nThe Redis Cluster depends on Block Storage.\n",
    "docs/block.md": "# Block Storage\n\nBlock Storage keeps blocks.\n",
    "docs/ochre.md": "# Ochre Ledger\n\nThe ledger keeps colours.\n",
    "docs/jasper.md": "# Jasper Billing\n\nJasper Billing depends on Redis Cluster.\n",
    "docs/pep.md": "# PEP 9484 – Nested Types\n\nTypes in types.\n",
    "docs/old-pep.md": "# PEP 9302 – Plain Types\n\nSee [its successor](pep.md).\n",
    "docs/new-pep.md": "---\nrequires: PEP 9302\n---\n# PEP 9506 – Sealed Types\n\nTypes without subtypes.\n",
    "docs/tide.md": "---\nrelated: [Moon Phase]\n---\n# Tide Table\n\nThe table of tides.\n",
    "docs/moon.md": "---\nrelated: [Orbit Chart]\n---\n# Moon Phase\n\nThe phase of the moon.\n",
    "docs/orbit.md": "# Orbit Chart\n\nThe chart of orbits.\n",
    "docs/zh-store.md": "# 会话存储\n\n会话存储保存会话。\n",
    "docs/zh-team.md": "# 身份团队\n\n身份团队管理账号。\n",
    "docs/zh.md": "# 登录服务\n\n登录服务依赖会话存储。登录服务由身份团队负责。\n",
    "pkg/a.py": "from pkg.b import Base, helper\n\n\n"
    "class Child(Base):\n    def run(self):\n        return helper(1)\n",
    "pkg/__init__.py": '"""A package."""\n\nVERSION = 1\n',
    "pkg/e.py": "from . import c\n",
    "pkg/c.py": "import requests\n\n\ndef fetch(url):\n    return requests.get(url)\n",
    "pkg/d.py": "from requests.adapters import HTTPAdapter\n\n\nclass Slow(HTTPAdapter):\n    pass\n",
    "pkg/b.py": "class Base:\n    pass\n\n\ndef helper(x):\n    return x\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    """Return an engine over a few notes and two modules."""
    folder = tmp_path_factory.mktemp("notes")
    for name, text in NOTES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    settings = Settings(store=StoreOptions(db=str(folder / "weft.db")))
    with Engine(settings, embedder=FakeEmbedder()) as engine:
        engine.index(folder / "docs", folder / "pkg")
        yield engine


def things(engine, question):
    """Return the names in the answer; None without one."""
    answer = engine.query(question).relations
    return None if answer is None else [item.name for item in answer.items]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which pages link to Auth Service?", ["Login Flow", "Session Store"]),
        ("Which pages link to docs/auth.md?", ["Login Flow", "Session Store"]),
        ("What depends on Redis Cluster?", ["Jasper Billing", "Session Store"]),
        ("What does the Auth Service depend on?", ["Session Store"]),
        ("Who owns Session Store?", ["Identity Team"]),
        ("Who calls helper?", ["pkg.a.Child.run"]),
        ("Which modules import `pkg.b`?", ["pkg.a"]),
        ("Which modules import `requests`?", ["pkg.c", "pkg.d"]),
        ("Which modules import `pkg`?", ["pkg.e"]),
        ("What requires PEP 9302?", ["PEP 9506 – Sealed Types"]),
        ("What requires PEP 9302 – Plain Types?", ["PEP 9506 – Sealed Types"]),
        ("What does PEP 9506 require?", ["PEP 9302 – Plain Types"]),
        ("What does pkg.a import?", ["pkg.b", "pkg.b.Base", "pkg.b.helper"]),
        ("What extends pkg.b.Base?", ["pkg.a.Child"]),
        ("登录服务依赖什么？", ["会话存储"]),
        ("谁负责登录服务？", ["身份团队"]),
        ("谁调用 helper？", ["pkg.a.Child.run"]),
        ("What does Jasper depend on?", ["Redis Cluster"]),
    ],
)
def test_the_graph_lists_all_related_things(engine, question, expected):
    """Each once, whatever the passages are."""
    result = engine.query(question)
    assert result.relations is not None
    assert sorted(item.name for item in result.relations.items) == expected
    assert result.relations.total == len(expected)
    assert result.status == "ok"


def test_each_thing_has_the_sentence_that_states_it_and_its_citation(engine):
    """An answer can be checked in the documents."""
    (item,) = engine.query("What depends on Block Storage?").relations.items
    assert (item.name, item.relation, item.sentence) == (
        "Redis Cluster",
        "depended_on_by",
        "The Redis Cluster depends on Block Storage.",
    )
    assert item.citation.startswith("docs/redis.md:")
    document = engine.get(item.citation)
    assert item.sentence in document[1][0].text


def test_chains_are_followed_if_the_question_asks_for_them(engine):
    """The third hop is found, with its path."""
    direct = things(engine, "What depends on Block Storage?")
    answer = engine.query("What depends directly or indirectly on Block Storage?").relations
    assert direct == ["Redis Cluster"]
    paths = {item.name: [step.target for step in item.path] for item in answer.items}
    assert paths["Auth Service"] == ["Redis Cluster", "Session Store", "Auth Service"]
    assert set(paths) >= {"Redis Cluster", "Session Store", "Jasper Billing", "Auth Service"}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is Jasper Billing connected to?", {"Redis Cluster"}),
        ("What is related to Jasper Billing?", {"Redis Cluster"}),
        ("Which pages are connected to Jasper Billing?", {"Redis Cluster"}),
        ("与身份团队相关的有哪些？", {"登录服务"}),
    ],
)
def test_all_relations_of_one_thing_are_an_answer(engine, question, expected):
    assert set(things(engine, question)) == expected


def test_chains_lead_over_all_relations(engine):
    """Direct things first; each has its path."""
    answer = engine.query("What is Jasper Billing connected to, directly or indirectly?").relations
    hops = {item.name: len(item.path) for item in answer.items}
    assert hops["Redis Cluster"] == 1
    assert hops["Session Store"] == hops["Block Storage"] == 2
    assert hops["Auth Service"] == 3
    assert "Ochre Ledger" not in hops


def test_a_cycle_ends(engine):
    """Pages that link to each other are listed once."""
    names = things(engine, "Which pages link directly or indirectly to Auth Service?")
    assert sorted(names) == ["Login Flow", "Session Store"]


def test_the_connection_of_two_things_is_a_path(engine):
    """Direct relations first; else the best path."""
    (item, *_) = engine.query("How are Auth Service and Session Store connected?").relations.items
    assert len(item.path) == 1
    (item,) = engine.query("How is Login Flow related to Block Storage?").relations.items
    assert item.path[0].source == "Login Flow"
    assert item.path[-1].target == "Block Storage"


@pytest.mark.parametrize(
    "names", [("Tide Table", "Moon Phase"), ("Moon Phase", "Tide Table"), ("Orbit Chart", "Tide Table")]
)
def test_a_path_starts_at_the_first_name(engine, names):
    """Also if the relation reads the same from both ends, as `related_to`."""
    for item in engine.query("How are {} and {} connected?".format(*names)).relations.items:
        assert (item.path[0].source, item.path[-1].target) == names
        assert all(before.target == after.source for before, after in pairwise(item.path))


@pytest.mark.parametrize(
    "question",
    [
        "How are Ochre Ledger and Block Storage connected?",
        "What does the Ochre Ledger have to do with Block Storage?",
        "Does Ochre Ledger depend on Block Storage?",
        "Why is Ochre Ledger used by Block Storage?",
        "Is the Ochre Ledger part of Block Storage?",
        "Ochre Ledger和Block Storage有什么关系？",
    ],
)
def test_two_things_that_nothing_connects(engine, question):
    """The answer says so, with a passage of each, and is not confident."""
    result = engine.query(question)
    assert result.status == "low_confidence"
    assert any("nothing here connects them" in note for note in result.notes)
    assert [citation.partition(":")[0] for citation in result.relations.passages] == ["docs/ochre.md", "docs/block.md"]


@pytest.mark.parametrize(
    "question", ["Why does the Auth Service depend on Session Store?", "Is Session Store used by Auth Service?"]
)
def test_a_question_whether_two_things_are_related_gets_the_relation(engine, question):
    result = engine.query(question)
    assert {item.path[-1].type for item in result.relations.items} & {"depends_on", "depended_on_by"}
    assert result.status == "ok"


def test_a_relation_that_nothing_states(engine):
    """The answer says so, and passages are shown as usual."""
    result = engine.query("Who calls Redis Cluster?")
    assert not result.relations.items
    assert any("called by" in note for note in result.notes)
    assert result.evidence


def test_a_question_about_the_content_is_answered_by_passages(engine):
    """The graph need not know what a page is about."""
    result = engine.query("What is PEP 9484 about?")
    assert result.relations is None
    assert not any("no relation" in note for note in result.notes)
    assert result.evidence[0].document.source.endswith("pep.md")


@pytest.mark.parametrize(
    "question", ["how does the Auth Service call its backend?", "Redis Cluster", "Who wrote the Zanzibar paper?"]
)
def test_other_questions_have_no_answer_of_the_graph(engine, question):
    """A relation word in passing, or an unknown name, changes nothing."""
    assert engine.query(question).relations is None


def test_the_answer_comes_first_in_the_context_and_within_the_budget(engine):
    """The things, their sentences and citations, then passages."""
    result = engine.query("Which pages link to Auth Service?")
    context = engine.context(result)
    assert context.text.startswith("## Related Things: 2 of 2, Auth Service")
    assert 'Auth Service → linked from Login Flow: "See auth."' in context.text
    assert any(source["citation"].startswith("docs/login.md") for source in context.sources if "citation" in source)
    for budget in (20, 60, 200):
        assert engine.context(result, budget=budget).tokens <= budget


def test_the_answer_is_part_of_the_json(engine):
    """Interfaces share it."""
    found = result_to_dict(engine.query("Who owns Session Store?"))["relations"]
    assert (found["total"], found["names"], found["items"][0]["name"]) == (1, ["Session Store"], "Identity Team")
    assert "relations" not in result_to_dict(engine.query("Redis Cluster"))
    assert json.dumps(found)


def test_a_long_list_is_paged(tmp_path):
    """Each page counts all, and the pages together hold every thing once; tools page with `relationsOffset`."""
    settings = Settings(store=StoreOptions(db=str(tmp_path / "weft.db")))
    with Engine(settings, embedder=FakeEmbedder()) as engine:
        for number in range(130):
            engine.add_text(f"# Buoy {number}\n\nSee [[Harbour Chart]].\n", source=f"buoy-{number}.md")
        engine.add_text("# Harbour Chart\n\nThe chart shows buoys.\n", source="chart.md")
        question = "Which pages link to Harbour Chart?"
        pages = [engine.query(question, relations_offset=offset) for offset in (0, 100, 200)]
        found = engine.memory_search(question, relationsOffset="100")["relations"]
        assert (found["offset"], len(found["items"]), found["total"]) == (100, 30, 130)
        listed: list[str] = []
        while len(listed) < 130:  # pages that fit into a short answer
            answer = call_tool(engine, "memory_search", {"query": question, "relationsOffset": len(listed)})
            items = answer.values["relations"]["items"]
            assert 0 < len(items) < 100
            listed += [item["name"] for item in items]
        assert len(set(listed)) == 130
    assert [len(page.relations.items) for page in pages] == [100, 30, 0]
    assert {page.relations.total for page in pages} == {130}
    assert len({item.name for page in pages for item in page.relations.items}) == 130
    assert pages[2].relations.note == ""
    assert result_to_dict(pages[1])["relations"]["offset"] == 100


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("docs/auth.md", "Auth Service"),
        ("docs/auth.md:3-4", "Auth Service"),
        ("auth.md", "Auth Service"),
        ("auth service", "Auth Service"),
        ("pkg/b.py", "pkg.b"),
        ("b.py", "pkg.b"),
        ("pkg.b.Base", "pkg.b.Base"),
        ("helper()", "pkg.b.helper"),
        ("PEP 9302", "PEP 9302 – Plain Types"),
        ("pep-9302", "PEP 9302 – Plain Types"),
        ("Jasper", "Jasper Billing"),
    ],
)
def test_a_path_a_code_name_or_a_number_names_the_thing_everywhere(engine, name, expected):
    """In `neighbours`, at both ends of a `path`, in `related` and in questions."""
    assert engine.entities.get(name).name == expected
    near = [entity.name for entity, _ in engine.entities.neighbours(expected)]
    assert [entity.name for entity, _ in engine.entities.neighbours(name)] == near
    assert engine.entities.path(name, near[0]) == engine.entities.path(expected, near[0]) is not None
    assert engine.entities.path(near[0], name) == engine.entities.path(near[0], expected) is not None
    assert [item.document.source for item in engine.related(name)]
    assert things(engine, f"What is {name} connected to?") == things(engine, f"What is {expected} connected to?")


def test_related_documents_of_an_unknown_name(engine):
    with pytest.raises(NotFound):
        engine.related("Zebra Crossing")


def test_a_record_number_names_the_record(engine):
    """The title goes on after the number."""
    assert things(engine, "Which pages link to PEP 9484?") == ["PEP 9302 – Plain Types"]


def test_a_part_of_a_name_that_two_things_have_names_neither(engine):
    """`PEP` begins two titles."""
    assert things(engine, "Which pages link to PEP?") is None
