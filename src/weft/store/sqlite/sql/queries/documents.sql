-- Placeholders are SQLite's named style, :name. `namespace` is the number of the namespace. Every statement on user
-- data is bound to it, directly or through a number that was looked up in it.

-- name: find_namespace
-- Counts, embedders, the calibration of the active one, whether a fact has an entity as its object and a chunk a time,
-- and the first and the last absolute source.
SELECT n.number, n.number, n.generation, n.chunks, n.length,
    (
        SELECT json_group_array(json_array(m.number, m.name, m.fingerprint, m.dimension, m.active)
            ORDER BY m.active DESC, m.fingerprint)
        FROM model AS m WHERE m.namespace = n.number
    ),
    (
        SELECT c.value FROM calibration AS c
        WHERE c.namespace = n.number AND c.model IS (SELECT number FROM model WHERE namespace = n.number AND active)
    ),
    EXISTS (SELECT 1 FROM fact WHERE namespace = n.number AND object <> ''),
    EXISTS (SELECT 1 FROM chunk WHERE namespace = n.number AND start_time IS NOT NULL),
    (SELECT source FROM document WHERE namespace = n.number AND source >= '/' AND source < '0' ORDER BY source LIMIT 1),
    (SELECT source FROM document WHERE namespace = n.number AND source >= '/' AND source < '0' ORDER BY source DESC LIMIT 1)
FROM namespace AS n
WHERE n.name = :name;

-- name: write_namespace
INSERT INTO namespace (name) VALUES (:name) ON CONFLICT (name) DO NOTHING;

-- name: touch_namespace
UPDATE namespace
SET generation = generation + 1, chunks = chunks + :chunks, length = length + :length
WHERE number = :namespace;

-- name: list_namespaces
SELECT name FROM namespace AS n
WHERE EXISTS (SELECT 1 FROM document WHERE namespace = n.number) OR EXISTS (SELECT 1 FROM fact WHERE namespace = n.number)
ORDER BY name;

-- name: all_namespaces
SELECT number, name, chunks, length FROM namespace ORDER BY number;

-- name: delete_namespace
DELETE FROM namespace WHERE name = :name;

-- name: draw_numbers
-- Numbers of new documents, then of new chunks.
WITH RECURSIVE counted (nth) AS (
    SELECT 1 UNION ALL SELECT nth + 1 FROM counted WHERE nth < :documents + :chunks
)
SELECT CASE WHEN nth <= :documents
    THEN nth + (SELECT coalesce(max(number), 0) FROM document)
    ELSE nth - :documents + (SELECT coalesce(max(number), 0) FROM chunk)
END FROM counted;

-- name: filter_chunks
SELECT c.number {chunks_of_filter()};

-- name: opening_chunks
-- CROSS: look up these parts, then the chunks of their documents
SELECT p.id, c.id, d.id, c.ordinal, c.heading, c.start_line, c.end_line, unpack_text(c.text), c.start_time, c.end_time
FROM chunk AS p
CROSS JOIN chunk AS c ON c.document = p.document AND c.ordinal = (
    SELECT max(o.ordinal) FROM chunk AS o
    WHERE o.document = p.document AND o.ordinal < p.ordinal AND o.heading = '[]'
)
CROSS JOIN document AS d ON d.number = c.document
WHERE p.namespace = :namespace AND p.id IN (SELECT value FROM json_each(:ids))
    AND p.start_time IS NOT NULL AND p.heading <> '[]';

-- name: count_terms
SELECT count(*) FROM term WHERE namespace = :namespace;

-- name: write_calibration
INSERT INTO calibration (namespace, model, value)
VALUES (:namespace, (SELECT number FROM model WHERE namespace = :namespace AND active), :value);

-- name: write_vector
-- A changed vector gets a new number; an unchanged one keeps its number.
INSERT OR REPLACE INTO chunk_vector (chunk, model, vector)
SELECT :chunk, :model, :vector
WHERE NOT EXISTS (SELECT 1 FROM chunk_vector WHERE model = :model AND chunk = :chunk AND vector = :vector);

-- name: write_vector_by_id
INSERT OR REPLACE INTO chunk_vector (chunk, model, vector)
SELECT c.number, :model, :vector FROM chunk AS c
WHERE c.namespace = :namespace AND c.id = :id
    AND NOT EXISTS (SELECT 1 FROM chunk_vector WHERE model = :model AND chunk = c.number AND vector = :vector);

-- name: all_vectors
SELECT chunk, vector FROM chunk_vector WHERE model = :model;

-- name: read_block
SELECT p.term, p.entries FROM json_each(:terms) AS k
CROSS JOIN posting AS p ON p.namespace = :namespace AND p.term = k.value AND p.block = :block;

-- name: number_terms
-- Changed terms get a new number.
INSERT OR REPLACE INTO chunk_terms (namespace, chunk)
SELECT namespace, number FROM chunk WHERE number = :chunk AND namespace = :namespace;

-- name: number_missing_terms
INSERT INTO chunk_terms (namespace, chunk)
SELECT namespace, number FROM chunk
WHERE namespace = :namespace AND number NOT IN (SELECT chunk FROM chunk_terms WHERE namespace = :namespace);

-- name: count_unnumbered_terms
SELECT count(*) FROM chunk
WHERE namespace = :namespace AND number NOT IN (SELECT chunk FROM chunk_terms WHERE namespace = :namespace);

-- name: add_term
INSERT INTO term (namespace, term, chunks) VALUES (:namespace, :term, :chunks)
ON CONFLICT (namespace, term) DO UPDATE SET chunks = chunks + excluded.chunks;

-- name: drop_term
DELETE FROM term WHERE namespace = :namespace AND term = :term AND chunks <= 0;

-- name: term_counts
SELECT t.term, t.chunks FROM json_each(:terms) AS k
CROSS JOIN term AS t ON t.namespace = :namespace AND t.term = k.value;

-- name: term_postings
SELECT k.value, p.block, p.entries FROM json_each(:terms) AS k
CROSS JOIN posting AS p ON p.namespace = :namespace AND p.term = k.value
ORDER BY k.key, p.block;

-- name: term_blocks
SELECT p.block, p.entries FROM json_each(:blocks) AS k
CROSS JOIN posting AS p ON p.namespace = :namespace AND p.term = :term AND p.block = k.value;

-- name: terms_among
-- Ids and numbers of chunks, and the blocks with these numbers of each term; a block has 4,096 numbers.
WITH wanted AS MATERIALIZED (
    SELECT id, number FROM chunk WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids))
)
SELECT w.id, w.number, NULL FROM wanted AS w
UNION ALL
SELECT p.term, p.block, p.entries
FROM json_each(:terms) AS t
CROSS JOIN (SELECT DISTINCT number / 4096 AS block FROM wanted) AS b
CROSS JOIN posting AS p ON p.namespace = :namespace AND p.term = t.value AND p.block = b.block;

-- Ordered, because a chunk is appended to the blocks of its terms and inserted before others at their length.
-- name: set_counts
UPDATE namespace SET chunks = :chunks, length = :length, generation = generation + 1 WHERE number = :namespace;

-- name: bad_vectors
SELECT count(*) FROM chunk_vector AS v JOIN model AS m ON m.number = v.model
WHERE m.namespace = :namespace AND length(v.vector) <> 2 * m.dimension;

-- name: delete_bad_vectors
DELETE FROM chunk_vector
WHERE EXISTS (
    SELECT 1 FROM model AS m
    WHERE m.number = chunk_vector.model AND m.namespace = :namespace
        AND length(chunk_vector.vector) <> 2 * m.dimension
);
