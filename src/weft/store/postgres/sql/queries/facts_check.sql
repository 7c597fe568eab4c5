-- Consistency of facts.

-- name: write_first_fact_event
INSERT INTO weft.fact_event (namespace, fact, place, at, action, detail, other)
SELECT n.namespace, :fact::text, coalesce(min(e.place) - 1, 1), :at::bigint, :action::text, :detail::text, :other::text
FROM weft.namespace AS n LEFT JOIN weft.fact_event AS e ON e.namespace = :namespace AND e.fact = :fact
WHERE n.namespace = :namespace
GROUP BY n.namespace;

-- name: fact_vectors_of
-- Vectors have no sketch here: the vector index preselects candidates.
SELECT v.model, v.key, NULL::bytea, v.vector, m.dimension, e.key IS NOT NULL
FROM weft.fact_vector AS v JOIN weft.model AS m ON m.namespace = :namespace AND m.number = v.model
LEFT JOIN weft.fact_entity AS e ON e.namespace = :namespace AND e.key = v.key
WHERE v.namespace = :namespace
ORDER BY v.model, v.key;

-- name: fact_text_vectors_of
SELECT v.model, f.id, NULL::bytea, v.vector, m.dimension, TRUE
FROM weft.fact_text_vector AS v JOIN weft.model AS m ON m.namespace = :namespace AND m.number = v.model
JOIN weft.fact AS f ON f.namespace = :namespace AND f.number = v.fact
WHERE v.namespace = :namespace
ORDER BY v.model, f.id;
