"""Jupyter notebooks to documents: cells and their text output as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from weft.config import LoadOptions
from weft.load.file_reader import LoadError, read_text
from weft.load.file_types import file_title
from weft.load.formats.json_file import load_json, parse_json
from weft.load.formats.json_leaves import iter_leaves
from weft.load.formats.markdown import parse_markdown
from weft.load.line_map import MarkdownWriter
from weft.records import Document, Skipped
from weft.text.decode import clean

MAX_OUTPUT_CHARACTERS = 2000
"""Maximum characters per output of a cell. Images and HTML are omitted."""


def load_notebook(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    """Yield the single document of a notebook; a file without cells is loaded as JSON."""
    text = read_text(path, options=options)
    content = parse_json(text)
    cells = content.get("cells") if isinstance(content, dict) else None
    if not isinstance(cells, list):
        yield from load_json(path, source=source, options=options)
        return
    lines = {leaf.path: leaf.line for leaf in iter_leaves(text)}
    writer = MarkdownWriter()
    for number, cell in enumerate(cells):
        if isinstance(cell, dict):
            _add_cell(writer, cell, path=f"cells[{number}]", lines=lines)
    body, numbers = writer.finish()
    if not body:
        raise LoadError("empty", "the notebook has no cells with text")
    document = parse_markdown(body, source=source, name=file_title(source))
    yield replace(document, lines=numbers[len(numbers) - document.text.count("\n") - 1 :])


def _add_cell(writer: MarkdownWriter, cell: Mapping[str, object], *, path: str, lines: Mapping[str, int]) -> None:
    """Add the source of a cell, then its output."""
    text = _join_lines(cell.get("source")).rstrip()
    line = lines.get(f"{path}.source[0]", lines.get(f"{path}.source", lines.get(f"{path}.cell_type", 1)))
    step = min(1, lines.get(f"{path}.source[1]", line) - line)  # 0 if the whole cell is on one line of the file
    if cell.get("cell_type") != "code":
        writer.add_lines(text, line=line, step=step)
        return
    writer.add_code(text, line=line, step=step)
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if isinstance(output, dict):  # the output precedes the code in the file, so it gets the last line of the code
            output_text = _output_text(output)[:MAX_OUTPUT_CHARACTERS]
            writer.add_code(output_text, line=line + step * text.count("\n"), step=0)


def _output_text(output: Mapping[str, object]) -> str:
    """Return the text of an output; empty for a bare object representation such as `<Figure size 640x480>`."""
    if "ename" in output:
        return f"{output['ename']}: {output.get('evalue', '')}"
    data = output.get("data")
    text = _join_lines(data.get("text/plain") if isinstance(data, dict) else output.get("text"))
    return "" if text.startswith("<") and text.rstrip().endswith(">") else text


def _join_lines(value: object) -> str:
    """Return the text of a field that is a string or a list of lines."""
    parts = value if isinstance(value, list) else [value]
    return clean("".join(part for part in parts if isinstance(part, str)))
