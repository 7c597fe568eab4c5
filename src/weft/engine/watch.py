"""Files that are indexed again whenever they change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from weft.engine.paths import find_below
from weft.load.folder import source_of
from weft.load.watch import iter_changes
from weft.records import Receipt

if TYPE_CHECKING:
    from weft.engine.engine import Engine


def watch(engine: Engine, paths: Sequence[Path], *, on_receipt: Callable[[Receipt], None]) -> None:
    """Index again whenever a file below the paths changes, until interrupted."""
    for change in iter_changes(paths, options=engine.settings.load, base=engine.base):
        receipt = engine.index(*change.present)
        gone = find_below([source_of(path, base=engine.base) for path in change.gone], store=engine.store)
        receipt = replace(receipt, pruned=engine.store.delete(gone))
        if receipt.added or receipt.changed or receipt.pruned:
            on_receipt(receipt)
