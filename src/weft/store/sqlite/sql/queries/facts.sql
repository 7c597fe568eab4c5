-- Facts and their entities.

-- name: write_fact_event
INSERT INTO fact_event (namespace, fact, place, at, action, detail, other)
SELECT :namespace, :fact, 1 + coalesce(max(place), 0), :at, :action, :detail, :other FROM fact_event
WHERE namespace = :namespace AND fact = :fact;

-- part: valid_facts(columns, end, key, limit)
-- Facts of highest confidence valid at a time: open-ended ones, and those that have ended since. An index has each in order.
SELECT * FROM (
    SELECT {columns} FROM fact
    WHERE namespace = :namespace AND {end} = {key} AND {end} <> ''
        AND valid_to IS NULL AND status IN ('staged', 'confirmed') AND coalesce(valid_from, created) <= :at
    ORDER BY confidence DESC, created DESC, id
    LIMIT {limit}
)
UNION ALL
SELECT * FROM (
    SELECT {columns} FROM fact
    WHERE namespace = :namespace AND {end} = {key} AND {end} <> '' AND valid_to IS NOT NULL AND status <> 'rejected'
        AND valid_to > :at AND coalesce(valid_from, created) <= :at
    ORDER BY confidence DESC, created DESC, id
    LIMIT {limit}
)

-- part: facts_with(end)
SELECT {fact_columns()}
FROM json_each(:keys) AS k CROSS JOIN fact AS f
JOIN fact_entity AS s ON s.namespace = :namespace AND s.key = f.subject
LEFT JOIN fact_entity AS o ON o.namespace = :namespace AND o.key = f.object AND f.object <> ''
WHERE f.number IN ({valid_facts(number, {end}, k.value, :limit)})

-- name: facts_about
-- Facts of highest confidence valid at a time, for each of many subjects.
{facts_with(subject)};

-- name: facts_leading_to
-- The same for each of many objects.
{facts_with(object)};

-- name: delete_fact_vectors
DELETE FROM fact_vector
WHERE model IN (SELECT number FROM model WHERE namespace = :namespace) AND key IN (SELECT value FROM json_each(:keys));

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

-- name: write_fact_vector
-- A changed vector gets a new number; an unchanged one keeps its number.
INSERT OR REPLACE INTO fact_vector (model, key, sketch, vector)
SELECT :model, key, :sketch, :vector FROM fact_entity
WHERE namespace = :namespace AND key = :key
    AND NOT EXISTS (SELECT 1 FROM fact_vector WHERE model = :model AND key = :key AND vector = :vector);

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

-- name: write_fact_text_vector
INSERT OR REPLACE INTO fact_text_vector (model, fact, sketch, vector)
SELECT :model, number, :sketch, :vector FROM fact WHERE namespace = :namespace AND id = :key;

-- name: delete_fact_text_vectors
DELETE FROM fact_text_vector WHERE fact IN (
    SELECT f.number FROM json_each(:ids) AS k CROSS JOIN fact AS f ON f.namespace = :namespace AND f.id = k.value
);
