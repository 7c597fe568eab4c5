"""Hostile documents on the web page: shown as text, and blocked by the Content Security Policy."""

import re

import pytest
from browsing import ask, opened, show
from serving import Running, add

pytestmark = pytest.mark.browser

SCRIPT = "<script>window.hit = 1; alert(1)</script>"
IMAGE = "<img src=x onerror='window.hit = 2'>"
FRAME = "<iframe srcdoc='<script>top.hit=4</script>'></iframe>"
DRAWING = f"<svg onload='window.hit = 3'><foreignObject>{FRAME}</foreignObject></svg>"
LINK = "[[javascript:window.hit=5]] **<b onclick=window.hit=6>bold</b>** `</code><script>window.hit=7</script>`"
ADDRESSES = (
    "[one](javascript:window.hit=9) ![two](http://127.0.0.1:9/x.png) <a href='JavaScript:window.hit=10'>three</a> "
    "[four](data:text/html,<script>) <vbscript:x> $\\text{<img src=x onerror=window.hit=11>}$ [five](https://zebra.test/)"
)
HOSTILE = f"# Zebra {IMAGE}\n\nThe zebra crossing {SCRIPT} {IMAGE}\n\n{DRAWING}\n\n- {LINK}\n\n| {SCRIPT} | {IMAGE} |\n"
HOSTILE += f"\n{ADDRESSES}\n"
TURNED = "invoice\u202efdp.exe\u202c"
LONG = "w" * 180
NOTHING = (
    "() => [window.hit, document.querySelectorAll('main script, main img, main iframe, main foreignObject').length]"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Running(tmp_path_factory.mktemp("hostile") / "weft.db") as running:
        with running.client() as client:
            document = {
                "text": HOSTILE,
                "source": f"zebra/{IMAGE}",
                "title": f"Zebra {SCRIPT}",
                "metadata": {"tag": IMAGE},
            }
            assert client.post("/documents", json={"documents": [document]}).status_code == 201
            long = {
                "text": f"# Zebra {LONG}\n\n## {LONG}\n\nZebra {TURNED} `{LONG}` {LONG}\n\n| {LONG} |\n",
                "source": LONG,
                "title": f"{TURNED} {LONG}",
                "metadata": {LONG: LONG},
            }
            assert client.post("/documents", json={"documents": [long]}).status_code == 201
            add(client, f"# {IMAGE}\n\n[[{IMAGE}]] depends on the [[Zebra {SCRIPT}]].\n", "names")
            fact = {
                "subject": f"Zebra {IMAGE}",
                "predicate": f"is {SCRIPT}",
                "value": f"{DRAWING} {LONG}",
                "note": LONG,
            }
            assert client.post("/facts", json={"facts": [fact]}).json()["facts"][0]["outcome"] == "added"
        yield running


def test_a_hostile_document_is_text_in_an_answer(browser, server):
    """Title, passage, table, names in the graph, explanation: nothing of it becomes an element."""
    with opened(browser, server.url) as page:
        ask(page, f"zebra crossing {IMAGE}")
        page.wait_for_selector(".evidence article")
        page.evaluate("document.querySelectorAll('.why, .unfold').forEach(button => button.click())")
        assert "<script>window.hit = 1; alert(1)</script>" in page.locator(".evidence").inner_text()
        assert "onerror='window.hit = 2'" in page.locator(".evidence").inner_text()
        assert page.evaluate(NOTHING) == [None, 0]
        links = page.eval_on_selector_all("main a", "all => all.map(a => a.getAttribute('href'))")
        assert [target for target in links if not target.startswith("#")] == ["https://zebra.test/"]


def test_hostile_names_and_facts_are_text_in_every_view(browser, server):
    """Every entity and document of the lists is opened too, on a narrow screen."""
    with opened(browser, server.url, width=390, height=844) as page:
        views = ["#/documents", "#/entities", "#/facts", "#/ask"]
        for view in views:
            show(page, f"{server.url}/{view}")
            assert page.evaluate(NOTHING) == [None, 0], view
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, view
            below = "a[href^='#/entity?'], a[href^='#/document?']"
            found = page.eval_on_selector_all(below, "all => all.map(a => a.getAttribute('href'))")
            views += sorted(set(found) - set(views))
        assert len(views) > 8


def test_what_turns_text_around_is_spelled_out(page):
    """A name cannot read as another one, and cannot reach beyond itself."""
    ask(page, "zebra invoice")
    article = page.locator(".evidence article", has_text="invoice")

    assert "invoice[U+202E]fdp.exe" in article.locator("h2").inner_text()
    assert "invoice[U+202E]fdp.exe" in article.locator(".passage").inner_text()
    assert "[U+202E]" in article.get_attribute("aria-label")
    assert "\u202e" not in page.locator("main").inner_html()


def test_marked_words_stay_in_the_order_of_their_script(page, server):
    """Arabic is read from the right, in a title beside English ones and in a paragraph beneath one in English."""
    title, text = "دليل خدمة المصادقة", "Guide.\n\nتعتمد خدمة المصادقة على مزود الهوية\n\n- خدمة المصادقة\n"
    with server.client() as client:
        made = {"documents": [{"text": text, "source": "guide", "title": title}]}
        assert client.post("/documents", json=made).status_code == 201
    ask(page, "خدمة المصادقة")
    article = page.locator(".evidence article", has_text="Guide.")
    article.wait_for()

    for place in ("h2", ".passage > p:nth-child(2)", ".passage li"):
        marks = article.locator(f"{place} mark")
        assert marks.all_inner_texts() == ["خدمة", "المصادقة"]
        assert marks.nth(0).bounding_box()["x"] > marks.nth(1).bounding_box()["x"], place
    directions = "all => all.map(block => getComputedStyle(block).direction)"
    assert article.locator(".passage :is(p, li)").evaluate_all(directions) == ["ltr", "rtl", "rtl", "rtl"]


def test_a_name_in_latin_letters_leaves_a_right_to_left_text_in_order(page, server):
    """In a title, and in what is said of an entity: what comes first stands to the right of it."""
    text = "# دليل Kestrel الجلسات\n\nتعتمد خدمة المصادقة على Kestrel لتخزين الجلسات.\n"
    with server.client() as client:
        assert client.post("/documents", json={"documents": [{"text": text, "source": "mixed"}]}).status_code == 201
    places = """element => { const text = element.firstChild.data, range = document.createRange();
        return text.split(" ").map(word => { const at = text.indexOf(word); range.setStart(element.firstChild, at);
        range.setEnd(element.firstChild, at + word.length); return range.getBoundingClientRect().x; }); }"""
    show(page, f"{server.url}/#/documents?prefix=text:mixed")
    titles = [page.locator(".document strong").evaluate(places)]
    page.locator(".document").click()
    page.wait_for_selector(".chunks")
    titles.append(page.locator("h1").evaluate(places))
    show(page, f"{server.url}/#/entity?name=دليل Kestrel الجلسات")
    texts = [*titles, page.locator("h1").evaluate(places), page.locator(".lead").evaluate(places)]

    assert [found for found in texts if found != sorted(found, reverse=True)] == []


def test_a_hostile_file_name_and_an_address_that_attacks_do_nothing(browser, server):
    """File names of uploads and addresses of links are shown as text."""
    with opened(browser, server.url, path="/#/documents") as page:
        page.wait_for_selector(".documents li")
        name = "<img src=x onerror=window.hit=8>.md"
        page.set_input_files("#files", [{"name": name, "mimeType": "text/markdown", "buffer": HOSTILE.encode()}])
        page.wait_for_selector(".receipt[data-state=done]")
        page.goto(f"{server.url}/#/entity?name=<img src=x onerror=window.hit=9>{'x' * 20}")
        page.wait_for_selector("[role=alert]")

        assert page.evaluate(NOTHING) == [None, 0]


def test_the_policy_stops_what_would_slip_through(browser, server):
    """Injected markup can neither run nor load anything."""
    with opened(browser, server.url) as page:
        page.wait_for_selector("#question")
        page.evaluate(
            """() => { const box = document.createElement('div'); document.body.append(box);
            box.innerHTML = '<img src="http://127.0.0.1:9/x.png" onerror="window.hit = 1">';
            const script = document.createElement('script');
            script.textContent = 'window.hit = 2'; box.append(script); }"""
        )
        page.evaluate(
            """() => new Promise(done => { let left = 500;
            const look = () => violations.length >= 3 || !left-- ? done() : setTimeout(look, 20); look(); })"""
        )

        assert page.evaluate("window.hit") is None
        assert {re.sub("-(elem|attr)$", "", name) for name in page.evaluate("window.violations")} == {
            "script-src",
            "img-src",
        }
        page.evaluate("window.violations.length = 0")
