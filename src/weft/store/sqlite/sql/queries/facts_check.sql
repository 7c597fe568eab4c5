-- Consistency of facts.

-- name: all_facts
SELECT id, subject, predicate, object, value, content, confidence, status, created, valid_from, valid_to, accessed,
    accesses, supersedes
FROM fact WHERE namespace = :namespace ORDER BY id;

-- name: all_fact_entities
SELECT key, declared FROM fact_entity WHERE namespace = :namespace ORDER BY key;

-- name: all_fact_words
SELECT key, word, size FROM fact_word WHERE namespace = :namespace;

-- name: delete_all_fact_words
DELETE FROM fact_word WHERE namespace = :namespace;

-- name: strange_fact_events
SELECT DISTINCT e.fact FROM fact_event AS e
WHERE e.namespace = :namespace AND NOT EXISTS (SELECT 1 FROM fact WHERE namespace = :namespace AND id = e.fact)
ORDER BY e.fact;

-- name: facts_without_history
SELECT f.id, f.created, CASE
    WHEN f.status = 'staged' OR f.status IN (SELECT action FROM fact_event WHERE namespace = :namespace AND fact = f.id)
    THEN '' ELSE f.status END
FROM fact AS f
WHERE f.namespace = :namespace
    AND NOT EXISTS (SELECT 1 FROM fact_event WHERE namespace = :namespace AND fact = f.id AND action = 'added')
ORDER BY f.id;

-- name: write_first_fact_event
INSERT INTO fact_event (namespace, fact, place, at, action, detail, other)
SELECT :namespace, :fact, coalesce(min(place) - 1, 1), :at, :action, :detail, :other FROM fact_event
WHERE namespace = :namespace AND fact = :fact;

-- name: stray_fact_references
SELECT f.supersedes FROM fact AS f
WHERE f.namespace = :namespace AND f.supersedes <> ''
    AND NOT EXISTS (SELECT 1 FROM fact WHERE namespace = :namespace AND id = f.supersedes)
UNION
SELECT e.other FROM fact_event AS e
WHERE e.namespace = :namespace AND e.other <> ''
    AND NOT EXISTS (SELECT 1 FROM fact WHERE namespace = :namespace AND id = e.other);

-- name: stray_fact_origins
SELECT o.fact, o.document FROM fact_origin AS o
WHERE o.namespace = :namespace AND (
    NOT EXISTS (SELECT 1 FROM fact WHERE namespace = :namespace AND id = o.fact)
    OR (o.document <> '' AND NOT EXISTS (SELECT 1 FROM document WHERE namespace = :namespace AND id = o.document))
    OR (o.document = '' AND NOT EXISTS (
        SELECT 1 FROM fact_origin AS other
        WHERE other.namespace = :namespace AND other.fact = o.fact AND other.document <> ''
    ))
)
ORDER BY o.fact, o.document;

-- name: fact_vectors_of
SELECT v.model, v.key, v.sketch, v.vector, m.dimension, e.key IS NOT NULL
FROM fact_vector AS v JOIN model AS m ON m.number = v.model
LEFT JOIN fact_entity AS e ON e.namespace = m.namespace AND e.key = v.key
WHERE m.namespace = :namespace
ORDER BY v.model, v.key;

-- name: delete_fact_vector
DELETE FROM fact_vector WHERE model = :model AND key = :key;

-- name: set_fact_content
UPDATE fact SET content = :content WHERE namespace = :namespace AND id = :id;

-- name: set_fact_accesses
UPDATE fact SET accesses = :accesses, accessed = :accessed WHERE namespace = :namespace AND id = :id;

-- name: delete_lost_fact_vector
DELETE FROM fact_vector WHERE model NOT IN (SELECT number FROM model);

-- name: delete_lost_fact
DELETE FROM fact WHERE namespace NOT IN (SELECT number FROM namespace);

-- name: delete_lost_fact_event
DELETE FROM fact_event WHERE namespace NOT IN (SELECT number FROM namespace);

-- name: delete_lost_fact_entity
DELETE FROM fact_entity WHERE namespace NOT IN (SELECT number FROM namespace);

-- name: delete_lost_fact_word
DELETE FROM fact_word WHERE namespace NOT IN (SELECT number FROM namespace);

-- name: delete_lost_fact_origin
DELETE FROM fact_origin WHERE namespace NOT IN (SELECT number FROM namespace);

-- name: fact_text_vectors_of
SELECT v.model, f.id, v.sketch, v.vector, m.dimension, f.namespace = m.namespace
FROM fact_text_vector AS v JOIN model AS m ON m.number = v.model
JOIN fact AS f ON f.number = v.fact
WHERE m.namespace = :namespace
ORDER BY v.model, f.id;

-- name: delete_lost_fact_text_vector
DELETE FROM fact_text_vector WHERE model NOT IN (SELECT number FROM model) OR fact NOT IN (SELECT number FROM fact);
