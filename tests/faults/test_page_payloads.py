"""Script payloads as titles, sources, entity names, metadata and facts: no view of the web page runs them."""

import pytest
from browsing import ask, opened, show
from serving import Running

pytestmark = pytest.mark.browser

PAYLOADS = (
    "<script>window.hit = 1</script>",
    "</script><script>window.hit = 2</script>",
    "<img src=x onerror=window.hit=3>",
    '"><svg onload=window.hit=4>',
    "<svg><script href=data:,window.hit=5 /></svg>",
    "<svg><animate onbegin=window.hit=6 attributeName=x dur=1s>",
    "<iframe srcdoc='<script>top.hit=7</script>'></iframe>",
    "<details open ontoggle=window.hit=8>",
    "<input autofocus onfocus=window.hit=9>",
    "<body onload=window.hit=10>",
    "<style>@import 'javascript:window.hit=11'</style>",
    "<math><mtext></mtext><mglyph><style><img src=x onerror=window.hit=12>",
    "<template><script>window.hit=13</script></template>",
    "[link](javascript:window.hit=14)",
    "[[javascript:window.hit=15]]",
    "<a href=javascript:window.hit=16>link</a>",
    "javascript:window.hit=17//",
    "data:text/html,<script>window.hit=18</script>",
    "{{constructor.constructor('window.hit=19')()}}",
    "${window.hit=20}",
    "<%= window.hit=21 %>",
    "';window.hit=22;//",
    "`;window.hit=23;//",
    "\u202e<script>window.hit=24</script>\u202c",
    "\u2066<img src=x onerror=window.hit=25>\u2069",
    "&lt;script&gt;window.hit=26&lt;/script&gt;",
    "\u003cscript\u003ewindow.hit=27\u003c/script\u003e",
    "<base href=//127.0.0.1:9/>",
    "<meta http-equiv=refresh content='0;url=javascript:window.hit=28'>",
    "__proto__",
    "constructor",
)
ELEMENTS = "script img iframe foreignObject animate base meta style input[autofocus]"
QUIET = """elements => [
    window.hit,
    document.querySelectorAll(elements.split(' ').map(name => 'main ' + name).join()).length,
    [...document.querySelectorAll('a[href]')].filter(a => !/^(#|\\/|https?:)/.test(a.getAttribute('href'))).length,
    [...document.querySelectorAll('main *')].filter(e => [...e.attributes].some(a => a.name.startsWith('on'))).length,
]"""
BELOW = "a[href^='#/entity?'], a[href^='#/document?']"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Give a server whose documents, entities and facts all have hostile names."""
    with Running(tmp_path_factory.mktemp("payloads") / "weft.db") as running, running.client() as client:
        for number, payload in enumerate(PAYLOADS):
            other = PAYLOADS[number - 1]
            text = f"# Zebra {payload}\n\n[[{payload}]] depends on the [[{other}]]. {payload}\n\n| {payload} |\n|---|\n"
            document = {"text": text, "source": f"{number} {payload}", "title": payload, "metadata": {"tag": payload}}
            assert client.post("/documents", json={"documents": [document]}).status_code == 201
            fact = {"subject": f"Zebra {number} {payload}", "predicate": f"is {payload}"[:60], "value": payload}
            assert client.post("/facts", json={"facts": [{**fact, "note": payload}]}).status_code < 300
        yield running


def test_no_payload_runs_in_any_view(browser, server):
    """Search, documents, entities, facts, the graph, and every document and entity below them."""
    with opened(browser, server.url) as page:
        for payload in PAYLOADS:
            ask(page, f"zebra {payload}")
            page.evaluate("document.querySelectorAll('.why, .unfold').forEach(button => button.click())")
            assert page.evaluate(QUIET, ELEMENTS) == [None, 0, 0, 0], f"the answer to {payload!r}"
        views = ["#/documents", "#/entities", "#/facts", "#/ask"]
        for view in views:
            show(page, f"{server.url}/{view}")
            page.evaluate("document.querySelectorAll('main button[aria-expanded=false]').forEach(b => b.click())")
            assert page.evaluate(QUIET, ELEMENTS) == [None, 0, 0, 0], view
            found = page.eval_on_selector_all(BELOW, "all => all.map(a => a.getAttribute('href'))")
            views += sorted(set(found) - set(views))
        print(f"\nhostile names: {len(PAYLOADS)} payloads in {len(views)} views and {len(PAYLOADS)} searches")
        assert sum(view.startswith("#/document?") for view in views) >= len(PAYLOADS) - 1
        assert sum(view.startswith("#/entity?") for view in views) > 10
