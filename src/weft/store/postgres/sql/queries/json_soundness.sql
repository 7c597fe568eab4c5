-- What is held as JSON, and labels, which derive from it: reading all of it, and mending.

-- name: all_metadata
SELECT number, id, source, metadata FROM weft.document WHERE namespace = :namespace ORDER BY number;

-- name: all_headings_and_terms
SELECT document, number, heading, terms::text FROM weft.chunk WHERE namespace = :namespace ORDER BY document, ordinal;

-- name: document_texts
SELECT d.title, d.metadata, c.number, c.heading, c.text
FROM weft.document AS d JOIN weft.chunk AS c ON c.namespace = :namespace AND c.document = d.number
WHERE d.namespace = :namespace AND d.number = :document
ORDER BY c.ordinal;

-- name: calibration_of
SELECT value FROM weft.calibration WHERE namespace = :namespace;

-- name: all_jobs
SELECT id, source, state, result FROM weft.job WHERE namespace = :namespace ORDER BY id;

-- name: set_metadata
UPDATE weft.document SET metadata = :metadata WHERE namespace = :namespace AND number = :number;

-- name: set_heading
UPDATE weft.chunk SET heading = :heading WHERE namespace = :namespace AND number = :number;

-- name: set_terms
UPDATE weft.chunk SET terms = :terms::jsonb, length = :length WHERE namespace = :namespace AND number = :number;

-- name: labels_of
SELECT key, value FROM weft.label WHERE namespace = :namespace AND document = :document ORDER BY key, value;

-- name: all_labels
SELECT document, key, value FROM weft.label WHERE namespace = :namespace;
