"""Links of all kinds of markup, the keys of their targets, anchors and labels."""

import pytest
from memory_store.store import MemoryDatabase

from weft.config import SplitOptions
from weft.context.serialise import document_to_dict, evidence_to_dict
from weft.engine.opening.open_engine import open_engine
from weft.extract.links.addresses import read_address, read_wikilink
from weft.extract.links.anchor_text import read_label
from weft.extract.links.anchors import MAX_ANCHORS, find_anchors
from weft.extract.links.markdown_links import MAX_LINKS, find_links
from weft.extract.links.markup_links import find_asciidoc_links, find_org_links
from weft.extract.links.page_keys import (
    MAX_PREFIX_BYTES,
    LinkKey,
    link_key,
    normal_anchor,
    page_key,
    parts_of_page,
    read_link_key,
)
from weft.extract.links.page_reader import MAX_URLS
from weft.extract.links.resolution import PageRow, resolve
from weft.extract.rules import RuleExtractor
from weft.index.plan import make_plan
from weft.records import URLS, Document
from weft.text.markdown.blocks import parse
from weft.text.split import split


def found(links):
    return [(link.line, link.address, link.label) for link in links]


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[Pods](../pods.md 'title')", [(0, "../pods.md", "Pods")]),
        ("[a\nb](<my page.md>)", [(0, "my page.md", "a b")]),
        ("see [P][p], [p][] and [p]\n\n[p]: /pods/", [(0, "/pods/", "P"), (0, "/pods/", "p"), (0, "/pods/", "p")]),
        ("[x](a_(b).md)", [(0, "a_(b).md", "x")]),
        ("[![i](i.png)](big.md)", [(0, "big.md", "![i](i.png)")]),
        ('<a class="x" href="/pods/">the <b>Pods</b></a>', [(0, "/pods/", "the Pods")]),
        ('<Link to="/pods">Pods</Link>', [(0, "/pods", "Pods")]),
        ("<https://host/pods>", [(0, "https://host/pods", "")]),
        ("> [!info] Needs [[Pods]]\n> and [[Nodes]].", [(0, "Pods", ""), (1, "Nodes", "")]),
        ("[[Pods#Limits|limits]] ![[Nodes]]", [(0, "Pods#Limits|limits", ""), (0, "Nodes", "")]),
        ('[R]({{< ref "pods.md" >}})', [(0, '{{< ref "pods.md" >}}', "R")]),
        ("![image](pods.png)", []),
        ("`[x](y.md)` ``a ` [x](y.md)``", []),
        ("```\n[x](y.md)\n```\n~~~md\n[x](y.md)\n~~~", []),
        ("text\n\n    [x](y.md)\n\n- item\n\n    [in the item](z.md)", [(6, "z.md", "in the item")]),
        ("- item\n\n        [code](y.md)\n", []),
        ("<!-- [x](y.md)\n[x](y.md) --> [z](z.md)", [(1, "z.md", "z")]),
        ("<script>\n[x](y.md)\n</script>", []),
        (r"\[x](y.md) [a\]b](c.md)", [(0, "c.md", r"a\]b")]),
        ("[[x](y.md)", [(0, "y.md", "x")]),
    ],
)
def test_links_of_markdown(text, links):
    """Code, comments and images have none."""
    assert found(find_links(parse(text))) == links


@pytest.mark.parametrize(
    ("reader", "text", "links"),
    [
        (find_org_links, "[[file:pods.org::*Limits][Pods]] [[id:4d2f]] [[*Own heading]]",
         [("pods.org#Limits", "Pods", ""), ("4d2f", "", "label")]),
        (find_org_links, "#+begin_src org\n[[file:a.org]]\n#+end_src", []),
        (find_asciidoc_links, "xref:pods.adoc#limits[Pods] <<nodes.adoc#x,Nodes>> <<own>>",
         [("pods.adoc#limits", "Pods", ""), ("nodes.adoc#x", "Nodes", ""), ("own", "", "label")]),
        (find_asciidoc_links, "----\nxref:a.adoc[A]\n----", []),
    ],
)  # fmt: skip
def test_links_of_other_markup(reader, text, links):
    """Labels are marked as such."""
    assert [(link.address, link.label, link.kind) for link in reader(text)] == links


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("docs/server.rst", "The server\n==========\n\nIt is started by `.HTTPServer`, not by `asyncio.Server`.\n"),
        ("docs/server.rst", "The server\n==========\n\n.. currentmodule:: app.http\n\n.. autoclass:: HTTPServer\n"),
        ("docs/server.md", "# The server\n\n::: app.http.HTTPServer\n"),
    ],
)
def test_documentation_links_to_the_code_it_refers_to(tmp_path, page, text):
    """Names of other libraries are neither relations nor broken links."""
    for name, content in ((page, text), ("app/__init__.py", ""), ("app/http.py", "class HTTPServer:\n    pass\n")):
        path = tmp_path / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    with open_engine(str(tmp_path / "weft.db"), embedder="hash") as engine:
        engine.index(str(tmp_path / "corpus"))
        graph = engine.store.graph
        (page_entity,) = graph.find_entities(["server"]).values()
        (relation,) = graph.relations_of([page_entity.id], limit=9, types=["links_to"])

        assert [entity.name for entity in graph.entities([relation.target_id])] == ["app.http.HTTPServer"]
        assert list(engine.store.graph.broken_links()) == []


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("../api/Pods%20Guide.md?x=1#Max Size", "!pods-guide/api/../|r#maxsize"),
        ("pods.html", "!pods/|r"),
        ("/docs/pods/", "!pods/docs/|a"),
        ("/docs/pods/index.html", "!pods/docs/|a"),
        ("./", "!guide/docs/|x"),
        ("../README.md", "!docs/|x"),
        ("@site/docs/pods.md", "!pods/docs/|a"),
        ("{% link _posts/2024-01-02-pods.md %}", "!2024-01-02-pods/posts/|a"),
        ("{{ site.baseurl }}/docs/pods", "!pods/docs/|a"),
        ("{{ '/docs/pods/' | relative_url }}", "!pods/docs/|a"),
        ('{{% relref "pods#limits" %}}', "!pods/|w#limits"),
        ("/docs/{{< param v >}}/x", None),
        ("#limits", None),
        ("mailto:a@b.c", None),
        ("https://other.host/docs/pods", None),
        ("//other.host/pods", None),
        ("logo.png", None),
        ("/", None),
    ],
)
def test_an_address_has_the_key_of_its_target(address, key):
    """External addresses, files and parts of the same page have none."""
    link = read_address(address, source="docs/guide/intro.md")
    assert (link_key(link) if link else None) == key
    assert link is None or read_link_key(link_key(link)) == link


def test_an_address_on_the_host_of_the_page_is_internal():
    """Web pages link to themselves by whole addresses."""
    link = read_address("https://a.b/docs/pods.html", source="https://a.b/docs/intro.html")
    assert link == LinkKey(("a.b", "docs", "pods"), "x")


PAGES = [
    "content/en/docs/guide/intro.md", "content/en/docs/guide/setup.md", "content/en/docs/api/pods.md",
    "content/zh/docs/api/pods.md", "content/en/docs/api/_index.md", "content/en/docs/guide/intro/deep.md",
    "notes/Mercury (planet).md", "notes/Mercury (element).md", "README.md",
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "address", "target"),
    [
        ("content/en/docs/guide/intro.md", "setup.md", "content/en/docs/guide/setup.md"),
        ("content/en/docs/guide/intro.md", "../setup/", "content/en/docs/guide/setup.md"),
        ("content/en/docs/guide/intro.md", "deep", "content/en/docs/guide/intro/deep.md"),
        ("content/en/docs/guide/intro.md", "../api", "content/en/docs/api/_index.md"),
        ("content/en/docs/guide/intro.md", "/docs/api/pods", "content/en/docs/api/pods.md"),
        ("content/zh/docs/api/pods.md", "/docs/guide/setup.html", "content/en/docs/guide/setup.md"),
        ("content/zh/docs/api/pods.md", "/docs/api/", "content/en/docs/api/_index.md"),
        ("content/en/docs/guide/intro.md", "/v2/docs/api/pods/", "content/en/docs/api/pods.md"),
        ("content/en/docs/guide/intro.md", "/docs/api/nodes", None),
        ("content/en/docs/guide/intro.md", "pods.md", None),
        ("notes/Mercury (planet).md", "../README.md", "README.md"),
    ],
)
def test_a_link_finds_its_page(source, address, target):
    """Relative to the file or to its address as a folder, below the root of the site, in another language."""
    rows = sorted(PageRow(page_key(page), "") for page in PAGES)

    def find_pages(prefixes):
        return {prefix: [row for row in rows if row.key.startswith(prefix)] for prefix in prefixes}

    at = page_key(source), link_key(read_address(address, source=source))
    chosen = resolve([at], find_pages)
    assert [item.page for item in chosen.values()] == ([page_key(target)] if target else [])


@pytest.mark.parametrize(
    ("address", "target"),
    [("Settings", "ui/Settings.md"), ("Profile", "sync/Choose.md"), ("sync/Old", "sync/Choose.md")],
)
def test_a_wikilink_leads_to_a_file_rather_than_to_another_path_of_a_nearer_page(address, target):
    """`sync/Choose.md` may have `permalink: sync/settings`; without a file `Profile.md`, its other paths are found."""
    rows = [PageRow(page_key(page), "") for page in ("sync/Choose.md", "ui/Settings.md")]
    rows += [PageRow(f"/{name}/sync/|>", page_key("sync/Choose.md")) for name in ("settings", "profile", "old")]

    def find_pages(prefixes):
        return {prefix: [row for row in rows if row.key.startswith(prefix)] for prefix in prefixes}

    source = "sync/Start.md"
    at = page_key(source), link_key(read_wikilink(address, anchor="", name=""))
    assert [item.page for item in resolve([at], find_pages).values()] == [page_key(target)]


def test_a_long_path_has_a_short_key():
    """PostgreSQL limits the size of an index key; equal paths keep equal keys."""
    source = "/".join(["ein sehr langer ordner 长"] * 40) + "/seite.md"
    assert len(page_key(source).encode()) < MAX_PREFIX_BYTES + 20
    assert page_key(source) == page_key(source.upper().replace("SEITE.MD", "seite.md"))
    assert parts_of_page(page_key(source))[-1] == "seite"


@pytest.mark.parametrize(
    ("text", "suffix", "ids"),
    [
        ("# Ab\n## Max {#most}\n## Max\nx\n# C#", ".md",
         [("ab", 0, 3), ("max", 1, 1), ("most", 1, 1), ("max1", 2, 3), ("c", 4, 4)]),
        ("Über Öl\n=====\n\n## 响应式 `ref`", ".md", [("uberol", 0, 3), ("响应式ref", 3, 3)]),
        ("```\n# no\n```\n<a id='here'></a> text ^blk", ".md", [("here", 3, 3), ("blk", 3, 3)]),
        ("* One\n:PROPERTIES:\n:CUSTOM_ID: uno\n:END:\n** Two", ".org", [("one", 0, 4), ("uno", 0, 4), ("two", 4, 4)]),
        ("= T\n[[max]]\n== Limits\nx", ".adoc", [("t", 0, 3), ("max", 2, 3), ("limits", 2, 3)]),
    ],
)  # fmt: skip
def test_anchors_of_a_page(text, suffix, ids):
    """Headings with their sections, explicit ids; repeated headings are numbered."""
    assert [(anchor.id, anchor.start, anchor.end) for anchor in find_anchors(text, suffix=suffix)] == ids


def test_anchors_of_all_generators_are_equal():
    """Punctuation, accents and case differ between site generators."""
    assert {normal_anchor(a) for a in ("v-model-é_x", "V-Model-E-X", "vmodel--ex")} == {"vmodelex"}


@pytest.mark.parametrize(
    ("source", "text", "urls"),
    [
        ("a.md", "[s](https://x.org/s?a=1&amp;b=2), <https://x.org/t>, [b](b.md), [t](https://x.org/t)", "s?a=1&b=2 t"),
        ("a.md", "`[x](https://x.org/c)`\n\n```\n[y](https://x.org/d)\n```\n\n[r]\n\n[r]: https://x.org/r", "r"),
        ("a.md", f"[long](https://x.org/{'y' * 600}) [mail](mailto:a@x.org) ![i](https://x.org/i.png)", ""),
        ("https://X.org/a", "[b](https://x.org/b) [c](https://y.org/c)", "https://y.org/c"),
        ("a.adoc", "link:https://x.org/s[s] and https://x.org/t[t]", "s t"),
        ("a.org", "[[https://x.org/s][s]]", "s"),
        ("a.md", " ".join(f"[{n}](https://x.org/{n})" for n in range(200)), " ".join(map(str, range(MAX_URLS)))),
    ],
)
def test_addresses_on_other_hosts_are_attributes_of_the_document(source, text, urls):
    """Each once, in order, bounded in number and length; not those in code."""
    form = "text" if source.endswith((".adoc", ".org")) else "markdown"
    document = Document(source=source, title="A", text=text, form=form)
    expected = [url if "://" in url else f"https://x.org/{url}" for url in urls.split()]
    store = MemoryDatabase().store("default")
    planned = make_plan(document, store=store, options=SplitOptions(), extractor=RuleExtractor())

    assert planned.document.metadata.get(URLS, []) == expected
    assert not any("x.org" in item.name for part in planned.extractions for item in part.candidates)


def test_an_answer_does_not_repeat_the_addresses_of_a_page(tmp_path):
    """They would come back with each of its chunks; the document itself shows them."""
    page = Document(source="a.md", title="Tides", text="Tides: see [the table](https://x.org/t).", form="markdown")
    with open_engine(tmp_path / "weft.db", embedder="none") as engine:
        engine.add([page])
        (piece,) = engine.query("tides").evidence
        document, _ = engine.get("a.md")

    assert document_to_dict(document)["metadata"] == {URLS: ["https://x.org/t"]}
    assert evidence_to_dict(piece, 1)["document"]["metadata"] == {}


@pytest.mark.parametrize(
    ("label", "target", "name"),
    [
        ("Pod Lifecycle", "pods/pod-lifecycle", "Pod Lifecycle"),
        ("label selectors", "concepts/labels", ""),
        ("label selectors", "concepts/label-selectors", "label selectors"),
        ("`kubectl`", "tools/kubectl", "kubectl"),
        ("会话存储", "a/store", "会话存储"),
        ("session_store", "a/b", "session_store"),
        ("here", "a/here", ""),
        ("this page", "a/page", ""),
        ("how the Scheduler works", "a/scheduler", ""),
        ("Read More", "a/b", ""),
        ("labels", "concepts/labels", ""),
        ("Kubernetes", "a/overview", ""),
        ("Overview", "a/overview", ""),
        ("see below for the whole long list", "a/list", ""),
        ("https://a.b/c", "a/c", ""),
        ("1.2", "a/b", ""),
    ],
)
def test_labels_that_are_names(label, target, name):
    """References, clauses and common words are no names of a page."""
    assert read_label(label, target=target.split("/")) == name


@pytest.mark.parametrize(
    "text",
    [
        "[a](b.md) " * 10_000, "[" * 50_000, "[a](" * 20_000, "![" * 20_000 + "]" * 20_000, "<a href=" * 20_000,
        "[[a" * 20_000, "`" * 30_001 + "[a](b)", "<!--" * 20_000, "[x]: " * 20_000, "- " * 20_000, "{{" * 20_000,
        "[a]({{< x" * 9_000, ":doc:`a <" * 9_000, "`a <b" * 9_000, ".. _a: " * 9_000, "xref:a[" * 9_000, "<<a," * 9_000,
        "# " + "{#a" * 9_000, "[a]" * 20_000, "[a](b(c" * 9_000,
    ],
)  # fmt: skip
def test_hostile_text_is_read_in_linear_time(text):
    """Each text would take minutes if its parts were read again and again."""
    for reader in (lambda text: find_links(parse(text)), find_org_links, find_asciidoc_links):
        assert len(reader(text)) <= MAX_LINKS
    for suffix in (".md", ".org", ".adoc"):
        assert len(find_anchors(text, suffix=suffix)) <= 2 * MAX_ANCHORS


def test_many_links_in_a_line():
    """The sentence of each link is searched near the link only."""
    text = "".join(f"[a {n}](b{n}.md) " for n in range(1_500))
    document = Document(source="a/x.md", title="X", text=text, form="markdown")
    chunks = split(document, document_id="d", options=SplitOptions())
    stated_relations = [
        stated for found in RuleExtractor().extract(document, chunks) for stated in found.stated_relations
    ]
    assert len([stated for stated in stated_relations if stated.target.startswith("!b")]) == 1_500
