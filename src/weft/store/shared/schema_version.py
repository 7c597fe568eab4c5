"""Check of the version of stored tables, with the hints of both databases."""

from __future__ import annotations

from weft.errors import SchemaMismatch


def check_version(version: int, *, wanted: int, where: str) -> None:
    """Raise `SchemaMismatch` unless tables have the version of this package."""
    if version > wanted:
        raise SchemaMismatch(
            f"{where} was created by a newer Weft (schema {version}, this version supports {wanted})",
            hint="run pip install --upgrade weft-search",
        )
    if version < wanted:
        raise SchemaMismatch(
            f"{where} was made by Weft 0.2 or older (schema {version}, this version needs {wanted})",
            hint="index the documents again into another store; facts and edits can be carried over"
            " (docs/upgrading.md)",
        )
