"""Conversations on the command line: import, questions about a time, and `weft forget`."""

import json


def test_a_conversation_is_imported_found_by_time_and_forgotten(weft_here, tmp_path):
    """The preview deletes nothing; afterwards the file does not contain the text."""
    export = {
        "uuid": "1f0c",
        "name": "Harbour lights",
        "chat_messages": [
            {"sender": "human", "created_at": "2026-03-02T10:15:00Z", "text": "Which port do the lights use?"},
            {"sender": "assistant", "created_at": "2026-03-02T10:16:00Z", "text": "Port 8080, by Quibblethorn."},
        ],
    }
    (tmp_path / "conversations.json").write_text(json.dumps([export]))
    assert weft_here("index", "conversations.json", "--json")["added"] == 1
    asked = ("query", "which port do the lights use?", "--json")
    march = weft_here(*asked, "--after", "2026-03-01", "--before", "2026-04-01")
    assert march["results"][0]["citation"] == "claude:1f0c:t1-2"
    assert weft_here(*asked, "--after", "2026-04-01", expect=3)["results"] == []
    assert weft_here(*asked, "--as-of", "2026-03-01", expect=3)["results"] == []
    assert "invalid time" in weft_here("query", "port", "--before", "soon", expect=2)

    timeline = weft_here("timeline", "2026-03-02", "--json")
    assert [day["day"] for day in timeline["days"]] == ["2026-03-02"]
    assert [entry["text"] for entry in timeline["days"][0]["entries"]] == ["Which port do the lights use?"]
    assert "10:15  Which port do the lights use?" in weft_here("timeline")
    assert weft_here("timeline", "last", "week", "--json", expect=3) == {"days": [], "truncated": False}
    assert "unknown time" in weft_here("timeline", "sometime", expect=1)
    (found,) = weft_here("query", "what did we discuss on 2026-03-02?", "--json")["results"]
    assert found["citation"] == "claude:1f0c:t1-2"

    preview = weft_here("forget", "--matching", "quibblethorn", "--dry-run", "--json")
    assert preview == {"documents": ["claude:1f0c"], "facts": [], "deleted": False}
    assert "--matching" in weft_here("forget", expect=1)
    assert weft_here("forget", "--conversation", "1f0c", "--yes", "--json")["deleted"]
    assert weft_here("forget", "--conversation", "1f0c", "--yes", "--json")["documents"] == []
    assert all(b"quibblethorn" not in path.read_bytes().lower() for path in tmp_path.glob("weft.db*"))
