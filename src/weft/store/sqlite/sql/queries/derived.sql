-- Rows that the read indexes are built from and verified with. Rows have numbers that are never reused. Vectors of
-- chunks and of entities belong to an embedder, terms of chunks to a namespace; both are called `scope`.

-- name: index_targets
-- Targets with enough rows for an index: kind, namespace, scope, dimension.
SELECT 'vectors', n.number, m.number, m.dimension FROM namespace AS n
CROSS JOIN model AS m ON m.namespace = n.number AND m.active
WHERE n.chunks >= :least
UNION ALL
SELECT 'keywords', number, number, 0 FROM namespace WHERE chunks >= :least
UNION ALL
SELECT 'entities', m.namespace, m.number, m.dimension FROM model AS m
WHERE m.active AND (SELECT seq FROM sqlite_sequence WHERE name = 'fact_vector') >= :least
    AND EXISTS (SELECT 1 FROM fact_vector WHERE model = m.number LIMIT 1 OFFSET :least - 1);

-- name: namespace_state
SELECT generation, chunks, length FROM namespace WHERE number = :namespace;

-- name: last_given_entity
-- Vectors of entities change without a new generation.
SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'fact_vector';

-- name: last_vectors
SELECT coalesce(max(number), 0) FROM chunk_vector WHERE model = :scope;

-- name: vector_chunks
-- Read from an index that covers both numbers.
SELECT number, chunk FROM chunk_vector WHERE model = :model;

-- name: vectors_after
-- The last number and, if `counted`, the number of vectors of a model; with them each vector after a number, and the id of
-- its chunk.
SELECT s.last, s.total, v.number, v.chunk, c.id, v.vector
FROM (
    SELECT (SELECT coalesce(max(number), 0) FROM chunk_vector WHERE model = :model) AS last,
        CASE WHEN :counted THEN (SELECT count(*) FROM chunk_vector WHERE model = :model) END AS total
) AS s LEFT JOIN chunk_vector AS v ON v.model = :model AND v.number > :after LEFT JOIN chunk AS c ON c.number = v.chunk
ORDER BY v.number;

-- name: last_entities
SELECT coalesce(max(number), 0) FROM fact_vector WHERE model = :scope;

-- name: last_keywords
SELECT coalesce(max(number), 0) FROM chunk_terms WHERE namespace = :scope;

-- name: given_numbers
-- Highest number ever used, by kind.
SELECT CASE name WHEN 'chunk_vector' THEN 'vectors' WHEN 'fact_vector' THEN 'entities' ELSE 'keywords' END, seq
FROM sqlite_sequence WHERE name IN ('chunk_vector', 'fact_vector', 'chunk_terms');

-- name: count_vectors_between
SELECT count(*) FROM chunk_vector WHERE model = :scope AND number > :low AND number <= :high;

-- name: count_entities_between
SELECT count(*) FROM fact_vector WHERE model = :scope AND number > :low AND number <= :high;

-- name: count_keywords_between
SELECT count(*) FROM chunk_terms WHERE namespace = :scope AND number > :low AND number <= :high;

-- name: vectors_between
SELECT v.number, v.vector, c.id FROM chunk_vector AS v CROSS JOIN chunk AS c ON c.number = v.chunk
WHERE v.model = :scope AND v.number > :low AND v.number <= :high
ORDER BY v.number LIMIT :limit;

-- name: entities_between
SELECT number, vector, key FROM fact_vector WHERE model = :scope AND number > :low AND number <= :high
ORDER BY number LIMIT :limit;

-- name: keywords_between
SELECT t.number, unpack_terms(c.terms, c.text), c.length, c.id FROM chunk_terms AS t CROSS JOIN chunk AS c ON c.number = t.chunk
WHERE t.namespace = :scope AND t.number > :low AND t.number <= :high
ORDER BY t.number LIMIT :limit;

-- name: keyword_numbers_between
SELECT number FROM chunk_terms WHERE namespace = :scope AND number > :low AND number <= :high;

-- name: vectors_at
SELECT v.number, v.model, v.vector FROM json_each(:numbers) AS k CROSS JOIN chunk_vector AS v ON v.number = k.value;

-- name: entities_at
SELECT v.number, v.model, v.vector FROM json_each(:numbers) AS k CROSS JOIN fact_vector AS v ON v.number = k.value;

-- name: keywords_at
SELECT t.number, t.namespace, unpack_terms(c.terms, c.text) FROM json_each(:numbers) AS k
CROSS JOIN chunk_terms AS t ON t.number = k.value CROSS JOIN chunk AS c ON c.number = t.chunk;

-- name: sample_numbered_vectors
SELECT vector FROM chunk_vector WHERE model = :model AND number % :every = 0 LIMIT :limit;

-- name: sample_entity_vectors
SELECT vector FROM fact_vector WHERE model = :model AND number % :every = 0 LIMIT :limit;

-- name: sample_terms
SELECT unpack_terms(c.terms, c.text) FROM chunk_terms AS t CROSS JOIN chunk AS c ON c.number = t.chunk
WHERE t.namespace = :namespace AND t.number % :every = 0 LIMIT :limit;

-- name: vectors_to_score
-- Numbers that still exist; the index has the ids of their chunks.
SELECT v.number, v.vector FROM json_each(:numbers) AS k
CROSS JOIN chunk_vector AS v ON v.number = k.value AND v.model = :model;

-- name: score_entities
SELECT v.number, 1.0 - vec_distance_cosine(v.vector, :vector), v.key FROM json_each(:numbers) AS k
CROSS JOIN fact_vector AS v ON v.number = k.value AND v.model = :model;

-- name: gone_terms
-- Numbers that no longer exist.
SELECT k.value FROM json_each(:numbers) AS k
WHERE NOT EXISTS (SELECT 1 FROM chunk_terms AS t WHERE t.number = k.value AND t.namespace = :namespace);

-- name: terms_of_chunks
SELECT t.number FROM json_each(:numbers) AS k
CROSS JOIN chunk_terms AS t ON t.chunk = k.value AND t.namespace = :namespace;
