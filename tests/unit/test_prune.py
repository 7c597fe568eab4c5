"""Pruning: documents whose files no longer exist are deleted on request, and no others."""

import gzip
import os
import shutil

import pytest
from making import adopt, fill
from memory_store.store import MemoryDatabase

from weft.config import read_settings
from weft.context.serialise import result_to_dict
from weft.engine.engine import Engine
from weft.errors import InputError
from weft.index.prune import find_orphans, has_scheme, is_below, iter_documents
from weft.records import Document, Filter, Skipped
from weft.testing import FakeEmbedder


@pytest.fixture
def engine(tmp_path):
    """Give an engine whose store lies in `tmp_path`."""
    settings = read_settings({"store.db": str(tmp_path / "weft.db")}, environment={}, folder=tmp_path)
    with Engine(settings, embedder=FakeEmbedder()) as engine:
        yield engine


@pytest.fixture
def write(tmp_path):
    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return write


def nowhere(source):
    return False


def kept(engine):
    return [document.source for document in engine.documents()]


def test_a_deleted_file_is_pruned_only_on_request(engine, write, tmp_path):
    """Deleting files by mistake must not empty the index by itself."""
    write(docs__a_md="alpha", docs__b_md="beta")
    engine.index(tmp_path / "docs")
    (tmp_path / "docs" / "a.md").unlink()

    assert engine.index(tmp_path / "docs").pruned == 0
    assert engine.index(tmp_path / "docs", prune=True).pruned == 1
    assert kept(engine) == ["docs/b.md"]
    assert engine.index(tmp_path / "docs", prune=True).pruned == 0


def test_a_deleted_folder_is_pruned_with_its_content(engine, write, tmp_path):
    """By the folder around it; a root that does not exist is an error and prunes nothing."""
    write(docs__sub__a_md="alpha", docs__sub__deep__b_md="beta", docs__c_md="gamma")
    engine.index(tmp_path / "docs")
    for name in ("sub/deep/b.md", "sub/a.md"):
        (tmp_path / "docs" / name).unlink()
    (tmp_path / "docs" / "sub" / "deep").rmdir()
    (tmp_path / "docs" / "sub").rmdir()

    with pytest.raises(InputError):
        engine.index(tmp_path / "docs" / "sub", prune=True)
    assert len(kept(engine)) == 3
    assert engine.index(tmp_path / "docs", prune=True).pruned == 2


def test_what_is_emptied_is_pruned(engine, write, tmp_path):
    """The file may have no bytes or no records."""
    write(docs__a_md="alpha", docs__c_md="gamma", docs__r_jsonl='{"id": "x", "text": "one"}\n')
    engine.index(tmp_path / "docs")
    write(docs__c_md="", docs__r_jsonl="\n\n")

    assert engine.index(tmp_path / "docs", prune=True).pruned == 2
    assert kept(engine) == ["docs/a.md"]


@pytest.mark.parametrize(
    "options",
    [
        {"load.include": ("*.md",)},
        {"load.exclude": ("*.txt", "sub/", "*.jsonl", ".h.md")},
        {"load.max_file_bytes": 8, "load.max_expanded_bytes": 8},
        {"load.max_file_bytes": 1, "load.max_expanded_bytes": 1},
        {},
    ],
)
def test_an_excluded_file_is_not_orphaned(write, tmp_path, options):
    """Filters, bounds and hidden names say what to read, not what to delete."""
    at = {"store.db": str(tmp_path / "weft.db")}
    write(docs__a_md="alpha", docs__b_txt="a longer text", docs__sub__c_txt="gamma text", docs___h_md="hidden text")
    write(docs__r_jsonl='{"id": "x", "text": "one"}\n{"id": "y", "text": "two"}\n', docs__gone_txt="gone")
    everything = read_settings({**at, "load.hidden": True}, environment={}, folder=tmp_path)
    with Engine(everything, embedder=FakeEmbedder()) as engine:
        engine.index(tmp_path / "docs")
        assert len(kept(engine)) == 7
    (tmp_path / "docs" / "gone.txt").unlink()
    with Engine(read_settings({**at, **options}, environment={}, folder=tmp_path), embedder=FakeEmbedder()) as engine:
        assert engine.preview(tmp_path / "docs", prune=True).pruned == 1
        assert engine.index(tmp_path / "docs", prune=True).pruned == 1
        assert len(kept(engine)) == 6


def test_what_is_ignored_now_stays_while_it_exists(engine, write, tmp_path):
    """Files in an ignored folder are kept too."""
    write(docs__a_md="alpha", docs__b_md="beta", docs__sub__c_md="gamma")
    engine.index(tmp_path / "docs")
    (tmp_path / "docs" / ".gitignore").write_text("b.md\nsub/\n")

    assert engine.index(tmp_path / "docs", prune=True).pruned == 0
    (tmp_path / "docs" / "b.md").unlink()
    assert engine.index(tmp_path / "docs", prune=True).pruned == 1
    assert kept(engine) == ["docs/a.md", "docs/sub/c.md"]
    (tmp_path / "docs" / "sub" / "c.md").unlink()
    assert engine.index(tmp_path / "docs", prune=True).pruned == 1


def test_a_name_that_is_no_text_is_found_on_disk(engine, write, tmp_path):
    """Its source holds the escape of the byte."""
    write(docs__a_md="alpha", docs__sub__c_md="gamma")
    path = tmp_path / "docs" / "sub" / os.fsdecode(b"caf\xe9.md")
    try:
        path.write_text("beta")
    except OSError:
        pytest.skip("this file system takes no such name")
    engine.index(tmp_path / "docs")
    assert len(kept(engine)) == 3
    (tmp_path / "docs" / ".gitignore").write_text("sub/\n")

    assert engine.index(tmp_path / "docs", prune=True).pruned == 0
    path.unlink()
    assert engine.index(tmp_path / "docs", prune=True).pruned == 1


def test_a_folder_that_is_a_corpus_now_loses_no_other_file(engine, write, tmp_path):
    """Beside a corpus nothing else is read, and nothing is said of it."""
    write(docs__a_md="alpha", docs__b_md="beta")
    engine.index(tmp_path / "docs")
    write(docs__corpus_jsonl='{"_id": "1", "text": "one"}\n', docs__queries_jsonl='{"_id": "q", "text": "which"}\n')
    (tmp_path / "docs" / "b.md").unlink()

    assert engine.index(tmp_path / "docs", prune=True).pruned == 1
    assert "docs/a.md" in kept(engine)


def test_a_file_replaced_by_a_folder_is_orphaned(engine, write, tmp_path):
    """The name is there, the file is not."""
    write(docs__a_md="alpha")
    engine.index(tmp_path / "docs")
    (tmp_path / "docs" / "a.md").unlink()
    write(docs__a_md__b_txt="beta")

    assert engine.index(tmp_path / "docs", prune=True).pruned == 1


def test_a_preview_counts_what_would_be_pruned_and_prunes_nothing(engine, write, tmp_path):
    """The count needs the option."""
    write(docs__a_md="alpha", docs__b_md="beta")
    engine.index(tmp_path / "docs")
    (tmp_path / "docs" / "a.md").unlink()

    assert engine.preview(tmp_path / "docs").pruned == 0
    assert engine.preview(tmp_path / "docs", prune=True).pruned == 1
    assert kept(engine) == ["docs/a.md", "docs/b.md"]


def test_what_cannot_be_read_today_stays(engine, write, tmp_path):
    """It is there, and may be readable tomorrow."""
    write(docs__a_md="alpha", docs__b_md="beta", docs__c_md="gamma")
    engine.index(tmp_path / "docs")
    (tmp_path / "docs" / "a.md").write_bytes(b"\x00\x01\x02" * 999)
    (tmp_path / "docs" / "b.md").unlink()
    (tmp_path / "docs" / "b.md").symlink_to(tmp_path / "docs" / "c.md")

    assert engine.index(tmp_path / "docs", prune=True).pruned == 0
    assert len(kept(engine)) == 3


def test_a_record_removed_from_its_file_is_pruned(engine, write, tmp_path):
    """JSON Lines are files of documents, and a file given by name is a root."""
    write(docs__r_jsonl='{"id": "x", "text": "one"}\n{"id": "y", "text": "two"}\n', docs__r_jsonl2="other")
    engine.index(tmp_path / "docs")
    write(docs__r_jsonl='{"id": "y", "text": "two"}\n')

    assert engine.index(tmp_path / "docs" / "r.jsonl", prune=True).pruned == 1
    assert kept(engine) == ["docs/r.jsonl#y", "docs/r.jsonl2"]


def test_a_truncated_file_loses_no_records(engine, write, tmp_path):
    """A file with a broken end is not treated as shortened."""
    lines = b"".join(b'{"id": "%d", "text": "record %d"}\n' % (n, n) for n in range(300))
    write(docs__a_md="alpha")
    path = tmp_path / "docs" / "r.jsonl.gz"
    path.write_bytes(gzip.compress(lines))
    engine.index(tmp_path / "docs")
    path.write_bytes(gzip.compress(lines)[:-100])

    assert engine.index(tmp_path / "docs", prune=True).pruned == 0


def test_a_broken_record_loses_no_other(engine, write, tmp_path):
    """Its id cannot be read, so it may be any of the file's; a removed one is orphaned."""
    record = '{"id": "%s", "text": "%s"}\n'
    write(docs__r_jsonl=record % ("x", "one") + record % ("y", "two"))
    engine.index(tmp_path / "docs")
    write(docs__r_jsonl=record % ("x", "one") + '{"id": "y", "te\n')

    assert engine.index(tmp_path / "docs", prune=True).pruned == 0
    write(docs__r_jsonl=record % ("x", "one"))
    assert engine.index(tmp_path / "docs", prune=True).pruned == 1


def test_other_roots_and_texts_are_untouched(engine, write, tmp_path):
    """Pruning looks below the given paths alone, and folders of a similar name are other folders."""
    write(docs__a_md="alpha", docs2__a_md="beta", docs_old_md="gamma", other__a_md="delta")
    engine.index(tmp_path)
    engine.add_text("a text", source="docs/note")
    engine.add_text("a page", source="https://example.com/docs")
    for name in ("docs/a.md", "docs2/a.md", "docs.old.md", "other/a.md"):
        (tmp_path / name).unlink()

    assert engine.index(tmp_path / "docs", prune=True).pruned == 1
    assert kept(engine) == ["docs.old.md", "docs2/a.md", "https://example.com/docs", "other/a.md", "text:docs/note"]


@pytest.mark.parametrize("root", [".", "absolute"])
def test_the_folder_the_store_lies_in_is_a_root_as_well(engine, write, tmp_path, monkeypatch, root):
    """`weft index .` prunes relative sources, not texts and not files elsewhere."""
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    elsewhere.mkdir()
    (elsewhere / "far.md").write_text("far")
    write(a_md="alpha", b__c_md="gamma")
    monkeypatch.chdir(tmp_path)
    engine.index(tmp_path, elsewhere)
    engine.add_text("a text", source="note")
    (tmp_path / "a.md").unlink()
    (tmp_path / "b" / "c.md").unlink()
    (elsewhere / "far.md").unlink()

    assert engine.index(tmp_path if root == "absolute" else root, prune=True).pruned == 2
    assert kept(engine) == [str(elsewhere / "far.md"), "text:note"]


def test_a_root_above_the_store_prunes_what_lies_beside_it_too(tmp_path):
    """Sources there are relative, those around them are absolute; both are below the root."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "inside.md").write_text("inside")
    (tmp_path / "outside.md").write_text("outside")
    settings = read_settings({"store.db": str(tmp_path / "data" / "weft.db")}, environment={}, folder=tmp_path)
    with Engine(settings, embedder=FakeEmbedder()) as engine:
        engine.index(tmp_path)
        engine.add_text("a text", source="note")
        assert kept(engine) == [str(tmp_path / "outside.md"), "inside.md", "text:note"]
        (tmp_path / "data" / "inside.md").unlink()
        (tmp_path / "outside.md").unlink()

        assert engine.index(tmp_path, prune=True).pruned == 2
        assert kept(engine) == ["text:note"]


def test_a_folder_behind_a_link_is_pruned_by_either_name(engine, write, tmp_path):
    """The link leads to the same sources."""
    write(docs__a_md="alpha", docs__b_md="beta")
    (tmp_path / "link").symlink_to(tmp_path / "docs")
    engine.index(tmp_path / "link")
    assert kept(engine) == ["docs/a.md", "docs/b.md"]
    (tmp_path / "docs" / "a.md").unlink()

    assert engine.index(tmp_path / "link", prune=True).pruned == 1


# ── the rule itself ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "source, root, below",
    [
        ("docs/a.md", "docs", True),
        ("docs", "docs", True),
        ("docs/a.md", "docs/", True),
        ("docs2/a.md", "docs", False),
        ("docs.md", "docs", False),
        ("r.jsonl#1", "r.jsonl", True),
        ("r.jsonl.gz#1", "r.jsonl", False),
        ("a.md", ".", True),
        ("a.md", "", True),
        (".hidden/a.md", ".", True),
        ("/abs/a.md", ".", False),
        ("text:note", ".", False),
        ("https://x/y", "", False),
        ("/abs/a.md", "/", True),
        ("/abs/a.md", "/abs", True),
        ("C:/a.md", "C:/", True),
    ],
)
def test_what_is_below_a_root(source, root, below):
    """Itself, its records, and what lies in it."""
    assert is_below(source, root) is below


@pytest.mark.parametrize(
    "source, scheme", [("text:a", True), ("s3://b", True), ("C:/x", False), ("a/b:c", False), ("a", False)]
)
def test_what_has_a_scheme(source, scheme):
    """A drive letter and a colon further on are none."""
    assert has_scheme(source) is scheme


@pytest.fixture
def store():
    embedder = FakeEmbedder()
    store = adopt(MemoryDatabase().store("default"), embedder)
    fill(store, embedder, **{"docs/a": "alpha", "docs/sub/b": "beta", "docs/sub/c#1": "gamma"})
    return store


@pytest.mark.parametrize(
    "reason, source, orphans",
    [
        ("unreadable", "docs/sub", ["docs/a"]),
        ("unreadable", "docs", []),
        ("unreadable", ".", []),
        ("too large", "docs/sub/c", ["docs/a", "docs/sub/b"]),
        ("ignored", "docs/sub", ["docs/a", "docs/sub/b", "docs/sub/c#1"]),
        ("empty", "docs/a", ["docs/a", "docs/sub/b", "docs/sub/c#1"]),
    ],
)
def test_what_lies_behind_something_unreadable_stays(store, reason, source, orphans):
    """A folder that cannot be opened hides all that is in it, the outermost included."""
    for root in ("docs", "."):
        found = find_orphans(
            [root], seen=(), skipped=[Skipped(source=source, reason=reason)], store=store, on_disk=nowhere
        )
        assert [document.source for document in found] == orphans


@pytest.mark.parametrize(
    "there, seen, orphans",
    [
        ("docs/sub/c", (), ["docs/a", "docs/sub/b"]),
        ("docs/sub/c", {"docs/sub/c#2"}, ["docs/a", "docs/sub/b", "docs/sub/c#1"]),
        ("docs/sub/c#1", (), ["docs/a", "docs/sub/b"]),
        ("docs/a", {"docs/sub/b"}, ["docs/sub/c#1"]),
    ],
)
def test_a_record_is_orphaned_if_its_file_was_read_without_it(store, there, seen, orphans):
    """A file that is on disk and was not read keeps its records; its own name may hold a `#`."""
    found = find_orphans(["docs"], seen=seen, skipped=[], store=store, on_disk=lambda source: source == there)

    assert [document.source for document in found] == orphans


def test_overlapping_roots_name_a_document_once(store):
    """The count is correct."""
    found = find_orphans(["docs", "docs/sub", "."], seen={"docs/a"}, skipped=[], store=store, on_disk=nowhere)

    assert [document.source for document in found] == ["docs/sub/b", "docs/sub/c#1"]


def test_all_pages_are_read(store):
    """However many documents there are."""
    found = [document.source for document in iter_documents(store, Filter(), page=2)]

    assert found == ["docs/a", "docs/sub/b", "docs/sub/c#1"]
    assert list(iter_documents(store, Filter(source_prefix="none"), page=2)) == []


def lost(result):
    return {piece.document.source for piece in result.evidence if piece.document.is_lost}


def test_an_answer_marks_documents_whose_file_is_gone(engine, write, tmp_path):
    """Deleted and moved files; texts, addresses and records of files that exist are not. The formats all say it."""
    write(docs__a_md="# A\n\nalpha vole", docs__b_md="# B\n\nalpha shrew", docs__z_md="# Z\n\nzulu")
    write(rows_jsonl='{"id": "1", "text": "alpha bat"}\n')
    engine.index(tmp_path / "docs", tmp_path / "rows.jsonl")
    for source in ("text:c", "https://example.test/d"):
        engine.add([Document(source=source, title=source, text="alpha mole")])
    assert lost(engine.query("alpha")) == set()
    (tmp_path / "docs" / "a.md").rename(tmp_path / "docs" / "moved.md")
    result = engine.query("alpha", gate=False)

    assert len(result.evidence) == 6 and lost(result) == {"docs/a.md"}
    found = {item["document"]["source"]: item["document"] for item in result_to_dict(result)["results"]}
    assert [source for source, document in found.items() if "lost" in document] == ["docs/a.md"]
    assert "Source: docs/a.md:3 (file not found)\n" in engine.context(result).text


def test_a_store_that_was_copied_without_its_files_marks_nothing(engine, write, tmp_path):
    """Else every citation would be marked where no file is expected."""
    write(docs__a_md="alpha vole", docs__b_md="beta", docs__c_md="gamma")
    engine.index(tmp_path / "docs")
    (tmp_path / "docs" / "a.md").unlink()
    assert lost(engine.query("alpha", gate=False)) == {"docs/a.md"}
    shutil.rmtree(tmp_path / "docs")
    assert lost(engine.query("alpha", gate=False)) == set()
