-- Consistency of facts.

-- name: write_first_fact_event
INSERT INTO fact_event (namespace, fact, place, at, action, detail, other)
SELECT :namespace, :fact, coalesce(min(place) - 1, 1), :at, :action, :detail, :other FROM fact_event
WHERE namespace = :namespace AND fact = :fact;

-- name: fact_vectors_of
SELECT v.model, v.key, v.sketch, v.vector, m.dimension, e.key IS NOT NULL
FROM fact_vector AS v JOIN model AS m ON m.number = v.model
LEFT JOIN fact_entity AS e ON e.namespace = m.namespace AND e.key = v.key
WHERE m.namespace = :namespace
ORDER BY v.model, v.key;

-- name: fact_text_vectors_of
SELECT v.model, f.id, v.sketch, v.vector, m.dimension, f.namespace = m.namespace
FROM fact_text_vector AS v JOIN model AS m ON m.number = v.model
JOIN fact AS f ON f.number = v.fact
WHERE m.namespace = :namespace
ORDER BY v.model, f.id;
