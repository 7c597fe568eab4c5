"""
Nominations of a SQLite file: keys are numbers, and a chunk's repeated texts are stored once.

A spelling is stored with the number of its key, and a description that the title has already refers to the title. The
statement that looks this up for stored chunks takes twice as long as one with values that are known before.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from weft.store.relational.session import Namespace, Session


def number_names(
    db: Session, namespace: Namespace, keys: Collection[str] | Mapping[str, str]
) -> dict[str, tuple[int, str | None]]:
    """Return number and spelling of keys. New keys get a number, and their spelling from a mapping."""
    if not keys:
        return {}
    values = {"namespace": namespace, "keys": json.dumps(sorted(keys), ensure_ascii=False)}
    found = {key: (number, spelling) for key, number, spelling in db.run("name_numbers", values)}
    if len(found) < len(keys):
        names = keys if isinstance(keys, Mapping) else dict.fromkeys(keys)
        new = sorted(names.keys() - found.keys())
        pairs = json.dumps([(key, names[key]) for key in new], ensure_ascii=False)
        db.run("write_names", {**values, "keys": pairs})
        rows = db.run("name_numbers", {**values, "keys": json.dumps(new, ensure_ascii=False)})
        found |= {key: (number, spelling) for key, number, spelling in rows}
    return found


def write_nominations(db: Session, namespace: Namespace, rows: Sequence[dict[str, Any]]) -> None:
    """Number the keys of nominations and write them. Those of a new chunk have a `place`, others None."""
    names = number_names(db, namespace, {row["key"]: row["name"] for row in rows})
    titles: dict[tuple[int, int, str], int] = {}
    new, other = [], []
    for row in rows:  # hot loop: a chunk has ten
        row["key"], row["spelling"] = names[row["key"]]
        if row["place"] is None:
            other.append(row)
            continue
        new.append(row)
        if row["kind"] in ("title", "definition") and row["description"] and not row["origin"]:
            at = row["chunk"], row["key"], row["description"]
            if row["kind"] == "title":
                titles.setdefault(at, row["place"])
            else:
                row["description"] = titles.get(at, row["description"])
    db.run_many("write_new_nomination", new)
    db.run_many("write_nomination", other)
