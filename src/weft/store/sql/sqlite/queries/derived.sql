-- What read indexes beside the file are made from and compared with. A vector goes by its number.

-- name: indexed_models
-- The embedders of namespaces that are large enough.
SELECT n.number, m.number, m.dimension FROM namespace AS n
CROSS JOIN model AS m ON m.namespace = n.number AND m.active
WHERE n.chunks >= :least;

-- name: namespace_state
SELECT generation, chunks FROM namespace WHERE number = :namespace;

-- name: last_vector
SELECT coalesce(max(number), 0) FROM chunk_vector WHERE model = :model;

-- name: count_vectors_between
SELECT count(*) FROM chunk_vector WHERE model = :model AND number > :low AND number <= :high;

-- name: vectors_between
SELECT number, vector FROM chunk_vector WHERE model = :model AND number > :low AND number <= :high
ORDER BY number LIMIT :limit;

-- name: vectors_at
SELECT v.number, v.model, v.vector FROM json_each(:numbers) AS k CROSS JOIN chunk_vector AS v ON v.number = k.value;

-- name: sample_numbered_vectors
SELECT vector FROM chunk_vector WHERE model = :model AND number % :every = 0 LIMIT :limit;

-- name: search_numbered_vectors
-- Those an index found, without what is gone, and all that are newer than the index.
WITH found AS MATERIALIZED (
    SELECT v.chunk AS number, 1.0 - vec_distance_cosine(v.vector, :vector) AS score
    FROM json_each(:numbers) AS k CROSS JOIN chunk_vector AS v ON v.number = k.value AND v.model = :model
), near AS MATERIALIZED (
    SELECT number, score FROM found
    UNION ALL
    SELECT chunk, 1.0 - vec_distance_cosine(vector, :vector) FROM chunk_vector WHERE model = :model AND number > :high
), least (score) AS (
    SELECT score FROM near ORDER BY score DESC LIMIT 1 OFFSET :limit - 1
)
SELECT c.id, near.score, (SELECT count(*) FROM found), (SELECT count(*) FROM near)
FROM near JOIN chunk AS c ON c.number = near.number
WHERE c.namespace = :namespace AND near.score >= coalesce((SELECT score FROM least), -2)
ORDER BY near.score DESC, c.id
LIMIT :limit;

-- name: search_vectors_of_chunks
-- Some chunks of a large namespace, looked up one by one.
SELECT c.id, 1.0 - vec_distance_cosine(v.vector, :vector) AS score
FROM json_each(:numbers) AS k
CROSS JOIN chunk_vector AS v ON v.model = :model AND v.chunk = k.value
JOIN chunk AS c ON c.number = v.chunk
WHERE c.namespace = :namespace
ORDER BY score DESC, c.id
LIMIT :limit;
