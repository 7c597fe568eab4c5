"""Graph of one namespace in a relational database, read by index lookups."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import chain
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from weft.extract.mentions import DERIVED_TYPES, find_sentence
from weft.extract.names import name_text
from weft.graph.entity_resolution import KIND_RANKS, EditKind
from weft.records import MAX_FACT_LINKS, BrokenLink, Census, Definition, Entity, Known, Links, Mention, Relation, Vector
from weft.store.relational.annotations import write_name_vectors
from weft.store.relational.chunk_rows import read_chunk
from weft.store.relational.document_read import read_name_vectors
from weft.store.relational.graph.edge_rows import LinkRow, join_facts, read_links
from weft.store.relational.graph.graph_write import GraphChanges
from weft.store.relational.graph.link_read import count_broken_links, find_broken_links
from weft.store.relational.graph.name_search import find_written_names, search_names
from weft.store.relational.json_columns import unreadable
from weft.store.relational.retry import retry_once
from weft.store.relational.session import (
    Connections,
    Namespace,
    Row,
    Session,
    find_active_model,
    make_namespace,
    model_number,
    touch_namespace,
)
from weft.store.shared.co_occurrences import MAX_COUNTED_CHUNKS, Shared, weigh_shared
from weft.store.shared.merging import (
    MAX_DESCRIPTIONS,
    alias_names,
    extractor_names,
    join_descriptions,
    join_mentions,
    join_relations,
    strongest_mentions,
)
from weft.store.shared.name_search import is_searched
from weft.text.ids import fact_entity_id

MAX_SUPPORTING_CHUNKS = 20
"""Maximum number of source chunks listed with a relation."""
MAX_CANDIDATES = 1000
"""Maximum number of candidates of a name whose extractors are read, best first."""
MAX_COUNTED_CENSUS_CHUNKS = 100_000
"""Chunks of a namespace up to which all types are counted. In a larger one this would take seconds."""
SAMPLED_CENSUS_CHUNKS = 5_000
"""Chunks whose share of the entities is then sampled. A type of one entity in a hundred is estimated within a tenth."""

_decode = json.JSONDecoder().decode
_to_mention: Callable[[Row], Mention] = partial(tuple.__new__, Mention)
"""Build a `Mention` from a row of all its fields. hot loop: faster than calling the class."""


@retry_once
class RelationalGraph:
    """Entities, mentions and relations of one namespace. An alias is read as its entity."""

    def __init__(self, connections: Connections, *, namespace: str) -> None:
        self._connections = connections
        self._name = namespace

    def find_entities(self, keys: Sequence[str]) -> dict[str, Entity]:
        with self._connections.read(self._name) as db:
            return {row.asked_key: entity for row, entity in _find(db, self._name, keys=keys)}

    def entities(self, ids: Sequence[str]) -> list[Entity]:
        if not ids:
            return []
        with self._connections.read(self._name) as db:
            found = {row.asked_id: entity for row, entity in _find(db, self._name, ids=ids)}
        return [found[id] for id in ids if id in found]

    def find_known(self, keys: Sequence[str], *, max_defining: int) -> dict[str, Known]:
        if not keys:
            return {}
        with self._connections.read(self._name) as db:
            namespace = db.namespace_key(self._name)
            values = {
                "namespace": namespace,
                "keys": json.dumps(list(keys), ensure_ascii=False),
                "max_defining": max_defining,
            }
            rows = db.run("known_entities", values)
        return {
            key: Known(id or fact_entity_id(key), bool(strong), chunks, min(about, max_defining), bool(remembered))
            for key, id, strong, chunks, about, remembered in rows
        }

    def keys(self, ids: Sequence[str]) -> dict[str, str]:
        with self._connections.read(self._name) as db:
            values = {"namespace": db.namespace_key(self._name), "ids": json.dumps(list(ids))}
            return dict(db.run("keys_by_id", values))

    def find_key_prefixes(self, pairs: Collection[str]) -> set[str]:
        if not pairs:
            return set()
        with self._connections.read(self._name) as db:
            values = {"namespace": db.namespace_key(self._name), "pairs": json.dumps(list(pairs), ensure_ascii=False)}
            return {pair for (pair,) in db.run("named_beginnings", values)}

    def names(self, ids: Sequence[str]) -> dict[str, str]:
        with self._connections.read(self._name) as db:
            values = {"namespace": db.namespace_key(self._name), "ids": json.dumps(list(ids))}
            return dict(db.run("entity_names", values))

    def search_entities(self, vector: Vector, *, chunk_ids: Sequence[str], limit: int) -> list[tuple[Entity, float]]:
        with self._connections.read(self._name):
            cosines = self.compare_entities(vector, chunk_ids=chunk_ids)
            best = sorted(cosines, key=lambda id: (-cosines[id], id))[:limit]
            return [(entity, cosines[entity.id]) for entity in self.entities(best)]

    def compare_entities(self, vector: Vector, *, chunk_ids: Sequence[str]) -> dict[str, float]:
        with self._connections.read(self._name) as db:
            namespace = db.namespace_key(self._name)
            active = find_active_model(db, self._name)
            if active is None or active.model.dimension != len(vector):
                return {}
            values = {"namespace": namespace, "model": active.number, "ids": json.dumps(list(chunk_ids))}
            rows = db.run("described_entities", values)
            vectors = db.vectors.unpack_names([stored for _, stored in rows])
        if any(len(other) != len(vector) for other in vectors):
            raise unreadable("the vector of a name")
        cosines: dict[str, float] = {}
        for (id, _), other in zip(rows, vectors, strict=True):
            cosines[id] = max(float(other @ vector), cosines.get(id, -2.0))
        return cosines

    def mentions_of(self, entity_ids: Sequence[str], *, limit: int) -> list[Mention]:
        with self._connections.read(self._name) as db:
            rows = read_links(db, self._name, entity_ids, mentions=limit)
            keys = {row.key for row in rows if is_searched(row.key, stated=row.chunks, limit=limit)}
            searched = search_names(db, db.namespace_key(self._name), keys) if keys else {}
        found = _mentions(entity_ids, rows, limit=limit, searched=searched)
        return [mention._replace(about=bool(mention.about)) for mention in found]  # SQLite returns 1

    def mentions_in(self, chunk_ids: Sequence[str], *, about: bool = False) -> list[Mention]:
        with self._connections.read(self._name) as db:
            namespace = db.namespace_key(self._name)
            rows = db.run("mentions_in", {"namespace": namespace, "ids": json.dumps(list(chunk_ids)), "about": about})
            lists = _read_lists(mentions for _, _, mentions in rows)
            found = [_to_mention(mention[:8]) for mentions in lists for mention in mentions]  # hot loop
            if not about:
                texts = {id: text for id, text, _ in rows}
                stated = {
                    row[0]: {mention[8] for mention in mentions} for row, mentions in zip(rows, lists, strict=True)
                }
                found += find_written_names(db, namespace, texts, stated=stated)
        if len(set(map(itemgetter(0, 1), found))) < len(found):  # hot loop; an entity under several names
            found = join_mentions(found)
        if not about:
            return found
        order = {id: place for place, id in enumerate(chunk_ids)}
        return sorted(found, key=lambda mention: (order[mention.chunk_id], -mention.count, mention.entity_id))

    def relations_of(
        self, entity_ids: Sequence[str], *, limit: int, types: Sequence[str] = (), min_weight: float = 0.0
    ) -> list[Relation]:
        if types:
            with self._connections.read(self._name) as db:
                options: dict[str, Any] = {"limit": limit, "types": types, "min_weight": min_weight}
                return _relations_of_types(db, db.namespace_key(self._name), entity_ids, **options)
        with self._connections.read(self._name) as db:
            return _relations(read_links(db, self._name, entity_ids, relations=limit, min_weight=min_weight))

    def links_of(
        self,
        entity_ids: Sequence[str],
        *,
        keys: Sequence[str] = (),
        mentions: int,
        relations: int,
        facts_at: datetime | None = None,
    ) -> Links:
        with self._connections.read(self._name) as db:
            wanted: dict[str, Any] = {"mentions": mentions, "relations": relations, "at": facts_at}
            rows = read_links(db, self._name, entity_ids, keys=keys, **wanted)
        names, known = {row.id: row.name for row in rows}, {row.key: row.id for row in rows}
        ids = {key: known[key] for key in keys if key in known}
        every = list(dict.fromkeys((*entity_ids, *ids.values())))
        facts = None if facts_at is None else join_facts(rows, entity_ids=every, limit=MAX_FACT_LINKS)
        return Links(_mentions(every, rows, limit=mentions), _relations(rows), names, ids, facts)

    def definitions(self, entity_ids: Sequence[str], *, hits: Sequence[str] = ()) -> dict[str, Definition]:
        with self._connections.read(self._name) as db:
            values = {"ids": json.dumps(list(entity_ids)), "hits": json.dumps(list(hits))}
            rows = db.run("definitions", {"namespace": db.namespace_key(self._name), **values})
        found: dict[str, dict[Definition, int]] = defaultdict(lambda: defaultdict(int))
        for id, name, stated in rows:
            chunk, count, document, same = json.loads(stated) if stated else ("", 0, "", [])
            found[id][Definition(name, chunk, document, frozenset(same))] += count  # a chunk may mention several names
        return {id: min(counts, key=lambda one: (-counts[one], one.chunk_id)) for id, counts in found.items()}

    def co_occurrences(
        self, entity_ids: Sequence[str], *, limit: int, others: Sequence[str] | None = None
    ) -> list[Relation]:
        with self._connections.read(self._name) as db:
            values = {
                "namespace": db.namespace_key(self._name),
                "ids": json.dumps(list(entity_ids)),
                "chunks": MAX_COUNTED_CHUNKS,
            }
            if others is None:
                rows = db.run("co_occurrences", values)
            else:
                rows = db.run("co_occurrences_with", {**values, "others": json.dumps(list(others))})
        return weigh_shared((Shared(*row) for row in rows), limit=limit)

    def relations_between(self, entity_ids: Sequence[str], *, others: Sequence[str] | None = None) -> list[Relation]:
        with self._connections.read(self._name) as db:
            values = {"namespace": db.namespace_key(self._name), "ids": json.dumps(list(entity_ids))}
            if others is None:
                rows = db.run("relations_between", values)
            else:
                rows = db.run("relations_with", {**values, "others": json.dumps(list(others))})
        return join_relations(((source, target, type), weight) for source, target, type, weight in rows)

    def describe(self, relations: Sequence[Relation]) -> list[Relation]:
        if not relations:
            return []
        with self._connections.read(self._name) as db:
            namespace = db.namespace_key(self._name)
            wanted = [
                (place, relation.source_id, relation.target_id, relation.type)
                for place, relation in enumerate(relations)
            ]
            values = {"namespace": namespace, "stated_relations": json.dumps(wanted), "limit": MAX_SUPPORTING_CHUNKS}
            derived = {place for place, relation in enumerate(relations) if relation.type in DERIVED_TYPES}
            sources: dict[int, list[_Source]] = defaultdict(list)
            for place, source, target, rows in db.run("relation_stated_relations", values):
                sources[int(place)] += [
                    _Source(weight, id, text, extractor, (source, target))
                    for weight, id, text, extractor in json.loads(rows)
                ]
            values["stated_relations"] = json.dumps([stated for stated in wanted if stated[0] in derived])
            values["chunks"] = MAX_COUNTED_CHUNKS
            for place, source, target, rows in db.run("shared_chunks", values) if derived else ():
                sources[int(place)] += [_Source(1.0, id, "", None, (source, target)) for id in json.loads(rows)]
            for found in sources.values():
                found.sort(key=lambda source: (-source.weight, source.chunk_id))
            bare = [sources[place] for place in derived if not any(s.description for s in sources[place])]
            ids = sorted({found[0].chunk_id for found in bare if found})
            rows = db.run("chunks_by_id", {"namespace": namespace, "ids": json.dumps(ids)}) if ids else []
        by_id = {chunk.id: chunk.text for chunk in map(read_chunk, rows)}
        return [_describe(relation, sources[place], by_id) for place, relation in enumerate(relations)]

    def extractors(self, entity_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        with self._connections.read(self._name) as db:
            values = {
                "namespace": db.namespace_key(self._name),
                "ids": json.dumps(list(entity_ids)),
                "limit": MAX_CANDIDATES,
            }
            labels = defaultdict[str, list[str | None]](list)
            for id, label in db.run("entity_extractors", values):
                labels[id].append(label)
        return {id: extractor_names(found) for id, found in labels.items()}

    def entities_after(self, key: str, *, limit: int) -> list[Entity]:
        with self._connections.read(self._name) as db:
            namespace = db.namespace_key(self._name)
            rows = db.run("entities_after", {"namespace": namespace, "key": key, "limit": limit})
            found = self.find_entities([key for (key,) in rows])
        return [found[key] for (key,) in rows]

    def has_entities(self) -> bool:
        with self._connections.read(self._name) as db:
            return bool(db.one("has_entities", {"namespace": db.namespace_key(self._name)}))

    def top_entities(self, *, limit: int) -> list[Entity]:
        with self._connections.read(self._name) as db:
            namespace = db.namespace_key(self._name)
            keys = [key for (key,) in db.run("top_entities", {"namespace": namespace, "limit": limit})]
        found = self.find_entities(keys)
        return [found[key] for key in keys if key in found]

    def count(self) -> tuple[int, int]:
        with self._connections.read(self._name) as db:
            values = {"namespace": db.namespace_key(self._name)}
            return db.one("count_entities", values), db.one("count_relations", values)

    def census(self) -> Census:
        with self._connections.read(self._name) as db:
            found = db.namespace(self._name)
            values = {"namespace": db.namespace_key(self._name)}
            if found is None or found.chunks <= MAX_COUNTED_CENSUS_CHUNKS:
                types, stated = db.run("count_types", values), db.run("count_stated", values)
                return Census(entities=dict(types), relations=dict(stated))
            share = min(1.0, SAMPLED_CENSUS_CHUNKS / found.chunks)
            values["below"] = f"{int(share * 0xFFFF_FFFF):08x}"
            types, stated = db.run("sample_types", values), db.run("sample_stated", values)
        return Census(
            entities={type: round(count / share) for type, count in types},
            relations={type: round(count / share) for type, count in stated},
            is_estimated=True,
        )

    def size(self) -> int:
        with self._connections.read(self._name) as db:
            found = db.namespace(self._name)
            return found.chunks if found else 0

    def find_unembedded(self, model: str, *, limit: int) -> dict[tuple[str, str], str]:
        with self._connections.read(self._name) as db:
            values = {"namespace": db.namespace_key(self._name), "fingerprint": model, "limit": limit}
            rows = db.run("unembedded_entities", values)
            # rows are best first; in reverse order the best description of a name overwrites the others
            return {(chunk, key): name_text(name, description) for chunk, key, name, description in reversed(rows)}

    def vectors(self, chunk_ids: Sequence[str]) -> dict[tuple[str, str], Vector]:
        with self._connections.read(self._name) as db:
            namespace = db.namespace_key(self._name)
            active = find_active_model(db, self._name)
            return read_name_vectors(db, namespace, chunk_ids, model=active.number if active else None)

    def write_vectors(self, model: str, vectors: Mapping[tuple[str, str], Vector]) -> None:
        with self._connections.write(self._name) as db:
            namespace = db.namespace_key(self._name)
            write_name_vectors(db, namespace, model_number(db, self._name, model), vectors)

    def count_broken_links(self, document_ids: Sequence[str] | None = None) -> int:
        with self._connections.read(self._name) as db:
            return count_broken_links(db, db.namespace_key(self._name), document_ids)

    def broken_links(self) -> list[BrokenLink]:
        with self._connections.read(self._name) as db:
            return find_broken_links(db, db.namespace_key(self._name))

    def edits(self) -> list[tuple[str, str, str]]:
        with self._connections.read(self._name) as db:
            rows = db.run("all_edits", {"namespace": db.namespace_key(self._name)})
            return [(kind, key, value) for kind, key, value in rows]

    def write_edit(self, kind: EditKind, key: str, value: str, *, undo: bool = False) -> None:
        with self._connections.write(self._name) as db:
            namespace = make_namespace(db, self._name)
            row = {"namespace": namespace, "kind": kind, "key": key, "value": value}
            db.run("delete_edit" if undo else "write_edit", row)
            changes = GraphChanges(db, namespace=namespace, name=self._name)
            changes.touch({key} | ({value} if kind != "rename" else set()))
            changes.settle()
            touch_namespace(db, namespace)


def _find(
    db: Session, name: str, *, keys: Sequence[str] = (), ids: Sequence[str] = ()
) -> list[tuple[_EntityRow, Entity]]:
    """Return the entity that each key and each id resolves to; those without an entity are left out."""
    if not keys and not ids:
        return []
    namespace = db.namespace_key(name)
    values = {"namespace": namespace, "limit": MAX_DESCRIPTIONS, "ids": json.dumps(list(ids))}
    rows = [
        _EntityRow(*row)
        for row in db.run("entity_cards", {**values, "keys": json.dumps(list(keys), ensure_ascii=False)})
    ]
    return [(row, _to_entity(row, spelling=partial(_other_spelling, db, namespace, row.key, row.name))) for row in rows]


def _relations_of_types(
    db: Session, namespace: Namespace, entity_ids: Sequence[str], *, limit: int, types: Sequence[str], min_weight: float
) -> list[Relation]:
    """Return relations of some types. Each type is read by an index, which skips the other relations of a hub."""
    found: dict[tuple[int, int], list[Row]] = defaultdict(list)
    values = {"namespace": namespace, "ids": json.dumps(list(entity_ids)), "limit": limit, "weight": min_weight}
    for type in sorted(set(types)):
        for *directions, name in db.run("relations_of_type", {**values, "type": type}):
            for direction, rows in enumerate(directions):
                found[name, direction] += [
                    (-weight, place, other, type, source, target)
                    for source, target, weight, place, other in json.loads(rows)
                ]
    strongest = (row for rows in found.values() for row in sorted(rows)[:limit])
    return join_relations(((source, target, type), -weight) for weight, _, _, type, source, target in strongest)


def _other_spelling(db: Session, namespace: Namespace, key: str, name: str) -> str | None:
    values = {"namespace": namespace, "key": key, "name": name, "rank": KIND_RANKS["link"]}
    spelling: str | None = db.run("other_spelling", values)[0][0]
    return spelling


def _mentions(
    entity_ids: Sequence[str],
    rows: Sequence[LinkRow],
    *,
    limit: int,
    searched: Mapping[str, Mapping[str, int]] = MappingProxyType({}),
) -> list[Mention]:
    """Return the strongest mentions of each entity: those that chunks state, and those `searched`, by key and chunk."""
    found: dict[str, list[list[Mention]]] = {id: [] for id in entity_ids}
    for row, stated in zip(rows, _read_lists(row.mentions for row in rows), strict=True):  # hot loop
        rest = row.chunks, row.strong == 1, True, True
        mentions = [_to_mention((row.id, *mention, *rest)) for mention in stated]
        if row.key in searched:
            known = {mention.chunk_id for mention in mentions}
            others = ((chunk, count) for chunk, count in searched[row.key].items() if chunk not in known)
            mentions += [_to_mention((row.id, chunk, count, False, *rest)) for chunk, count in others]
            mentions = strongest_mentions(mentions)[:limit]
        found[row.id].append(mentions)
    # mentions under a single name are sorted already
    merged = (n[0] if len(n) == 1 else strongest_mentions(chain(*n))[:limit] for n in found.values())
    return list(chain.from_iterable(merged))


def _relations(rows: Sequence[LinkRow]) -> list[Relation]:
    """Return the relations of entities, strongest first, from rows of `links_of`."""
    found = chain.from_iterable(_read_lists(row.relations for row in rows))  # hot loop
    return join_relations(((source, target, type), weight) for source, target, type, weight in found)


def _read_lists(texts: Iterable[str]) -> list[list[Any]]:
    """Return lists written as JSON. They are parsed in one call, because most are short."""
    lists: list[list[Any]] = _decode(f"[{','.join(texts)}]")
    return lists


class _EntityRow(NamedTuple):
    """Row of `entity_cards`."""

    asked_key: str
    asked_id: str
    """Key and id that were looked up: those of the entity or of an alias."""
    id: str
    key: str
    strong: int
    mentions: int
    chunks: int
    name: str
    type: str
    description: str
    descriptions: str | None
    """JSON: rows for `join_descriptions`; None if `description` is the whole description."""
    aliases: str
    """JSON: (name, reason, mentions, chunks) of each alias."""


def _to_entity(row: _EntityRow, *, spelling: Callable[[], str | None]) -> Entity:
    aliases = [_Alias(*alias) for alias in json.loads(row.aliases)]
    return Entity(
        id=row.id,
        key=row.key,
        name=row.name,
        type=row.type,
        description=row.description if row.descriptions is None else join_descriptions(json.loads(row.descriptions)),
        aliases=alias_names(row.name, [alias.name for alias in aliases], spelling=spelling),
        reasons=tuple(alias.reason for alias in aliases),
        mentions=row.mentions + sum(alias.mentions for alias in aliases),
        chunks=row.chunks + sum(alias.chunks for alias in aliases),
        strong=bool(row.strong),
    )


class _Alias(NamedTuple):
    """Another name of an entity."""

    name: str
    reason: str
    mentions: int
    chunks: int


class _Source(NamedTuple):
    """A stated relation of a relation."""

    weight: float
    chunk_id: str
    description: str
    extractor: str | None
    ends: tuple[str, str]
    """Keys of source and target."""


def _describe(relation: Relation, sources: Sequence[_Source], texts: Mapping[str, str]) -> Relation:
    """
    Return a relation with description, chunks and extractors of its stated relations, which come heaviest first.

    A derived relation has no description; a sentence of its first chunk that contains the names is used. A stated
    relation without one stays without: a sentence with the same names may state another relation.
    """
    description = next((source.description for source in sources if source.description), "")
    if not description and sources and relation.type in DERIVED_TYPES:
        description = find_sentence(texts.get(sources[0].chunk_id, ""), sources[0].ends)
    chunks = tuple(dict.fromkeys(source.chunk_id for source in sources))[:MAX_SUPPORTING_CHUNKS]
    extractors = extractor_names(source.extractor for source in sources)
    return relation._replace(description=description, chunks=chunks, extractors=extractors)
