-- Facts and their entities.

-- name: write_fact_event
INSERT INTO weft.fact_event (namespace, fact, place, at, action, detail, other)
SELECT n.namespace, :fact::text, 1 + coalesce(max(e.place), 0), :at::bigint, :action::text, :detail::text, :other::text
FROM weft.namespace AS n LEFT JOIN weft.fact_event AS e ON e.namespace = :namespace AND e.fact = :fact
WHERE n.namespace = :namespace
GROUP BY n.namespace;

-- name: facts_by_id
SELECT f.id, f.subject, s.name, f.predicate, f.object, coalesce(o.name, f.value), f.confidence, f.source, f.status,
    f.created, f.valid_from, f.valid_to, f.accessed, f.accesses, f.supersedes, f.note, f.spelling
FROM weft.fact AS f
JOIN weft.fact_entity AS s ON s.namespace = :namespace AND s.key = f.subject
LEFT JOIN weft.fact_entity AS o ON o.namespace = :namespace AND o.key = f.object AND f.object <> ''
WHERE f.namespace = :namespace
    AND f.id = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value)));

-- name: fact_ids_by_content
SELECT f.id FROM weft.fact AS f
WHERE f.namespace = :namespace
    AND f.content = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:contents::jsonb) AS k(value)))
ORDER BY f.created, f.id;

-- name: fact_ids_by_predicate
SELECT f.id FROM weft.fact AS f
WHERE f.namespace = :namespace AND f.subject = :subject COLLATE "POSIX" AND f.predicate = :predicate
ORDER BY f.created, f.id;

-- name: facts_about
-- Facts of highest confidence valid at a time, for each of many subjects.
-- LIMIT 1 keeps the planner from joining a few facts with all names.
SELECT f.id, f.subject, s.name, f.predicate, f.object, coalesce(o.name, f.value), f.confidence, f.source, f.status,
    f.created, f.valid_from, f.valid_to, f.accessed, f.accesses, f.supersedes, f.note, f.spelling
FROM jsonb_array_elements_text(:keys::jsonb) AS k(value)
CROSS JOIN LATERAL (
    (
        SELECT g.* FROM weft.fact AS g
        WHERE g.namespace = :namespace AND g.subject = k.value
            AND g.valid_to IS NULL AND g.status IN ('staged', 'confirmed')
            AND coalesce(g.valid_from, g.created) <= :at::bigint
        ORDER BY g.confidence DESC, g.created DESC, g.id
        LIMIT :limit::bigint
    )
    UNION ALL
    (
        SELECT g.* FROM weft.fact AS g
        WHERE g.namespace = :namespace AND g.subject = k.value AND g.valid_to IS NOT NULL AND g.status <> 'rejected'
            AND g.valid_to > :at::bigint AND coalesce(g.valid_from, g.created) <= :at::bigint
        ORDER BY g.confidence DESC, g.created DESC, g.id
        LIMIT :limit::bigint
    )
) AS f
CROSS JOIN LATERAL (
    SELECT e.name FROM weft.fact_entity AS e WHERE e.namespace = :namespace AND e.key = f.subject LIMIT 1
) AS s
LEFT JOIN LATERAL (
    SELECT e.name FROM weft.fact_entity AS e WHERE e.namespace = :namespace AND e.key = f.object AND f.object <> '' LIMIT 1
) AS o ON TRUE;

-- name: facts_leading_to
-- The same for each of many objects.
SELECT f.id, f.subject, s.name, f.predicate, f.object, coalesce(o.name, f.value), f.confidence, f.source, f.status,
    f.created, f.valid_from, f.valid_to, f.accessed, f.accesses, f.supersedes, f.note, f.spelling
FROM jsonb_array_elements_text(:keys::jsonb) AS k(value)
CROSS JOIN LATERAL (
    (
        SELECT g.* FROM weft.fact AS g
        WHERE g.namespace = :namespace AND g.object = k.value AND g.object <> ''
            AND g.valid_to IS NULL AND g.status IN ('staged', 'confirmed')
            AND coalesce(g.valid_from, g.created) <= :at::bigint
        ORDER BY g.confidence DESC, g.created DESC, g.id
        LIMIT :limit::bigint
    )
    UNION ALL
    (
        SELECT g.* FROM weft.fact AS g
        WHERE g.namespace = :namespace AND g.object = k.value AND g.object <> ''
            AND g.valid_to IS NOT NULL AND g.status <> 'rejected'
            AND g.valid_to > :at::bigint AND coalesce(g.valid_from, g.created) <= :at::bigint
        ORDER BY g.confidence DESC, g.created DESC, g.id
        LIMIT :limit::bigint
    )
) AS f
CROSS JOIN LATERAL (
    SELECT e.name FROM weft.fact_entity AS e WHERE e.namespace = :namespace AND e.key = f.subject LIMIT 1
) AS s
LEFT JOIN LATERAL (
    SELECT e.name FROM weft.fact_entity AS e WHERE e.namespace = :namespace AND e.key = f.object LIMIT 1
) AS o ON TRUE;

-- name: fact_ids_after
SELECT f.id FROM weft.fact AS f WHERE f.namespace = :namespace AND f.id > :id ORDER BY f.id LIMIT :limit::bigint;

-- name: fact_ids_of_subject_after
SELECT f.id FROM weft.fact AS f
WHERE f.namespace = :namespace AND f.subject = :subject COLLATE "POSIX" AND f.id > :id
ORDER BY f.id
LIMIT :limit::bigint;

-- name: fact_history
SELECT e.fact, e.at, e.action, e.detail, e.other FROM weft.fact_event AS e
WHERE e.namespace = :namespace AND e.fact = :id
ORDER BY e.place;

-- name: fact_keys
SELECT DISTINCT e.key FROM weft.fact AS f
JOIN weft.fact_entity AS e ON e.namespace = :namespace AND e.key IN (f.subject, f.object)
WHERE f.namespace = :namespace
    AND f.id = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value)));

-- name: delete_facts
DELETE FROM weft.fact AS f
WHERE f.namespace = :namespace
    AND f.id = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value)));

-- name: delete_fact_events
DELETE FROM weft.fact_event AS e
WHERE e.namespace = :namespace
    AND e.fact = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value)));

-- name: forget_superseded
UPDATE weft.fact AS f SET supersedes = ''
WHERE f.namespace = :namespace AND f.supersedes <> ''
    AND f.supersedes = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value)));

-- name: forget_other
UPDATE weft.fact_event AS e SET other = ''
WHERE e.namespace = :namespace AND e.other <> ''
    AND e.other = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value)));

-- name: unneeded_fact_keys
SELECT k.value FROM jsonb_array_elements_text(:keys::jsonb) AS k(value)
WHERE NOT EXISTS (
        SELECT 1 FROM weft.fact AS f WHERE f.namespace = :namespace AND f.subject = k.value COLLATE "POSIX"
    )
    AND NOT EXISTS (
        SELECT 1 FROM weft.fact AS f
        WHERE f.namespace = :namespace AND f.object = k.value COLLATE "POSIX" AND f.object <> ''
    )
    AND (
        k.value IN (SELECT r.value FROM jsonb_array_elements_text(:released::jsonb) AS r(value))
        OR coalesce(
            (SELECT NOT e.declared FROM weft.fact_entity AS e WHERE e.namespace = :namespace AND e.key = k.value), TRUE
        )
    );

-- name: delete_fact_origins
DELETE FROM weft.fact_origin AS o
WHERE o.namespace = :namespace
    AND o.fact = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value)));

-- name: fact_origins
SELECT o.fact, o.document FROM weft.fact_origin AS o
WHERE o.namespace = :namespace
    AND o.fact = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value)))
ORDER BY o.fact, o.document;

-- name: facts_of_document
SELECT o.fact FROM weft.fact_origin AS o
WHERE o.namespace = :namespace AND o.document = :document AND o.document <> ''
ORDER BY o.fact;

-- name: keep_facts
-- Facts stated by hand are kept when the documents that state them too are deleted.
INSERT INTO weft.fact_origin (namespace, fact, document)
SELECT DISTINCT o.namespace, o.fact, '' FROM weft.fact_origin AS o
WHERE o.namespace = :namespace
    AND o.fact = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value)))
ON CONFLICT (namespace, fact, document) DO NOTHING;

-- name: delete_fact_origin
DELETE FROM weft.fact_origin AS o
WHERE o.namespace = :namespace AND o.document = :document
    AND o.fact = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value)));

-- name: delete_fact_entities
DELETE FROM weft.fact_entity AS e
WHERE e.namespace = :namespace
    AND e.key = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:keys::jsonb) AS k(value)));

-- name: delete_fact_words
DELETE FROM weft.fact_word AS w
WHERE w.namespace = :namespace
    AND w.key = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:keys::jsonb) AS k(value)));

-- name: delete_fact_vectors
-- The embedders are listed so that the primary key finds the rows.
DELETE FROM weft.fact_vector AS v
WHERE v.namespace = :namespace
    AND v.model = ANY (ARRAY(SELECT m.number FROM weft.model AS m WHERE m.namespace = :namespace))
    AND v.key = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:keys::jsonb) AS k(value)));

-- name: touch_facts
UPDATE weft.fact AS f
SET
    accesses = f.accesses + 1,
    accessed = CASE WHEN f.accessed BETWEEN :at::bigint AND :latest::bigint THEN f.accessed ELSE :at::bigint END
WHERE f.namespace = :namespace
    AND f.id = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value)));

-- name: fact_entities
SELECT e.key, e.name, e.description, e.type, e.declared FROM weft.fact_entity AS e
WHERE e.namespace = :namespace
    AND e.key = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:keys::jsonb) AS k(value)));

-- name: fact_entities_after
SELECT e.key, e.name, e.description, e.type, e.declared FROM weft.fact_entity AS e
WHERE e.namespace = :namespace AND e.key > :key
ORDER BY e.key
LIMIT :limit::bigint;

-- name: search_fact_words
SELECT w.key, count(*) FROM weft.fact_word AS w
WHERE w.namespace = :namespace
    AND w.word = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:words::jsonb) AS k(value)))
GROUP BY w.key
ORDER BY count(*) DESC, min(w.size), w.key
LIMIT :limit::bigint;

-- name: unembedded_fact_entities
SELECT e.key, e.name, e.description FROM weft.fact_entity AS e
WHERE e.namespace = :namespace AND NOT EXISTS (
    SELECT 1 FROM weft.fact_vector AS v
    WHERE v.namespace = :namespace AND v.key = e.key AND v.model = (
        SELECT m.number FROM weft.model AS m WHERE m.namespace = :namespace AND m.fingerprint = :fingerprint
    )
)
ORDER BY e.key
LIMIT :limit::bigint;

-- name: write_fact_vector
INSERT INTO weft.fact_vector (namespace, model, key, vector)
SELECT e.namespace, :model::bigint, e.key, :vector::vector FROM weft.fact_entity AS e
WHERE e.namespace = :namespace AND e.key = :key
ON CONFLICT (namespace, model, key) DO UPDATE SET vector = excluded.vector;

-- name: frequent_subjects
-- Reads every fact that was ever accessed; used for prefetching in the background.
SELECT f.subject FROM weft.fact AS f
WHERE f.namespace = :namespace AND f.accesses > 0 AND f.status IN ('staged', 'confirmed')
GROUP BY f.subject ORDER BY sum(f.accesses) DESC, f.subject
LIMIT :limit::bigint;

-- name: count_facts
SELECT (SELECT count(*) FROM weft.fact AS f WHERE f.namespace = :namespace),
    (SELECT count(*) FROM weft.fact_entity AS e WHERE e.namespace = :namespace);

-- name: search_fact_texts
SELECT f.id, 1 - (v.vector <=> :vector::vector) AS score
FROM weft.fact_text_vector AS v JOIN weft.fact AS f ON f.namespace = :namespace AND f.number = v.fact
WHERE v.namespace = :namespace AND v.model = :model AND coalesce(f.valid_from, f.created) <= :at::bigint
    AND ((f.valid_to IS NULL AND f.status IN ('staged', 'confirmed')) OR (f.valid_to > :at::bigint AND f.status <> 'rejected'))
ORDER BY score DESC, f.id
LIMIT :limit;

-- name: search_fact_texts_index
WITH near AS MATERIALIZED (
    SELECT v.fact, v.vector FROM weft.fact_text_vector AS v
    WHERE v.namespace = :namespace AND v.model = :model AND vector_dims(v.vector) = {dimension}
    ORDER BY v.vector::halfvec({dimension}) <=> :vector::vector::halfvec({dimension})
    LIMIT :looks
)
SELECT f.id, 1 - (near.vector <=> :vector::vector) AS score
FROM near JOIN weft.fact AS f ON f.namespace = :namespace AND f.number = near.fact
WHERE coalesce(f.valid_from, f.created) <= :at::bigint
    AND ((f.valid_to IS NULL AND f.status IN ('staged', 'confirmed')) OR (f.valid_to > :at::bigint AND f.status <> 'rejected'))
ORDER BY score DESC, f.id
LIMIT :limit;

-- name: fact_text_vectors
SELECT f.id, v.vector FROM weft.fact AS f
JOIN weft.fact_text_vector AS v ON v.namespace = :namespace AND v.model = :model AND v.fact = f.number
WHERE f.namespace = :namespace
    AND f.id = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value)));

-- name: unembedded_facts
SELECT f.id FROM weft.fact AS f
WHERE f.namespace = :namespace AND NOT EXISTS (
    SELECT 1 FROM weft.fact_text_vector AS v
    WHERE v.namespace = :namespace AND v.fact = f.number AND v.model = (
        SELECT m.number FROM weft.model AS m WHERE m.namespace = :namespace AND m.fingerprint = :fingerprint
    )
)
ORDER BY f.id
LIMIT :limit::bigint;

-- name: write_fact_text_vector
INSERT INTO weft.fact_text_vector (namespace, model, fact, vector)
SELECT f.namespace, :model::bigint, f.number, :vector::vector FROM weft.fact AS f
WHERE f.namespace = :namespace AND f.id = :id
ON CONFLICT (namespace, model, fact) DO UPDATE SET vector = excluded.vector;

-- name: delete_fact_text_vectors
DELETE FROM weft.fact_text_vector AS v
WHERE v.namespace = :namespace AND v.fact = ANY (ARRAY(
    SELECT f.number FROM weft.fact AS f
    WHERE f.namespace = :namespace
        AND f.id = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value)))
));
