-- Mentions, claims and relations of chunks and entities that are deleted. No foreign key does so: with several parts they
-- are in buckets, under other namespaces than the chunks and entities.

-- name: delete_chunk_mentions
DELETE FROM weft.mention AS m
WHERE m.namespace = :namespace
    AND m.chunk = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:chunks::jsonb) AS k(value)));

-- name: delete_chunk_claims
DELETE FROM weft.claim AS c
WHERE c.namespace = :namespace
    AND c.chunk = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:chunks::jsonb) AS k(value)));

-- name: delete_entity_mentions
DELETE FROM weft.mention AS m
WHERE m.namespace = :namespace
    AND m.entity = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:entities::jsonb) AS k(value)));

-- name: delete_outgoing_relations
DELETE FROM weft.relation AS r
WHERE r.namespace = :namespace
    AND r.source = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:entities::jsonb) AS k(value)));

-- name: delete_incoming_relations
DELETE FROM weft.relation AS r
WHERE r.namespace = :namespace
    AND r.target = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:entities::jsonb) AS k(value)));

-- name: delete_mentions
DELETE FROM weft.mention AS m WHERE m.namespace = :namespace;

-- name: delete_relations
DELETE FROM weft.relation AS r WHERE r.namespace = :namespace;
