"""Copy of namespaces between stores: differences are written in pages, then both stores are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from weft.admin.copy_parts import PARTS, FactEntities, Part
from weft.config import Settings, find_path, is_missing, shown
from weft.engine.embedder import find_active
from weft.engine.opening.databases import open_database
from weft.errors import InputError, SchemaMismatch
from weft.store.base import Store

DifferenceKind: TypeAlias = Literal["missing", "differs", "extra"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """An item that differs between the two stores."""

    what: str
    """`document`, `import`, `edit`, `fact`, `entity`, `calibration` or `receipt`."""
    name: str
    how: DifferenceKind
    """`missing` and `extra` refer to the target store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyReceipt:
    """The result of copying a namespace."""

    namespace: str
    documents: int
    facts: int
    written: dict[str, int] = field(default_factory=dict)
    """Written items by kind."""
    removed: dict[str, int] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    """Items that the target cannot store, with reasons."""
    differences: tuple[Difference, ...] = ()
    """Differences found by checksums at the end; empty if the copy is equal."""
    is_moving: bool = False
    """True if the source changed during the copy and a second run is needed."""


def copy_namespaces(
    source: str,
    target: str,
    *,
    settings: Settings,
    namespaces: Sequence[str] = (),
    prune: bool = False,
    on_start: Callable[[str, int], None] = lambda namespace, steps: None,
    on_step: Callable[[int], None] = lambda count: None,
) -> list[CopyReceipt]:
    """
    Copy namespaces, by default all, from `source` to `target`; both are files or servers.

    After an interruption both stores are consistent and the next run continues. With `prune`, items that only the
    target has are deleted, otherwise reported. Raises `SchemaMismatch` if the target has another embedder.
    """
    if _resolved(source) == _resolved(target):
        raise InputError(f"source and target are the same store: {shown(source)}", hint="pass another store with --to")
    if is_missing(source):
        raise InputError(f"the store {source!r} does not exist", hint="pass an existing store with --from")
    with (
        closing(open_database(_at(settings, source))) as here,
        closing(open_database(_at(settings, target))) as there,
    ):
        for name in namespaces:
            if _is_empty(here.store(name)):
                raise InputError(
                    f"no namespace {name!r} in {shown(source)}", hint="run `weft namespaces` to list all namespaces"
                )
        receipts = []
        for name in namespaces or here.namespaces():
            store = here.store(name)
            facts, entities = store.facts.count()
            on_start(name, 2 * (store.stats().documents + facts + entities))
            receipts.append(copy_namespace(store, there.store(name), prune=prune, on_step=on_step))
        return receipts


def _is_empty(store: Store) -> bool:
    return store.stats().documents == 0 and not any(store.facts.count())


def copy_namespace(
    source: Store, target: Store, *, prune: bool = False, on_step: Callable[[int], None] = lambda count: None
) -> CopyReceipt:
    """Copy a namespace to another store under the same name, which is part of ids. Each write is one transaction."""
    _adopt_embedder(source, target)
    generation = source.facts.generation()
    written: dict[str, int] = {}
    removed: dict[str, int] = {}
    refused: list[str] = []
    for part in PARTS:
        if prune:
            removed[part.what] = sum(part.remove(target, ids) for ids in _extra(part, source, target))
        written[part.what] = 0
        for ids in part.pages(source):
            different = [id for id, _ in _differing(part, ids, source, target)]
            written[part.what] += _write(part, source, target, different, refused)
            on_step(len(ids) if part.is_counted else 0)
    target.finish_load()
    differences = tuple(compare(source, target, on_step=on_step))
    return CopyReceipt(
        namespace=source.namespace,
        documents=source.stats().documents,
        facts=source.facts.count()[0],
        written={what: count for what, count in written.items() if count},
        removed={what: count for what, count in removed.items() if count},
        refused=tuple(refused),
        differences=differences,
        is_moving=source.facts.generation() != generation,
    )


def compare(
    source: Store, target: Store, *, on_step: Callable[[int], None] = lambda count: None
) -> Iterator[Difference]:
    """Yield the differences of two stores, by checksums of all data that is not derived."""
    for part in PARTS:
        for ids in part.pages(source):
            for id, how in _differing(part, ids, source, target):
                yield Difference(what=part.what, name=part.name(source, id), how=how)
            on_step(len(ids) if part.is_counted else 0)
        for extra in _extra(part, source, target):
            for id in extra:
                yield Difference(what=part.what, name=part.name(target, id), how="extra")


def _differing(part: Part, ids: Sequence[str], source: Store, target: Store) -> list[tuple[str, DifferenceKind]]:
    wanted, found = part.checksums(source, ids), part.checksums(target, ids)
    return [(id, "differs" if id in found else "missing") for id in ids if id in wanted and found.get(id) != wanted[id]]


def _extra(part: Part, source: Store, target: Store) -> Iterator[list[str]]:
    for ids in part.pages(target):
        known = part.known(source, ids)
        if extra := [id for id in ids if id not in known]:
            yield extra


def _write(part: Part, source: Store, target: Store, ids: Sequence[str], refused: list[str]) -> int:
    """Write items in one transaction; return their number. Items that the target rejects are added to `refused`."""
    if not ids:
        return 0
    try:
        part.write(source, target, ids)
    except InputError as error:
        if len(ids) > 1:
            return sum(_write(part, source, target, [id], refused) for id in ids)
        refused.append(f"{part.what} {part.name(source, ids[0])}: {error}")
        return 0
    return len(ids)


def _adopt_embedder(source: Store, target: Store) -> None:
    """Record the embedder of the source in the target. Raises `SchemaMismatch` if the target has another one."""
    wanted, have = find_active(source), find_active(target)
    if have is not None and (wanted is None or wanted.fingerprint != have.fingerprint):
        raise SchemaMismatch(
            f"cannot copy namespace {source.namespace!r}: the source uses "
            f"{f'embedder {wanted.name!r}' if wanted else 'no embedder'}, but the target uses {have.name!r}",
            hint="pass another store with --to, or drop the target namespace: "
            f"weft namespaces --db TARGET --drop {source.namespace}",
        )
    if wanted is not None and have != wanted:
        for keys in FactEntities().pages(target):  # an active embedder covers the entities that are there already
            target.write_model(replace(wanted, active=have is not None))
            target.facts.write_vectors(wanted.fingerprint, source.facts.vectors(keys))
        target.write_model(wanted)


def _at(settings: Settings, db: str) -> Settings:
    return replace(settings, store=replace(settings.store, db=db, replica=""))


def _resolved(db: str) -> str:
    path = find_path(db)
    return str(path.resolve()) if path else db
