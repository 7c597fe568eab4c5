"""Memory of one snapshot: rows that several steps of a question read are sent by the server once."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple, TypeAlias

from weft.store.relational.session import Namespace, Row

Run: TypeAlias = Callable[[str, Mapping[str, Any]], list[Row]]
"""Runs a statement by name."""


class _Summary(NamedTuple):
    """Row of `namespace_summary`, as the rows of the statements that it replaces."""

    state: Hashable
    """Value that changes with every write; None if there is no such namespace."""
    find_namespace: list[Row]
    list_models: list[Row]
    find_calibration: list[Row]
    has_fact_links: list[Row]
    has_entities: list[Row]
    has_descriptions: bool
    """False if `described_entities` finds nothing."""


class Snapshot:
    """Answers statements of a snapshot from rows that it has returned before. Row security depends on the binding."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._bound = ""
        self._summaries: dict[tuple[str, str], _Summary] = {}
        self._rows: dict[tuple[str, str, tuple[tuple[str, Any], ...]], list[Row]] = {}
        self._term_counts: dict[tuple[str, Namespace], dict[str, int]] = {}
        self._postings: dict[tuple[str, Namespace], dict[str, Any]] = {}

    def bind(self, namespace: str) -> None:
        """Note the namespace to which the transaction is bound."""
        self._bound = namespace

    def find(self, name: str, values: Mapping[str, Any]) -> list[Row] | None:
        """Return the rows of a statement; None if it must be run."""
        if name in ("find_namespace", "find_calibration"):
            return list(getattr(self._summary(values["name"]), name))
        if name in ("list_models", "has_fact_links", "has_entities"):
            return list(getattr(self._summary(values["namespace"]), name))
        if name == "described_entities" and not self._summary(values["namespace"]).has_descriptions:
            return []
        if name not in ("count_facts", "filter_chunks", "filter_chunks_by_label"):
            return None
        key = self._bound, name, tuple(sorted(values.items()))
        if key not in self._rows:
            self._rows[key] = self._run(name, values)
        return list(self._rows[key])

    def state_of(self, namespace: str) -> Hashable:
        """Return a value that changes with every write of a namespace; None if there is none."""
        return self._summary(namespace).state

    def known_terms(self, namespace: Namespace) -> dict[str, int]:
        """Return the document frequencies of terms, 0 for absent ones; those that are read are added."""
        return self._term_counts.setdefault((self._bound, namespace), {})

    def known_postings(self, namespace: Namespace) -> dict[str, Any]:
        """Return the complete postings of terms; those that are read are added."""
        return self._postings.setdefault((self._bound, namespace), {})

    def _summary(self, namespace: str) -> _Summary:
        key = self._bound, namespace
        if key not in self._summaries:
            self._summaries[key] = _to_summary(namespace, self._run("namespace_summary", {"namespace": namespace}))
        return self._summaries[key]


def _to_summary(namespace: str, rows: list[Row]) -> _Summary:
    if not rows:
        return _Summary(None, [], [], [], [(False,)], [(False,)], False)
    ((number, generation, chunks, length, models, calibration, has_links, has_entities, has_descriptions),) = rows
    return _Summary(
        state=(namespace, number, generation),
        find_namespace=[(namespace, generation, chunks, length)],
        list_models=[tuple(model) for model in json.loads(models)],
        find_calibration=[(calibration,)] if calibration is not None else [],
        has_fact_links=[(has_links,)],
        has_entities=[(has_entities,)],
        has_descriptions=has_descriptions,
    )
