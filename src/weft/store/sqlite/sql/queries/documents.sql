-- Placeholders are SQLite's named style, :name. `namespace` is the number of the namespace. Every statement on user
-- data is bound to it, directly or through a number that was looked up in it.

-- name: find_namespace
-- Counts, embedders, the calibration of the active one, whether a fact has an entity as its object, and the first and the
-- last absolute source.
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

-- name: write_document
INSERT INTO document (number, namespace, id, source, title, metadata, content_hash, unit)
VALUES (:number, :namespace, :id, :source, :title, :metadata, :content_hash, :unit)
ON CONFLICT (namespace, id) DO UPDATE SET
    source = excluded.source, title = excluded.title, metadata = excluded.metadata,
    content_hash = excluded.content_hash, unit = excluded.unit;

-- name: draw_numbers
-- Numbers of new documents, then of new chunks.
WITH RECURSIVE counted (nth) AS (
    SELECT 1 UNION ALL SELECT nth + 1 FROM counted WHERE nth < :documents + :chunks
)
SELECT CASE WHEN nth <= :documents
    THEN nth + (SELECT coalesce(max(number), 0) FROM document)
    ELSE nth - :documents + (SELECT coalesce(max(number), 0) FROM chunk)
END FROM counted;

-- name: stored_documents
SELECT id, number FROM document WHERE namespace = :namespace
    AND id IN (SELECT value FROM json_each(:ids));

-- name: documents_by_id
SELECT d.id, d.source, d.title, d.metadata, d.content_hash, d.unit,
    (SELECT count(*) FROM chunk WHERE chunk.document = d.number)
FROM document AS d
WHERE d.namespace = :namespace AND d.id IN (SELECT value FROM json_each(:ids));

-- name: titles_by_chunk
SELECT c.id, d.id, d.source, d.title
FROM chunk AS c JOIN document AS d ON d.number = c.document
WHERE c.namespace = :namespace AND c.id IN (SELECT value FROM json_each(:ids));

-- name: source_range
-- The first and the last source.
SELECT (SELECT source FROM document WHERE namespace = :namespace ORDER BY source LIMIT 1),
    (SELECT source FROM document WHERE namespace = :namespace ORDER BY source DESC LIMIT 1);

-- name: find_documents
SELECT d.id, d.source, d.title, d.metadata, d.content_hash, d.unit,
    (SELECT count(*) FROM chunk WHERE chunk.document = d.number)
FROM document AS d
WHERE d.namespace = :namespace
    AND d.source > :after
    AND (:all_documents OR d.id IN (SELECT value FROM json_each(:documents)))
    AND substr(d.source, 1, length(:prefix)) = :prefix
    AND NOT EXISTS (
        SELECT 1 FROM json_each(:labels) AS wanted
        WHERE (wanted.value ->> 3 = 2) = EXISTS (
            SELECT 1 FROM label
            WHERE label.namespace = :namespace AND label.document = d.number
                AND label.key = wanted.value ->> 0 AND label.value IN (wanted.value ->> 1, wanted.value ->> 2)
        ) AND (wanted.value ->> 3 <> 1 OR EXISTS (
            SELECT 1 FROM label
            WHERE label.namespace = :namespace AND label.document = d.number AND label.key = wanted.value ->> 0
        ))
    )
    AND (:any_time OR d.number IN (
        SELECT t.document FROM chunk AS t
        WHERE t.namespace = :namespace AND t.start_time < :time_to AND t.end_time >= :time_from
    ))
ORDER BY d.source
LIMIT :limit;

-- name: filter_chunks
-- Named documents are found by their ids, without a scan of all.
WITH chosen AS (
    SELECT number, source FROM document WHERE :all_documents AND namespace = :namespace
    UNION ALL
    SELECT number, source FROM document
    WHERE NOT :all_documents AND namespace = :namespace AND id IN (SELECT value FROM json_each(:documents))
)
SELECT c.number FROM chosen AS d JOIN chunk AS c ON c.document = d.number
WHERE substr(d.source, 1, length(:prefix)) = :prefix
    AND NOT EXISTS (
        SELECT 1 FROM json_each(:labels) AS wanted
        WHERE (wanted.value ->> 3 = 2) = EXISTS (
            SELECT 1 FROM label
            WHERE label.namespace = :namespace AND label.document = d.number
                AND label.key = wanted.value ->> 0 AND label.value IN (wanted.value ->> 1, wanted.value ->> 2)
        ) AND (wanted.value ->> 3 <> 1 OR EXISTS (
            SELECT 1 FROM label
            WHERE label.namespace = :namespace AND label.document = d.number AND label.key = wanted.value ->> 0
        ))
    )
    AND (:any_time OR c.number IN (
        SELECT t.number FROM chunk AS t
        WHERE t.namespace = :namespace AND t.start_time < :time_to AND t.end_time >= :time_from
    ));

-- name: document_chunks
SELECT number, id, unpack_terms(terms, text), length FROM chunk WHERE namespace = :namespace AND document = :document;

-- name: write_chunk
INSERT INTO chunk (number, namespace, document, id, ordinal, heading, start_line, end_line, text, terms, length,
    start_time, end_time)
VALUES (:number, :namespace, :document, :id, :ordinal, :heading, :start_line, :end_line, pack_text(:text),
    :terms, :length, :start_time, :end_time);

-- name: move_chunk
UPDATE chunk
SET ordinal = :ordinal, heading = :heading, start_line = :start_line, end_line = :end_line,
    text = pack_text(:text), terms = :terms, length = :length, start_time = :start_time, end_time = :end_time
WHERE namespace = :namespace AND number = :number;

-- name: chunks_by_id
SELECT c.id, d.id, c.ordinal, c.heading, c.start_line, c.end_line, unpack_text(c.text), c.start_time, c.end_time
FROM chunk AS c JOIN document AS d ON d.number = c.document
WHERE c.namespace = :namespace AND c.id IN (SELECT value FROM json_each(:ids));

-- name: chunks_with_documents
-- Chunks, each followed by the columns of its document. The chunks of a document are counted once. Texts come packed.
WITH found AS MATERIALIZED (
    SELECT * FROM chunk WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids))
),
owner AS MATERIALIZED (
    SELECT d.*, (SELECT count(*) FROM chunk WHERE document = d.number) AS chunks
    FROM document AS d WHERE d.number IN (SELECT document FROM found)
)
SELECT c.id, d.id, c.ordinal, c.heading, c.start_line, c.end_line, c.text, c.start_time, c.end_time,
    d.source, d.title, d.metadata, d.content_hash, d.unit, d.chunks
FROM found AS c JOIN owner AS d ON d.number = c.document;

-- name: sample_chunks
SELECT c.id, d.id, c.ordinal, c.heading, c.start_line, c.end_line, unpack_text(c.text), c.start_time, c.end_time
FROM chunk AS c JOIN document AS d ON d.number = c.document
WHERE c.namespace = :namespace
ORDER BY c.id
LIMIT :limit;

-- name: chunks_by_document
SELECT c.id, d.id, c.ordinal, c.heading, c.start_line, c.end_line, unpack_text(c.text), c.start_time, c.end_time
FROM chunk AS c JOIN document AS d ON d.number = c.document
WHERE d.namespace = :namespace AND d.id = :id
ORDER BY c.ordinal;

-- name: latest_chunks
-- CROSS: walk chunk_by_time backwards until enough pass
SELECT c.id, d.id, c.ordinal, c.heading, c.start_line, c.end_line, unpack_text(c.text), c.start_time, c.end_time
FROM chunk AS c CROSS JOIN document AS d ON d.number = c.document
WHERE c.namespace = :namespace AND c.start_time IS NOT NULL
    AND (:any_time OR (c.start_time < :time_to AND c.end_time >= :time_from))
    AND (:all_documents OR d.id IN (SELECT value FROM json_each(:documents)))
    AND substr(d.source, 1, length(:prefix)) = :prefix
    AND NOT EXISTS (
        SELECT 1 FROM json_each(:labels) AS wanted
        WHERE (wanted.value ->> 3 = 2) = EXISTS (
            SELECT 1 FROM label
            WHERE label.namespace = :namespace AND label.document = d.number
                AND label.key = wanted.value ->> 0 AND label.value IN (wanted.value ->> 1, wanted.value ->> 2)
        ) AND (wanted.value ->> 3 <> 1 OR EXISTS (
            SELECT 1 FROM label
            WHERE label.namespace = :namespace AND label.document = d.number AND label.key = wanted.value ->> 0
        ))
    )
ORDER BY c.start_time DESC, c.id
LIMIT :limit;

-- name: answer_chunks
-- CROSS: look up these openings, then the chunk after each
SELECT o.id, c.id, d.id, c.ordinal, c.heading, c.start_line, c.end_line, unpack_text(c.text), c.start_time, c.end_time
FROM chunk AS o
CROSS JOIN chunk AS c ON c.document = o.document AND c.ordinal = o.ordinal + 1
CROSS JOIN document AS d ON d.number = c.document
WHERE o.namespace = :namespace AND o.id IN (SELECT value FROM json_each(:ids))
    AND o.start_time IS NOT NULL AND o.heading = '[]' AND c.heading <> '[]';

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

-- name: chunk_ids
SELECT c.number, c.id FROM json_each(:numbers) AS k
CROSS JOIN chunk AS c ON c.number = k.value AND c.namespace = :namespace; -- CROSS: look up these, not all

-- name: count_terms
SELECT count(*) FROM term WHERE namespace = :namespace;

-- name: write_model
INSERT INTO model (namespace, name, fingerprint, dimension, active)
VALUES (:namespace, :name, :fingerprint, :dimension, 0)
ON CONFLICT (namespace, fingerprint) DO UPDATE SET name = excluded.name
RETURNING number;

-- name: activate_model
UPDATE model SET active = 1 WHERE namespace = :namespace AND number = :model;

-- name: write_calibration
INSERT INTO calibration (namespace, model, value)
VALUES (:namespace, (SELECT number FROM model WHERE namespace = :namespace AND active), :value);

-- name: delete_other_calibration
DELETE FROM calibration WHERE namespace = :namespace AND model IS NOT :model;

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

-- name: find_unembedded
SELECT c.id FROM chunk AS c
WHERE c.namespace = :namespace AND NOT EXISTS (
    SELECT 1 FROM chunk_vector AS v JOIN model AS m ON m.number = v.model
    WHERE v.chunk = c.number AND m.namespace = :namespace AND m.fingerprint = :fingerprint
)
ORDER BY c.id
LIMIT :limit;

-- name: all_vectors
SELECT chunk, vector FROM chunk_vector WHERE model = :model;

-- name: count_vectors
SELECT count(*) FROM chunk_vector WHERE model = :model;

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
-- name: all_terms
SELECT number, unpack_terms(terms, text), length FROM chunk WHERE namespace = :namespace ORDER BY number;

-- name: set_counts
UPDATE namespace SET chunks = :chunks, length = :length, generation = generation + 1 WHERE number = :namespace;

-- name: all_chunks
SELECT d.id, d.title, c.id, c.ordinal, c.heading, unpack_text(c.text)
FROM document AS d JOIN chunk AS c ON c.document = d.number
WHERE d.namespace = :namespace
ORDER BY d.number, c.ordinal;

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

-- name: delete_lost_chunk_vector
DELETE FROM chunk_vector WHERE chunk NOT IN (SELECT number FROM chunk) OR model NOT IN (SELECT number FROM model);

-- name: chunk_numbers
SELECT id, number, document FROM chunk WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids));
