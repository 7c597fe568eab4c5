-- Facts and their entities.

-- name: write_fact_event
INSERT INTO weft.fact_event (namespace, fact, place, at, action, detail, other)
SELECT n.namespace, :fact::text, 1 + coalesce(max(e.place), 0), :at::bigint, :action::text, :detail::text, :other::text
FROM weft.namespace AS n LEFT JOIN weft.fact_event AS e ON e.namespace = :namespace AND e.fact = :fact
WHERE n.namespace = :namespace
GROUP BY n.namespace;

-- part: valid_facts(columns, end, key, limit)
-- Facts of highest confidence valid at a time: open-ended ones, and those that have ended since. An index has each in order.
(
    SELECT {columns} FROM weft.fact AS g
    WHERE g.namespace = :namespace AND g.{end} = {key} AND g.{end} <> ''
        AND g.valid_to IS NULL AND g.status IN ('staged', 'confirmed') AND coalesce(g.valid_from, g.created) <= :at::bigint
    ORDER BY g.confidence DESC, g.created DESC, g.id
    LIMIT {limit}::bigint
)
UNION ALL
(
    SELECT {columns} FROM weft.fact AS g
    WHERE g.namespace = :namespace AND g.{end} = {key} AND g.{end} <> '' AND g.valid_to IS NOT NULL
        AND g.status <> 'rejected' AND g.valid_to > :at::bigint AND coalesce(g.valid_from, g.created) <= :at::bigint
    ORDER BY g.confidence DESC, g.created DESC, g.id
    LIMIT {limit}::bigint
)

-- part: facts_with(end)
-- LIMIT 1 keeps the planner from joining a few facts with all names.
SELECT {fact_columns()}
FROM texts(:keys) AS k
CROSS JOIN LATERAL ({valid_facts(g.*, {end}, k.value, :limit)}) AS f
CROSS JOIN LATERAL (
    SELECT e.name FROM weft.fact_entity AS e WHERE e.namespace = :namespace AND e.key = f.subject LIMIT 1
) AS s
LEFT JOIN LATERAL (
    SELECT e.name FROM weft.fact_entity AS e WHERE e.namespace = :namespace AND e.key = f.object AND f.object <> '' LIMIT 1
) AS o ON TRUE

-- name: facts_about
-- Facts of highest confidence valid at a time, for each of many subjects.
{facts_with(subject)};

-- name: facts_leading_to
-- The same for each of many objects.
{facts_with(object)};

-- name: delete_fact_vectors
-- The embedders are listed so that the primary key finds the rows.
DELETE FROM weft.fact_vector AS v
WHERE v.namespace = :namespace
    AND v.model = ANY (ARRAY(SELECT m.number FROM weft.model AS m WHERE m.namespace = :namespace))
    AND v.key IN texts(:keys);

-- name: search_fact_words
SELECT w.key, count(*) FROM weft.fact_word AS w
WHERE w.namespace = :namespace AND w.word IN texts(:words)
GROUP BY w.key
ORDER BY count(*) DESC, min(w.size), w.key
LIMIT :limit::bigint;

-- name: write_fact_vector
INSERT INTO weft.fact_vector (namespace, model, key, vector)
SELECT e.namespace, :model::bigint, e.key, :vector::vector FROM weft.fact_entity AS e
WHERE e.namespace = :namespace AND e.key = :key
ON CONFLICT (namespace, model, key) DO UPDATE SET vector = excluded.vector;

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

-- name: write_fact_text_vector
INSERT INTO weft.fact_text_vector (namespace, model, fact, vector)
SELECT f.namespace, :model::bigint, f.number, :vector::vector FROM weft.fact AS f
WHERE f.namespace = :namespace AND f.id = :key
ON CONFLICT (namespace, model, fact) DO UPDATE SET vector = excluded.vector;

-- name: delete_fact_text_vectors
DELETE FROM weft.fact_text_vector AS v
WHERE v.namespace = :namespace AND v.fact = ANY (ARRAY(
    SELECT f.number FROM weft.fact AS f
    WHERE f.namespace = :namespace AND f.id IN texts(:ids)
));
