"""Web page without server, documents or confirmation."""

import pytest
from browsing import ask, opened, show
from serving import OTHER, Running, add

from weft.records import Document

pytestmark = pytest.mark.browser

QUESTION = "which tokens does the OAuth Provider sign?"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Running(tmp_path_factory.mktemp("trouble") / "weft.db") as running:
        with running.client() as client:
            add(client)
            add(client, OTHER, "oauth")
        yield running


def test_a_server_that_is_gone_is_said_to_be(page):
    """In the place of the answer, with a way to try again; and where a click on the graph led to nothing."""
    page.route("**/query", lambda route: route.abort())
    page.get_by_role("searchbox", name="Question").fill(QUESTION)
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    assert "does not respond" in page.get_by_role("alert").inner_text()
    page.unroute("**/query")
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector(".evidence article")

    page.route("**/graph/neighbours*", lambda route: route.abort())
    page.locator(".about .choice").first.click()
    page.wait_for_selector(".trouble:not(:empty)")
    assert "does not respond" in page.locator(".trouble").inner_text()
    page.unroute("**/graph/neighbours*")
    page.locator(".about .choice").first.click()
    page.wait_for_function("() => document.querySelector('.trouble').textContent === ''")
    assert page.locator(".trouble").inner_text() == ""


def test_what_is_not_there_is_said_with_a_way_on(page, server):
    """In words of the page, not of the command line."""
    show(page, f"{server.url}/#/entity?name=nobody")
    said = page.get_by_role("alert")

    assert "No entity 'nobody'" in said.inner_text()
    assert "weft" not in said.inner_text()
    said.get_by_role("link", name="All entities").click()
    page.wait_for_selector(".entities li")


def test_an_empty_namespace_says_so_in_every_view(browser, tmp_path):
    """Each view links to the upload."""
    with Running(tmp_path / "weft.db") as server, opened(browser, server.url) as page:
        page.get_by_text("Nothing is indexed in this namespace yet.").wait_for()
        for view, said in [
            ("entities", "This namespace has no entities yet."),
            ("facts", "No fact is stored in this namespace yet"),
            ("facts?status=confirmed", "No confirmed fact"),
        ]:
            show(page, f"{server.url}/#/{view}")
            assert page.get_by_text(said).is_visible(), view
        show(page, f"{server.url}/#/ask?q=anything")
        assert page.locator(".status").inner_text() == "Nothing relevant found"
        show(page, f"{server.url}/#/ask")
        page.get_by_role("link", name="Add documents").click()
        page.get_by_text("No documents are indexed yet.").wait_for()


def test_a_fact_is_forgotten_only_after_a_question(page, server):
    """Cancel, which has the focus, leaves it; the store loses it after that."""
    with server.client() as client:
        stated = {"facts": [{"subject": "Auth Service", "predicate": "runs_on", "value": "Tuesday"}]}
        id = client.post("/facts", json=stated).json()["facts"][0]["fact"]["id"]
        show(page, f"{server.url}/#/facts?subject=Auth+Service")
        item = page.locator(f"[data-fact={id}]")
        item.get_by_role("button", name="Forget").click()
        question = page.get_by_role("dialog")
        assert "Auth Service runs on Tuesday" in question.inner_text()
        page.keyboard.press("Enter")
        question.wait_for(state="detached")
        assert client.get(f"/facts/{id}").status_code == 200
        assert page.evaluate("document.activeElement.textContent") == "Forget"

        item.get_by_role("button", name="Forget").click()
        question.get_by_role("button", name="Forget").click()
        item.wait_for(state="detached")
        assert client.get(f"/facts/{id}").status_code == 404


def test_a_document_is_removed_only_after_a_question(page, server):
    """It is in no list and in no answer any more."""
    with server.client() as client:
        add(client, "# Heron\n\nThe heron counts frogs.\n", "heron")
        ask(page, "which frogs does the heron count?")
        page.locator(".evidence h2 a", has_text="Heron").first.click()
        page.wait_for_selector(".chunks .target")
        page.get_by_role("button", name="Remove").click()
        page.get_by_role("dialog").get_by_role("button", name="Remove").click()
        page.wait_for_selector(".documents li")

        assert "heron" not in page.locator(".documents").inner_text().lower()
        assert all("heron" not in found["source"] for found in client.get("/documents").json()["documents"])


def test_a_job_is_still_shown_after_coming_back(page, server):
    """Indexing goes on while other views are looked at."""
    show(page, f"{server.url}/#/documents")
    held = []
    page.route("**/jobs/*/events", lambda route: held.append(route))
    page.set_input_files("#files", [{"name": "late.md", "mimeType": "text/markdown", "buffer": b"# Late"}])
    page.wait_for_selector("progress")
    page.get_by_role("link", name="Facts").click()
    page.wait_for_selector(".view-facts[aria-busy=false]")
    assert page.locator("progress").count() == 0
    page.get_by_role("link", name="Documents").click()
    page.wait_for_selector(".view-documents[aria-busy=false]")
    assert page.get_by_role("progressbar", name="Indexing").is_visible()
    held[0].continue_()
    page.wait_for_selector(".receipt[data-state=done]")
    page.wait_for_selector(".document:has-text('late.md')")


def test_the_enlarged_graph_keeps_the_keyboard_and_gives_it_back(page):
    """The focus stays in the dialog; Escape closes it; the drawing is one Tab stop."""
    ask(page, QUESTION)
    page.get_by_role("button", name="Enlarge").click()
    assert page.locator("dialog.large").evaluate("e => e.matches(':modal')")
    assert page.locator(".canvas").bounding_box()["width"] > 700
    assert page.locator(".graph [tabindex]").count() == 1
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog.large", state="detached")
    assert page.evaluate("document.activeElement.textContent") == "Enlarge"
    assert page.locator(".side .canvas").bounding_box()["width"] < 500


def test_what_an_entity_has_too_much_of_is_said_to_be_left_out(browser, tmp_path):
    """Relations, mentions, facts and neighbours: nobody takes the first of them for all."""
    pages = [{"text": f"# Spoke {n}\n\nLinks to [[Great Hub]].\n", "source": f"s{n}"} for n in range(70)]
    facts = [{"subject": "Great Hub", "predicate": "has", "value": f"spoke number {n}"} for n in range(15)]
    with Running(tmp_path / "weft.db", server__max_inline_documents=100) as server:
        with server.client() as client:
            client.post(
                "/documents", json={"documents": [*pages, {"text": "# Great Hub\n\nTurns.\n", "source": "hub"}]}
            )
            client.post("/facts", json={"facts": facts})
        with opened(browser, server.url) as page:
            show(page, f"{server.url}/#/entity?name=Great+Hub")
            said = page.locator("main").inner_text()

            assert "The 60 strongest are shown." in said
            assert "20 of 71 chunks are shown." in said
            assert "at least " in said and "neighbours not drawn" in said
            page.get_by_role("link", name="All facts about this entity").click()
            page.get_by_text("spoke number 14").wait_for()
            show(page, f"{server.url}/#/entity?name=Spoke+1")
            assert "shown." not in page.locator("main").inner_text()


def test_a_passage_far_down_a_long_document_is_shown_and_marked(page, server):
    """With what stands around it, a way to the beginning, and one further down."""
    parts = [
        f"## Part {n}\n\n" + f"The marker{n} is here. " + "Nothing else of note happens. " * 20 for n in range(450)
    ]
    with server.client() as client:
        made = {"documents": [{"text": "\n\n".join(parts), "source": "long", "title": "Long"}]}
        assert client.post("/documents", json=made).json()["chunks"] == 450
    ask(page, "marker234")
    page.locator(".evidence article", has_text="marker234").locator("h2 a").click()
    page.wait_for_selector(".chunks .target")

    assert "marker234 is here" in page.locator(".target").inner_text()
    assert page.locator(".chunks li").count() == 200
    page.get_by_role("button", name="Show more").click()
    page.get_by_text("marker449 is here").wait_for()
    assert page.get_by_role("button", name="Show more").count() == 0
    page.get_by_role("link", name="From the beginning").click()
    page.get_by_text("marker0 is here").wait_for()


def test_the_pages_of_a_pdf_are_called_pages(page, server):
    """Its chunks are cited by page, and so are they counted."""
    report = Document(source="report.pdf", title="Report", text="The heron\nstands.", lines=[3, 4], unit="page")
    server.engines.engine("default").add([report])
    with server.client() as client:
        found = client.get("/documents", params={"prefix": "report.pdf"}).json()["documents"][0]
        assert client.get(f"/documents/{found['id']}").json()["unit"] == "page"
    show(page, f"{server.url}/#/document?id={found['id']}")

    assert page.locator(".lines .number").inner_text() == "pages 3–4"
