"""CSV and TSV."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loading import Load, only_reason

from weft.load.formats import table
from weft.records import Document


def read(load: Load, path: Path, text: str) -> Document:
    """Write a table and return the document it becomes."""
    path.write_bytes(text.encode())
    (document,) = load(path)
    assert isinstance(document, Document)
    return document


def test_a_row_becomes_a_line_of_names_and_values(load: Load, tmp_path: Path) -> None:
    """Empty cells are left out, and the header is metadata."""
    document = read(load, tmp_path / "a.csv", "name,owner,tier\nAuth Service,Identity,1\nBilling,,2\n")

    assert document.text == "name: Auth Service; owner: Identity; tier: 1\nname: Billing; tier: 2"
    assert document.form == "table"
    assert list(document.lines or ()) == [2, 3]
    assert document.metadata == {"columns": ["name", "owner", "tier"]}


def test_line_numbers_are_right_after_a_quoted_line_end(load: Load, tmp_path: Path) -> None:
    """A cell may run over several lines; the next row begins beneath them."""
    document = read(load, tmp_path / "a.csv", 'name,note\r\na,"one\r\ntwo\r\nthree"\r\n\r\nb,x\r\n')

    assert document.text == "name: a; note: one two three\nname: b; note: x"
    assert list(document.lines or ()) == [2, 6]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(load: Load, tmp_path: Path, delimiter: str) -> None:
    """The delimiter gives the rows an equal width, even if cells contain commas."""
    rows = [["name", "note"], ["a", "x y"], ["b", "z, w"]]
    text = "\n".join(delimiter.join(f'"{cell}"' for cell in row) for row in rows)
    document = read(load, tmp_path / "a.csv", text)

    assert document.text == "name: a; note: x y\nname: b; note: z, w"


def test_a_table_without_names_has_bare_values(load: Load, tmp_path: Path) -> None:
    """A first row with numbers in it is data."""
    document = read(load, tmp_path / "a.csv", "2024-01-01,5\n2024-01-02,6\n")

    assert document.text == "2024-01-01; 5\n2024-01-02; 6"
    assert list(document.lines or ()) == [1, 2]


def test_rows_of_any_width_are_kept(load: Load, tmp_path: Path) -> None:
    """Cells beyond the header have no name."""
    document = read(load, tmp_path / "a.csv", "name,owner\na,b,c,d\ne\n")

    assert document.text == "name: a; owner: b; c; d\nname: e"


def test_a_sign_for_inches_leaves_quoted_cells_whole(load: Load, tmp_path: Path) -> None:
    """A lone quote inside a cell is a character, and the quotes around other cells still hold."""
    text = 'id,owner,size\n1,"Smith, John",24"\n2,"Doe, ""JD"" Jane",27 cm\n'
    document = read(load, tmp_path / "a.csv", text)

    assert document.text == 'id: 1; owner: Smith, John; size: 24"\nid: 2; owner: Doe, "JD" Jane; size: 27 cm'


def test_a_lone_quote_swallows_nothing(load: Load, tmp_path: Path) -> None:
    """A quote that is never closed is a character like any other."""
    document = read(load, tmp_path / "a.tsv", 'id\ttext\nx\t"unclosed\ny\tsecond\n')

    assert document.text == 'id: x; text: "unclosed\nid: y; text: second'


def test_two_lone_quotes_swallow_nothing_between_them(load: Load, tmp_path: Path) -> None:
    """Their rows are read without quotes, all others with them."""
    text = 'id,title,by\n1,"Alien,Scott\n2,"Tiger, Dragon",Lee\n3,"Ran,Kurosawa\n4,"M" again,Lang\n5,"Jaws,Spielberg'
    document = read(load, tmp_path / "a.csv", text)

    assert document.text.split("\n") == [
        'id: 1; title: "Alien; by: Scott',
        "id: 2; title: Tiger, Dragon; by: Lee",
        'id: 3; title: "Ran; by: Kurosawa',
        "id: 4; title: M again; by: Lang",
        'id: 5; title: "Jaws; by: Spielberg',
    ]
    assert list(document.lines or ()) == [2, 3, 4, 5, 6]


def test_a_huge_cell_is_read_and_the_limit_of_the_module_restored(load: Load, tmp_path: Path) -> None:
    """The csv module has a global limit of 128 KiB, which is raised while a table is read."""
    before = csv.field_size_limit()
    document = read(load, tmp_path / "a.csv", "name,note\na," + "x" * 1_000_000 + "\n")

    assert len(document.text) > 1_000_000
    assert csv.field_size_limit() == before


def test_column_names_may_repeat(load: Load, tmp_path: Path) -> None:
    """A column of numbers or dates shows that the first row is a header."""
    first = read(load, tmp_path / "a.csv", "key,comment,comment,id\nA,first,second,7\nB,,third,8\n")
    second = read(load, tmp_path / "b.csv", "New York,New York,USA\nAlbany,New York,USA\n")
    third = read(load, tmp_path / "c.csv", "item,2024,2024\nbread,1,2\n")

    assert first.text == "key: A; comment: first; comment: second; id: 7\nkey: B; comment: third; id: 8"
    assert first.metadata == {"columns": ["key", "comment", "id"]}
    assert second.text.startswith("New York; New York; USA\n")
    assert third.text.startswith("item; 2024; 2024\n")


def test_a_single_column_needs_no_delimiter(load: Load, tmp_path: Path) -> None:
    """A list of words is a table too."""
    document = read(load, tmp_path / "a.csv", "city\nBerlin\nParis\n")

    assert document.text == "city: Berlin\ncity: Paris"


def test_long_column_names_do_not_swell_the_text(load: Load, tmp_path: Path) -> None:
    """A name is repeated in every row, so it is cut, and the whole is bounded."""
    path = tmp_path / "a.csv"
    document = read(load, path, "n" * 10_000 + ",b\n" + "x,y\n" * 1000)

    assert len(document.text) < 200_000
    assert only_reason(load(path, max_expanded_bytes=50_000)) == "too large"


def test_quotes_that_lead_nowhere_do_not_let_every_row_read_the_rest(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of these rows opens a cell that runs through all the others and never closes."""
    taken = 0
    inner = table._iter_ended

    def counted(*arguments: Any) -> Iterator[str]:
        nonlocal taken
        for line in inner(*arguments):
            taken += 1
            yield line

    monkeypatch.setattr(table, "_iter_ended", counted)
    document = read(load, tmp_path / "a.csv", "1,2,3\n" + 'x",y,"z\n' * 2000 + 'a,b,"c, d"\n')

    assert document.text.split("\n")[1] == 'x"; y; "z'
    assert document.text.split("\n")[-1] == "a; b; c, d"
    assert list(document.lines or ()) == list(range(1, 2003))
    assert taken < 20 * 2000


def test_a_very_long_number_takes_no_time(load: Load, tmp_path: Path) -> None:
    """Telling values from names is linear in what a cell holds."""
    document = read(load, tmp_path / "a.csv", "9" * 500_000 + "x,b\n1,2\n")

    assert document.text.endswith("b: 2")
