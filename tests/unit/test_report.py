"""Figures as tables, pages and plots."""

import pytest

from weft.errors import InputError
from weft.evaluate.dataset import find_sets
from weft.evaluate.report import COLUMNS, MARKS, set_table, write_page, write_set_plot


def row(dataset, method, value):
    figures = dict.fromkeys(COLUMNS, value)
    return {
        "dataset": dataset,
        "method": method,
        "queries": 1200,
        "documents": 34,
        "p50_ms": 1.25,
        "p95_ms": 9.0,
        **figures,
    }


ROWS = [row("a", "hybrid", 0.5), row("a", "mix", 0.75), row("b", "hybrid", 1.0)]


def test_the_table_has_a_row_per_set_and_method():
    """In the order given."""
    head, cells = set_table(ROWS)

    assert head[:3] == ["set", "questions / documents", "method"]
    assert [line[0] + line[2] for line in cells] == ["ahybrid", "amix", "bhybrid"]
    assert cells[1][3] == "0.750"
    assert cells[0][1] == "1,200 / 34"


def test_the_table_says_what_was_chosen_where_the_choice_was_open():
    """For `auto`, the table counts the methods and the rules."""
    chosen = {"ran": {"mix": 1100, "hybrid": 100}, "rules": {"default": 1100, "exact": 100}}
    _, (cells,) = set_table([row("a", "auto", 0.5) | chosen])

    assert cells[2] == "auto (1,100 mix, 100 hybrid; by 1,100 default, 100 exact)"


def test_a_page_keeps_what_stands_around_the_figures(tmp_path):
    """A missing page is created."""
    page = tmp_path / "new" / "quality.md"
    write_page(ROWS, page)
    assert "| a | 1,200 / 34 | mix | 0.750" in page.read_text("utf-8")

    page.write_text(f"# Mine\n\n{MARKS[0]}\nstale figures\n{MARKS[1]}\n\nthe end\n")
    write_page(ROWS, page, plot=tmp_path / "quality.png")
    text = page.read_text("utf-8")
    assert text.startswith("# Mine\n")
    assert text.endswith("\n\nthe end\n")
    assert "stale figures" not in text
    assert "](quality.png)" in text


def test_a_page_without_a_place_for_figures_is_left_alone(tmp_path):
    """Somebody's page is not overwritten."""
    page = tmp_path / "page.md"
    page.write_text("mine")

    with pytest.raises(InputError, match="no markers"):
        write_page(ROWS, page)
    assert page.read_text() == "mine"


def test_a_plot_is_drawn(tmp_path):
    """A method may be missing for a set."""
    pytest.importorskip("matplotlib")
    write_set_plot(ROWS, tmp_path / "x.png")

    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_a_folder_of_sets_stands_for_the_sets_in_it(tmp_path):
    """By name; a set stands for itself."""
    for name in ("b", "a"):
        (tmp_path / "all" / name / "qrels").mkdir(parents=True)
        (tmp_path / "all" / name / "corpus.jsonl").write_text("{}")
    (tmp_path / "all" / "other").mkdir()

    assert [path.name for path in find_sets([tmp_path / "all"])] == ["a", "b"]
    assert [path.name for path in find_sets([tmp_path / "all" / "b", tmp_path / "all"])] == ["b", "a"]
    with pytest.raises(InputError, match="no evaluation set"):
        find_sets([tmp_path / "all" / "other"])
