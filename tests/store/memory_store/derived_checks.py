"""Filters by metadata, and missing vectors, as the memory store computes them."""

from weft.records import Problem
from weft.store.shared.labels import EXCLUDED, REQUIRED_IF_PRESENT, labels, wanted_labels
from weft.store.shared.unembedded import MAX_COUNTED, report_missing_vectors


def passes(metadata, where):
    """Return True if metadata has all labels that a filter wants."""
    found = labels(metadata)
    keys = {key for key, _ in found}
    return all(_passes(label, found, keys) for label in wanted_labels(where))


def _passes(label, found, keys):
    has_label = (label.key, label.value) in found or (label.key, label.alternative) in found
    if label.rule == EXCLUDED:
        return not has_label
    return has_label or (label.rule == REQUIRED_IF_PRESENT and label.key not in keys)


def find_missing_vectors(store) -> list[Problem]:
    """Return a problem for each kind of row without a vector of the active embedder; empty without an embedder."""
    active = next((model for model in store.models() if model.active), None)
    if active is None:
        return []
    return report_missing_vectors(
        f"namespace {store.namespace!r}",
        active.name,
        chunks=len(store.find_unembedded(active.fingerprint, limit=MAX_COUNTED)),
        names=len(store.graph.find_unembedded(active.fingerprint, limit=MAX_COUNTED)),
        facts=len(store.facts.find_unembedded(active.fingerprint, limit=MAX_COUNTED)),
    )
