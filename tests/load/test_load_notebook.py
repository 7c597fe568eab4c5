"""Notebooks become Markdown that is cited by the lines of their file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from loading import Load, check_document, only_document, only_reason

CELLS = [
    {"cell_type": "markdown", "metadata": {}, "source": ["# Yield\n", "\n", "See [[Panels]].\n"]},
    {
        "cell_type": "code",
        "execution_count": 3,
        "outputs": [
            {"output_type": "stream", "name": "stdout", "text": ["RMSE = 0.04\n"]},
            {"output_type": "display_data", "data": {"image/png": "iVBOR" * 99, "text/plain": ["<Figure size 6x4>"]}},
            {"output_type": "execute_result", "data": {"text/plain": ["42"]}},
            {"output_type": "error", "ename": "KeyError", "evalue": "'march'", "traceback": ["..."]},
        ],
        "source": ["a = 1\n", "\n", "fit(a)"],
    },
    {"cell_type": "code", "outputs": [], "source": []},
]
TEXT = """# Yield

See [[Panels]].

```
a = 1

fit(a)
```

```
RMSE = 0.04
```

```
42
```

```
KeyError: 'march'
```"""


def write(folder: Path, content: object, *, indent: int | None = 1) -> list[str]:
    """Write a notebook and return its lines."""
    text = json.dumps(content, indent=indent)
    (folder / "a.ipynb").write_text(text)
    return text.split("\n")


def test_cells_and_what_they_printed_are_the_text(load: Load, tmp_path: Path) -> None:
    """Pictures, and objects that only name themselves, are left out."""
    lines = write(tmp_path, {"cells": CELLS, "nbformat": 4})

    document = only_document(load())

    check_document(document)
    assert (document.title, document.form, document.text) == ("Yield", "markdown", TEXT)
    assert document.metadata == {"links": ["Panels"]}
    assert document.lines is not None and list(document.lines) == sorted(document.lines)
    cited = dict(zip(document.text.split("\n"), document.lines, strict=True))
    assert all(part in lines[cited[part] - 1] for part in ("# Yield", "See [[Panels]].", "a = 1", "fit(a)"))


def test_a_notebook_on_one_line_is_cited_by_it(load: Load, tmp_path: Path) -> None:
    """Some tools write it so, and a source as one text."""
    cells = [{"cell_type": "markdown", "source": "# Yield\n\nWords."}, *CELLS[1:]]
    write(tmp_path, {"cells": cells}, indent=None)

    document = only_document(load())

    assert document.text.startswith("# Yield\n\nWords.\n\n```\na = 1\n")
    assert set(document.lines or ()) == {1}


@pytest.mark.parametrize(
    ("content", "reason"), [({"cells": []}, "empty"), ({"cells": ["x", {"source": 3}]}, "empty"), ({}, "empty")]
)
def test_a_notebook_without_text_is_empty(load: Load, tmp_path: Path, content: object, reason: str) -> None:
    """Any value in place of cells gives no text."""
    write(tmp_path, content)

    assert only_reason(load()) == reason


def test_other_json_of_that_name_is_json(load: Load, tmp_path: Path) -> None:
    """Notebooks in an older format are loaded as JSON."""
    write(tmp_path, {"worksheets": [{"cells": [{"input": "fit(a)"}]}]})

    assert only_document(load()).text == "worksheets[0].cells[0].input: fit(a)"


def test_a_broken_notebook_is_broken(load: Load, tmp_path: Path) -> None:
    """The run continues."""
    (tmp_path / "a.ipynb").write_text('{"cells": [')

    assert only_reason(load()) == "broken"
