"""Sheets of workbooks to documents: one document per sheet, one line of text per row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from weft.config import LoadOptions
from weft.load.file_reader import too_large
from weft.load.file_types import file_title
from weft.load.formats.table import MAX_METADATA_COLUMNS
from weft.load.line_map import collapse, join_numbered, shorten
from weft.load.metadata import to_metadata
from weft.load.table_rows import Row, render_row, split_header
from weft.records import Document
from weft.text.decode import clean

MAX_COLUMNS = 16_384
"""Columns of a sheet in Excel. Cells further right are dropped."""
MAX_SHEETS = 1000


class SheetReader:
    """Makes the documents of a workbook; sheets of the same name get a number."""

    def __init__(self, *, source: str, options: LoadOptions) -> None:
        self._source = source
        self._options = options
        self._names: set[str] = set()
        self._count = 0

    def read(self, name: str, rows: Iterable[Row]) -> Iterator[Document]:
        """Yield the document of one sheet, unless all its cells are empty."""
        self._count += 1
        above, names, body = split_header(rows, titled=True)
        titles = ((self._render(row, {}), row.line) for row in above)
        pieces = chain(titles, ((self._render(row, names), row.line) for row in body))
        text, lines = join_numbered(pieces, max_characters=self._options.max_file_bytes)
        if not text:
            return
        label = self._label(name)
        yield Document(
            source=f"{self._source}#{label}",
            title=f"{file_title(self._source, with_extension=True)} › {label}",
            text=text,
            form="table",
            metadata=to_metadata(
                {
                    "sheet": label,
                    **({"columns": list(dict.fromkeys(names.values()))[:MAX_METADATA_COLUMNS]} if names else {}),
                }
            ),
            lines=lines,
            unit="row",
        )

    def _render(self, row: Row, names: Mapping[int, str]) -> str:
        """Return the text of a row. Many cells may share one long string, so its size is checked first."""
        size = sum(map(len, row.cells.values()))
        if size > self._options.max_file_bytes:
            raise too_large(size, limit=self._options.max_file_bytes)
        return render_row(row, names)

    def _label(self, name: str) -> str:
        """Return the name of a sheet, unique in the workbook."""
        name = shorten(collapse(clean(name))) or str(self._count)
        label, number = name, 1
        while label in self._names:
            number += 1
            label = f"{name} {number}"
        self._names.add(label)
        return label
