"""The timeline on the web page, in a real browser."""

import pytest
from browsing import opened, show
from serving import Running

from weft.load.conversations.turns import Conversation, Message, to_document

pytestmark = pytest.mark.browser

SCRIPT = "<img src=x onerror=\"document.title='broken'\">"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    said = [
        Message(role="user", text=f"Which port has staging {SCRIPT}?", time=1_772_442_000_000_000),
        Message(role="assistant", text="Staging listens on port 5433.", time=1_772_442_060_000_000),
        Message(role="user", text="Where did I move?", time=1_773_065_400_000_000),
        Message(role="assistant", text="To Bergen.", time=1_773_065_460_000_000),
    ]
    talk = Conversation(source="claude:talk", host="claude", id="talk", title="Harbour talk")
    with Running(tmp_path_factory.mktemp("timeline") / "weft.db") as running:
        running.engines.engine("default").add([to_document(said, talk)])
        yield running


def test_what_was_said_is_listed_by_day_and_leads_to_its_passage(server, browser):
    """Newest first; the text of a turn stays text; an empty period says so."""
    with opened(browser, server.url) as page:
        show(page, "#/facts")
        page.get_by_text("What was said, by day").click()
        page.locator("h1", has_text="Timeline").wait_for()
        page.locator("section.panel h2").first.wait_for()
        assert page.locator("section.panel h2").all_inner_texts() == ["2026-03-09", "2026-03-02"]
        assert SCRIPT in page.locator("section.panel").nth(1).inner_text() and "Timeline" in page.title()
        page.locator("section.panel a").first.click()
        page.locator(".target").wait_for()
        assert "Bergen" in page.locator(".target").inner_text()
        show(page, "#/timeline?when=2026-03-02")
        assert page.locator("section.panel h2").all_inner_texts() == ["2026-03-02"]
        show(page, "#/timeline?when=2020-01-05")
        assert "No conversation in this period" in page.locator("#main").inner_text()
