-- name: delete_candidates
DELETE FROM weft.candidate AS n
WHERE n.namespace = :namespace AND n.origin = ''
    AND n.chunk IN (SELECT c.number FROM weft.chunk AS c WHERE c.namespace = :namespace AND c.document = :document);

-- name: delete_origin
DELETE FROM weft.candidate AS n WHERE n.namespace = :namespace AND n.chunk = :chunk AND n.origin = :origin;

-- name: delete_stated_relation
DELETE FROM weft.stated_relation AS c
WHERE c.namespace = :namespace AND c.chunk = :chunk AND c.source = :source AND c.target = :target AND c.type = :type
    AND c.origin = :origin;

-- name: all_edits
SELECT e.kind, e.key, e.value FROM weft.edit AS e WHERE e.namespace = :namespace ORDER BY e.kind, e.key, e.value;

-- name: write_edit
INSERT INTO weft.edit (namespace, kind, key, value) VALUES (:namespace, :kind, :key, :value)
ON CONFLICT (namespace, kind, key, value) DO NOTHING;

-- name: delete_edit
DELETE FROM weft.edit AS e
WHERE e.namespace = :namespace AND e.kind = :kind AND e.key = :key AND e.value = :value;

-- name: key_edits
SELECT e.kind, e.key, e.value FROM weft.edit AS e
WHERE e.namespace = :namespace AND (e.key IN texts(:keys) OR e.value IN texts(:keys));

-- name: entities_by_key
SELECT e.key, e.strong, e.same_as, e.reason FROM weft.entity AS e
WHERE e.namespace = :namespace AND e.key IN texts(:keys);

-- name: delete_entity
DELETE FROM weft.entity AS e WHERE e.namespace = :namespace AND e.key = :key;

-- name: chunk_texts
SELECT c.number, unpack_text(c.text), c.id FROM weft.chunk AS c
WHERE c.namespace = :namespace AND c.number IN numbers(:chunks)
ORDER BY c.number;

-- name: delete_mentions
DELETE FROM weft.mention AS m WHERE m.namespace = :namespace AND m.chunk = :chunk;

-- name: resolve_keys
SELECT e.key, e.same_as, e.number FROM weft.entity AS e WHERE e.namespace = :namespace AND e.key IN texts(:keys);

-- name: described_entities
-- The entities described in chunks, with the vectors of their names and descriptions.
SELECT h.id, v.vector FROM weft.chunk AS c
JOIN weft.entity_vector AS v ON v.namespace = :namespace AND v.chunk = c.number AND v.model = :model
JOIN weft.entity AS e ON e.namespace = :namespace AND e.key = v.key
JOIN weft.entity AS h ON h.namespace = :namespace AND h.number = e.head
WHERE c.namespace = :namespace AND c.id IN texts(:ids);

-- name: count_entities
SELECT count(*) FROM weft.entity AS e WHERE e.namespace = :namespace;

-- name: entities_after
-- BETWEEN instead of =: for = the planner expects few rows, then reads and sorts the whole namespace for a page.
SELECT e.key FROM weft.entity AS e
WHERE e.namespace = :namespace AND e.key > :key AND e.head BETWEEN e.number AND e.number
ORDER BY e.key
LIMIT :limit;

-- name: all_chunk_numbers
SELECT c.number FROM weft.chunk AS c WHERE c.namespace = :namespace ORDER BY c.number;

-- name: delete_entities
DELETE FROM weft.entity AS e WHERE e.namespace = :namespace;

-- name: all_relations
SELECT s.key, t.key, r.type, t.namespace, r.weight, r.place
FROM weft.entity AS s JOIN weft.relation AS r ON r.namespace = :namespace AND r.source = s.number
JOIN weft.entity AS t ON t.namespace = :namespace AND t.number = r.target
WHERE s.namespace = :namespace
ORDER BY s.key, t.key, r.type;

-- name: name_vectors
SELECT c.id, v.key, v.vector FROM weft.chunk AS c
JOIN weft.entity_vector AS v ON v.namespace = :namespace AND v.model = :model AND v.chunk = c.number
WHERE c.namespace = :namespace AND c.id IN texts(:ids);
