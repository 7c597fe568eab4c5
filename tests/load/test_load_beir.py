"""Folders in the layout of BEIR."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from loading import Load

from weft.config import LoadOptions
from weft.errors import InputError
from weft.load.formats.beir import iter_corpus, open_text
from weft.load.run import iter_sources
from weft.records import Document, Skipped

RECORDS = [
    {"_id": "d1", "title": "One", "text": "first text", "metadata": {"url": "u"}},
    {"_id": "d2", "title": "Two", "text": ""},
    {"_id": "d3", "title": "", "text": "third"},
    {"_id": "d4", "title": "", "text": ""},
]


def write_dataset(folder: Path, *, packed: bool = False) -> None:
    """Write a small dataset."""
    folder.mkdir()
    data = "".join(json.dumps(record) + "\n" for record in RECORDS).encode()
    if packed:
        (folder / "corpus.jsonl.gz").write_bytes(gzip.compress(data))
    else:
        (folder / "corpus.jsonl").write_bytes(data)
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "which?"}\n')
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")


@pytest.mark.parametrize("packed", [False, True])
def test_only_the_corpus_of_a_dataset_is_loaded(load: Load, tmp_path: Path, packed: bool) -> None:
    """Questions and judgements are not documents, and a title without text is one."""
    write_dataset(tmp_path / "set", packed=packed)
    name = "set/corpus.jsonl" + (".gz" if packed else "")

    *loaded, last = load()

    assert [item.source for item in loaded] == [f"{name}#d1", f"{name}#d2", f"{name}#d3"]
    assert last == Skipped(source=f"{name}#d4", reason="empty", detail="neither title nor text")
    first, second = loaded[0], loaded[1]
    assert isinstance(first, Document) and isinstance(second, Document)
    assert (first.title, first.text, first.metadata) == ("One", "first text", {"_id": "d1", "url": "u"})
    assert (second.title, second.text) == ("Two", "")


def test_titles_can_be_left_out(load: Load, tmp_path: Path) -> None:
    """Only the texts are searched, as in some published figures."""
    write_dataset(tmp_path / "set")

    assert {item.title for item in load(titles=False) if isinstance(item, Document)} == {""}


def test_a_corpus_alone_is_an_ordinary_file(load: Load, tmp_path: Path) -> None:
    """Without questions beside it the name means nothing."""
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a", "text": "words"}')
    (tmp_path / "notes.txt").write_text("words")

    assert [item.source for item in load()] == ["corpus.jsonl#a", "notes.txt"]


def test_the_files_to_load_are_the_corpora(tmp_path: Path) -> None:
    """A dry run shows one file for a dataset."""
    write_dataset(tmp_path / "set")

    paths = list(iter_sources([tmp_path], options=LoadOptions(), base=None))

    assert paths == [(tmp_path / "set" / "corpus.jsonl").resolve()]


def test_a_corpus_can_be_read_by_itself(tmp_path: Path) -> None:
    """The evaluation reads a dataset without indexing a folder."""
    write_dataset(tmp_path / "set")

    assert next(iter_corpus(tmp_path / "set")).source == "corpus.jsonl#d1"
    with pytest.raises(InputError):
        iter_corpus(tmp_path)


def test_text_opens_packed_or_not_and_within_bounds(tmp_path: Path) -> None:
    """Reading past the limit is an error of the input."""
    (tmp_path / "a.tsv").write_bytes(b"one\r\ntwo\n")
    (tmp_path / "b.tsv.gz").write_bytes(gzip.compress(b"one\ntwo\n"))

    for name in ("a.tsv", "b.tsv.gz"):
        with open_text(tmp_path / name) as stream:
            assert list(stream) == ["one\n", "two\n"]
        with pytest.raises(InputError), open_text(tmp_path / name, max_bytes=5) as stream:
            stream.read()


def test_citations_beside_a_corpus_make_its_rows_papers(load: Load, tmp_path: Path) -> None:
    """Authors, keywords and year come from the metadata; a citation of a row that is not there makes a stub."""
    row = {"_id": "d1", "title": "Sorting (Algorithm 5)", "text": "Fast.", "metadata": {"date": "March, 1970"}}
    row["metadata"] |= {"authors": ["Rapp, D. G."], "keywords": ["sorting"]}  # type: ignore[operator]
    rows = [row, {"_id": "d2", "title": "Heaps", "text": ""}]
    lines = [{"citing": "d1", "cited": "d2"}, {"citing": "d1", "cited": "d9"}, {"citing": "d7", "cited": "d1"}, {}]
    for name, records in (("corpus", rows), ("citations", lines), ("queries", [{"_id": "q", "text": "?"}])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    results = load()
    first, second = (item for item in results if isinstance(item, Document))
    types = sorted(
        (stated.type, stated.source == first.given.candidates[0].key) for stated in first.given.stated_relations
    )

    assert types == [("cites", True), ("cites", True), ("introduces", True), ("written_by", True)]
    assert second.given.candidates[0].key in {stated.target for stated in first.given.stated_relations}
    assert (first.metadata["type"], first.metadata["year"]) == ("paper", 1970)
    assert [(item.source, item.reason, item.detail) for item in results if isinstance(item, Skipped)] == [
        ("citations.jsonl#L4", "bad record", "line 4: no citing id"),
        ("citations.jsonl#L3", "unknown id", "line 3: unknown citing id 'd7'"),
    ]
    assert all(not item.given.stated_relations for item in load(citations=False) if isinstance(item, Document))
