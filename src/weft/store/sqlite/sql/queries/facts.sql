-- Facts and their entities.

-- name: write_fact_event
INSERT INTO fact_event (namespace, fact, place, at, action, detail, other)
SELECT :namespace, :fact, 1 + coalesce(max(place), 0), :at, :action, :detail, :other FROM fact_event
WHERE namespace = :namespace AND fact = :fact;

-- name: facts_by_id
SELECT f.id, f.subject, s.name, f.predicate, f.object, coalesce(o.name, f.value), f.confidence, f.source, f.status,
    f.created, f.valid_from, f.valid_to, f.accessed, f.accesses, f.supersedes, f.note, f.spelling
FROM json_each(:ids) AS k
CROSS JOIN fact AS f ON f.namespace = :namespace AND f.id = k.value
JOIN fact_entity AS s ON s.namespace = :namespace AND s.key = f.subject
LEFT JOIN fact_entity AS o ON o.namespace = :namespace AND o.key = f.object AND f.object <> '';

-- name: fact_ids_by_content
SELECT f.id FROM json_each(:contents) AS k CROSS JOIN fact AS f ON f.namespace = :namespace AND f.content = k.value
ORDER BY f.created, f.id;

-- name: fact_ids_by_predicate
SELECT id FROM fact WHERE namespace = :namespace AND subject = :subject AND predicate = :predicate
ORDER BY created, id;

-- name: facts_about
-- Facts of highest confidence valid at a time, for each of many subjects.
SELECT f.id, f.subject, s.name, f.predicate, f.object, coalesce(o.name, f.value), f.confidence, f.source, f.status,
    f.created, f.valid_from, f.valid_to, f.accessed, f.accesses, f.supersedes, f.note, f.spelling
FROM json_each(:keys) AS k CROSS JOIN fact AS f
JOIN fact_entity AS s ON s.namespace = :namespace AND s.key = f.subject
LEFT JOIN fact_entity AS o ON o.namespace = :namespace AND o.key = f.object AND f.object <> ''
WHERE f.number IN (
    SELECT number FROM (
        SELECT number FROM fact
        WHERE namespace = :namespace AND subject = k.value AND valid_to IS NULL AND status IN ('staged', 'confirmed')
            AND coalesce(valid_from, created) <= :at
        ORDER BY confidence DESC, created DESC, id
        LIMIT :limit
    )
    UNION ALL
    SELECT number FROM (
        SELECT number FROM fact
        WHERE namespace = :namespace AND subject = k.value AND valid_to IS NOT NULL AND status <> 'rejected'
            AND valid_to > :at AND coalesce(valid_from, created) <= :at
        ORDER BY confidence DESC, created DESC, id
        LIMIT :limit
    )
);

-- name: facts_leading_to
-- The same for each of many objects.
SELECT f.id, f.subject, s.name, f.predicate, f.object, coalesce(o.name, f.value), f.confidence, f.source, f.status,
    f.created, f.valid_from, f.valid_to, f.accessed, f.accesses, f.supersedes, f.note, f.spelling
FROM json_each(:keys) AS k CROSS JOIN fact AS f
JOIN fact_entity AS s ON s.namespace = :namespace AND s.key = f.subject
LEFT JOIN fact_entity AS o ON o.namespace = :namespace AND o.key = f.object
WHERE f.number IN (
    SELECT number FROM (
        SELECT number FROM fact
        WHERE namespace = :namespace AND object = k.value AND object <> ''
            AND valid_to IS NULL AND status IN ('staged', 'confirmed') AND coalesce(valid_from, created) <= :at
        ORDER BY confidence DESC, created DESC, id
        LIMIT :limit
    )
    UNION ALL
    SELECT number FROM (
        SELECT number FROM fact
        WHERE namespace = :namespace AND object = k.value AND object <> ''
            AND valid_to IS NOT NULL AND status <> 'rejected'
            AND valid_to > :at AND coalesce(valid_from, created) <= :at
        ORDER BY confidence DESC, created DESC, id
        LIMIT :limit
    )
);

-- name: fact_ids_after
SELECT id FROM fact WHERE namespace = :namespace AND id > :id ORDER BY id LIMIT :limit;

-- name: fact_ids_of_subject_after
SELECT id FROM fact WHERE namespace = :namespace AND subject = :subject AND id > :id ORDER BY id LIMIT :limit;

-- name: fact_history
SELECT fact, at, action, detail, other FROM fact_event WHERE namespace = :namespace AND fact = :id ORDER BY place;

-- name: fact_keys
SELECT DISTINCT e.key FROM json_each(:ids) AS k
CROSS JOIN fact AS f ON f.namespace = :namespace AND f.id = k.value
JOIN fact_entity AS e ON e.namespace = :namespace AND e.key IN (f.subject, f.object);

-- name: delete_facts
DELETE FROM fact WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids));

-- name: delete_fact_events
DELETE FROM fact_event WHERE namespace = :namespace AND fact IN (SELECT value FROM json_each(:ids));

-- name: forget_superseded
UPDATE fact SET supersedes = ''
WHERE namespace = :namespace AND supersedes <> '' AND supersedes IN (SELECT value FROM json_each(:ids));

-- name: forget_other
UPDATE fact_event SET other = ''
WHERE namespace = :namespace AND other <> '' AND other IN (SELECT value FROM json_each(:ids));

-- name: unneeded_fact_keys
SELECT k.value FROM json_each(:keys) AS k
WHERE NOT EXISTS (SELECT 1 FROM fact WHERE namespace = :namespace AND subject = k.value)
    AND NOT EXISTS (SELECT 1 FROM fact WHERE namespace = :namespace AND object = k.value AND object <> '')
    AND (
        k.value IN (SELECT value FROM json_each(:released))
        OR NOT EXISTS (SELECT 1 FROM fact_entity WHERE namespace = :namespace AND key = k.value AND declared)
    );

-- name: delete_fact_origins
DELETE FROM fact_origin WHERE namespace = :namespace AND fact IN (SELECT value FROM json_each(:ids));

-- name: fact_origins
SELECT o.fact, o.document FROM json_each(:ids) AS k
CROSS JOIN fact_origin AS o ON o.namespace = :namespace AND o.fact = k.value
ORDER BY o.fact, o.document;

-- name: facts_of_document
SELECT fact FROM fact_origin WHERE namespace = :namespace AND document = :document AND document <> '' ORDER BY fact;

-- name: keep_facts
-- Facts stated by hand are kept when the documents that state them too are deleted.
INSERT INTO fact_origin (namespace, fact, document)
SELECT DISTINCT :namespace, o.fact, '' FROM json_each(:ids) AS k
CROSS JOIN fact_origin AS o ON o.namespace = :namespace AND o.fact = k.value
WHERE TRUE
ON CONFLICT (namespace, fact, document) DO NOTHING;

-- name: delete_fact_origin
DELETE FROM fact_origin
WHERE namespace = :namespace AND document = :document AND fact IN (SELECT value FROM json_each(:ids));

-- name: delete_fact_entities
DELETE FROM fact_entity WHERE namespace = :namespace AND key IN (SELECT value FROM json_each(:keys));

-- name: delete_fact_words
DELETE FROM fact_word WHERE namespace = :namespace AND key IN (SELECT value FROM json_each(:keys));

-- name: delete_fact_vectors
DELETE FROM fact_vector
WHERE model IN (SELECT number FROM model WHERE namespace = :namespace) AND key IN (SELECT value FROM json_each(:keys));

-- name: touch_facts
UPDATE fact
SET accesses = accesses + 1, accessed = CASE WHEN accessed BETWEEN :at AND :latest THEN accessed ELSE :at END
WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids));

-- name: fact_entities
SELECT e.key, e.name, e.description, e.type, e.declared FROM json_each(:keys) AS k
CROSS JOIN fact_entity AS e ON e.namespace = :namespace AND e.key = k.value;

-- name: fact_entities_after
SELECT key, name, description, type, declared FROM fact_entity WHERE namespace = :namespace AND key > :key
ORDER BY key
LIMIT :limit;

-- name: search_fact_words
SELECT w.key, count(*) FROM json_each(:words) AS k
CROSS JOIN fact_word AS w ON w.namespace = :namespace AND w.word = k.value
GROUP BY w.key
ORDER BY count(*) DESC, min(w.size), w.key
LIMIT :limit;

-- name: search_fact_vectors
-- Sketches preselect candidates; their vectors decide.
WITH near AS MATERIALIZED (
    SELECT number FROM fact_vector INDEXED BY fact_vector_sketch WHERE model = :model
    ORDER BY vec_distance_hamming(vec_bit(sketch), vec_bit(:sketch))
    LIMIT :looks
)
SELECT v.key, 1.0 - vec_distance_cosine(v.vector, :vector) AS score
FROM near CROSS JOIN fact_vector AS v ON v.number = near.number
ORDER BY score DESC, v.key
LIMIT :limit;

-- name: all_fact_vectors
SELECT key, vector FROM fact_vector WHERE model = :model;

-- name: unembedded_fact_entities
SELECT e.key, e.name, e.description FROM fact_entity AS e
WHERE e.namespace = :namespace AND NOT EXISTS (
    SELECT 1 FROM fact_vector AS v JOIN model AS m ON m.number = v.model
    WHERE v.key = e.key AND m.namespace = :namespace AND m.fingerprint = :fingerprint
)
ORDER BY e.key
LIMIT :limit;

-- name: write_fact_vector
-- A changed vector gets a new number; an unchanged one keeps its number.
INSERT OR REPLACE INTO fact_vector (model, key, sketch, vector)
SELECT :model, key, :sketch, :vector FROM fact_entity
WHERE namespace = :namespace AND key = :key
    AND NOT EXISTS (SELECT 1 FROM fact_vector WHERE model = :model AND key = :key AND vector = :vector);

-- name: frequent_subjects
-- Reads every fact that was ever accessed; used for prefetching in the background.
SELECT subject FROM fact WHERE namespace = :namespace AND accesses > 0 AND status IN ('staged', 'confirmed')
GROUP BY subject ORDER BY sum(accesses) DESC, subject
LIMIT :limit;

-- name: count_facts
SELECT (SELECT count(*) FROM fact WHERE namespace = :namespace),
    (SELECT count(*) FROM fact_entity WHERE namespace = :namespace);

-- name: search_fact_texts
-- Sketches preselect candidates; the vectors of those valid at a time decide.
WITH near AS MATERIALIZED (
    SELECT fact FROM fact_text_vector INDEXED BY fact_text_vector_sketch WHERE model = :model
    ORDER BY vec_distance_hamming(vec_bit(sketch), vec_bit(:sketch))
    LIMIT :looks
)
SELECT f.id, 1.0 - vec_distance_cosine(v.vector, :vector) AS score
FROM near CROSS JOIN fact_text_vector AS v ON v.model = :model AND v.fact = near.fact
JOIN fact AS f ON f.number = v.fact
WHERE coalesce(f.valid_from, f.created) <= :at
    AND ((f.valid_to IS NULL AND f.status IN ('staged', 'confirmed')) OR (f.valid_to > :at AND f.status <> 'rejected'))
ORDER BY score DESC, f.id
LIMIT :limit;

-- name: valid_fact_text_vectors
SELECT f.id, v.vector FROM fact_text_vector AS v JOIN fact AS f ON f.number = v.fact
WHERE v.model = :model AND coalesce(f.valid_from, f.created) <= :at
    AND ((f.valid_to IS NULL AND f.status IN ('staged', 'confirmed')) OR (f.valid_to > :at AND f.status <> 'rejected'));

-- name: fact_text_vectors
SELECT f.id, v.vector FROM json_each(:ids) AS k
CROSS JOIN fact AS f ON f.namespace = :namespace AND f.id = k.value
JOIN fact_text_vector AS v ON v.model = :model AND v.fact = f.number;

-- name: unembedded_facts
SELECT f.id FROM fact AS f
WHERE f.namespace = :namespace AND NOT EXISTS (
    SELECT 1 FROM fact_text_vector AS v JOIN model AS m ON m.number = v.model
    WHERE v.fact = f.number AND m.namespace = :namespace AND m.fingerprint = :fingerprint
)
ORDER BY f.id
LIMIT :limit;

-- name: write_fact_text_vector
INSERT OR REPLACE INTO fact_text_vector (model, fact, sketch, vector)
SELECT :model, number, :sketch, :vector FROM fact WHERE namespace = :namespace AND id = :id;

-- name: delete_fact_text_vectors
DELETE FROM fact_text_vector WHERE fact IN (
    SELECT f.number FROM json_each(:ids) AS k CROSS JOIN fact AS f ON f.namespace = :namespace AND f.id = k.value
);
