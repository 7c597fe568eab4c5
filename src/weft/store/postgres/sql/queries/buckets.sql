-- Graph of a namespace with several parts: its mentions, claims and relations are in buckets, each under the namespace
-- of a part. Statements of the home return numbers; statements of a bucket take and return them.
-- Also for one part: rows of deleted chunks and entities, which no foreign key deletes.

-- name: lock_part
-- Unlike FOR UPDATE it does not keep a settler from adding rows to the bucket of the same name.
SELECT namespace FROM weft.namespace WHERE namespace = :name FOR NO KEY UPDATE;

-- name: entity_numbers
-- Home: the names of entities.
SELECT h.id, e.number, e.chunks, e.strong
FROM weft.entity AS h JOIN weft.entity AS e ON e.namespace = :namespace AND e.head = h.number
WHERE h.namespace = :namespace
    AND h.id = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value)));

-- name: ids_by_number
-- Home: ids of chunks (TRUE), and ids of the entities that names resolve to (FALSE).
SELECT TRUE, c.number, c.id FROM weft.chunk AS c
WHERE c.namespace = :namespace
    AND c.number = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:chunks::jsonb) AS k(value)))
UNION ALL
SELECT FALSE, e.number, h.id
FROM weft.entity AS e JOIN weft.entity AS h ON h.namespace = :namespace AND h.number = e.head
WHERE e.namespace = :namespace
    AND e.number = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:entities::jsonb) AS k(value)));

-- name: keys_by_number
-- Home: keys of names.
SELECT e.number, e.key FROM weft.entity AS e
WHERE e.namespace = :namespace
    AND e.number = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:entities::jsonb) AS k(value)));

-- name: heads_by_key
-- Home: numbers of the entities that keys resolve to.
SELECT e.key, e.head FROM weft.entity AS e
WHERE e.namespace = :namespace
    AND e.key = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:keys::jsonb) AS k(value)));

-- name: mentioned_names
-- Home: of names, the entity, the columns of `mentions_in`, and the other names that chunks mention.
SELECT e.number, h.id, e.chunks, e.strong, ARRAY(
    SELECT o.number FROM weft.entity AS o
    WHERE o.namespace = :namespace AND o.head = e.head AND o.number <> e.number AND o.chunks > 0
)
FROM weft.entity AS e JOIN weft.entity AS h ON h.namespace = :namespace AND h.number = e.head
WHERE e.namespace = :namespace
    AND e.number = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:entities::jsonb) AS k(value)));

-- name: known_names
-- Home: as `known_entities`, with the names that chunks mention instead of the number of defining chunks.
SELECT e.key, h.id, h.strong, found.chunks, found.names, found.remembered
FROM weft.entity AS e JOIN weft.entity AS h ON h.namespace = :namespace AND h.number = e.head
CROSS JOIN LATERAL (
    SELECT
        (SELECT sum(o.chunks)::bigint FROM weft.entity AS o WHERE o.namespace = :namespace AND o.head = h.number) AS chunks,
        ARRAY(
            SELECT o.number FROM weft.entity AS o
            WHERE o.namespace = :namespace AND o.head = h.number AND o.chunks > 0
        ) AS names,
        EXISTS (
            SELECT 1 FROM weft.fact_entity AS f WHERE f.namespace = :namespace AND f.key = e.key
        ) AS remembered
) AS found
WHERE e.namespace = :namespace
    AND e.key = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:keys::jsonb) AS k(value)))
UNION ALL
SELECT f.key, NULL, TRUE, 0, ARRAY[]::bigint[], TRUE
FROM weft.fact_entity AS f
WHERE f.namespace = :namespace
    AND f.key = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:keys::jsonb) AS k(value)))
    AND NOT EXISTS (SELECT 1 FROM weft.entity AS e WHERE e.namespace = :namespace AND e.key = f.key);

-- name: chunk_owners
-- Home: ids and documents of chunks.
SELECT c.number, c.id, c.document FROM weft.chunk AS c
WHERE c.namespace = :namespace
    AND c.number = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:chunks::jsonb) AS k(value)));

-- name: chunk_sources
-- Home: positions of chunks in their documents.
SELECT c.number, d.source, c.start_line, c.ordinal
FROM weft.chunk AS c JOIN weft.document AS d ON d.namespace = :namespace AND d.number = c.document
WHERE c.namespace = :namespace
    AND c.number = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:chunks::jsonb) AS k(value)));

-- name: chunks_of_documents
-- Home: the chunks of documents.
SELECT c.number FROM weft.document AS d JOIN weft.chunk AS c ON c.namespace = :namespace AND c.document = d.number
WHERE d.namespace = :namespace
    AND d.id = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value)));

-- name: graph_entity_numbers
-- Home: those of the entities that exist.
SELECT e.number FROM weft.entity AS e
WHERE e.namespace = :namespace
    AND e.number = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:numbers::jsonb) AS k(value)));

-- name: bucket_links
-- For names, with whether this bucket is theirs: the strongest mentions and outgoing relations, which only their own
-- bucket has, and the strongest incoming relations of this bucket. As JSON lists.
SELECT k.number, mentioned.rows, outgoing.rows, incoming.rows
FROM (
    SELECT (v.value ->> 0)::bigint AS number, (v.value ->> 1)::boolean AS is_own
    FROM jsonb_array_elements(:entities::jsonb) AS v(value)
) AS k
CROSS JOIN LATERAL (
    SELECT coalesce(
        json_agg(json_build_array(m.chunk, m.count, m.about) ORDER BY m.about DESC, m.count DESC, m.place, m.chunk), '[]'
    )::text AS rows
    FROM (
        SELECT i.chunk, i.count, i.about, i.place FROM weft.mention AS i
        WHERE k.is_own AND i.namespace = :namespace AND i.entity = k.number
        ORDER BY i.about DESC, i.count DESC, i.place, i.chunk
        LIMIT :mentions
    ) AS m
) AS mentioned
CROSS JOIN LATERAL (
    SELECT coalesce(json_agg(json_build_array(r.target, r.type, r.weight)), '[]')::text AS rows
    FROM (
        SELECT o.target, o.type, o.weight FROM weft.relation AS o
        WHERE k.is_own AND o.namespace = :namespace AND o.source = k.number AND o.weight >= :weight::double precision
            AND (:all_types::boolean OR o.type = ANY (
                ARRAY(SELECT t.value FROM jsonb_array_elements_text(:types::jsonb) AS t(value))
            ))
        ORDER BY o.weight DESC, o.place, o.target, o.type
        LIMIT :relations
    ) AS r
) AS outgoing
CROSS JOIN LATERAL (
    SELECT coalesce(json_agg(json_build_array(r.weight, r.place, r.source, r.type)), '[]')::text AS rows
    FROM (
        SELECT i.source, i.type, i.weight, i.place FROM weft.relation AS i
        WHERE i.namespace = :namespace AND i.target = k.number AND i.weight >= :weight::double precision
            AND (:all_types::boolean OR i.type = ANY (
                ARRAY(SELECT t.value FROM jsonb_array_elements_text(:types::jsonb) AS t(value))
            ))
        ORDER BY i.weight DESC, i.place, i.source, i.type
        LIMIT :relations
    ) AS r
) AS incoming;

-- name: bucket_relations_of_type
-- The same for relations of one stated type: outgoing ones, then incoming ones.
SELECT k.number, outgoing.rows, incoming.rows
FROM (
    SELECT (v.value ->> 0)::bigint AS number, (v.value ->> 1)::boolean AS is_own
    FROM jsonb_array_elements(:entities::jsonb) AS v(value)
) AS k
CROSS JOIN LATERAL (
    SELECT coalesce(json_agg(json_build_array(r.weight, r.place, r.target)), '[]')::text AS rows
    FROM (
        SELECT o.target, o.weight, o.place FROM weft.relation AS o
        WHERE k.is_own AND o.namespace = :namespace AND o.source = k.number AND o.type = :type
            AND o.type NOT IN ('co_occurs_with', 'mentions') AND o.weight >= :weight::double precision
        ORDER BY o.weight DESC, o.place, o.target
        LIMIT :limit
    ) AS r
) AS outgoing
CROSS JOIN LATERAL (
    SELECT coalesce(json_agg(json_build_array(r.weight, r.place, r.source)), '[]')::text AS rows
    FROM (
        SELECT i.source, i.weight, i.place FROM weft.relation AS i
        WHERE i.namespace = :namespace AND i.target = k.number AND i.type = :type
            AND i.type NOT IN ('co_occurs_with', 'mentions') AND i.weight >= :weight::double precision
        ORDER BY i.weight DESC, i.place, i.source
        LIMIT :limit
    ) AS r
) AS incoming;

-- name: bucket_relations_between
SELECT r.source, r.target, r.type, r.weight FROM weft.relation AS r
WHERE r.namespace = :namespace
    AND r.source = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:sources::jsonb) AS k(value)))
    AND r.target = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:targets::jsonb) AS k(value)));

-- name: bucket_relations
SELECT r.source, r.target, r.type, r.weight, r.support, r.place FROM weft.relation AS r
WHERE r.namespace = :namespace
    AND r.source = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:entities::jsonb) AS k(value)));

-- name: bucket_mentions
SELECT m.chunk, m.entity, m.count, m.about, m.place FROM weft.mention AS m
WHERE m.namespace = :namespace
    AND m.chunk = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:chunks::jsonb) AS k(value)));

-- name: bucket_mentions_in
-- Mentions of chunks, and whether the name has a defining chunk; all its mentions are in this bucket.
SELECT m.chunk, m.entity, m.count, m.about, m.about OR EXISTS (
    SELECT 1 FROM weft.mention AS a WHERE a.namespace = :namespace AND a.entity = m.entity AND a.about
)
FROM weft.mention AS m
WHERE m.namespace = :namespace AND (m.about OR NOT :about)
    AND m.chunk = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:chunks::jsonb) AS k(value)));

-- name: bucket_defining_chunks
-- For names: some of their defining chunks.
SELECT k.value::bigint, a.chunk FROM jsonb_array_elements_text(:entities::jsonb) AS k(value)
CROSS JOIN LATERAL (
    SELECT m.chunk FROM weft.mention AS m
    WHERE m.namespace = :namespace AND m.entity = k.value::bigint AND m.about
    LIMIT :limit
) AS a;

-- name: bucket_claims
-- As `relation_claims`, with numbers of chunks and all ties with the last claim.
SELECT w.value ->> 0, w.value ->> 1, w.value ->> 2, coalesce((
    SELECT json_agg(json_build_array(c.weight, c.place, c.chunk, c.origin, c.description, c.by)) FROM (
        SELECT o.weight, o.place, o.chunk, o.origin, o.description,
            CASE WHEN o.origin <> '*' THEN o.extractor END AS by
        FROM weft.claim AS o
        WHERE o.namespace = :namespace AND o.source = w.value ->> 1 AND o.target = w.value ->> 2
            AND o.type = w.value ->> 3
        ORDER BY o.weight DESC, o.place
        FETCH FIRST (:limit::bigint) ROWS WITH TIES
    ) AS c
), '[]')::text
FROM jsonb_array_elements(:claims::jsonb) AS w(value);

-- name: bucket_support
-- As `pair_support`, for pairs of keys that are entities.
SELECT p.value ->> 0, p.value ->> 1, p.value ->> 2, support.chunks, given.weight
FROM jsonb_array_elements(:pairs::jsonb) AS p(value)
CROSS JOIN LATERAL (
    SELECT count(*) AS chunks FROM (
        SELECT 1 FROM weft.claim AS c
        WHERE c.namespace = :namespace AND c.source = p.value ->> 0 AND c.target = p.value ->> 1
            AND c.type = p.value ->> 2
            AND c.origin = (
                SELECT min(o.origin) FROM weft.claim AS o
                WHERE o.namespace = :namespace AND o.chunk = c.chunk AND o.source = c.source AND o.target = c.target
                    AND o.type = c.type
            )
        ORDER BY c.weight DESC, c.place, c.chunk
        LIMIT 256
    ) AS counted
) AS support
CROSS JOIN LATERAL (
    SELECT max(c.weight) AS weight FROM weft.claim AS c
    WHERE c.namespace = :namespace AND c.source = p.value ->> 0 AND c.target = p.value ->> 1
        AND c.type = p.value ->> 2 AND c.origin <> '*'
) AS given;

-- name: bucket_stated
SELECT DISTINCT c.source, c.target, c.type FROM weft.claim AS c
WHERE c.namespace = :namespace AND c.origin <> '*';

-- name: bucket_chunk_links
SELECT c.chunk, c.source, c.target, c.weight, c.description, c.extractor FROM weft.claim AS c
WHERE c.namespace = :namespace AND c.origin = '' AND c.target >= '!' AND c.target < '"'
    AND c.chunk = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:chunks::jsonb) AS k(value)));

-- name: bucket_raw_links
SELECT c.chunk, FALSE, c.target FROM weft.claim AS c
WHERE c.namespace = :namespace AND c.origin <> '*' AND c.origin = '' AND c.target >= '!' AND c.target < '"'
ORDER BY c.chunk;

-- name: bucket_resolved_links
SELECT DISTINCT c.chunk, TRUE, c.origin FROM weft.claim AS c
WHERE c.namespace = :namespace AND c.origin NOT IN ('', '*') AND c.origin >= '@' AND c.origin < 'A'
ORDER BY c.chunk;

-- name: mention_entities
SELECT m.entity, count(*) FROM weft.mention AS m WHERE m.namespace = :namespace GROUP BY m.entity;

-- name: mention_chunks
SELECT m.chunk, count(*) FROM weft.mention AS m WHERE m.namespace = :namespace GROUP BY m.chunk;

-- name: claim_sources
SELECT c.source, count(*) FROM weft.claim AS c WHERE c.namespace = :namespace GROUP BY c.source;

-- name: claim_chunks
SELECT c.chunk, count(*) FROM weft.claim AS c WHERE c.namespace = :namespace GROUP BY c.chunk;

-- name: relation_sources
SELECT r.source, count(*) FROM weft.relation AS r WHERE r.namespace = :namespace GROUP BY r.source;

-- name: relation_targets
SELECT r.target, count(*) FROM weft.relation AS r WHERE r.namespace = :namespace GROUP BY r.target;

-- name: take_mentions
-- Deletes rows that move to another bucket.
DELETE FROM weft.mention AS m
WHERE m.namespace = :namespace
    AND m.entity = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:keys::jsonb) AS k(value)))
RETURNING m.entity, m.chunk, m.count, m.about, m.place;

-- name: move_mention
-- A process of an older version may have written the row again while the migration was interrupted.
INSERT INTO weft.mention (namespace, entity, chunk, count, about, place)
VALUES (:namespace, :entity, :chunk, :count, :about, :place)
ON CONFLICT (namespace, chunk, entity) DO UPDATE SET
    count = excluded.count, about = excluded.about, place = excluded.place;

-- name: take_claims
DELETE FROM weft.claim AS c
WHERE c.namespace = :namespace
    AND c.source = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:keys::jsonb) AS k(value)))
RETURNING c.chunk, c.origin, c.source, c.target, c.type, c.weight, c.description, c.place, c.extractor;

-- name: take_relations
DELETE FROM weft.relation AS r
WHERE r.namespace = :namespace
    AND r.source = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:keys::jsonb) AS k(value)))
RETURNING r.source, r.target, r.type, r.weight, r.support, r.place;

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

-- name: document_of_chunk
-- Home: the id of the document of a chunk.
SELECT d.id FROM weft.chunk AS c JOIN weft.document AS d ON d.namespace = :namespace AND d.number = c.document
WHERE c.namespace = :namespace AND c.number = :chunk;

-- name: document_of_chunk_id
SELECT d.id FROM weft.chunk AS c JOIN weft.document AS d ON d.namespace = :namespace AND d.number = c.document
WHERE c.namespace = :namespace AND c.id = :id;

-- name: described_names
-- Home: names that chunks describe, and that may need a vector.
SELECT c.id, n.key, n.name, n.description, d.id, c.number
FROM weft.nomination AS n
JOIN weft.chunk AS c ON c.namespace = :namespace AND c.number = n.chunk
JOIN weft.document AS d ON d.namespace = :namespace AND d.number = c.document
WHERE n.namespace = :namespace AND n.vote = 2 AND n.description <> ''
ORDER BY c.id, n.key, n.rank, n.name, n.description;

-- name: described_keys
-- Home: keys that chunks describe, and whether their document does; else an import does.
SELECT DISTINCT n.chunk, n.key, n.origin = '' FROM weft.nomination AS n
WHERE n.namespace = :namespace AND n.description <> ''
    AND n.chunk = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:chunks::jsonb) AS k(value)));

-- name: embedded_names
-- Part: keys of chunks with a vector of an embedder.
SELECT v.chunk, v.key FROM weft.model AS m
JOIN weft.entity_vector AS v ON v.namespace = :namespace AND v.model = m.number
WHERE m.namespace = :namespace AND m.fingerprint = :fingerprint
    AND v.chunk = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:chunks::jsonb) AS k(value)));

-- name: name_vector_keys
-- Part: keys of chunks with a vector of any embedder.
SELECT DISTINCT v.chunk, v.key FROM weft.entity_vector AS v
WHERE v.namespace = :namespace
    AND v.chunk = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:chunks::jsonb) AS k(value)));

-- name: all_name_vectors
-- Part: all vectors of names, and whether they have another length than those of the embedder.
SELECT v.chunk, v.key, v.model, vector_dims(v.vector) <> m.dimension
FROM weft.model AS m JOIN weft.entity_vector AS v ON v.namespace = :namespace AND v.model = m.number
WHERE m.namespace = :namespace
ORDER BY v.chunk;

-- name: delete_name_vectors
-- Deletes the vectors of a name in a chunk.
DELETE FROM weft.entity_vector AS v WHERE v.namespace = :namespace AND v.chunk = :chunk AND v.key = :key;

-- name: delete_name_vector
DELETE FROM weft.entity_vector AS v
WHERE v.namespace = :namespace AND v.chunk = :chunk AND v.key = :key AND v.model = :model;

-- name: chunks_with_name_vectors
SELECT v.chunk, count(*) FROM weft.entity_vector AS v WHERE v.namespace = :namespace GROUP BY v.chunk ORDER BY v.chunk;

-- name: take_name_vectors
-- Home: deletes rows that move to the part of their document.
DELETE FROM weft.entity_vector AS v USING weft.chunk AS c, weft.document AS d
WHERE v.namespace = :namespace AND c.namespace = :namespace AND d.namespace = :namespace
    AND c.number = v.chunk AND d.number = c.document
    AND v.chunk = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:chunks::jsonb) AS k(value)))
RETURNING d.id, v.chunk, v.key, v.model, v.vector;
