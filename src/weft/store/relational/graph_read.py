"""The graph of one namespace, read a few indexed rows at a time."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any

from weft.extract.mentions import DERIVED_TYPES, find_sentence
from weft.extract.names import name_text
from weft.graph.entity_resolution import RANKS, EditKind
from weft.records import Census, Entity, Known, Mention, Relation, Vector
from weft.store.relational.document_read import read_name_vectors
from weft.store.relational.graph_mentions import read_texts
from weft.store.relational.graph_write import GraphChanges
from weft.store.relational.json_columns import unreadable
from weft.store.relational.retry import once_more
from weft.store.relational.session import Connections, Namespace, Row, Session, make_namespace
from weft.store.shared.merging import (
    MAX_DESCRIPTIONS,
    alias_names,
    extractor_names,
    join_descriptions,
    join_mentions,
    join_relations,
    strongest_mentions,
)
from weft.text.ids import fact_entity_id

CHUNKS = 20
"""How many supporting chunks a relation names."""
LOOKS = 1000
"""Nominations of a name, the best first, among which one by the rules is looked for."""

_decode = json.JSONDecoder().decode
_to_mention: Callable[[Row], Mention] = partial(tuple.__new__, Mention)
"""Make a mention of all its fields, quicker than by its name."""


@once_more
class RelationalGraph:
    """Entities, mentions and relations of one namespace. A merged entity is read under the one it is the same as."""

    def __init__(self, connections: Connections, *, namespace: str) -> None:
        self._connections = connections
        self._name = namespace

    def find_entities(self, keys: Sequence[str]) -> dict[str, Entity]:
        with self._connections.read(self._name) as db:
            return self._cards(db, db.namespace_key(self._name), keys)

    def entities(self, ids: Sequence[str]) -> list[Entity]:
        if not ids:
            return []
        with self._connections.read(self._name) as db:
            namespace = db.namespace_key(self._name)
            keys: dict[str, str] = dict(db.run("keys_by_id", {"namespace": namespace, "ids": json.dumps(list(ids))}))
            found = self._cards(db, namespace, list(keys.values()))
        return [found[keys[id]] for id in ids if keys.get(id) in found]

    def find_known(self, keys: Sequence[str], *, homes: int) -> dict[str, Known]:
        with self._connections.read(self._name) as db:
            namespace = db.namespace_key(self._name)
            values = {"namespace": namespace, "keys": json.dumps(list(keys), ensure_ascii=False), "homes": homes}
            rows = db.run("known_entities", values)
        return {
            key: Known(id or fact_entity_id(key), bool(strong), chunks, min(about, homes), bool(remembered))
            for key, id, strong, chunks, about, remembered in rows
        }

    def find_beginnings(self, pairs: Collection[str]) -> set[str]:
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
        with self._connections.read(self._name) as db:
            namespace = db.namespace_key(self._name)
            rows = db.run("list_models", {"namespace": namespace})
            active = next((row for row in rows if row[4]), None)
            if active is None or active[3] != len(vector):
                return []
            values = {"namespace": namespace, "model": active[0], "ids": json.dumps(list(chunk_ids))}
            described = [(key, db.unpack(stored)) for key, stored in db.run("described_entities", values)]
        if any(len(other) != len(vector) for _, other in described):
            raise unreadable("the vector of a name")
        scores: dict[str, float] = {}
        for key, other in described:
            scores[key] = max(float(other @ vector), scores.get(key, -2.0))
        found = self.find_entities(list(scores))
        best: dict[str, tuple[Entity, float]] = {}
        for key, score in scores.items():
            if key in found and score > best.get(found[key].id, (None, -2.0))[1]:
                best[found[key].id] = (found[key], score)
        return sorted(best.values(), key=lambda item: (-item[1], item[0].id))[:limit]

    def mentions_of(self, entity_ids: Sequence[str], *, limit: int) -> list[Mention]:
        found = _mentions(entity_ids, self._links(entity_ids, mentions=limit), limit=limit)
        return [mention._replace(about=bool(mention.about)) for mention in found]  # SQLite has 1, which is seen in JSON

    def mentions_in(self, chunk_ids: Sequence[str], *, about: bool = False) -> list[Mention]:
        with self._connections.read(self._name) as db:
            values = {"namespace": db.namespace_key(self._name), "ids": json.dumps(list(chunk_ids)), "about": about}
            found = list(map(_to_mention, db.run("mentions_in", values)))
        if len(set(map(itemgetter(0, 1), found))) < len(found):  # by several names
            found = join_mentions(found)
        if not about:
            return found
        order = {id: place for place, id in enumerate(chunk_ids)}
        return sorted(found, key=lambda mention: (order[mention[1]], -mention[2], mention[0]))

    def relations_of(
        self, entity_ids: Sequence[str], *, limit: int, types: Sequence[str] = (), min_weight: float = 0.0
    ) -> list[Relation]:
        if types and not set(types) & set(DERIVED_TYPES):
            return self._relations_of_types(entity_ids, limit=limit, types=types, min_weight=min_weight)
        return _relations(self._links(entity_ids, relations=limit, types=types, min_weight=min_weight))

    def links_of(
        self, entity_ids: Sequence[str], *, limit: int, min_weight: float = 0.0
    ) -> tuple[list[Mention], list[Relation]]:
        rows = self._links(entity_ids, mentions=limit, relations=limit, min_weight=min_weight)
        return _mentions(entity_ids, rows, limit=limit), _relations(rows)

    def relations_between(self, entity_ids: Sequence[str]) -> list[Relation]:
        with self._connections.read(self._name) as db:
            values = {"namespace": db.namespace_key(self._name), "ids": json.dumps(list(entity_ids))}
            rows = db.run("relations_between", values)
        return join_relations(((source, target, type), weight) for source, target, type, weight in rows)

    def describe(self, relations: Sequence[Relation]) -> list[Relation]:
        if not relations:
            return []
        with self._connections.read(self._name) as db:
            namespace = db.namespace_key(self._name)
            ids = sorted({id for relation in relations for id in (relation.source_id, relation.target_id)})
            names: dict[str, list[str]] = defaultdict(list)
            for id, key in db.run("names_by_id", {"namespace": namespace, "ids": json.dumps(ids)}):
                names[id].append(key)
            wanted = [
                (place, source, target, relation.type)
                for place, relation in enumerate(relations)
                for source in names.get(relation.source_id, ())
                for target in names.get(relation.target_id, ())
            ]
            values = {"namespace": namespace, "claims": json.dumps(wanted, ensure_ascii=False), "limit": CHUNKS}
            claims: dict[int, list[_Said]] = defaultdict(list)
            for place, source, target, rows in db.run("relation_claims", values):
                claims[int(place)] += [(-weight, *rest, (source, target)) for weight, *rest in json.loads(rows)]
            for said in claims.values():
                said.sort(key=lambda claim: claim[:2])
            silent = [said[0][2] for said in claims.values() if said and not any(claim[3] for claim in said)]
            texts = read_texts(db, silent, namespace=namespace) if silent else {}
        return [_described(relation, claims[place], texts) for place, relation in enumerate(relations)]

    def extractors(self, entity_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        with self._connections.read(self._name) as db:
            values = {"namespace": db.namespace_key(self._name), "ids": json.dumps(list(entity_ids)), "limit": LOOKS}
            labels = defaultdict[str, list[str | None]](list)
            for id, label in db.run("entity_extractors", values):
                labels[id].append(label)
        return {id: extractor_names(found) for id, found in labels.items()}

    def entities_after(self, key: str, *, limit: int) -> list[Entity]:
        with self._connections.read(self._name) as db:
            namespace = db.namespace_key(self._name)
            rows = db.run("entities_after", {"namespace": namespace, "key": key, "limit": limit})
            cards = self._cards(db, namespace, [row[0] for row in rows])
        return [cards[row[0]] for row in rows]

    def top_entities(self, *, limit: int) -> list[Entity]:
        with self._connections.read(self._name) as db:
            namespace = db.namespace_key(self._name)
            keys = [row[0] for row in db.run("top_entities", {"namespace": namespace, "limit": limit})]
        found = self.find_entities(keys)
        return [found[key] for key in keys if key in found]

    def count(self) -> tuple[int, int]:
        with self._connections.read(self._name) as db:
            values = {"namespace": db.namespace_key(self._name)}
            return db.run("count_entities", values)[0][0], db.run("count_relations", values)[0][0]

    def census(self) -> Census:
        with self._connections.read(self._name) as db:
            values = {"namespace": db.namespace_key(self._name)}
            return Census(entities=dict(db.run("count_types", values)), relations=dict(db.run("count_stated", values)))

    def size(self) -> int:
        with self._connections.read(self._name) as db:
            rows = db.run("find_namespace", {"name": self._name})
            return int(rows[0][2]) if rows else 0

    def find_unembedded(self, model: str, *, limit: int) -> dict[tuple[str, str], str]:
        with self._connections.read(self._name) as db:
            values = {"namespace": db.namespace_key(self._name), "fingerprint": model, "limit": limit}
            rows = db.run("unembedded_entities", values)
            # best first, and several may describe one name
            return {(chunk, key): name_text(name, description) for chunk, key, name, description in reversed(rows)}

    def vectors(self, chunk_ids: Sequence[str]) -> dict[tuple[str, str], Vector]:
        with self._connections.read(self._name) as db:
            namespace = db.namespace_key(self._name)
            model = next((row[0] for row in db.run("list_models", {"namespace": namespace}) if row[4]), None)
            return read_name_vectors(db, namespace, chunk_ids, model=model)

    def write_vectors(self, model: str, vectors: Mapping[tuple[str, str], Vector]) -> None:
        with self._connections.write(self._name) as db:
            namespace = db.namespace_key(self._name)
            known = {row[2]: row[0] for row in db.run("list_models", {"namespace": namespace})}
            for (chunk, key), vector in vectors.items():
                values = {"id": chunk, "key": key, "model": known[model], "vector": db.pack(vector)}
                db.run("write_entity_vector_by_id", {"namespace": namespace, **values})

    def edits(self) -> list[tuple[str, str, str]]:
        with self._connections.read(self._name) as db:
            rows = db.run("all_edits", {"namespace": db.namespace_key(self._name)})
            return [(kind, key, value) for kind, key, value in rows]

    def write_edit(self, kind: EditKind, key: str, value: str, *, undo: bool = False) -> None:
        with self._connections.write(self._name) as db:
            make_namespace(db, self._name)
            namespace = db.namespace_key(self._name)
            row = {"namespace": namespace, "kind": kind, "key": key, "value": value}
            db.run("delete_edit" if undo else "write_edit", row)
            changes = GraphChanges(db, namespace=namespace, name=self._name)
            changes.touch({key} | ({value} if kind != "rename" else set()))
            changes.settle()
            db.run("touch_namespace", {"namespace": namespace, "chunks": 0, "length": 0})

    # ── inside ──────────────────────────────────────────────────────────────────────────────────

    def _cards(self, db: Session, namespace: Namespace, keys: Sequence[str]) -> dict[str, Entity]:
        """Return, for each key that is an entity, the one that it is read under."""
        if not keys:
            return {}
        values = {"namespace": namespace, "keys": json.dumps(list(keys), ensure_ascii=False), "limit": MAX_DESCRIPTIONS}
        return {
            row[0]: _card(*row[1:], spelling=partial(self._other_spelling, db, namespace, row[2], row[6]))
            for row in db.run("entity_cards", values)
        }

    def _links(
        self,
        entity_ids: Sequence[str],
        *,
        mentions: int = 0,
        relations: int = 0,
        types: Sequence[str] = (),
        min_weight: float = 0.0,
    ) -> list[Row]:
        """Return, for each name of each entity, so many of its mentions and of its relations each way."""
        with self._connections.read(self._name) as db:
            values = {"namespace": db.namespace_key(self._name), "ids": json.dumps(list(entity_ids))}
            wanted = {"mentions": mentions, "relations": relations, "weight": min_weight}
            return db.run("links_of", {**values, **wanted, "all_types": not types, "types": json.dumps(list(types))})

    def _relations_of_types(
        self, entity_ids: Sequence[str], *, limit: int, types: Sequence[str], min_weight: float
    ) -> list[Relation]:
        """Read each type by its own index: what else a hub is related to is not looked at."""
        found: dict[tuple[int, int], list[tuple[Any, ...]]] = defaultdict(list)
        with self._connections.read(self._name) as db:
            values = {"namespace": db.namespace_key(self._name), "ids": json.dumps(list(entity_ids)), "limit": limit}
            for type in sorted(set(types)):
                for *directions, name in db.run("relations_of_type", {**values, "type": type, "weight": min_weight}):
                    for direction, rows in enumerate(directions):
                        found[name, direction] += [
                            (-weight, place, other, type, source, target)
                            for source, target, weight, place, other in json.loads(rows)
                        ]
        strongest = (row for rows in found.values() for row in sorted(rows)[:limit])
        return join_relations(((source, target, type), -weight) for weight, _, _, type, source, target in strongest)

    def _other_spelling(self, db: Session, namespace: Namespace, key: str, name: str) -> str | None:
        values = {"namespace": namespace, "key": key, "name": name, "rank": RANKS["link"]}
        spelling: str | None = db.run("other_spelling", values)[0][0]
        return spelling


def _mentions(entity_ids: Sequence[str], rows: Sequence[Row], *, limit: int) -> list[Mention]:
    """Return the strongest mentions of each entity, by the links of its names."""
    found: dict[str, list[list[Mention]]] = {id: [] for id in entity_ids}
    for (id, chunks, strong, *_), mentions in zip(rows, _read_lists(row[3] for row in rows), strict=True):
        rest = chunks, strong == 1, True, True
        found[id].append([_to_mention((id, *mention, *rest)) for mention in mentions])
    # what is mentioned under one name is in order already
    joined = (n[0] if len(n) == 1 else strongest_mentions(chain(*n))[:limit] for n in found.values())
    return list(chain.from_iterable(joined))


def _relations(rows: Sequence[Row]) -> list[Relation]:
    """Return the relations of entities, strongest first, by the links of their names."""
    found = chain.from_iterable(_read_lists(row[4] for row in rows))
    return join_relations(((source, target, type), weight) for source, target, type, weight in found)


def _read_lists(texts: Iterable[str]) -> list[list[Any]]:
    """Return lists that are written as JSON, all read at once: most are short, and each reading has its price."""
    lists: list[list[Any]] = _decode(f"[{','.join(texts)}]")
    return lists


def _card(
    id: str,
    key: str,
    strong: int,
    mentions: int,
    chunks: int,
    name: str,
    type: str,
    described: str,
    written: str | None,
    others: str,
    *,
    spelling: Callable[[], str | None],
) -> Entity:
    names = json.loads(others)
    return Entity(
        id=id,
        key=key,
        name=name,
        type=type,
        description=described if written is None else join_descriptions(json.loads(written)),
        aliases=alias_names(name, [other[0] for other in names], spelling=spelling),
        reasons=tuple(other[1] for other in names),
        mentions=mentions + sum(other[2] for other in names),
        chunks=chunks + sum(other[3] for other in names),
        strong=bool(strong),
    )


_Said = tuple[float, str, int, str, str | None, tuple[str, str]]
"""Weight, negated, of a claim; id and number of its chunk; its description; who read it; the names it is made under."""


def _described(relation: Relation, claims: Sequence[_Said], texts: Mapping[int, tuple[str, str]]) -> Relation:
    """
    Return a relation with what is claimed of it, the heaviest first, under any of the names of its two ends.

    Where nobody describes it, the first claim is shown by a sentence of its chunk, out of `texts`.
    """
    description = next((claim[3] for claim in claims if claim[3]), "")
    if not description and claims:
        text, _ = texts.get(claims[0][2], ("", ""))
        description = find_sentence(text, claims[0][5])
    chunks = tuple(dict.fromkeys(claim[1] for claim in claims))[:CHUNKS]
    said_by = extractor_names(claim[4] for claim in claims)
    return relation._replace(description=description, chunks=chunks, extractors=said_by)
