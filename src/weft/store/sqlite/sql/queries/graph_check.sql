-- Consistency of the graph with its documents. Statements that read or correct whole tables.

-- name: all_keys
-- All proposed and edited keys; keys with the same letters are adjacent.
SELECT key FROM (
    SELECT w.key FROM name AS w
    WHERE w.namespace = :namespace AND EXISTS (SELECT 1 FROM candidate WHERE key = w.number)
    UNION
    SELECT key FROM edit WHERE namespace = :namespace
    UNION
    SELECT value FROM edit WHERE namespace = :namespace AND kind <> 'rename'
)
ORDER BY replace(key, ' ', ''), key;

-- name: all_entities
SELECT number, id, key, strong, same_as, reason, mentions, chunks, head FROM entity WHERE namespace = :namespace;

-- name: all_pairs
-- Relations that stated relations state, with the largest weight.
SELECT s.key, t.key, c.type, max(c.weight)
FROM name AS s CROSS JOIN stated_relation AS c ON c.source = s.number CROSS JOIN name AS t ON t.number = c.target
WHERE s.namespace = :namespace
GROUP BY s.key, t.key, c.type
ORDER BY s.key, t.key, c.type;

-- name: all_mentions_in
SELECT m.chunk, w.namespace, w.key, m.count, m.about, m.sentences, m.place FROM json_each(:chunks) AS k
CROSS JOIN mention AS m ON m.chunk = k.value JOIN name AS w ON w.number = m.key;

-- name: misplaced_stated_relations
-- Stated relations without the namespace or the tie rank of their chunk.
SELECT count(*) FROM json_each(:places) AS k CROSS JOIN stated_relation AS c ON c.chunk = k.value ->> 0
WHERE c.namespace <> :namespace OR c.place <> k.value ->> 1;

-- name: place_stated_relations
UPDATE stated_relation SET namespace = :namespace, place = :place
WHERE chunk = :chunk AND (namespace <> :namespace OR place <> :place);

-- name: misplaced_candidates
SELECT count(*) FROM chunk AS c JOIN candidate AS n ON n.chunk = c.number
WHERE c.namespace = :namespace AND (n.namespace <> c.namespace OR n.document <> c.document);

-- name: place_candidates
UPDATE candidate SET namespace = c.namespace, document = c.document FROM chunk AS c
WHERE c.namespace = :namespace AND candidate.chunk = c.number
    AND (candidate.namespace <> c.namespace OR candidate.document <> c.document);

-- name: candidate_kinds
SELECT n.kind, n.vote, n.rank, count(*) FROM chunk AS c CROSS JOIN candidate AS n ON n.chunk = c.number
WHERE c.namespace = :namespace
GROUP BY n.kind, n.vote, n.rank;

-- name: set_kind
UPDATE candidate SET vote = :vote, rank = :rank
WHERE chunk IN (SELECT number FROM chunk WHERE namespace = :namespace) AND kind = :kind
    AND (vote <> :vote OR rank <> :rank);

-- name: delete_all_unused_names
DELETE FROM name
WHERE namespace = :namespace
    AND NOT EXISTS (SELECT 1 FROM entity WHERE number = name.number)
    AND NOT EXISTS (SELECT 1 FROM candidate WHERE key = name.number)
    AND NOT EXISTS (SELECT 1 FROM stated_relation WHERE source = name.number)
    AND NOT EXISTS (SELECT 1 FROM stated_relation WHERE target = name.number);

-- name: delete_all_mentions
DELETE FROM mention WHERE chunk IN (SELECT number FROM chunk WHERE namespace = :namespace);

-- name: stray_entity_vectors
-- Vectors of names that their chunk does not describe, or of a length other than the embedder's.
SELECT count(*) FROM model AS m JOIN entity_vector AS v ON v.model = m.number
WHERE m.namespace = :namespace AND (
    length(v.vector) <> 1 + m.dimension + (m.dimension + 1) / 2
    OR NOT EXISTS (
        SELECT 1 FROM candidate AS n JOIN name AS w ON w.number = n.key
        WHERE n.chunk = v.chunk AND w.key = v.key AND n.description > ''
    )
);

-- name: delete_stray_entity_vectors
DELETE FROM entity_vector
WHERE EXISTS (
    SELECT 1 FROM model AS m
    WHERE m.number = entity_vector.model AND m.namespace = :namespace AND (
        length(entity_vector.vector) <> 1 + m.dimension + (m.dimension + 1) / 2
        OR NOT EXISTS (
            SELECT 1 FROM candidate AS n JOIN name AS w ON w.number = n.key
            WHERE n.chunk = entity_vector.chunk AND w.key = entity_vector.key AND n.description > ''
        )
    )
);
