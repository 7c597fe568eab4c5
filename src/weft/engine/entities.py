"""Entities of a namespace: show, neighbours, overview, path, similar, merge, alias, rename, delete."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from weft.engine.similar_names import Similar, find_similar
from weft.errors import InputError, NotFound
from weft.extract.links.page_keys import is_page_key
from weft.extract.names import name_key
from weft.extract.statements import inverse
from weft.graph.expand import Neighbour, neighbourhood
from weft.graph.paths import best_path
from weft.graph.traversal import Fetch, Step
from weft.records import Entity, Mention, PathStep, Relation
from weft.search.graph.overview import Overview, find_overview
from weft.search.graph.relations import find_remembered, iter_remembered, relations_in
from weft.search.relations.name_lookup import find_named, name_keys, pages_titled
from weft.store.base import Store
from weft.text.ids import fact_entity_key

MAX_RELATIONS = 50
"""Maximum number of relations read for each entity, strongest first."""

MAX_HUBS, MIN_HUB_CHUNKS, MIN_HUB_SHARE = 50, 50, 0.05
"""Hubs, which a path avoids: at most so many entities that so many chunks, and this share of all, mention."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityView:
    """An entity with its relations and mentions."""

    entity: Entity
    relations: tuple[PathStep, ...]
    """Relations, strongest first. Incoming relations have the inverse type."""
    mentions: tuple[Mention, ...]
    extractors: tuple[str, ...] = ()
    """Extractors that found the entity: `rules`, `import`, or a model with its prompt version."""


class Entities:
    """
    The entities of one namespace, by name.

    With a time `at`, facts valid then count as relations, and entities that only such facts name are included.
    """

    def __init__(self, store: Store, *, at: datetime | None = None) -> None:
        self._store = store
        self._at = at

    def get(self, name: str) -> Entity:
        """Return an entity by name, in any spelling, or by id. Raises `NotFound`."""
        return self._find(name)[1]

    def top(self, *, limit: int = 20) -> list[Entity]:
        """Return entities by number of mentioning chunks, then entities known only from facts, by key."""
        found = self._store.graph.top_entities(limit=limit)
        return [*found, *islice(self.remembered(), limit - len(found))]

    def remembered(self, *, after: str = "") -> Iterator[Entity]:
        """Yield the entities known only from facts, by key, starting after the key `after`."""
        return iter_remembered(self._store, at=self._at, after=after) if self._at is not None else iter(())

    def show(self, name: str, *, limit: int = 20) -> EntityView:
        """Return an entity with its strongest relations and mentions."""
        entity = self.get(name)
        graph = self._store.graph
        known = relations_in(self._store, at=self._at)
        relations = known.with_derived([entity.id], limit=limit)
        names = known.names(sorted({id for relation in relations for id in (relation.source_id, relation.target_id)}))
        seen = [_seen_from(entity, relation, names=names) for relation in graph.describe(relations[:limit])]
        return EntityView(
            entity=entity,
            relations=tuple(seen),
            mentions=tuple(graph.mentions_of([entity.id], limit=limit)),
            extractors=graph.extractors([entity.id]).get(entity.id, ()),
        )

    def neighbours(self, name: str, *, hops: int = 1, min_weight: float = 1.0) -> list[tuple[Entity, Neighbour]]:
        """
        Return the entities within `hops` (1 to 3), nearest first, each with its path.

        If several pages share a title, the links of those with exactly this title are included.
        """
        entity, relations = self.get(name), relations_in(self._store, at=self._at)
        seeds = [entity.id, *(page.id for page in pages_titled(name, entity, store=self._store))]
        found = neighbourhood(
            seeds, fetch=_fetch(relations.with_derived), inverse=inverse, max_hops=hops, min_graph_score=min_weight / 10
        )
        by_id = {e.id: e for e in relations.entities([n.entity_id for n in found])}
        return [(by_id[n.entity_id], n) for n in found if n.entity_id in by_id]

    def overview(self, *, limit: int = 10_000) -> Overview:
        """Return the `limit` most mentioned entities with the strongest relations among them."""
        return find_overview(self.top(limit=limit), relations=relations_in(self._store, at=self._at), store=self._store)

    def path(self, source: str, target: str, *, max_hops: int = 4) -> tuple[PathStep, ...] | None:
        """
        Return the best path between two entities: fewest hops, then strongest; None if they are not connected.

        Stated relations are preferred to co-occurrence, and paths past the hubs, even if they are longer: two pages
        that both mention the name of the project have nothing in common.
        """
        first, last = self.get(source), self.get(target)
        relations = relations_in(self._store, at=self._at)
        hubs = self._hubs() - {first.id, last.id}
        for read in (relations.of, relations.with_derived):
            for avoided in (hubs, frozenset()) if hubs else (hubs,):
                fetch = _fetch(read, avoided=avoided)
                steps = best_path(first.id, last.id, fetch=fetch, inverse=inverse, max_hops=max_hops)
                if steps is not None:
                    return self.in_words([steps])[0]
        return None

    def _hubs(self) -> frozenset[str]:
        """Return the ids of entities that a large share of all chunks mentions."""
        least = max(MIN_HUB_CHUNKS, MIN_HUB_SHARE * self._store.stats().chunks)
        return frozenset(entity.id for entity in self.top(limit=MAX_HUBS) if entity.chunks >= least)

    def in_words(self, paths: Sequence[Sequence[Step]]) -> list[tuple[PathStep, ...]]:
        """Return paths with names of entities and extractors of relations instead of ids."""
        steps = list(dict.fromkeys(step for path in paths for step in path))
        ids = {id for step in steps for id in (step.source_id, step.target_id)}
        names = relations_in(self._store, at=self._at).names(sorted(ids)) if ids else {}
        stated = [(step, relation) for step in steps for relation in _stated(step)]
        extractors: dict[Step, set[str]] = {step: set() for step in steps}
        described = self._store.graph.describe([relation for _, relation in stated])
        for (step, _), relation in zip(stated, described, strict=True):
            extractors[step] |= set(relation.extractors)
        named = {
            step: PathStep(
                source=names.get(step.source_id, step.source_id),
                type=step.type,
                weight=step.weight,
                target=names.get(step.target_id, step.target_id),
                extractors=tuple(sorted(extractors[step])),
            )
            for step in steps
        }
        return [tuple(named[step] for step in path) for path in paths]

    def merge(self, name: str, into: str) -> Entity:
        """Merge an entity into another as an alias; `unmerge` undoes this. Return the merged entity."""
        first, second = self.get(name), self._documented(into)
        if first.id == second.id:
            hint = "run `weft entity unmerge NAME` to separate them"
            raise InputError(f"{name!r} and {into!r} are already one entity", hint=hint)
        self._store.graph.write_edit("unmerge", first.key, second.key, undo=True)
        self._store.graph.write_edit("merge", first.key, second.key)
        return self.get(into)

    def unmerge(self, name: str) -> Entity:
        """Undo a merge or alias of `name` that an edit or a document made."""
        graph = self._store.graph
        key, target = self._find(name)
        edits = [(kind, value) for kind, owner, value in graph.edits() if owner == key]
        undone = [(kind, value) for kind, value in edits if kind in ("merge", "alias")]
        for kind, value in undone:
            graph.write_edit(kind, key, value, undo=True)  # type: ignore[arg-type]
        for kind, value in edits:
            if undone and kind == "rename" and name_key(value) == key:  # written by `alias`
                graph.write_edit("rename", key, value, undo=True)
        if target.key != key and not undone:
            graph.write_edit("unmerge", key, target.key)
        elif not undone:
            hint = "run `weft entity show NAME` to list the aliases of an entity"
            raise InputError(f"{name!r} is not merged with another entity", hint=hint)
        try:
            return self.get(name)
        except NotFound:
            return next(iter(graph.entities([target.id])), target)

    def alias(self, name: str, other: str) -> Entity:
        """Add another name to an entity."""
        entity, key = self._documented(name), name_key(other)
        if not key or key == entity.key:
            hint = "pass a name with letters or digits that differs from the name of the entity"
            raise InputError(f"invalid alias {other[:80]!r} of {entity.name!r}", hint=hint)
        self._store.graph.write_edit("alias", key, entity.key)
        spelled = " ".join(other.split())
        if key != spelled and key in self.get(entity.id).aliases:  # no document contains a spelling of it
            self._store.graph.write_edit("rename", key, spelled)
        return self.get(name)

    def rename(self, name: str, to: str) -> Entity:
        """Change the displayed name of an entity."""
        entity = self._documented(name)
        if not name_key(to):
            raise InputError(f"invalid name {to[:80]!r}", hint="pass a name with letters or digits")
        for kind, owner, value in self._store.graph.edits():
            if (kind, owner) == ("rename", entity.key):
                self._store.graph.write_edit("rename", owner, value, undo=True)
        self._store.graph.write_edit("rename", entity.key, to)
        return self.get(entity.id)

    def delete(self, name: str) -> Entity:
        """
        Delete an entity with its aliases and relations; `restore` undoes this. Return the deleted entity.

        Documents and facts stay as they are; entities of pages and sections go with their document only.
        """
        entity = self._documented(name)
        if is_page_key(entity.key):
            hint = "run weft delete SOURCE to delete the document"
            raise InputError(f"{entity.name!r} is a page or section of a document", hint=hint)
        for key in [*(key for key in map(name_key, entity.aliases) if key != entity.key), entity.key]:
            self._store.graph.write_edit("delete", key, entity.key)
        return entity

    def restore(self, name: str) -> Entity:
        """Undo `delete`, by any name of the entity. Return the entity."""
        graph, key = self._store.graph, name_key(name)
        deleted = [(owner, value) for kind, owner, value in graph.edits() if kind == "delete"]
        heads = {value for owner, value in deleted if key in (owner, value) or name in (owner, value)}
        if not heads:
            raise NotFound(f"no deleted entity {name[:80]!r}", hint="pass a name of an entity that was deleted")
        for owner, value in deleted:
            if value in heads:
                graph.write_edit("delete", owner, value, undo=True)
        return self.get(min(heads))

    def similar(self, *, limit: int = 20, on_step: Callable[[int], object] | None = None) -> list[Similar]:
        """
        Return pairs of entities whose names differ by a typo, the likeliest duplicates first.

        Many suggestions are wrong: review them before `merge_similar`.

        """
        return find_similar(self._store.graph, limit=limit, on_step=on_step)

    def merge_similar(self, pairs: Sequence[Similar]) -> list[tuple[Similar, str]]:
        """Merge pairs from `similar`; return the merged pairs, each with the name to pass to `unmerge`."""
        merged = []
        # The most frequent targets come first; otherwise an alias could point to another alias.
        for pair in sorted(pairs, key=lambda pair: (-pair.into.chunks, -pair.into.mentions, pair.into.key)):
            entity, into = pair.entity, pair.into
            try:
                self.merge(entity.id, into.id)
            except (InputError, NotFound):  # merged or deleted since
                continue
            is_found_by_name = [key for key, _ in self._known(entity.name)[:1]] == [
                entity.key
            ]  # False if the entity was renamed
            merged.append((pair, entity.name if is_found_by_name else entity.key))
        return merged

    def _documented(self, name: str) -> Entity:
        """Return the entity. Raises `InputError` if it occurs only in facts."""
        entity = self.get(name)
        if fact_entity_key(entity.id):
            hint = f"run weft entity merge {shlex.quote(name)} NAME, with an entity of the documents as NAME"
            raise InputError(f"{entity.name!r} occurs in facts only", hint=hint)
        return entity

    def _find(self, name: str) -> tuple[str, Entity]:
        """Return the key that `name` resolves to, and its entity. Raises `NotFound`."""
        found = self._known(name) or [(entity.key, entity) for entity in self._store.graph.entities([name])]
        found = found or self._shown_as(name)
        if not found:
            found = [(entity.key, entity) for entity in find_named([name], store=self._store)]
        if found and name.rstrip().endswith(")"):  # `Mercury (planet)`: the key has no suffix, the page has
            found = [(page.key, page) for page in pages_titled(name, found[0][1], store=self._store)] or found
        if not found and self._at is not None:
            known = find_remembered(name_keys(name), store=self._store, at=self._at)
            found = [(key, known[key]) for key in name_keys(name) if key in known]
        if not found:
            raise NotFound(
                f"no entity {name[:80]!r} in namespace {self._store.namespace!r}",
                hint="run `weft entity list` to list all entities",
            )
        return found[0]

    def _known(self, name: str) -> list[tuple[str, Entity]]:
        """Return the possible keys of `name` that occur in documents, best first, each with its entity."""
        known = self._store.graph.find_entities(name_keys(name))
        return [(key, known[key]) for key in name_keys(name) if key in known]

    def _shown_as(self, name: str) -> list[tuple[str, Entity]]:
        """Return the entities renamed to `name`, each with its own key."""
        edits, wanted = self._store.graph.edits(), name_key(name)
        keys = [owner for kind, owner, value in edits if kind == "rename" and wanted and name_key(value) == wanted]
        known = self._store.graph.find_entities(keys)
        return [(key, known[key]) for key in keys if key in known]


def _fetch(read: Callable[..., list[Relation]], *, avoided: frozenset[str] = frozenset()) -> Fetch:
    """Return a function that reads the relations of entities, without those that lead to an avoided entity."""
    return lambda ids: [
        found
        for found in read(ids, limit=MAX_RELATIONS)
        if found.source_id not in avoided and found.target_id not in avoided
    ]


def _stated(step: Step) -> list[Relation]:
    """Return the stored relations that a step may represent, because two types can have the same inverse."""
    if step.direction == "out":
        return [Relation(source_id=step.source_id, target_id=step.target_id, type=step.type, weight=step.weight)]
    types = {inverse(step.type), step.type.removesuffix("_of")}
    return [
        Relation(source_id=step.target_id, target_id=step.source_id, type=type, weight=step.weight)
        for type in sorted(types)
        if inverse(type) == step.type
    ]


def _seen_from(entity: Entity, relation: Relation, *, names: dict[str, str]) -> PathStep:
    if relation.source_id == entity.id:
        other, type = relation.target_id, relation.type
    else:
        other, type = relation.source_id, inverse(relation.type)
    return PathStep(
        source=entity.name,
        type=type,
        weight=relation.weight,
        target=names.get(other, other),
        extractors=relation.extractors,
    )
