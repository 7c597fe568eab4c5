"""Web page in a real browser: search, explanation, graph, feedback, upload; by mouse, by keyboard, on a phone."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from browsing import ask, opened, show
from serving import OTHER, Running, add

from weft.errors import ModelUnavailable
from weft.testing import FakeEmbedder

pytestmark = pytest.mark.browser

QUESTION = "what does the auth service depend on?"
TEAM = "---\nowner: Identity Team\n---\n# Session Store\n\nThe Session Store depends on the Auth Service.\n"
FLOW = "# Login Flow\n\n[[Login Flow]] depends on the [[Session Store]].\n"
WIDE = "# Ledger\n\n| Key | |\n|---|---|\n| `ledger.batch` | 40 |\n\n" + "x" * 300 + "\n"


@pytest.fixture(scope="module")
def embedder():
    return FakeEmbedder()


@pytest.fixture(scope="module")
def server(tmp_path_factory, embedder):
    with Running(tmp_path_factory.mktemp("page") / "weft.db", embedder=embedder) as running:
        with running.client() as client:
            add(client)
            add(client, OTHER, "oauth")
            add(client, TEAM, "session")
            add(client, FLOW, "flow")
            add(client, WIDE, "ledger")
            stated = {"facts": [{"subject": "Auth Service", "predicate": "owned_by", "object": "Identity Team"}]}
            assert client.post("/facts", json=stated).status_code == 201
        yield running


def points(page):
    """Return the entities that are drawn, with their places in the drawing."""
    page.wait_for_selector("#graph[data-settled]")
    return {name: (x, y) for name, x, y in json.loads(page.locator("#graph").get_attribute("data-places"))}


def centre(page, name):
    """Return the place of an entity on the screen."""
    canvas = page.locator(".canvas").bounding_box()
    x, y = points(page)[name]
    return canvas["x"] + x, canvas["y"] + y


def test_a_question_is_answered_with_channels_scores_marks_and_citations(page):
    """The response of the server is on the page."""
    ask(page, "which JWT tokens does the Auth Service issue?")
    first = page.locator(".evidence article").first

    assert page.locator(".status").inner_text() == "Relevant passages found"
    assert "confidence" in page.locator(".verdict").inner_text()
    assert first.locator(".citation").inner_text().startswith("text:auth:")
    assert {"vector", "keyword"} <= set(re.findall(r"vector|keyword|graph", first.locator(".channels").inner_text()))
    assert re.fullmatch(r"[\d.]+", first.locator(".score").inner_text())
    assert {"jwt", "issues"} <= {mark.lower() for mark in first.locator("mark").all_inner_texts()}


def test_passages_after_the_gap_in_the_scores_are_folded(page):
    """The first list ends where the score falls most; the rest opens by a click. Even scores fold nothing."""
    scores = [1, 0.9, 0.8, 0.02]

    def answer(route):
        given = route.fetch().json()
        given["results"] = [{**given["results"][0], "rank": n, "score": s} for n, s in enumerate(scores, start=1)]
        route.fulfill(json=given)

    page.route("**/query", answer)
    ask(page, "which JWT tokens does the Auth Service issue?")
    weaker = page.locator("details.weaker")

    assert page.locator(".evidence[aria-label=Evidence] > li").count() == 3
    assert weaker.locator("summary").inner_text() == "1 weaker match"
    assert not weaker.locator("article").is_visible()
    weaker.locator("summary").click()
    assert weaker.locator(".rank").inner_text() == "4"
    scores[3] = 0.7
    ask(page, "which JWT tokens does the Auth Service issue today?")
    assert page.locator(".evidence > li").count() == 4
    assert weaker.count() == 0


def test_a_passage_is_rendered_markdown_and_its_evidence_is_highlighted(page, server):
    """Lists, code, tables, math and links are elements; the citation opens the lines, which can be copied."""
    text = (
        "# Kestrel Cache\n\nThe cache is warm. The kestrel cache evicts the oldest page first. It rests.\n\n"
        "1. *one*\n   - two `three`\n\n> quoted\n\n```python\nevict(page)\n```\n\n| a | b |\n|---|---|\n| c | d |\n\n"
        "The cost is $\\frac{n}{k_1}$; see [the team](session) and [more](https://kestrel.test/a).\n"
    )
    with server.client() as client:
        add(client, text, "kestrel")
    ask(page, "which page does the kestrel cache evict first?")
    card = page.locator(".evidence article", has_text="evicts the oldest").first
    passage = card.locator(".passage")

    assert "".join(passage.locator(".evident").all_inner_texts()) == "The kestrel cache evicts the oldest page first."
    assert passage.locator("ol > li > ul > li code").inner_text() == "three"
    assert passage.locator("pre").get_attribute("data-language") == "python"
    assert (passage.locator("thead th").count(), passage.locator("tbody td").count()) == (2, 2)
    assert passage.locator("blockquote").inner_text() == "quoted"
    assert passage.locator("math mfrac msub").count() == 1
    assert passage.locator("a.external").get_attribute("rel") == "noopener noreferrer"
    passage.get_by_role("link", name="the team").click()
    page.get_by_role("heading", name="Session Store").wait_for()
    page.go_back()
    card.locator(".citation").click()
    page.wait_for_selector(".chunks .target .evident")
    page.evaluate("navigator.clipboard.writeText = async text => { window.copied = text }")
    page.locator(".target").get_by_role("button", name="Copy").click()
    page.get_by_text("Copied").first.wait_for()
    assert page.evaluate("window.copied").endswith("text:kestrel:3-18")


def test_an_explanation_opens_and_closes(page):
    """It has channels with their ranks, and the way through the graph with weights."""
    ask(page, "what happens if the OAuth Provider changes?")
    card = page.locator(".evidence article", has_text="depends on the Session Store")
    why = card.get_by_role("button", name="Why this?")
    reasons = card.locator(".reasons")
    assert not reasons.is_visible()
    why.click()

    assert why.get_attribute("aria-expanded") == "true"
    assert re.search(r"graph.*\s\d+ of \d+", reasons.inner_text())
    assert reasons.locator(".pathway .chip").all_inner_texts()[0] == "OAuth Provider"
    assert [float(weight) for weight in reasons.locator(".pathway .way b").all_inner_texts()] == [7, 7]
    why.click()
    assert not reasons.is_visible()


def test_an_explanation_has_what_the_reranker_said(browser, tmp_path, embedder):
    """Its score and the former rank; or why it was not used."""

    class Judge:
        name = "judge"

        def rerank(self, query, texts):
            if "deaf" in query:
                raise ModelUnavailable("out of hearing")
            return [float("Provider signs" in text) for text in texts]

    settings = {"search__gate": False, "graph__extractor": "none"}
    with Running(tmp_path / "weft.db", embedder=embedder, reranker=Judge(), **settings) as server:
        with server.client() as client:
            add(client)
            add(client, OTHER, "oauth")
        with opened(browser, server.url) as page:
            ask(page, "which JWT tokens does the Auth Service issue?")
            first = page.locator(".evidence article").first
            first.get_by_role("button", name="Why this?").click()
            used = first.locator(".reasons .rerank").inner_text()
            ask(page, "which JWT tokens does the deaf Auth Service issue?")
            first.get_by_role("button", name="Why this?").click()
            unused = first.locator(".reasons .rerank").inner_text()

    assert used == "Reranker judge: score 1; former rank 2."
    assert unused == "Reranker judge was not used: out of hearing."


def test_filters_stay_for_the_next_question_and_questions_are_kept(page):
    """A follow-up searches the same folder; the history repeats a question, and is cleared."""
    page.locator(".filters summary").click()
    page.get_by_label("Folder").fill("text:oauth")
    ask(page, "who signs tokens?")
    page.get_by_role("searchbox", name="Question").fill(QUESTION)
    with page.expect_response("**/query") as sent:
        page.keyboard.press("Enter")
    page.wait_for_selector(f".unseen:has-text('{QUESTION}')", state="attached")
    page.wait_for_selector(".evidence article")

    assert sent.value.request.post_data_json["source_prefix"] == "text:oauth"
    assert page.locator(".evidence .citation").evaluate_all("all => all.every(a => a.title.startsWith('text:oauth'))")
    assert "documents in text:oauth" in page.locator(".narrowed").inner_text()
    page.get_by_role("link", name="Weft, start page").click()
    history = page.get_by_role("region", name="Recent questions")
    history.wait_for()
    assert history.get_by_role("link").all_inner_texts()[:2] == [QUESTION, "who signs tokens?"]
    history.get_by_role("link", name="who signs tokens?").click()
    page.wait_for_selector(".narrowed")
    page.get_by_role("link", name="Weft, start page").click()
    page.get_by_role("button", name="Clear history").click()
    assert page.evaluate("Object.keys(localStorage).filter(name => name.startsWith('weft-history'))") == []


def test_methods_are_compared_side_by_side(page):
    """Each column is a ranking of its own; a passage says where else it was found."""
    ask(page, "which tokens does the OAuth Provider sign?")
    page.get_by_role("link", name="Compare methods").click()
    page.wait_for_selector(".columns")
    columns = page.locator(".column")

    assert columns.locator("h2").all_inner_texts() == ["All channels", "Vector", "Keyword", "Graph"]
    assert "also" in columns.nth(2).locator("li").first.inner_text()
    columns.nth(2).locator("li a").first.focus()
    assert page.locator("li.same").count() > 1


def test_a_node_expands_by_click_and_is_dragged(page):
    """A short press brings its neighbours and lists its relations in words; a long way moves it."""
    ask(page, "which tokens does the OAuth Provider sign?")
    before = points(page)
    page.mouse.click(*centre(page, "Session Store"))
    page.locator(".about strong", has_text="Session Store").wait_for()
    page.wait_for_function(
        "n => JSON.parse(document.querySelector('#graph').dataset.places).length > n", arg=len(before)
    )

    assert set(before) < set(points(page))
    assert "→ depends on" in page.locator(".about .choices").inner_text()

    canvas = page.locator(".canvas").bounding_box()
    to = (canvas["x"] + 120, canvas["y"] + 60)
    page.mouse.move(*centre(page, "Auth Service"))
    assert page.locator(".hover").inner_text().startswith("Auth Service")
    page.mouse.down()
    page.mouse.move(*to, steps=5)
    page.mouse.up()
    now = centre(page, "Auth Service")
    assert max(abs(now[0] - to[0]), abs(now[1] - to[1])) < 8


def test_a_node_expands_by_keyboard(page):
    """The list below the drawing has the related entities as buttons; Enter opens one."""
    ask(page, "which tokens does the OAuth Provider sign?")
    before = points(page)
    page.locator(".about .choice", has_text="Auth Service").focus()
    page.keyboard.press("Enter")
    page.locator(".about strong", has_text="Auth Service").wait_for()
    page.locator(".about .choice", has_text="Session Store").press("Enter")
    page.wait_for_function(
        "n => JSON.parse(document.querySelector('#graph').dataset.places).length > n", arg=len(before)
    )

    page.wait_for_function("() => document.activeElement.textContent === 'Open entity'")
    assert page.locator(".about .choice", has_text="Login Flow").count() == 1


def test_the_whole_graph_is_explored(page, server):
    """Communities, search, relations, a path, a pin, filters and exports; the list says what is drawn."""
    show(page, f"{server.url}/#/graph")
    page.wait_for_selector("[data-arranged]")
    beside = page.locator(".beside")
    assert "communit" in beside.locator("h2").inner_text()
    named = beside.locator(".choice .key").all_inner_texts()
    assert page.locator(".drawing .legend .key").all_inner_texts() == [
        name for name in named if name != "Small groups"
    ] + (["others"] if "Small groups" in named else [])
    page.get_by_label("Colour by").select_option("type")
    assert "type" in beside.locator("h2").inner_text()
    page.get_by_label("Colour by").select_option("community")

    page.get_by_role("searchbox", name="Find").fill("oauth prov")
    beside.get_by_role("button", name="OAuth Provider").first.click()
    assert "← depends on" in beside.locator(".choice", has_text="Auth Service").inner_text()
    page.get_by_role("button", name="Pin").click()
    assert page.get_by_role("button", name="Unpin").evaluate("e => e === document.activeElement")
    page.get_by_role("button", name="Expand").click()
    page.get_by_text(re.compile("added[.]")).wait_for()
    page.get_by_label("Path to").fill("Session Store")
    page.get_by_role("button", name="Find path").click()
    page.wait_for_selector(".steps")
    assert "Session Store" in page.locator(".steps li").last.inner_text()

    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as SVG").click()
    drawn = Path(saved.value.path()).read_text("utf-8")
    assert "OAuth Provider" in drawn and "marker-end" in drawn
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as PNG").click()
    assert Path(saved.value.path()).read_bytes().startswith(b"\x89PNG")

    page.get_by_role("button", name="Back to OAuth Provider").click()
    page.get_by_text("Filter and legend").click()
    page.get_by_role("checkbox", name=re.compile(r"depends on\b")).uncheck()
    assert "depends on" not in beside.inner_text()


def test_groups_of_the_graph_have_names_that_say_what_is_in_them(page, server):
    """Communities: words frequent in their names, rare in others. Folders: below the common one, split where large."""
    run = "([file, name, ...given]) => import(`./page/explorer/${file}.js`).then(m => m[name](...given))"
    names = [
        ["Pod Lifecycle", "Pods of a Node", "Pod Quality"],
        ["Volume of a Pod", "Volumes", "Storage Class", "Storage"],
    ]
    folders = ["/a/docs/one", "/a/docs/two/x", "/a/docs/two/y", "/a/docs", ""]

    assert page.evaluate(run, ["terms", "nameGroups", names]) == ["Pod", "Storage, Volumes"]
    assert page.evaluate(run, ["folders", "groupFolders", folders, [3, 6, 2, 1, 5]]) == [
        "one",
        "two/x",
        "two/y",
        "docs",
        "",
    ]


def test_names_of_groups_have_whole_words_as_they_are_written(page):
    """Phrases instead of their parts; neither the letters of a record number nor a part of a word with a hyphen."""
    run = "names => import('./page/explorer/terms.js').then(m => m.nameGroups(names))"
    groups = {
        "Rate Limiter, Drop Day": ["Rate Limiter", "INC-2083 Office blocked by the limiter", "Drop Day"],
        "Notification Hub, Templates": ["Notification Hub", "hub_talltower", "dep-0766", "dep-0803", "Templates"],
        "gen-itgc, Evidence": ["gen-itgc", "gen-itgc重跑手册", "Evidence"],
        "Network Interfaces, Kong": ["Elastic Network Interfaces", "Container Network Interface", "Kong"],
        "Project template": ["Python Project template", "Flask project template", "CLI Project Template"],
        "dep-0848, dep-0851": ["dep-0848", "dep-0851", "dep-0860"],
    }

    assert page.evaluate(run, list(groups.values())) == list(groups)


def test_a_fact_is_confirmed_and_rejected(page, server):
    """The page says so, and the store has it."""
    page.goto(f"{server.url}/#/facts?subject=Auth+Service")
    item = page.locator(".fact", has_text="owned by")
    assert "unconfirmed" in item.inner_text()
    item.get_by_role("button", name=re.compile("^Confirm")).click()
    item.locator(".state.confirmed").wait_for()
    with server.client() as client:
        status = {f["status"] for f in client.get("/facts", params={"subject": "Auth Service"}).json()["facts"]}
        assert "confirmed" in status
        assert "confirmed" in page.locator("#live").inner_text()

        item.get_by_role("button", name=re.compile("^Reject")).click()
        item.locator(".state.rejected").wait_for()
        found = client.get("/facts", params={"subject": "Auth Service"}).json()["facts"]
        assert [f["status"] for f in found if f["predicate"] == "owned_by"] == ["rejected"]


def test_a_fact_is_edited_and_has_a_timeline(page, server):
    """The new value is confirmed, the old one is replaced, and the events are listed."""
    with server.client() as client:
        stated = {"facts": [{"subject": "Ledger", "predicate": "closes_on", "value": "Friday"}]}
        id = client.post("/facts", json=stated).json()["facts"][0]["fact"]["id"]
        show(page, f"{server.url}/#/facts?subject=Ledger")
        page.locator(f"[data-fact={id}]").get_by_role("button", name=re.compile("^Edit")).click()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type("Monday")
        page.keyboard.press("Enter")
        changed = page.locator(".fact.confirmed", has_text="Monday")
        changed.wait_for()
        assert "replaced" in page.locator(f"[data-fact={id}]").inner_text()
        changed.get_by_role("button", name=re.compile("^Timeline")).click()
        changed.locator(".timeline li").first.wait_for()
        assert "confirmed" in changed.locator(".timeline").inner_text()
        status = {fact["value"]: fact["status"] for fact in client.get("/facts?subject=Ledger").json()["facts"]}
        assert status == {"Friday": "superseded", "Monday": "confirmed"}


def test_nothing_found_is_said_with_what_was_rejected(page):
    """The ranking can still be shown, marked as rejected."""
    ask(page, "zebra migration in the serengeti")

    assert page.locator(".status").inner_text() == "Nothing relevant found"
    assert page.locator(".rejected").is_visible()
    assert page.locator(".evidence").count() == 0
    page.get_by_role("link", name="Show the ranking anyway").click()
    page.wait_for_selector(".evidence article")
    assert page.locator(".status").inner_text() == "Unfiltered ranking"
    assert "may be irrelevant" in page.locator(".verdict").inner_text()


def test_a_degraded_answer_says_why(page, embedder):
    """The reason is the engine's own."""
    embedder.failing = "the model is asleep"
    try:
        ask(page, "the Auth Service issues JWT tokens")
        assert page.locator(".status").inner_text() == "Incomplete results"
        assert "the model is asleep" in page.locator(".verdict .reason").inner_text()
    finally:
        embedder.failing = ""


def test_an_entity_has_a_page(page, server):
    """Description, relations with weights, mentions that lead to the passage, facts."""
    page.goto(f"{server.url}/#/entity?name=auth+service")
    page.wait_for_selector(".mentions")
    text = page.locator("main").inner_text()

    assert page.locator("h1").inner_text() == "Auth Service"
    assert "OAuth Provider" in page.locator(".groups").first.inner_text()
    assert "Mentions" in text
    page.wait_for_selector(".fact")
    page.locator(".mentions a").first.click()
    page.wait_for_selector(".chunks .target")


def test_an_entity_is_renamed_merged_and_deleted_and_each_is_undone(page, server):
    """By the keyboard, after a question where others lose something; the way back is a button."""
    with server.client() as client:
        add(client, "# Vole Depot\n\nThe Vole Depot depends on the [[Session Store]].\n", "depot")
        add(client, "# Vole Shed\n\nThe Vole Shed depends on the [[Session Store]].\n", "shed")
    show(page, f"{server.url}/#/entity?name=Vole+Depot")

    def edit(label, text):
        page.get_by_text("Edit entity").focus()
        page.keyboard.press("Enter")
        page.get_by_label(label).fill(text)
        page.keyboard.press("Enter")

    def undo(text):
        page.locator(".notice", has_text=text).wait_for()
        page.get_by_role("button", name="Undo").click()
        page.locator(".notice", has_text="Restored").wait_for()
        return page.locator("h1").inner_text()

    edit("New name", "Vole Yard")
    page.locator("h1", has_text="Vole Yard").wait_for()
    assert undo("Renamed Vole Depot to Vole Yard.") == "Vole Depot"
    edit("Same as", "Vole Shed")
    page.get_by_role("dialog", name="Merge “Vole Depot”").get_by_role("button", name="Merge").click()
    page.locator("h1", has_text="Vole Shed").wait_for()
    assert undo("Merged Vole Depot into Vole Shed.") == "Vole Depot"
    edit("Same as", "nobody at all")
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    page.get_by_role("alert").filter(has_text="No entity").wait_for()
    page.get_by_role("button", name="Delete entity").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.locator("h1", has_text="Entities").wait_for()
    assert undo("Deleted Vole Depot.") == "Vole Depot"


def test_files_are_uploaded_with_progress(page, server):
    """A job runs, its events are followed, and the document is there."""
    page.goto(f"{server.url}/#/documents")
    page.wait_for_selector(".documents li")
    files = [{"name": f"note-{n}.md", "mimeType": "text/markdown", "buffer": f"# Note {n}".encode()} for n in range(3)]
    page.set_input_files("#files", files)
    page.wait_for_selector(".receipt[data-state=done]")

    assert "3 documents added" in page.locator(".receipt").inner_text()
    row = page.locator(".documents li:has-text('note-2.md')")
    row.wait_for()
    row.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    row.wait_for(state="detached")
    page.locator(".receipt").get_by_role("link", name="note-1.md").click()
    page.get_by_role("heading", name="Note 1").wait_for()


def test_documents_are_searched_ordered_and_shown_in_folders(browser, tmp_path, embedder):
    """A search finds titles and paths; the largest come first; a large tree is closed."""
    pages = [{"text": f"# Page {n}\n\nWords.\n", "source": f"docs/part{n % 3}/p{n}.md"} for n in range(45)]
    long = "# Ledger\n\n" + "".join(f"## Part {n}\n\n{'It keeps money. ' * 60}\n\n" for n in range(5))
    with Running(tmp_path / "weft.db", embedder=embedder, server__max_inline_documents=100) as server:
        with server.client() as client:
            documents = [*pages, {"text": long, "source": "docs/ledger.md"}]
            client.post("/documents", json={"documents": documents})
        with opened(browser, server.url) as page:
            show(page, f"{server.url}/#/documents")
            assert page.locator(".folder summary").all_inner_texts() == ["part0 15", "part1 15", "part2 15"]
            assert page.locator(".document:visible").count() == 1
            page.locator(".folder summary").first.click()
            assert page.locator(".document:visible").count() == 16
            page.get_by_label("Search").fill("part1/p1")
            assert page.locator(".document strong").all_inner_texts() == [
                "Page 1",
                "Page 10",
                "Page 13",
                "Page 16",
                "Page 19",
            ]
            page.get_by_label("Search").fill("")
            page.get_by_label("Order").select_option("chunks")
            assert page.locator(".document strong").first.inner_text() == "Ledger"
            page.locator("h1").click()
            page.keyboard.press("j")
            page.keyboard.press("j")
            assert page.evaluate("document.activeElement.className") == "document"
            assert page.evaluate("document.activeElement.textContent").startswith("Page 0")


def test_an_unknown_address_says_so_and_keys_are_listed(page, server):
    """With a way on; `g` and a letter go to a view."""
    show(page, f"{server.url}/#/nowhere?q=1")
    assert page.locator("h1").inner_text() == "Unknown address"
    assert "#/nowhere" in page.locator("main").inner_text()
    page.keyboard.press("?")
    assert "next and previous passage" in page.get_by_role("dialog").inner_text()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("d")
    page.locator("h1", has_text="Documents").wait_for()


def test_mentions_of_an_entity_have_snippets(page, server):
    """The text around the name, on one line and marked."""
    show(page, f"{server.url}/#/entity?name=Auth+Service")
    snippet = page.locator(".mentions .snippet").first

    assert "Auth Service" in snippet.inner_text()
    assert "auth service" in {mark.lower() for mark in snippet.locator("mark").all_inner_texts()}


def test_dark_colours_follow_the_system_and_the_switch_is_remembered(browser, server):
    """The choice survives a reload."""
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    with opened(browser, server.url, scheme="dark") as page:
        dark = page.evaluate(ground)
        switch = page.get_by_role("button", name="Dark colours")
        assert switch.get_attribute("aria-pressed") == "true"
        switch.click()
        light = page.evaluate(ground)
        page.reload()
        page.wait_for_selector("#question")
        assert page.evaluate(ground) == light != dark
        assert sum(map(int, re.findall(r"\d+", dark)[:3])) < 150 < 600 < sum(map(int, re.findall(r"\d+", light)[:3]))


VIEWS = [
    "#/ask",
    f"#/ask?q={QUESTION}",
    "#/ask?q=ledger&folder=text:ledger",
    "#/compare?q=ledger",
    "#/entities",
    "#/entity?name=Auth+Service",
    "#/entity?name=nobody",
    "#/graph",
    "#/status",
    "#/facts",
    "#/documents",
    "#/timeline",
    "#/nothing",
]


AXE = "axe.run({resultTypes: ['violations'], rules: {'target-size': {enabled: true}}}).then(found => found.violations)"
"""All rules, also the size of targets, which is off by default."""


def test_a_phone_shows_everything_without_scrolling_sideways(browser, server):
    """At 390 pixels, the smallest text still has a readable size."""
    with opened(browser, server.url, width=390, height=844) as page:
        for view in VIEWS:
            show(page, f"{server.url}/{view}")
            page.evaluate("document.querySelectorAll('.why').forEach(button => button.click())")

            assert page.evaluate("document.documentElement.scrollWidth") <= 390, view
            sizes = page.eval_on_selector_all(
                "main p, main a, main button", "all => all.map(e => parseFloat(getComputedStyle(e).fontSize))"
            )
            assert min(sizes) >= 12, view


def test_every_view_passes_axe_and_has_one_main_heading(page, server):
    """No rule of axe-core is violated, such as names of controls and contrast."""
    axe = pytest.importorskip("axe_playwright_python", reason="pip install axe-playwright-python")
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text("utf-8"))
    for view in VIEWS:
        show(page, f"{server.url}/{view}")
        found = page.evaluate(AXE)
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found] == [], view
        levels = page.eval_on_selector_all("main :is(h1, h2, h3, h4)", "all => all.map(e => Number(e.tagName[1]))")
        assert levels[0] == 1 and levels.count(1) == 1, view
        assert all(below - above <= 1 for above, below in pairwise(levels)), view


def test_the_keyboard_is_enough(page):
    """`/` to the field, arrows through the evidence, Enter opens an explanation, Escape closes it and goes back."""
    active = "document.activeElement.getAttribute('aria-label')"
    page.locator("#theme").focus()
    page.keyboard.press("/")
    assert page.evaluate(active) == "Question"
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_selector(".evidence article")
    page.keyboard.press("/")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(active).startswith("1. ")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("ArrowDown")
    assert page.evaluate(active).startswith("2. ")
    page.keyboard.press("Enter")
    assert page.locator(".reasons:not([hidden])").count() == 1
    page.keyboard.press("Escape")
    assert page.locator(".reasons:not([hidden])").count() == 0
    page.keyboard.press("Escape")
    assert page.evaluate(active) == "Question"


def test_a_key_is_asked_for_stays_in_the_tab_and_manages_others(browser, tmp_path):
    """The key is neither in the address nor in storage that outlives the tab; a new key is shown once."""
    with Running(tmp_path / "weft.db") as server:
        key = server.make_key("default", access="admin")
        with server.client(key) as client:
            add(client)
            add(client, "# Index\n\nSee [[Nowhere]].\n", "index.md")
        with opened(browser, server.url) as page:
            page.get_by_role("dialog").wait_for()
            page.get_by_role("textbox", name="Key", exact=True).fill(key)
            page.get_by_role("button", name="Use key").click()
            ask(page, QUESTION)

            assert page.locator(".evidence article").count() > 0
            assert key in page.evaluate("JSON.stringify({...sessionStorage})")
            assert key not in page.evaluate("JSON.stringify({...localStorage}) + document.cookie + location.href")

            show(page, f"{server.url}/#/status")
            page.get_by_text("1 link leads to no document").wait_for()
            page.get_by_text("Broken links", exact=True).click()
            assert page.locator(".broken-links").inner_text() == "text:index.md:3 → Nowhere"
            page.get_by_role("textbox", name="Name").fill("dashboard")
            page.keyboard.press("Enter")
            made = page.locator(".secret code").inner_text()
            with server.client(made) as client:
                assert client.get("/key").json()["access"] == "read"
                page.get_by_role("button", name="Revoke dashboard").click()
                page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
                page.get_by_text("revoked on").wait_for()
                assert client.get("/key").status_code == 401
            show(page, f"{server.url}/#/documents")
            show(page, f"{server.url}/#/status")
            assert page.locator(".fact").count() == 2 and made not in page.content()


def test_a_key_that_may_only_read_is_told_so(browser, tmp_path):
    """The fact stays as it was, on the page and in the store."""
    with Running(tmp_path / "weft.db") as server:
        writing, reading = server.make_key("default"), server.make_key("default", access="read")
        with server.client(writing) as client:
            fact = {"subject": "Ledger", "predicate": "closes", "value": "on Friday"}
            assert client.post("/facts", json={"facts": [fact]}).status_code == 201
            with opened(browser, server.url, path="/#/facts") as page:
                page.get_by_role("textbox", name="Key", exact=True).fill(reading)
                page.keyboard.press("Enter")
                item = page.locator(".fact")
                item.get_by_role("button", name="Confirm").click()

                item.get_by_role("alert").wait_for()
                assert "key is read-only" in item.inner_text()
                assert "unconfirmed" in item.inner_text()
            assert client.get("/facts").json()["facts"][0]["status"] == "staged"


def test_an_answer_that_comes_late_stays_out_of_the_next_view(browser, server):
    """Whoever goes on while it is looked for sees what they went to."""
    with opened(browser, server.url) as page:
        held = []
        page.route("**/query", lambda route: held.append(route))
        page.get_by_role("searchbox", name="Question").fill(QUESTION)
        page.keyboard.press("Enter")
        page.wait_for_selector(".searching")
        page.get_by_role("link", name="Facts").click()
        page.wait_for_selector(".fact")
        with page.expect_response("**/query"):
            held[0].continue_()
        page.evaluate("() => new Promise(done => setTimeout(done, 100))")

        assert page.locator("h1").inner_text() == "Facts"
        assert page.locator(".verdict").count() == 0
