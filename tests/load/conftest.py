"""Fixture that loads the file of a test and checks the rules for every document."""

from __future__ import annotations

from pathlib import Path

import pytest
from loading import Load, check_document

from weft.config import LoadOptions
from weft.load.run import iter_documents
from weft.records import Document, Skipped


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Return a function that loads the given paths, by default the whole of `tmp_path`."""

    def run(*paths: Path, **options: object) -> list[Document | Skipped]:
        chosen = LoadOptions(**options)  # type: ignore[arg-type]
        results = list(iter_documents(paths or [tmp_path], options=chosen, base=tmp_path))
        for result in results:
            result.source.encode("utf-8")
            if isinstance(result, Document):
                check_document(result)
        return results

    return run
