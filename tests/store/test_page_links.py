"""Links between pages in every store: any order, renaming, shared titles, sections, aliases, broken links."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_store.store import MemoryDatabase

from weft.config import LoadOptions, Settings, StoreOptions
from weft.engine.engine import Engine
from weft.load.numbered_records import with_record_number
from weft.load.restructuredtext.document import rst_document
from weft.load.run import load_text
from weft.records import BrokenLink, Filter
from weft.store.sqlite.database import SqliteDatabase
from weft.testing import FakeEmbedder

TEXTS = {
    "docs/pods.md": "# Pods\n\nA Pod runs on a node, see [Worker Nodes](nodes.md#size) and [[Mercury (planet)]].\n",
    "docs/nodes.md": "---\naliases: [/old/machines/]\n---\n# Nodes\n\nIntro.\n\n## Size\n\nSee [x](/docs/gone/).\n",
    "docs/glossary/pods.md": "# Pods\n\nTerm. [Machines](/old/machines/) and [Pods](../pods/).\n",
    "vault/Mercury (planet).md": "A planet, not [[Mercury (element)|the metal]].\n",
    "vault/Mercury (element).md": "A metal. See [[vault/Mercury (planet)]] and [[Nowhere]].\n",
}


@pytest.fixture
def engine(database):
    return Engine(Settings(store=StoreOptions(db=":memory:")), database=database, embedder=FakeEmbedder())


def document(source, text):
    return load_text(text, source=source, form="markdown", title="" if "#" in text else source[6:-3])


def links(store, type="links_to"):
    """Return (name, name, sentence) of all relations of a type."""
    graph = store.graph
    entities, key = [], ""
    while page := graph.entities_after(key, limit=100):
        entities += page
        key = page[-1].key
    names = {entity.id: entity.name for entity in entities}
    relations = graph.relations_of(sorted(names), limit=999, types=[type])
    return sorted({(names[r.source_id], names[r.target_id], r.description) for r in graph.describe(relations)})


def test_links_lead_to_pages_in_any_order(engine):
    """Shared titles stay apart, a section has its own chunks, a redirect leads to the new page."""
    for source in reversed(TEXTS):
        engine.add([document(source, TEXTS[source])])
    sentence = "A Pod runs on a node, see Worker Nodes and Mercury (planet)."
    assert links(engine.store) == [
        ("Mercury (element)", "Mercury (planet)", "See Mercury (planet) and Nowhere."),
        ("Mercury (element)", "Nowhere", "See Mercury (planet) and Nowhere."),
        ("Mercury (planet)", "Mercury (element)", "A planet, not the metal."),
        ("Pods", "Mercury (planet)", sentence),
        ("Pods", "Nodes", sentence),
        ("Pods", "Nodes", "Machines and Pods."),
        ("Pods", "Nodes › Size", sentence),
        ("Pods", "Pods", "Machines and Pods."),
    ]
    section = engine.store.graph.mentions_of(
        [e.id for e in engine.store.graph.entities_after("", limit=99) if e.name == "Nodes › Size"], limit=9
    )
    assert ["Size" in chunk.heading or "## Size" in chunk.text for chunk in
            engine.store.chunks([mention.chunk_id for mention in section])] == [True]  # fmt: skip
    assert engine.database.check() == []


def test_a_wikilink_to_another_name_of_a_page_is_not_broken(engine):
    """`[[INC-7]]` leads to the page `INC-7 Cold pipes` by its id; a name that no chunk defines is broken."""
    incident = "---\naliases: [INC-7]\n---\n# INC-7 Cold pipes\n\nThe pipes froze.\n"
    engine.add(
        [document("vault/inc-7-cold-pipes.md", incident), document("vault/log.md", "# Log\n\n[[INC-7]], [[INC-8]].\n")]
    )

    assert [link.target for link in engine.store.graph.broken_links()] == ["INC-8"]


def test_broken_links_have_a_line_and_come_back(engine):
    """A link leads nowhere until its page exists, and again when it is deleted."""
    receipt = engine.add([document("docs/nodes.md", TEXTS["docs/nodes.md"])])
    assert receipt.broken_links == 1
    assert list(engine.store.graph.broken_links()) == [
        BrokenLink(source="docs/nodes.md", line=10, target="/docs/gone/")
    ]
    receipt = engine.add([document("site/docs/gone.md", "# Gone\n\nBack to [[Nodes]].")])
    assert receipt.broken_links == 0
    assert [item[:2] for item in links(engine.store)] == [("Gone", "Nodes"), ("Nodes", "Gone")]
    engine.delete("site/docs/gone.md")
    assert [link.target for link in engine.store.graph.broken_links()] == ["/docs/gone/"]
    assert links(engine.store) == []


def test_a_link_out_of_the_folder_of_all_documents_is_not_broken(engine):
    """What lies there is unknown; a missing page inside the folder is broken."""
    text = "# Intro\n\nSee [changes](../CHANGELOG.md), [old](../old/gone.md), [deep](../../../x.md), [lost](lost.md).\n"
    receipt = engine.add(
        [document("work/docs/guide/intro.md", text), document("work/docs/api/list.md", "# List\n\nA.")]
    )
    targets = ["../CHANGELOG.md", "../old/gone.md", "lost.md"]

    assert sorted(link.target for link in engine.store.graph.broken_links()) == targets
    assert receipt.broken_links == engine.store.graph.count_broken_links() == len(targets)
    engine.delete("work/docs/api/list.md")
    assert [link.target for link in engine.store.graph.broken_links()] == ["lost.md"]
    assert engine.store.graph.count_broken_links() == 1


def test_the_text_of_a_link_is_a_name_of_its_page(engine):
    """The link must exist and lead to one page."""
    engine.add(
        [document("a/auth.md", "# Login\n\nIt checks."), document("a/x.md", "# X\n\n[Auth Gate](auth.md) opens.")]
    )
    graph = engine.store.graph
    assert graph.find_entities(["auth gate"])["auth gate"].name == "Login"
    assert engine.entities.get("Auth Gate").reasons == ("text of a link",)
    engine.delete("a/auth.md")
    assert "auth gate" not in engine.store.graph.find_entities(["auth gate"])


def test_pages_are_found_by_path_and_full_title(engine):
    """The key of a name has no suffix in parentheses, so pages are told apart by their titles."""
    engine.add([document(source, text) for source, text in TEXTS.items()])
    planet = engine.entities.get("Mercury (planet)")
    assert planet.name == "Mercury (planet)"
    assert engine.entities.get("vault/Mercury (planet).md").id == planet.id
    assert "Mercury (element)" in {entity.name for entity, _ in engine.entities.neighbours("Mercury (planet)")}
    assert {step.type for step in engine.entities.show("Nodes").relations} >= {"linked_from"}


def test_links_of_html_are_kept_out_of_the_text(tmp_path, engine):
    """The loader hands them over beside the text."""
    (tmp_path / "a.html").write_text("<h1>Alpha</h1><p>See the <a href='b.html'>Beta Page</a>. End.</p>")
    (tmp_path / "b.html").write_text("<h1>Beta</h1><p>Back to <a href='./a.html#x'>Alpha</a>.</p>")
    engine.index(tmp_path)
    assert links(engine.store) == [("Alpha", "Beta", "See the Beta Page."), ("Beta", "Alpha", "Back to Alpha.")]
    assert not any("href" in chunk.text or ".html" in chunk.text for chunk in engine.store.sample(limit=9))


def test_labels_of_sphinx_lead_to_sections(engine):
    """`:ref:` finds a label in any folder; `toctree` and `:doc:` find documents."""
    engine.add(
        [
            rst_document(text, source=f"source/{name}.rst", options=LoadOptions())
            for name, text in (
                ("index", "Start\n=====\n\n.. toctree::\n\n   guide/setup\n"),
                ("guide/setup", "Setup\n=====\n\n.. _max:\n\nLimits\n------\n\nTen.\n"),
                ("api", "Api\n===\n\nSee :ref:`max` and :doc:`/guide/setup`.\n"),
            )
        ]
    )
    pairs = {item[:2] for item in links(engine.store)}
    assert pairs == {("Start", "Setup"), ("Api", "Setup"), ("Api", "Setup › Limits")}


ROLES = {
    "settings.rst": (
        "Settings\n========\n\n.. setting:: DEBUG\n\nDEBUG\n-----\n\nOff.\n\n.. django-admin:: migrate\n\nText.\n"
    ),
    "api.rst": (
        "Api\n===\n\n.. currentmodule:: harbour\n\n.. class:: Pier\n\n   One.\n\n   .. method:: moor()\n\n      Ties."
    ),
    "glossary.rst": "Glossary\n========\n\n.. glossary::\n\n   tide\n      The level of the sea.\n",
    "pep-0009.rst": "PEP: 9\nTitle: Old Lights\nStatus: Final\n\nAbstract\n========\n\nRed ones.\n",
    "guide.rst": (
        "Guide\n=====\n\nSet :setting:`DEBUG`, run :djadmin:`migrate`, call :meth:`.Pier.moor`, the :term:`tide`.\n\n"
        "Read PEP 9. :class:`other.Library` and :setting:`UNKNOWN` are not here, nor is :doc:`gone`.\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("order", [1, -1])
def test_roles_lead_to_what_declares_the_name(engine, order):
    """In any order of indexing; a name may be one of another library, a missing page is broken."""
    for name in sorted(ROLES)[::order]:
        document = rst_document(ROLES[name], source=f"docs/{name}", options=LoadOptions())
        engine.add([with_record_number(document)])

    pairs = {item[:2] for item in links(engine.store)}
    assert {target for source, target in pairs if source == "Guide"} >= {"Settings", "Api", "Glossary", "Old Lights"}
    assert [link.target for link in engine.store.graph.broken_links()] == ["gone.rst"]


HISTORY = st.lists(
    st.tuples(st.sampled_from(sorted(TEXTS)), st.sampled_from([None, *sorted(TEXTS.values())])), max_size=8
)


@settings(max_examples=settings.default.max_examples // 4, deadline=None, suppress_health_check=list(HealthCheck))
@given(history=HISTORY)
def test_links_do_not_depend_on_the_history(history):
    """Writes, changes and deletions in any order give the links of the documents that are left."""
    databases = [SqliteDatabase(":memory:"), MemoryDatabase()]
    options = Settings(store=StoreOptions(db=":memory:"))
    engines = [Engine(options, database=database, embedder=FakeEmbedder()) for database in databases]
    last = {}
    for source, text in history:
        for engine in engines:
            if text is not None:
                engine.add([document(source, text)])
            elif source in last:
                engine.delete(source)
        last.pop(source, None)
        last |= {source: text} if text is not None else {}
    fresh = Engine(options, database=MemoryDatabase(), embedder=FakeEmbedder())
    fresh.add([document(source, text) for source, text in last.items()])
    views = [
        (
            links(engine.store),
            links(engine.store, "describes"),
            list(engine.store.graph.broken_links()),
            engine.store.graph.count(),
        )
        for engine in (*engines, fresh)
    ]
    assert views[0] == views[1] == views[2]
    assert databases[0].check() == []
    assert len(engines[0].store.find_documents(Filter())) == len(last)
