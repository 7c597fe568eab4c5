-- Consistency of the graph with its documents. Statements that read or correct whole tables.
-- Foreign keys to chunks, entities and models include the namespace, so a row cannot refer to another namespace.

-- name: all_keys
-- All proposed and edited keys; keys with the same letters are adjacent.
SELECT named.key FROM (
    SELECT n.key FROM weft.candidate AS n WHERE n.namespace = :namespace
    UNION
    SELECT e.key FROM weft.edit AS e WHERE e.namespace = :namespace
    UNION
    SELECT e.value FROM weft.edit AS e WHERE e.namespace = :namespace AND e.kind <> 'rename'
) AS named
ORDER BY replace(named.key, ' ', ''), named.key;

-- name: all_entities
SELECT e.number, e.id, e.key, e.strong, e.same_as, e.reason, e.mentions + coalesce(d.mentions, 0)::bigint,
    e.chunks + coalesce(d.chunks, 0)::bigint, e.head
FROM weft.entity AS e LEFT JOIN (
    SELECT p.key, sum(p.mentions) AS mentions, sum(p.chunks) AS chunks FROM weft.mention_delta AS p
    WHERE p.namespace = :namespace
    GROUP BY p.key
) AS d ON d.key = e.key
WHERE e.namespace = :namespace;

-- name: all_pairs
-- Relations that stated relations state, with the largest weight.
SELECT c.source, c.target, c.type, max(c.weight) FROM weft.stated_relation AS c
WHERE c.namespace = :namespace
GROUP BY c.source, c.target, c.type
ORDER BY c.source, c.target, c.type;

-- name: all_mentions_in
SELECT m.chunk, m.namespace, m.key, m.count, m.about, m.sentences, m.place FROM weft.mention AS m
WHERE m.namespace = :namespace AND m.chunk IN numbers(:chunks);

-- name: misplaced_stated_relations
-- Stated relations without the tie rank of their chunk, one chunk after another.
SELECT coalesce(sum(found.stated_relations), 0)::bigint FROM rows(:places) AS k
CROSS JOIN LATERAL (
    SELECT count(*) AS stated_relations FROM weft.stated_relation AS c
    WHERE c.namespace = :namespace AND c.chunk = (k.value ->> 0)::bigint AND c.place <> (k.value ->> 1)::bigint
) AS found;

-- name: place_stated_relations
UPDATE weft.stated_relation AS c SET place = :place
WHERE c.namespace = :namespace AND c.chunk = :chunk AND c.place <> :place;

-- name: misplaced_candidates
SELECT count(*) FROM weft.chunk AS c JOIN weft.candidate AS n ON n.namespace = :namespace AND n.chunk = c.number
WHERE c.namespace = :namespace AND n.document <> c.document;

-- name: place_candidates
UPDATE weft.candidate AS n SET document = c.document FROM weft.chunk AS c
WHERE n.namespace = :namespace AND c.namespace = :namespace AND n.chunk = c.number AND n.document <> c.document;

-- name: candidate_kinds
SELECT n.kind, n.vote, n.rank, count(*) FROM weft.candidate AS n
WHERE n.namespace = :namespace
GROUP BY n.kind, n.vote, n.rank;

-- name: set_kind
UPDATE weft.candidate AS n SET vote = :vote, rank = :rank
WHERE n.namespace = :namespace AND n.kind = :kind AND (n.vote <> :vote OR n.rank <> :rank);

-- name: delete_all_mentions
DELETE FROM weft.mention AS m WHERE m.namespace = :namespace;

-- name: stray_entity_vectors
-- Vectors of names that their chunk does not describe, or of a length other than the embedder's.
SELECT count(*)
FROM weft.model AS m JOIN weft.entity_vector AS v ON v.namespace = :namespace AND v.model = m.number
WHERE m.namespace = :namespace AND (
    vector_dims(v.vector) <> m.dimension
    OR NOT EXISTS (
        SELECT 1 FROM weft.candidate AS n
        WHERE n.namespace = :namespace AND n.chunk = v.chunk AND n.key = v.key AND n.description <> ''
    )
);

-- name: delete_stray_entity_vectors
DELETE FROM weft.entity_vector AS v USING weft.model AS m
WHERE v.namespace = :namespace AND m.namespace = :namespace AND m.number = v.model AND (
    vector_dims(v.vector) <> m.dimension
    OR NOT EXISTS (
        SELECT 1 FROM weft.candidate AS n
        WHERE n.namespace = :namespace AND n.chunk = v.chunk AND n.key = v.key AND n.description <> ''
    )
);
