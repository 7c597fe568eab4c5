-- Consistency of facts.

-- name: all_facts
SELECT f.id, f.subject, f.predicate, f.object, f.value, f.content, f.confidence, f.status, f.created, f.valid_from,
    f.valid_to, f.accessed, f.accesses, f.supersedes
FROM weft.fact AS f WHERE f.namespace = :namespace ORDER BY f.id;

-- name: all_fact_entities
SELECT e.key, e.declared FROM weft.fact_entity AS e WHERE e.namespace = :namespace ORDER BY e.key;

-- name: all_fact_words
SELECT w.key, w.word, w.size FROM weft.fact_word AS w WHERE w.namespace = :namespace;

-- name: delete_all_fact_words
DELETE FROM weft.fact_word AS w WHERE w.namespace = :namespace;

-- name: strange_fact_events
SELECT DISTINCT e.fact FROM weft.fact_event AS e
WHERE e.namespace = :namespace
    AND NOT EXISTS (SELECT 1 FROM weft.fact AS f WHERE f.namespace = :namespace AND f.id = e.fact)
ORDER BY e.fact;

-- name: facts_without_history
SELECT f.id, f.created, CASE
    WHEN f.status = 'staged' OR EXISTS (
        SELECT 1 FROM weft.fact_event AS e WHERE e.namespace = :namespace AND e.fact = f.id AND e.action = f.status
    )
    THEN '' ELSE f.status END
FROM weft.fact AS f
WHERE f.namespace = :namespace AND NOT EXISTS (
    SELECT 1 FROM weft.fact_event AS e WHERE e.namespace = :namespace AND e.fact = f.id AND e.action = 'added'
)
ORDER BY f.id;

-- name: write_first_fact_event
INSERT INTO weft.fact_event (namespace, fact, place, at, action, detail, other)
SELECT n.namespace, :fact::text, coalesce(min(e.place) - 1, 1), :at::bigint, :action::text, :detail::text, :other::text
FROM weft.namespace AS n LEFT JOIN weft.fact_event AS e ON e.namespace = :namespace AND e.fact = :fact
WHERE n.namespace = :namespace
GROUP BY n.namespace;

-- name: stray_fact_references
SELECT f.supersedes FROM weft.fact AS f
WHERE f.namespace = :namespace AND f.supersedes <> ''
    AND NOT EXISTS (SELECT 1 FROM weft.fact AS g WHERE g.namespace = :namespace AND g.id = f.supersedes)
UNION
SELECT e.other FROM weft.fact_event AS e
WHERE e.namespace = :namespace AND e.other <> ''
    AND NOT EXISTS (SELECT 1 FROM weft.fact AS g WHERE g.namespace = :namespace AND g.id = e.other);

-- name: stray_fact_origins
SELECT o.fact, o.document FROM weft.fact_origin AS o
WHERE o.namespace = :namespace AND (
    NOT EXISTS (SELECT 1 FROM weft.fact AS f WHERE f.namespace = :namespace AND f.id = o.fact)
    OR (o.document <> '' AND NOT EXISTS (
        SELECT 1 FROM weft.document AS d WHERE d.namespace = :namespace AND d.id = o.document
    ))
    OR (o.document = '' AND NOT EXISTS (
        SELECT 1 FROM weft.fact_origin AS other
        WHERE other.namespace = :namespace AND other.fact = o.fact AND other.document <> ''
    ))
)
ORDER BY o.fact, o.document;

-- name: fact_vectors_of
-- Vectors have no sketch here: the vector index preselects candidates.
SELECT v.model, v.key, NULL::bytea, v.vector, m.dimension, e.key IS NOT NULL
FROM weft.fact_vector AS v JOIN weft.model AS m ON m.namespace = :namespace AND m.number = v.model
LEFT JOIN weft.fact_entity AS e ON e.namespace = :namespace AND e.key = v.key
WHERE v.namespace = :namespace
ORDER BY v.model, v.key;

-- name: delete_fact_vector
DELETE FROM weft.fact_vector AS v WHERE v.namespace = :namespace AND v.model = :model AND v.key = :key;

-- name: set_fact_content
UPDATE weft.fact AS f SET content = :content WHERE f.namespace = :namespace AND f.id = :id;

-- name: set_fact_accesses
UPDATE weft.fact AS f SET accesses = :accesses, accessed = :accessed WHERE f.namespace = :namespace AND f.id = :id;

-- name: fact_text_vectors_of
SELECT v.model, f.id, NULL::bytea, v.vector, m.dimension, TRUE
FROM weft.fact_text_vector AS v JOIN weft.model AS m ON m.namespace = :namespace AND m.number = v.model
JOIN weft.fact AS f ON f.namespace = :namespace AND f.number = v.fact
WHERE v.namespace = :namespace
ORDER BY v.model, f.id;
