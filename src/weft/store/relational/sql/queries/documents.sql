-- name: document_number
SELECT number FROM weft.document WHERE namespace = :namespace AND id = :id;

-- name: has_content
SELECT EXISTS (SELECT 1 FROM weft.document WHERE namespace = :namespace)
    OR EXISTS (SELECT 1 FROM weft.fact WHERE namespace = :namespace);

-- name: delete_document
DELETE FROM weft.document WHERE namespace = :namespace AND number = :document;

-- name: delete_labels
DELETE FROM weft.label WHERE namespace = :namespace AND document = :document;

-- name: write_label
INSERT INTO weft.label (namespace, document, key, value) VALUES (:namespace, :document, :key, :value);

-- name: content_hashes
SELECT d.id, d.source, d.content_hash FROM weft.document AS d WHERE d.namespace = :namespace;

-- name: delete_chunk
DELETE FROM weft.chunk WHERE namespace = :namespace AND number = :number;

-- name: delete_other_models
DELETE FROM weft.model WHERE namespace = :namespace AND number <> :model;

-- name: delete_calibration
DELETE FROM weft.calibration WHERE namespace = :namespace;

-- name: write_posting
INSERT INTO weft.posting (namespace, term, block, entries) VALUES (:namespace, :term, :block, :entries)
ON CONFLICT (namespace, term, block) DO UPDATE SET entries = excluded.entries;

-- name: delete_posting
DELETE FROM weft.posting WHERE namespace = :namespace AND term = :term AND block = :block;

-- name: delete_postings
DELETE FROM weft.posting WHERE namespace = :namespace;

-- name: all_postings
SELECT term, block, entries FROM weft.posting WHERE namespace = :namespace;

-- name: delete_terms
DELETE FROM weft.term WHERE namespace = :namespace;

-- name: all_term_counts
SELECT term, chunks FROM weft.term WHERE namespace = :namespace;

-- name: count_documents
SELECT count(*) FROM weft.document WHERE namespace = :namespace;

-- name: forget_content_hash
UPDATE weft.document SET content_hash = '' WHERE namespace = :namespace AND id = :id;

-- name: all_metadata
SELECT number, id, source, metadata FROM weft.document WHERE namespace = :namespace ORDER BY number;

-- name: calibration_of
SELECT value FROM weft.calibration WHERE namespace = :namespace;

-- name: set_metadata
UPDATE weft.document SET metadata = :metadata WHERE namespace = :namespace AND number = :number;

-- name: set_heading
UPDATE weft.chunk SET heading = :heading WHERE namespace = :namespace AND number = :number;

-- name: all_labels
SELECT document, key, value FROM weft.label WHERE namespace = :namespace;

-- name: write_document
INSERT INTO weft.document (namespace, number, id, source, title, metadata, content_hash, unit)
VALUES (:namespace, :number, :id, :source, :title, :metadata, :content_hash, :unit)
ON CONFLICT (namespace, id) DO UPDATE SET
    source = excluded.source, title = excluded.title, metadata = excluded.metadata,
    content_hash = excluded.content_hash, unit = excluded.unit;

-- name: stored_documents
SELECT id, number FROM weft.document WHERE namespace = :namespace AND id IN texts(:ids);

-- name: documents_by_id
SELECT d.id, d.source, d.title, d.metadata, d.content_hash, d.unit,
    (SELECT count(*) FROM weft.chunk AS c WHERE c.namespace = :namespace AND c.document = d.number)
FROM weft.document AS d
WHERE d.namespace = :namespace AND d.id IN texts(:ids);

-- name: titles_by_chunk
SELECT c.id, d.id, d.source, d.title
FROM weft.chunk AS c JOIN weft.document AS d ON d.namespace = :namespace AND d.number = c.document
WHERE c.namespace = :namespace AND c.id IN texts(:ids);

-- part: passes_labels()
NOT EXISTS (
    SELECT 1 FROM rows(:labels) AS wanted
    WHERE (wanted.value ->> 3 = 'excluded') = EXISTS (
        SELECT 1 FROM weft.label AS l
        WHERE l.namespace = :namespace AND l.document = d.number
            AND l.key = wanted.value ->> 0 AND l.value IN (wanted.value ->> 1, wanted.value ->> 2)
    ) AND (wanted.value ->> 3 <> 'if present' OR EXISTS (
        SELECT 1 FROM weft.label AS l
        WHERE l.namespace = :namespace AND l.document = d.number AND l.key = wanted.value ->> 0
    ))
)

-- part: chunks_of_filter()
-- Named documents are found by their ids, without a scan of all.
FROM (
    SELECT a.number, a.source FROM weft.document AS a WHERE :all_documents::boolean AND a.namespace = :namespace
    UNION ALL
    SELECT n.number, n.source FROM weft.document AS n
    WHERE NOT :all_documents::boolean AND n.namespace = :namespace AND n.id IN texts(:documents)
) AS d JOIN weft.chunk AS c ON c.namespace = :namespace AND c.document = d.number
WHERE starts_with(d.source, :prefix) AND {passes_labels()} AND {in_period()}

-- part: in_period()
(:any_time::boolean OR c.number IN (
    SELECT t.number FROM weft.chunk AS t
    WHERE t.namespace = :namespace AND t.start_time < :time_to::bigint AND t.end_time >= :time_from::bigint
))

-- name: find_documents
SELECT d.id, d.source, d.title, d.metadata, d.content_hash, d.unit,
    (SELECT count(*) FROM weft.chunk AS c WHERE c.namespace = :namespace AND c.document = d.number)
FROM weft.document AS d
WHERE d.namespace = :namespace
    AND d.source > :after
    AND (:all_documents::boolean OR d.id IN texts(:documents))
    AND starts_with(d.source, :prefix)
    AND {passes_labels()}
    AND (:any_time::boolean OR d.number IN (
        SELECT t.document FROM weft.chunk AS t
        WHERE t.namespace = :namespace AND t.start_time < :time_to::bigint AND t.end_time >= :time_from::bigint
    ))
ORDER BY d.source
LIMIT :limit;

-- name: document_chunks
SELECT number, id, unpack_terms(terms, text), length FROM weft.chunk WHERE namespace = :namespace AND document = :document;

-- name: write_chunk
INSERT INTO weft.chunk (namespace, number, document, id, ordinal, heading, start_line, end_line, text, terms, length,
    start_time, end_time)
VALUES (:namespace, :number, :document, :id, :ordinal, :heading, :start_line, :end_line, pack_text(:text),
    :terms::jsonb, :length, :start_time, :end_time);

-- name: move_chunk
UPDATE weft.chunk
SET ordinal = :ordinal, heading = :heading, start_line = :start_line, end_line = :end_line, text = pack_text(:text),
    terms = :terms::jsonb, length = :length, start_time = :start_time, end_time = :end_time
WHERE namespace = :namespace AND number = :number;

-- name: chunks_by_id
SELECT c.id, d.id, c.ordinal, c.heading, c.start_line, c.end_line, c.text, c.start_time, c.end_time
FROM weft.chunk AS c JOIN weft.document AS d ON d.namespace = :namespace AND d.number = c.document
WHERE c.namespace = :namespace AND c.id IN texts(:ids);

-- name: chunks_with_documents
-- Chunks, each followed by the columns of its document. The chunks of a document are counted once.
WITH found AS MATERIALIZED (
    SELECT * FROM weft.chunk AS k
    WHERE k.namespace = :namespace AND k.id IN texts(:ids)
),
owner AS MATERIALIZED (
    SELECT o.*, (SELECT count(*) FROM weft.chunk AS k WHERE k.namespace = :namespace AND k.document = o.number) AS chunks
    FROM weft.document AS o WHERE o.namespace = :namespace AND o.number IN (SELECT f.document FROM found AS f)
)
SELECT c.id, d.id, c.ordinal, c.heading, c.start_line, c.end_line, c.text, c.start_time, c.end_time,
    d.source, d.title, d.metadata, d.content_hash, d.unit, d.chunks
FROM found AS c JOIN owner AS d ON d.number = c.document;

-- name: sample_chunks
SELECT c.id, d.id, c.ordinal, c.heading, c.start_line, c.end_line, c.text, c.start_time, c.end_time
FROM weft.chunk AS c JOIN weft.document AS d ON d.namespace = :namespace AND d.number = c.document
WHERE c.namespace = :namespace
ORDER BY c.id
LIMIT :limit;

-- name: chunks_by_document
SELECT c.id, d.id, c.ordinal, c.heading, c.start_line, c.end_line, c.text, c.start_time, c.end_time
FROM weft.document AS d JOIN weft.chunk AS c ON c.namespace = :namespace AND c.document = d.number
WHERE d.namespace = :namespace AND d.id = :id
ORDER BY c.ordinal;

-- name: latest_chunks
SELECT c.id, d.id, c.ordinal, c.heading, c.start_line, c.end_line, c.text, c.start_time, c.end_time
FROM weft.chunk AS c JOIN weft.document AS d ON d.namespace = :namespace AND d.number = c.document
WHERE c.namespace = :namespace AND c.start_time IS NOT NULL
    AND (:any_time::boolean OR (c.start_time < :time_to::bigint AND c.end_time >= :time_from::bigint))
    AND (:all_documents::boolean OR d.id IN texts(:documents))
    AND starts_with(d.source, :prefix)
    AND {passes_labels()}
ORDER BY c.start_time DESC, c.id
LIMIT :limit;

-- name: answer_chunks
SELECT o.id, c.id, d.id, c.ordinal, c.heading, c.start_line, c.end_line, c.text, c.start_time, c.end_time
FROM weft.chunk AS o
JOIN weft.chunk AS c ON c.namespace = :namespace AND c.document = o.document AND c.ordinal = o.ordinal + 1
JOIN weft.document AS d ON d.namespace = :namespace AND d.number = c.document
WHERE o.namespace = :namespace AND o.id IN texts(:ids)
    AND o.start_time IS NOT NULL AND o.heading = '[]' AND c.heading <> '[]';

-- name: chunk_ids
SELECT c.number, c.id FROM weft.chunk AS c
WHERE c.namespace = :namespace AND c.number IN numbers(:numbers);

-- name: write_model
INSERT INTO weft.model (namespace, name, fingerprint, dimension, active)
VALUES (:namespace, :name, :fingerprint, :dimension, FALSE)
ON CONFLICT (namespace, fingerprint) DO UPDATE SET name = excluded.name
RETURNING number;

-- name: activate_model
UPDATE weft.model SET active = TRUE WHERE namespace = :namespace AND number = :model;

-- name: delete_other_calibration
DELETE FROM weft.calibration WHERE namespace = :namespace AND model IS DISTINCT FROM :model;

-- name: chunk_numbers
SELECT id, number, document FROM weft.chunk WHERE namespace = :namespace AND id IN texts(:ids);

-- name: all_chunks
SELECT d.id, d.title, c.id, c.ordinal, c.heading, unpack_text(c.text)
FROM weft.document AS d JOIN weft.chunk AS c ON c.namespace = :namespace AND c.document = d.number
WHERE d.namespace = :namespace
ORDER BY d.number, c.ordinal;

-- name: all_terms
SELECT number, unpack_terms(terms, text), length FROM weft.chunk WHERE namespace = :namespace ORDER BY number;

-- name: find_unembedded
SELECT c.id FROM weft.chunk AS c
WHERE c.namespace = :namespace AND NOT EXISTS (
    SELECT 1 FROM weft.model AS m JOIN weft.chunk_vector AS v ON v.namespace = :namespace AND v.model = m.number
    WHERE m.namespace = :namespace AND m.fingerprint = :fingerprint AND v.chunk = c.number
)
ORDER BY c.id
LIMIT :limit;

-- name: count_vectors
SELECT count(*) FROM weft.chunk_vector AS v WHERE v.namespace = :namespace AND v.model = :model;

-- name: source_range
-- The first and the last source.
SELECT (SELECT min(d.source) FROM weft.document AS d WHERE d.namespace = :namespace),
    (SELECT max(d.source) FROM weft.document AS d WHERE d.namespace = :namespace);

-- name: all_headings_and_terms
SELECT document, number, heading, unpack_terms(terms, text) FROM weft.chunk WHERE namespace = :namespace ORDER BY document, ordinal;

-- name: whole_chunks
SELECT d.id, c.number, c.id, c.ordinal, c.heading, c.start_line, c.end_line, unpack_text(c.text),
    unpack_terms(c.terms, c.text), c.start_time, c.end_time
FROM weft.document AS d JOIN weft.chunk AS c ON c.namespace = :namespace AND c.document = d.number
WHERE d.namespace = :namespace AND d.id IN texts(:ids)
ORDER BY d.id, c.ordinal;

-- name: chunk_vectors
SELECT v.chunk, v.vector FROM weft.chunk_vector AS v
WHERE v.namespace = :namespace AND v.model = :model AND v.chunk IN numbers(:numbers);
