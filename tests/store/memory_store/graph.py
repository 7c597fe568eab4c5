"""In-memory graph, derived from the documents on each read: the reference for the other adapters."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memory_store.links import find_broken_links, resolve_links
from weft.extract.links.page_keys import is_page_key
from weft.extract.mentions import CO_OCCURS, DERIVED_TYPES, find_mentions, find_sentence, required_terms
from weft.extract.names import LazyWords, name_text, written_keys
from weft.graph.entity_resolution import (
    KIND_RANKS,
    OWN_KINDS,
    EditKind,
    Resolution,
    Votes,
    first_words,
    follow,
    join_spellings,
    judge,
    letters,
    preference,
    vote,
)
from weft.records import (
    BrokenLink,
    Candidate,
    Census,
    Definition,
    Entity,
    IndexedChunk,
    Known,
    Links,
    Mention,
    Relation,
    StatedRelation,
    Vector,
)
from weft.store.shared.co_occurrences import MAX_COUNTED_CHUNKS, Shared, weigh_shared
from weft.store.shared.merging import (
    alias_names,
    extractor_names,
    join_descriptions,
    join_relations,
    pair_tie_rank,
    strongest_mentions,
)
from weft.store.shared.name_search import MAX_EXAMINED_CHUNKS, choose_terms, count_alone, find_written, is_searched
from weft.store.shared.twelve_bits import round_to_twelve
from weft.text.ids import entity_id, fact_entity_id

MAX_SUPPORTING_CHUNKS = 20
"""Maximum number of source chunks listed with a relation."""


@dataclass
class _Derived:
    """Graph derived from all documents and edits."""

    resolutions: dict[str, Resolution] = field(default_factory=dict)
    candidates: dict[str, list[Candidate]] = field(default_factory=lambda: defaultdict(list))
    mentions: dict[tuple[str, str], Mention] = field(default_factory=dict)
    """Mentions by key and chunk id. The entity id belongs to the key itself; aliases are not resolved."""
    sentences: dict[tuple[str, str], int] = field(default_factory=dict)
    """Bits of the sentences of these mentions."""
    stated_relations: dict[tuple[str, str, str], dict[str, list[StatedRelation]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    """Stated relations by (source, target, type), then by chunk id."""


@dataclass(frozen=True, slots=True)
class _Source:
    """A chunk that states a relation, or from which it is derived, with the keys it connects."""

    chunk_id: str
    ends: tuple[str, str]
    stated: StatedRelation | None = None

    @property
    def weight(self) -> float:
        return self.stated.weight if self.stated else 1.0


class MemoryGraph:
    """Entities, mentions and relations of one namespace in memory."""

    def __init__(
        self,
        chunks: Mapping[str, IndexedChunk],
        edits: set[tuple[str, str, str]],
        vectors: Mapping[tuple[str, str], Vector],
        all_vectors: dict[tuple[str, str, str], Vector],
        *,
        namespace: str,
        remembered: Collection[str],
        sources: Mapping[str, str],
    ) -> None:
        self._chunks = chunks
        self._edits = edits
        self._vectors = vectors
        """Vectors of the active embedder, by chunk id and key."""
        self._all_vectors = all_vectors
        """Vectors of all embedders, by fingerprint, chunk id and key."""
        self._name = namespace
        self._remembered = remembered
        """Keys named by facts."""
        self._sources = sources
        """Sources of documents, by id."""
        self._derived = _derive(chunks, edits, namespace=namespace)

    def find_entities(self, keys: Sequence[str]) -> dict[str, Entity]:
        found = {key: self._target(key) for key in keys if key in self._derived.resolutions}
        return {key: self._entity(target) for key, target in found.items()}

    def entities(self, ids: Sequence[str]) -> list[Entity]:
        keys = {entity_id(self._name, key): key for key in self._derived.resolutions}
        found = self.find_entities([keys[id] for id in ids if id in keys])
        return [found[keys[id]] for id in ids if id in keys]

    def find_known(self, keys: Sequence[str], *, max_defining: int) -> dict[str, Known]:
        found = {}
        for key, entity in self.find_entities(keys).items():
            about = sum(mention.about for mention in self.mentions_of([entity.id], limit=max_defining))
            found[key] = Known(entity.id, entity.strong, entity.chunks, about, key in self._remembered)
        only_facts = [key for key in keys if key in self._remembered and key not in found]
        return found | {key: Known(fact_entity_id(key), True, 0, 0, True) for key in only_facts}

    def _find_ids(self, keys: Sequence[str]) -> dict[str, str]:
        return {key: entity.id for key, entity in self.find_entities(keys).items()}

    def keys(self, ids: Sequence[str]) -> dict[str, str]:
        keys = {entity_id(self._name, key): key for key in self._derived.resolutions}
        return {id: keys[id] for id in ids if id in keys}

    def find_key_prefixes(self, pairs: Collection[str]) -> set[str]:
        names = (*self._derived.resolutions, *self._remembered)
        return {pair for pair in pairs if any(key.startswith(f"{pair} ") for key in names)}

    def names(self, ids: Sequence[str]) -> dict[str, str]:
        return {entity.id: entity.name for entity in self.entities(ids)}

    def search_entities(self, vector: Vector, *, chunk_ids: Sequence[str], limit: int) -> list[tuple[Entity, float]]:
        cosines = self.compare_entities(vector, chunk_ids=chunk_ids)
        best = sorted(cosines, key=lambda id: (-cosines[id], id))[:limit]
        return [(entity, cosines[entity.id]) for entity in self.entities(best)]

    def compare_entities(self, vector: Vector, *, chunk_ids: Sequence[str]) -> dict[str, float]:
        cosines: dict[str, float] = {}
        for (chunk, key), other in self._vectors.items():
            for id in self._find_ids([key] if chunk in chunk_ids else []).values():
                cosines[id] = max(float(other @ vector), cosines.get(id, -2.0))
        return cosines

    def mentions_of(self, entity_ids: Sequence[str], *, limit: int) -> list[Mention]:
        found: list[Mention] = []
        for id in dict.fromkeys(entity_ids):
            mine = [mention for key in self._keys_of(id) for mention in self._strongest(key, limit=limit)]
            found += strongest_mentions(mention._replace(entity_id=id) for mention in mine)[:limit]
        return found

    def _stated_mentions_of(self, entity_ids: Sequence[str], *, limit: int) -> list[Mention]:
        found: list[Mention] = []
        for id in dict.fromkeys(entity_ids):
            mine = [mention for key in self._keys_of(id) for mention in self._stated(key, limit=limit)]
            found += strongest_mentions(mention._replace(entity_id=id) for mention in mine)[:limit]
        return found

    def mentions_in(self, chunk_ids: Sequence[str], *, about: bool = False) -> list[Mention]:
        order = {id: place for place, id in enumerate(chunk_ids)}
        spread = Counter(self._target(key) for key, _ in self._derived.mentions)
        defined = {self._target(key) for (key, _), mention in self._derived.mentions.items() if mention.about}

        def complete(mention: Mention, key: str, *, least: int) -> Mention:
            target, is_strong = self._target(key), self._derived.resolutions[key].strong
            return mention._replace(
                entity_id=entity_id(self._name, target),
                elsewhere=spread[target] > least,
                has_defining_chunk=mention.about or (is_strong and target in defined),
            )

        found = [
            complete(self._mention(key, id), key, least=1)
            for (key, id), mention in self._derived.mentions.items()
            if id in order and (mention.about or not about)
        ]
        for id in () if about else (id for id in order if id in self._chunks):
            stated = {key for key, chunk in self._derived.mentions if chunk == id}
            words = LazyWords(self._chunks[id].chunk.text)
            known = {
                key
                for key in written_keys(words) & self._derived.resolutions.keys()
                if self._derived.resolutions[key].strong and self._target(key) in defined
            }
            for key, count in find_written(words, known=known, stated=stated).items():
                chunks = sum(other == key for other, _ in self._derived.mentions)
                mention = Mention("", id, count, about=False, chunks=chunks)
                found.append(complete(mention, key, least=0))
        return sorted(strongest_mentions(found), key=lambda mention: order[mention.chunk_id])

    def relations_of(
        self, entity_ids: Sequence[str], *, limit: int, types: Sequence[str] = (), min_weight: float = 0.0
    ) -> list[Relation]:
        heads, found = self.heads(), []
        every = sorted(
            (-weight, pair_tie_rank(self._name, *pair[:2]), pair)
            for pair, weight in self._weights()
            if weight >= min_weight and (not types or pair[2] in types)
        )
        for name in (key for key, id in heads.items() if id in entity_ids):
            for end in (0, 1):
                found += [(pair, -weight) for weight, _, pair in every if pair[end] == name][:limit]
        return join_relations(((heads[pair[0]], heads[pair[1]], pair[2]), weight) for pair, weight in found)

    def links_of(
        self,
        entity_ids: Sequence[str],
        *,
        keys: Sequence[str] = (),
        mentions: int,
        relations: int,
        facts_at: datetime | None = None,
    ) -> Links:
        asked = self._find_ids(keys)
        every = list(dict.fromkeys((*entity_ids, *asked.values())))
        stated = self.relations_of(every, limit=relations) if relations else []
        return Links(self._stated_mentions_of(every, limit=mentions), stated, self.names(every), asked)

    def definitions(self, entity_ids: Sequence[str], *, hits: Sequence[str] = ()) -> dict[str, Definition]:
        found = {id: Definition(name) for id, name in self.names(entity_ids).items()}
        for id, definition in found.items():
            best = [mention for key in self._keys_of(id) for mention in self._stated(key, limit=1)]
            about = [mention._replace(entity_id=id) for mention in best if mention.about]
            for mention in strongest_mentions(about)[:1]:
                document = self._chunks[mention.chunk_id].chunk.document_id
                same = (hit for hit in hits if hit in self._chunks and self._chunks[hit].chunk.document_id == document)
                found[id] = Definition(definition.name, mention.chunk_id, document, frozenset(same))
        return found

    def co_occurrences(
        self, entity_ids: Sequence[str], *, limit: int, others: Sequence[str] | None = None
    ) -> list[Relation]:
        heads, mentions = self.heads(), self._derived.mentions
        rows = []
        for key in (key for key, id in heads.items() if id in entity_ids):
            chunks = [mention.chunk_id for mention in self._stated(key, limit=MAX_COUNTED_CHUNKS)]
            near = [other for other, id in heads.items() if id != heads[key] and (others is None or id in others)]
            for other in near:
                shared = [id for id in chunks if (other, id) in mentions]
                together = sum(self._are_together(key, other, id) for id in shared)
                here = sum(mentions[key, id].about and not mentions[other, id].about for id in shared)
                there = sum(mentions[other, id].about and not mentions[key, id].about for id in shared)
                rows.append(Shared(heads[key], key, heads[other], other, together, here, there))
        return weigh_shared(rows, limit=limit)

    def _are_together(self, key: str, other: str, chunk: str) -> bool:
        return bool(self._derived.sentences[key, chunk] & self._derived.sentences[other, chunk])

    def relations_between(self, entity_ids: Sequence[str], *, others: Sequence[str] | None = None) -> list[Relation]:
        far = entity_ids if others is None else others
        return [
            relation
            for relation in self.relations()
            if (relation.source_id in entity_ids and relation.target_id in far)
            or (relation.source_id in far and relation.target_id in entity_ids)
        ]

    def heads(self) -> dict[str, str]:
        """Return the id of the entity that each key resolves to, by key."""
        return {key: entity_id(self._name, self._target(key)) for key in self._derived.resolutions}

    def relations(self) -> list[Relation]:
        """Return all relations, strongest first."""
        heads = self.heads()
        return join_relations(((heads[pair[0]], heads[pair[1]], pair[2]), weight) for pair, weight in self._weights())

    def _weights(self) -> Iterator[tuple[tuple[str, str, str], float]]:
        """Yield the relations between keys: (source key, target key, type) and the weight."""
        known = self._derived.resolutions
        for pair, stated_relations in self._derived.stated_relations.items():
            if pair[0] in known and pair[1] in known:
                yield (
                    pair,
                    max(stated.weight for by_chunk in stated_relations.values() for stated in by_chunk),
                )

    def describe(self, relations: Sequence[Relation]) -> list[Relation]:
        described = []
        for relation in relations:
            sources = [
                source
                for (start, end, type), by_chunk in sorted(self._derived.stated_relations.items())
                if type == relation.type
                if self._resolves_to(start, relation.source_id) and self._resolves_to(end, relation.target_id)
                for source in _strongest_stated_relations(by_chunk, ends=(start, end))
            ]
            sources += self._derived_sources(relation) if relation.type in DERIVED_TYPES else []
            sources.sort(key=lambda source: (-source.weight, source.chunk_id))
            stated = (source.stated.description for source in sources if source.stated and source.stated.description)
            description = next(stated, "")
            if not description and sources and relation.type in DERIVED_TYPES:
                first = sources[0]
                description = find_sentence(self._chunks[first.chunk_id].chunk.text, first.ends)
            chunks = tuple(dict.fromkeys(source.chunk_id for source in sources))[:MAX_SUPPORTING_CHUNKS]
            found_by = extractor_names(source.stated.extractor if source.stated else None for source in sources)
            described.append(relation._replace(description=description, chunks=chunks, extractors=found_by))
        return described

    def extractors(self, entity_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        labels: dict[str, list[str]] = {id: [] for id in entity_ids}
        for key in self._derived.resolutions:
            if (id := entity_id(self._name, self._target(key))) in labels:
                labels[id] += (candidate.extractor for candidate in self._derived.candidates[key])
        return {id: extractor_names(found) for id, found in labels.items() if found}

    def entities_after(self, key: str, *, limit: int) -> list[Entity]:
        heads = sorted(other for other in self._derived.resolutions if other > key and self._target(other) == other)
        return [self._entity(head) for head in heads[:limit]]

    def has_entities(self) -> bool:
        return any(s.strong and s.same_as == key for key, s in self._derived.resolutions.items())

    def top_entities(self, *, limit: int) -> list[Entity]:
        heads = [k for k, s in self._derived.resolutions.items() if s.strong and s.same_as == k]
        own = {key: sum(other == key for other, _ in self._derived.mentions) for key in heads}
        return [self._entity(key) for key in sorted(heads, key=lambda key: (-own[key], key))[:limit]]

    def count(self) -> tuple[int, int]:
        known = self._derived.resolutions
        pairs = [pair for pair in self._derived.stated_relations if pair[0] in known and pair[1] in known]
        return len(known), len(pairs)

    def _derived_sources(self, relation: Relation) -> list[_Source]:
        """Return the chunks that a derived relation is derived from, the first by id under each pair of names."""
        mentions, found = self._derived.mentions, []
        for key in sorted(self._keys_of(relation.source_id)):
            for other in sorted(self._keys_of(relation.target_id)):
                best = [mention.chunk_id for mention in self._stated(key, limit=MAX_COUNTED_CHUNKS)]
                shared = sorted(id for id in best if (other, id) in mentions)
                mine = [
                    id
                    for id in shared
                    if (
                        self._are_together(key, other, id)
                        if relation.type == CO_OCCURS
                        else mentions[key, id].about and not mentions[other, id].about
                    )
                ]
                found += [_Source(id, (key, other)) for id in mine[:MAX_SUPPORTING_CHUNKS]]
        return found

    def census(self) -> Census:
        known = self._derived.resolutions
        typed = {
            (n.type, self._target(key))
            for key in known
            for n in self._derived.candidates[key]
            if n.type and not n.alias_of
        }
        stated = {
            (type, self._target(source), self._target(target))
            for source, target, type in self._derived.stated_relations
            if source in known and target in known
        }
        relations = Counter(type for type, source, target in stated if source != target)
        return Census(
            entities=dict(sorted(Counter(type for type, _ in typed).items())),
            relations=dict(sorted(relations.items())),
        )

    def size(self) -> int:
        return len(self._chunks)

    def find_unembedded(self, model: str, *, limit: int) -> dict[tuple[str, str], str]:
        missing = {
            (id, n.key): name_text(n.name, n.description)
            for id, item in sorted(self._chunks.items())
            for n in sorted(
                item.extraction.candidates, key=preference, reverse=True
            )  # the last one is the best and overwrites the others
            if n.description and vote(n.kind) == 2 and (model, id, n.key) not in self._all_vectors
        }
        return dict(sorted(missing.items())[:limit])

    def vectors(self, chunk_ids: Sequence[str]) -> dict[tuple[str, str], Vector]:
        return {at: vector for at, vector in self._vectors.items() if at[0] in chunk_ids}

    def write_vectors(self, model: str, vectors: Mapping[tuple[str, str], Vector]) -> None:
        for (id, key), vector in vectors.items():
            if id in self._chunks:
                self._all_vectors[model, id, key] = round_to_twelve(vector)

    def count_broken_links(self, document_ids: Sequence[str] | None = None) -> int:
        sources = None if document_ids is None else {self._sources.get(id) for id in document_ids}
        return sum(sources is None or link.source in sources for link in self.broken_links())

    def broken_links(self) -> list[BrokenLink]:
        known = self.find_known(sorted(self._derived.resolutions), max_defining=1)
        defined = {key for key, name in known.items() if name.defining_chunks}
        return find_broken_links(self._chunks, sources=self._sources, defined=defined)

    def edits(self) -> list[tuple[str, str, str]]:
        return sorted(self._edits)

    def write_edit(self, kind: EditKind, key: str, value: str, *, undo: bool = False) -> None:
        (self._edits.discard if undo else self._edits.add)((kind, key, value))
        self._derived = _derive(self._chunks, self._edits, namespace=self._name)

    def _target(self, key: str) -> str:
        return follow(key, {key: resolution.same_as for key, resolution in self._derived.resolutions.items()})

    def _resolves_to(self, key: str, id: str) -> bool:
        return key in self._derived.resolutions and entity_id(self._name, self._target(key)) == id

    def _strongest(self, key: str, *, limit: int) -> list[Mention]:
        stated = sum(other == key for other, _ in self._derived.mentions)
        mine = self._stated(key, limit=limit)
        if is_searched(key, stated=stated, limit=limit):
            known = {mention.chunk_id for mention in mine}
            id, strong = entity_id(self._name, key), self._derived.resolutions[key].strong
            mine += [
                Mention(id, chunk, count, about=False, chunks=stated, strong=strong)
                for chunk, count in self._search(key).items()
                if chunk not in known
            ]
        return sorted(mine, key=lambda m: (not m.about, -m.count, m.chunk_id))[:limit]

    def _stated(self, key: str, *, limit: int) -> list[Mention]:
        """Return the strongest mentions of a name in chunks that propose it."""
        mine = [self._mention(other, id) for other, id in self._derived.mentions if other == key]
        return sorted(mine, key=lambda m: (not m.about, -m.count, m.chunk_id))[:limit]

    def _search(self, key: str) -> dict[str, int]:
        """Return the number of mentions in the chunks that contain the words of a name, by chunk id."""
        wanted = {term for group in required_terms(key) for term in group}
        counts = Counter(term for item in self._chunks.values() for term in wanted & item.terms.keys())
        groups = choose_terms(key, counts)
        possible = [id for id, item in self._chunks.items() if all(item.terms.keys() & group for group in groups)]
        examined = sorted(possible)[:MAX_EXAMINED_CHUNKS] if groups else []
        found = {}
        for id in examined:
            others = ((other, m.count) for (other, chunk), m in self._derived.mentions.items() if chunk == id)
            longer = [(other, count) for other, count in others if other != key and self._derived.sentences[other, id]]
            found[id] = count_alone(self._chunks[id].chunk.text, key, longer=longer)
        return {id: count for id, count in found.items() if count}

    def _keys_of(self, id: str) -> list[str]:
        """Return the names of an entity, by key."""
        return [key for key in self._derived.resolutions if self._resolves_to(key, id)]

    def _mention(self, key: str, chunk_id: str) -> Mention:
        """Return a mention with `chunks` and `strong` set."""
        chunks = sum(other == key for other, _ in self._derived.mentions)
        strong = self._derived.resolutions[key].strong
        return self._derived.mentions[key, chunk_id]._replace(chunks=chunks, strong=strong)

    def _entity(self, key: str) -> Entity:
        derived = self._derived
        mine = sorted(derived.candidates[key], key=lambda n: (KIND_RANKS[n.kind], n.name))
        renamed = self._renamed(key)
        group = [other for other in derived.resolutions if self._target(other) == key]
        mentions = [mention for (other, _), mention in derived.mentions.items() if other in group]
        typed = sorted((KIND_RANKS[n.kind], n.type) for n in mine if n.type)
        described = [(KIND_RANKS[n.kind], n.description, n.extractor) for n in mine if n.description]
        name = renamed[0] if renamed else mine[0].name if mine else key
        return Entity(
            id=entity_id(self._name, key),
            key=key,
            name=name,
            type=typed[0][1] if typed else "",
            description=join_descriptions(described),
            aliases=alias_names(
                name,
                [self._spelling(other) for other in sorted(group) if other != key],
                spelling=lambda: min((n.name for n in mine if n.kind == "link" and n.name != name), default=None),
            ),
            reasons=tuple(derived.resolutions[other].reason for other in sorted(group) if other != key),
            mentions=sum(mention.count for mention in mentions),
            chunks=len(mentions),
            strong=derived.resolutions[key].strong,
        )

    def _spelling(self, key: str) -> str:
        names = sorted((KIND_RANKS[n.kind], n.name) for n in self._derived.candidates[key])
        return names[0][1] if names else next(iter(self._renamed(key)), key)

    def _renamed(self, key: str) -> list[str]:
        return sorted(value for kind, owner, value in self._edits if (kind, owner) == ("rename", key))


def _strongest_stated_relations(
    by_chunk: Mapping[str, Sequence[StatedRelation]], *, ends: tuple[str, str]
) -> list[_Source]:
    """Return the stated relations of largest weight between two keys; ties go to the smaller chunk id."""
    sources = [_Source(id, ends, stated) for id, stated_relations in by_chunk.items() for stated in stated_relations]
    return sorted(sources, key=lambda source: (-source.weight, source.chunk_id))[:MAX_SUPPORTING_CHUNKS]


def _derive(chunks: Mapping[str, IndexedChunk], edits: set[tuple[str, str, str]], *, namespace: str) -> _Derived:
    derived = _Derived()
    documents: dict[str, set[str]] = defaultdict(set)
    links = resolve_links(chunks)
    for id, item in chunks.items():
        for candidate in (*item.extraction.candidates, *links.aliases[id]):
            derived.candidates[candidate.key].append(candidate)
            if vote(candidate.kind) == 1:
                documents[candidate.key].add(item.chunk.document_id)
    keys = set(derived.candidates) | {end for kind, *ends in edits if kind != "rename" for end in ends}
    own: set[str] = set()
    begun: dict[str, set[str]] = defaultdict(set)
    for key, mine in derived.candidates.items():
        for word in first_words([key]) if any(n.kind in OWN_KINDS and not n.alias_of for n in mine) else ():
            begun[word].add(key)
    groups: dict[str, dict[str, Resolution]] = defaultdict(dict)
    linked = {
        end
        for stated_relations in links.stated_relations.values()
        for stated in stated_relations
        for end in (stated.source, stated.target)
    }
    for key in keys:
        mine = derived.candidates[key]
        if is_page_key(key):
            if key in linked:
                derived.resolutions[key] = Resolution(exists=True, strong=True, same_as=key)
            continue
        mine = [n for n in mine if n.kind != "label"]  # `links.aliases` has those whose links lead to a page
        targets = {n.alias_of for n in mine if n.alias_of}
        votes = Votes(
            strong=any(vote(n.kind) == 2 for n in mine),
            several=len(documents[key]) > 1,
            own=any(n.kind in OWN_KINDS and not n.alias_of for n in mine),
            aliases={(n.alias_of, n.reason) for n in mine if n.alias_of},
            vague=bool(begun[key] - targets) and not any(n.alias_of and vote(n.kind) for n in mine),
        )
        own |= {key} if votes.own else set()
        groups[letters(key)][key] = judge(key, votes, [edit for edit in edits if key in edit[1:]])
    for group in groups.values():
        joined = join_spellings(group, own=own, edits=edits)
        derived.resolutions |= {key: resolution for key, resolution in joined.items() if resolution.exists}
    for id, item in chunks.items():
        names = {n.key for n in item.extraction.candidates}
        about = {n.key for n in item.extraction.candidates if n.about}
        for key, count, is_about, sentences in find_mentions(item.chunk.text, names=names, about=about):
            if key in derived.resolutions:
                derived.mentions[key, id] = Mention(entity_id(namespace, key), id, count, about=is_about)
                derived.sentences[key, id] = sentences
        for stated in (*item.extraction.stated_relations, *links.stated_relations[id]):
            derived.stated_relations[stated.source, stated.target, stated.type][id].append(stated)
    return derived
