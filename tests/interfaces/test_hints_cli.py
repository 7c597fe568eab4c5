"""Errors have hints that solve the problem."""

import os
import signal
import subprocess
import sys

import pytest


def test_repair_does_not_recommend_itself(weft, notes, tmp_path):
    """Other commands recommend it."""
    weft("index", "notes", "-q")
    pages = bytearray((tmp_path / "weft.db").read_bytes())
    pages[8192 * 3 :] = b"\x99" * len(pages[8192 * 3 :])
    (tmp_path / "bad.db").write_bytes(pages)

    assert "hint: run `weft repair`" in weft("--db", "bad.db", "stats", expect=1).err
    said = weft("--db", "bad.db", "repair", expect=1).err
    assert "is damaged" in said and "hint: restore a backup" in said and "weft repair" not in said


def test_a_fact_that_ends_before_it_begins_is_explained(weft):
    """The hint depends on the options."""
    fact = ("fact", "add", "tea", "tastes", "good", "--valid-to", "2025-01-01")
    assert "hint: also set valid_from" in weft(*fact, expect=1).err
    said = weft(*fact, "--valid-from", "2026-05-01", expect=1).err
    assert "set valid_to to a time after valid_from" in said and "too" not in said


def test_a_context_without_a_match_says_so(ask):
    """On stderr, with the text printed without --context; stdout is empty, as a model reads it."""
    plain = ask("query", "zebra giraffe", expect=3)
    ran = ask("query", "zebra giraffe", "--context", expect=3)

    assert ran.out == ""
    assert plain.out == ran.err and ran.err.startswith("no match\n")
    assert ask("query", "zebra giraffe", "--context", "--json", expect=3).json["status"] == "no_match"


def test_a_budget_that_nothing_fits_into_is_named(ask):
    """Results exist, but the budget is too small."""
    ran = ask("query", "JWT", "--context", "--budget", "1")

    assert ran.out == ""
    assert "nothing fits into the budget" in ran.err and "--budget" in ran.err


def test_a_budget_that_no_fact_fits_into_is_named(weft):
    """By `weft recall`, and by `weft query` if only facts answer."""
    weft("fact", "add", "user", "prefers", "dark mode")
    question = "what do I prefer?"
    for verb in (("recall", question), ("query", question, "--facts", "--context")):
        ran = weft(*verb, "--budget", "1")

        assert ran.out == ""
        assert "nothing fits into the budget, 1 omitted" in ran.err


def test_watching_without_its_library_does_nothing(weft, notes, tmp_path):
    """It is checked before indexing."""
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "watchfiles.py").write_text("raise ImportError('not here')\n")
    ran = weft("index", "notes", "--watch", expect=1, PYTHONPATH=str(tmp_path / "hidden"))

    assert "'watchfiles' is not installed" in ran.err and "weft-search[watch]" in ran.err
    assert "watching" not in ran.err and "indexed" not in ran.err
    assert not (tmp_path / "weft.db").exists()


def test_a_cosine_out_of_range_is_refused(ask):
    """The range is the same as over HTTP; -1 and 1 are accepted."""
    for score in ("5", "-1.5", "nan"):
        assert "hint: use a cosine from -1 to 1" in ask("query", "JWT", "--min-score", score, expect=2).err
    for score in ("-1", "1"):
        assert "result" in ask("query", "JWT", "--min-score", score).out


@pytest.mark.parametrize(
    "command",
    [
        ("stats", "--db", "{}"),
        ("index", "notes", "--db", "{}"),
        ("copy", "--from", "{}", "--to", "other.db"),
        ("copy", "--to", "{}"),
        ("db", "init", "--db", "{}"),
        ("stats", "--config", "{}"),
        ("backup", "{}"),
        ("export", "{}", "--format", "triples"),
        ("delete", "{}"),
        ("query", "JWT", "--in", "{}"),
    ],
)
def test_an_unreadable_path_is_an_error_in_one_line(ask, command):
    """Here the name is too long; a folder without permission is the same case."""
    long = "x" * 300
    said = ask(*(part.format(long) for part in command), expect=1).err

    assert said.startswith("error: ") and long in said
    assert "Traceback" not in said


def test_a_store_that_cannot_be_opened_is_explained(weft, notes, tmp_path):
    """A folder, a missing folder, an unknown home folder, and a link to itself."""
    (tmp_path / "loop.db").symlink_to("loop.db")

    assert "set --db to a file in this folder" in weft("stats", "--db", "notes", expect=1).err
    assert "create the folder '~nobody-at-all'" in weft("index", "notes", "--db", "~nobody-at-all/x.db", expect=1).err
    assert "loop.db' is not an ordinary file" in weft("stats", "--db", "loop.db", expect=1).err
    assert "loop.db' is not an ordinary file" in weft("doctor", "--db", "loop.db", expect=1).out


def test_broken_links_show_the_names_of_the_files(weft, tmp_path):
    """In their letter case and normalisation, though paths are compared without them."""
    names = ["Ober Plan.md", "Cafe\u0301 Nord.md", "Caf\u00e9 S\u00fcd.md"]
    (tmp_path / "WIKI").mkdir()
    for name in names:
        (tmp_path / "WIKI" / name).write_text("# T\n\n[x](Gone Page.md) [y](<Gone Page.md>)\n", encoding="utf-8")
    weft("index", "WIKI")

    lines = weft("check", "--links", expect=1).out.splitlines()
    assert sorted(lines) == sorted(f"WIKI/{name}:3: Gone Page.md" for name in names)
    assert all((tmp_path / line.partition(":")[0]).is_file() for line in lines)


def test_broken_links_are_counted_and_listed(weft, tmp_path):
    """By the receipt, `stats`, `doctor` and `check --links`; a link out of the folder is not one."""
    (tmp_path / "wiki").mkdir()
    (tmp_path / "wiki" / "a.md").write_text("# A\n\nSee [b](b.md), [c](gone.md) and [licence](../LICENSE.md).\n")
    (tmp_path / "wiki" / "b.md").write_text("# B\n\nBack to [a](a.md).\n")

    assert "1 broken link (weft check --links)" in weft("index", "wiki").err
    assert weft("check", "--links", expect=1).out == "wiki/a.md:3: gone.md\n"
    assert weft("stats", "--json").json["broken_links"] == 1
    assert "links in default: 1 lead to no document  (run weft check --links)" in weft("doctor").out


def test_the_store_in_the_indexed_folder_is_no_skipped_file(weft, tmp_path):
    """Another database is reported."""
    (tmp_path / "a.md").write_text("# A\n\nText.\n")
    (tmp_path / "other.db").write_bytes(b"x")
    weft("index", ".")

    assert weft("index", ".").err.splitlines()[-1] == "skipped 1, ignored: other.db: always skipped"


def test_an_index_run_without_files_says_so(weft, notes, tmp_path):
    """A folder with hidden files only says which files it skipped."""
    (tmp_path / "empty").mkdir()
    assert "note: there is no file to index" in weft("index", "empty").err

    (tmp_path / "empty" / ".hidden.md").write_text("a secret garden")
    said = weft("index", "empty").err
    assert "skipped 1, ignored: empty/.hidden.md: hidden" in said and "note:" not in said


@pytest.mark.skipif(os.name == "nt", reason="os.kill ends the process whatever its handler is")
def test_ctrl_c_during_the_start_leaves_no_traceback(tmp_path):
    """The command line is imported with the default action of the signal, which ends the process."""
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    program = "from weft.cli.entry import main; main()"
    paths = os.pathsep.join((str(tmp_path), *sys.path))
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": paths},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # also where the tests run in the background
    )

    assert ran.returncode == -signal.SIGINT
    assert ran.stderr == b""
