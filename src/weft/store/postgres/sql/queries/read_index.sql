-- Log of changed chunks, and the rows that read indexes beside a serving process are filled from.

-- name: write_change
INSERT INTO weft.change (namespace, generation, since, stamp, chunks)
VALUES (:namespace, :generation, :since, :stamp, :chunks::bigint[]);

-- name: drop_changes
DELETE FROM weft.change WHERE namespace = :namespace AND generation <= :last;

-- name: changes_since
-- The write that an index knows, and all later ones.
SELECT generation, since, stamp, chunks FROM weft.change
WHERE namespace = :namespace AND generation >= :generation
ORDER BY generation
LIMIT :limit;

-- name: indexed_terms
SELECT number, terms::text, length, id FROM weft.chunk WHERE namespace = :namespace ORDER BY number;

-- name: indexed_terms_at
SELECT c.number, c.terms::text, c.length, c.id FROM weft.chunk AS c
WHERE c.namespace = :namespace AND c.number = ANY (:numbers::bigint[])
ORDER BY c.number;

-- name: indexed_vectors
-- The vector in the binary format of pgvector: four bytes of header, then big-endian float32.
SELECT chunk, vector_send(vector) FROM weft.chunk_vector WHERE namespace = :namespace AND model = :model ORDER BY chunk;

-- name: indexed_vectors_at
SELECT v.chunk, vector_send(v.vector) FROM weft.chunk_vector AS v
WHERE v.namespace = :namespace AND v.model = :model AND v.chunk = ANY (:numbers::bigint[])
ORDER BY v.chunk;
