"""Control characters in names and values are escaped on the terminal; JSON keeps them."""

import os
import re
import sys

import pytest

from weft.cli.terminal import one_line, visible

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
HOSTILE = "e\x1b]0;pwn\x07v\x1b[31mil"
SHOWN = r"e\x1b]0;pwn\x07v\x1b[31mil"


@pytest.fixture
def hostile(weft, tmp_path):
    """A store with hostile names of files, entities and facts."""
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / f"{HOSTILE}.md").write_text("# Zebra Service\n\nThe Zebra Service has stripes.\n")
    (tmp_path / "d" / f"no{HOSTILE}.md").write_text("")
    lines = f'{{"id": "1\\n2\\t3", "title": "{HOSTILE}", "text": "about giraffes"}}\n'.replace("\x1b", "\\u001b")
    (tmp_path / "d" / "r.jsonl").write_text(lines.replace("\x07", "\\u0007"))
    assert f"d/no{SHOWN}.md" in clean(weft("index", "d"))
    weft("fact", "add", "user", "likes", f"tea {HOSTILE}")
    weft("fact", "add", f"thing {HOSTILE}", "has", "a\tb\nc")
    return weft


def clean(ran):
    """Return the whole output, which has no control characters."""
    assert not CONTROL.search(ran.out + ran.err)
    return ran.out + ran.err


def test_names_of_files_are_shown(hostile):
    """In every verb that prints them."""
    name = f"d/{HOSTILE}.md"
    asked = [["query", "zebra", "--explain"], ["query", "zebra", "--context"], ["list"], ["get", name]]
    for arguments in [*asked, ["entity", "show", "Zebra Service"]]:
        assert f"d/{SHOWN}.md" in clean(hostile(*arguments)), arguments


def test_facts_are_shown(hostile):
    """Subjects and values, in rows and in sentences."""
    fact = hostile("fact", "list", "user", "--json").json[0]
    assert fact["value"] == f"tea {HOSTILE}"
    asked = [["fact", "list"], ["recall", "what does the user like", "--explain"], ["fact", "confirm", fact["id"]]]
    for arguments in [*asked, ["query", "zebra", "--facts", "--explain"]]:
        assert SHOWN in clean(hostile(*arguments)), arguments


def test_a_cell_is_one_cell(hostile):
    """Tabs and line ends become spaces, so that all rows have the same number of cells."""
    for arguments in (["fact", "list"], ["list"], ["entity", "list"]):
        rows = [line.split("\t") for line in clean(hostile(*arguments)).splitlines()]
        assert len(rows) > 1 and len({len(row) for row in rows}) == 1, arguments
    assert "a b c" in hostile("fact", "list").out


def test_errors_show_names(hostile):
    """Errors of Weft and of click escape the names."""
    assert SHOWN in clean(hostile("get", f"no{HOSTILE}", expect=1))
    clean(hostile("list", f"--{HOSTILE}", expect=2))
    clean(hostile("delete", f"x{HOSTILE}", expect=1))


def test_json_is_exact(hostile):
    """Programs get the stored value."""
    assert f"d/{HOSTILE}.md" in [document["source"] for document in hostile("list", "--json").json]
    assert HOSTILE in hostile("fact", "export").out.replace("\\u001b", "\x1b").replace("\\u0007", "\x07")


def test_names_are_escaped_on_a_terminal(hostile, tmp_path, monkeypatch):
    """Weft prints colours there; names cannot."""
    pty = pytest.importorskip("pty")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEFT_EMBEDDER", "hash")
    monkeypatch.setenv("COLUMNS", "300")
    written = b""

    def keep(fd):
        nonlocal written
        data = os.read(fd, 4096)
        written += data
        return data

    for arguments in (["list"], ["query", "zebra"]):
        pty.spawn([sys.executable, "-m", "weft", *arguments], keep, lambda fd: b"")
    assert SHOWN.encode() in written
    assert b"\x1b]0;" not in written and b"\x1b[31mil" not in written


def test_visible_text_is_unchanged():
    """Text in any script, tabs and line ends."""
    text = "Größe\t漢字 👩‍🔬 שלום\u200f\n— ok"
    assert visible(text) == text
    assert visible("\x9b31m\r\x7f\udcff") == r"\x9b31m\r\x7f\udcff"
    assert visible("exe\u202egnp\u2067") == r"exe\u202egnp\u2067"
    assert one_line("a\r\nb\tc\x85d") == "a b c d"
    assert one_line(one_line(HOSTILE)) == SHOWN
