"""JSON and JSON Lines."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from loading import Load

from weft.records import Document, Skipped


def documents(results: list[Document | Skipped]) -> list[Document]:
    """Return the results, all of which must be documents."""
    return [result for result in results if isinstance(result, Document)]


def write_lines(path: Path, *records: object) -> None:
    """Write one record on each line."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def test_a_line_becomes_a_document(load: Load, tmp_path: Path) -> None:
    """Known fields are text and title, the rest is metadata, and all text comes from that line."""
    write_lines(
        tmp_path / "a.jsonl",
        {"id": "x1", "title": "T", "body": "one\ntwo", "tags": ["a"], "n": 1.5, "deep": {"a": 1}},
        {"_id": 7, "abstract": "words", "metadata": {"year": 2020, "n": 1, "deep": []}, "n": 2},
    )

    first, second = documents(load())

    assert (first.source, first.title, first.text) == ("a.jsonl#x1", "T", "one\ntwo")
    assert first.metadata == {"id": "x1", "tags": ["a"], "n": 1.5, "deep.a": 1}
    assert list(first.lines or ()) == [1, 1]
    assert (second.source, second.title) == ("a.jsonl#7", "7")
    assert second.metadata == {"_id": 7, "year": 2020, "n": 2, "deep": []}
    assert list(second.lines or ()) == [2]


def test_nested_fields_are_metadata_by_the_way_to_them(load: Load, tmp_path: Path) -> None:
    """Lists on the way give several values, a field of that very name stays, and what is huge is left out."""
    author = {"name": "Ada", "at": [{"org": "X"}, {"org": "Y", "city": None}], "ids": {"orcid": 7}}
    inner = {"lang": {"code": "en"}}
    write_lines(
        tmp_path / "a.jsonl",
        {"text": "words", "author": author, "author.name": "A. L.", "metadata": inner, "grid": [[1, 2], [3]]},
        {"text": "words", "many": {str(number): 1 for number in range(60)}, "long": {"a": "x" * 30_000}, "n": 1},
    )

    first, second = documents(load())

    assert first.metadata == {
        "author.name": "A. L.",
        "author.at.org": ["X", "Y"],
        "author.ids.orcid": 7,
        "lang.code": "en",
        "grid": [1, 2, 3],
    }
    assert second.metadata == {"n": 1}


def test_records_without_a_usable_id_are_named_by_line(load: Load, tmp_path: Path) -> None:
    """No two sources are equal, not even where an id looks like a line number."""
    ids: list[object] = ["a", "a", True, None, "", "L8", ["x"], 1.5]
    write_lines(tmp_path / "a.jsonl", *({"id": value, "text": "words"} for value in ids))

    names = [document.source.partition("#")[2] for document in documents(load())]

    assert names == ["a", "L2", "L3", "L4", "L5", "L8", "L7", "L8_"]


def test_a_record_without_text_lists_its_fields(load: Load, tmp_path: Path) -> None:
    """The text has every field, and the title is the end of the source."""
    write_lines(tmp_path / "a.jsonl", {"host": "db1", "ports": [1, 2], "on": {"disk": None, "cpu": "hot"}})

    (document,) = documents(load())

    assert document.text == "host: db1\nports[0]: 1\nports[1]: 2\non.cpu: hot"
    assert document.title == "a.jsonl#L1"


def test_bad_lines_are_skipped_and_the_rest_is_loaded(load: Load, tmp_path: Path) -> None:
    """Each bad line is named by its number; blank lines are nothing at all."""
    deep = '{"text": ' + "[" * 100_000 + "]" * 100_000 + "}"
    digits = '{"text": "x", "n": ' + "9" * 5000 + "}"
    lines = ['{"text": "ok"}', "", "{broken", "[1]", deep, digits, "{}", '{"text": "end"}']
    (tmp_path / "a.ndjson").write_text("\n".join(lines))

    results = load()

    assert [result.source for result in results] == [f"a.ndjson#L{n}" for n in (1, 3, 4, 5, 6, 7, 8)]
    assert [getattr(result, "reason", "ok") for result in results] == ["ok", *["bad record"] * 4, "empty", "ok"]
    assert isinstance(results[1], Skipped) and results[1].detail.startswith("line 3: ")


def test_what_json_can_say_and_a_store_cannot_is_cleaned(load: Load, tmp_path: Path) -> None:
    """Lone surrogates, NULs, NaN and huge numbers appear in real dumps."""
    record = r'{"id": "a\ud800", "text": "b\u0000\ud83d\ude00", "n": NaN, "i": 1e999, "k\udfff": 99999999999999999999}'
    (tmp_path / "a.jsonl").write_text(record)

    (document,) = documents(load())

    assert (document.source, document.text) == ("a.jsonl#a", "b😀")
    assert document.metadata == {"id": "a", "n": "nan", "i": "inf", "k": "99999999999999999999"}


def test_long_places_do_not_swell_the_text(load: Load, tmp_path: Path) -> None:
    """A place stands beside every value, and may have sixty names of a hundred characters."""
    deep: object = list(range(1000))
    for _ in range(60):
        deep = {"k" * 100: deep}
    (tmp_path / "a.json").write_text(json.dumps(deep))

    (document,) = documents(load())

    assert document.text.split("\n")[-1].endswith("kk[999]: 999")
    assert len(document.text) < 400_000


def test_packed_json_lines_are_read(load: Load, tmp_path: Path) -> None:
    """A name that ends in .jsonl.gz is not an archive to us."""
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress('{"text": "größer"}\n'.encode()))

    assert [document.text for document in documents(load())] == ["größer"]


def test_a_gzip_bomb_stops_at_the_limit(load: Load, tmp_path: Path) -> None:
    """The limit applies to one long line and to many lines."""
    (tmp_path / "lines.jsonl.gz").write_bytes(gzip.compress(b'{"text": "x"}\n' * 100_000))
    (tmp_path / "zeros.jsonl.gz").write_bytes(gzip.compress(bytes(50_000_000)))

    results = load(max_expanded_bytes=200_000, max_file_bytes=100_000)

    assert results[-2] == Skipped(source="lines.jsonl.gz", reason="too large", detail=results[-2].detail)  # type: ignore[union-attr]
    assert isinstance(results[-1], Skipped) and results[-1].reason == "too large"


def test_a_line_that_is_too_long_does_not_end_the_file(load: Load, tmp_path: Path) -> None:
    """The limit for one line is that for a file of any other kind."""
    write_lines(tmp_path / "a.jsonl", {"text": "x" * 200_000}, {"text": "after"})

    first, second = load(max_file_bytes=1000)

    assert isinstance(first, Skipped) and (first.source, first.reason) == ("a.jsonl#L1", "too large")
    assert isinstance(second, Document) and second.source == "a.jsonl#L2"


def test_a_broken_gzip_file_is_skipped_after_what_could_be_read(load: Load, tmp_path: Path) -> None:
    """A download that was cut short, and a file that never was gzip."""
    data = gzip.compress(b"".join(b'{"text": "%d"}\n' % n for n in range(50_000)))
    (tmp_path / "cut.jsonl.gz").write_bytes(data[: len(data) // 2])
    (tmp_path / "not.jsonl.gz").write_text("words")

    results = load()

    skipped = {result.source: result.reason for result in results if isinstance(result, Skipped)}
    assert skipped["cut.jsonl.gz"] == skipped["not.jsonl.gz"] == "broken"
    assert len(documents(results)) > 1000


def test_the_number_of_records_can_be_limited(load: Load, tmp_path: Path) -> None:
    """One skip represents the remaining records; there is none without remaining records."""
    write_lines(tmp_path / "a.jsonl", *({"text": str(n)} for n in range(5)))
    (tmp_path / "b.json").write_text(json.dumps([{"text": str(n)} for n in range(5)]))

    reasons = [getattr(result, "reason", "ok") for result in load(max_records=2)]

    assert reasons == ["ok", "ok", "too many records"] * 2
    assert all(isinstance(result, Document) for result in load(max_records=5))


def test_a_list_of_objects_becomes_one_document_each(load: Load, tmp_path: Path) -> None:
    """They are named by id or by place, and know the line they begin on."""
    (tmp_path / "a.json").write_text('[\n  {"id": 5, "text": "x"},\n\n  {"text": "y\\nz"}\n]')

    first, second = documents(load())

    assert [first.source, second.source] == ["a.json#5", "a.json#2"]
    assert list(first.lines or ()) == [2]
    assert list(second.lines or ()) == [4, 4]


def test_any_other_json_becomes_one_document(load: Load, tmp_path: Path) -> None:
    """Each value has a line of text, with the way to it, and the line of the file it is on."""
    (tmp_path / "a.json").write_text('{"name": "pkg",\n "on": {"a": [1,\n true]},\n "": "x", "n": null, "e": {}}')

    (document,) = documents(load())

    assert document.title == "pkg"
    assert document.text == "name: pkg\non.a[0]: 1\non.a[1]: true\nx"
    assert list(document.lines or ()) == [1, 2, 3, 4]


def test_a_list_of_values_has_one_line_each(load: Load, tmp_path: Path) -> None:
    """Values alone need no place."""
    (tmp_path / "a.json").write_text('["one",\n "two\\nlines", 3]')

    (document,) = documents(load())

    assert document.text == "one\ntwo\nlines\n3"
    assert list(document.lines or ()) == [1, 2, 2, 2]
    assert document.title == "a"


def test_json_that_is_broken_empty_or_too_deep_is_skipped(load: Load, tmp_path: Path) -> None:
    """A hundred thousand brackets do not reach the bottom of the stack."""
    (tmp_path / "a.json").write_text("{broken")
    (tmp_path / "b.json").write_text("[]")
    (tmp_path / "c.json").write_text("[" * 100_000 + "]" * 100_000)
    (tmp_path / "d.json").write_text('{"a": 1}\n{"a": 2}\n')

    results = load()

    assert [getattr(result, "reason", "") for result in results] == ["broken", "empty", "broken", "broken"]
    assert isinstance(results[3], Skipped) and ".jsonl" in results[3].detail


def test_values_below_the_deepest_level_are_marked(load: Load, tmp_path: Path) -> None:
    """Values below the maximum depth are replaced by one mark."""
    (tmp_path / "a.json").write_text('{"a": ' + "[" * 100 + '"x"' + "]" * 100 + ', "b": "y"}')

    (document,) = documents(load())

    first, second = document.text.split("\n")
    assert first.endswith(": …")
    assert second == "b: y"


def test_long_keys_do_not_swell_the_text(load: Load, tmp_path: Path) -> None:
    """A key is repeated for every value beneath it, so it is cut, and the whole is bounded."""
    content = json.dumps({"k" * 10_000: [0] * 1000})
    (tmp_path / "a.json").write_text(content)
    (tmp_path / "b.jsonl").write_text(content)

    texts = [document.text for document in documents(load())]

    assert [len(text) < 200_000 for text in texts] == [True, True]
    assert [getattr(item, "reason", "") for item in load(max_expanded_bytes=50_000)] == ["too large"] * 2


def test_a_title_without_end_is_cut(load: Load, tmp_path: Path) -> None:
    """It would otherwise be indexed with every chunk."""
    write_lines(tmp_path / "a.jsonl", {"title": "word " * 1000, "text": "words"})

    (document,) = documents(load())

    assert len(document.title) <= 300 and document.title.endswith("…")
