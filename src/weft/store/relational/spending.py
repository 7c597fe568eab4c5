"""Costs of language models in a relational database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from weft.records import LlmRun, Usage
from weft.store.relational.json_columns import read_object, unreadable
from weft.store.relational.retry import retry_once
from weft.store.relational.session import Connections, make_namespace


@retry_once
class RelationalSpending:
    """Costs of the language model runs of one namespace."""

    def __init__(self, connections: Connections, *, namespace: str) -> None:
        self._connections = connections
        self._name = namespace

    def write(self, *runs: LlmRun) -> None:
        with self._connections.write(self._name) as db:
            namespace = make_namespace(db, self._name)
            for run in runs:
                values = {"id": run.id, "at": run.at, "model": run.model, "usage": json.dumps(asdict(run.usage))}
                db.run("write_llm_run", {"namespace": namespace, **values})

    def runs(self) -> list[LlmRun]:
        with self._connections.read(self._name) as db:
            rows = db.run("list_llm_runs", {"namespace": db.namespace_key(self._name)})
        return [LlmRun(id=id, at=at, model=model, usage=parse_usage(usage)) for id, at, model, usage in rows]

    def forget(self, ids: Sequence[str]) -> int:
        with self._connections.write(self._name) as db:
            values = {"namespace": db.namespace_key(self._name), "ids": json.dumps(list(ids))}
            db.run("delete_llm_runs", values)
            return db.changes()


def parse_usage(text: str) -> Usage:
    """Return the usage in a column. Raises `StoreCorrupt`."""
    what = "the cost of a language model run"
    try:
        return Usage(**read_object(text, what=what))
    except TypeError as error:
        raise unreadable(what) from error
