-- What is held as JSON, and labels, which derive from it: reading all of it, and mending.

-- name: all_metadata
SELECT number, id, source, metadata FROM document WHERE namespace = :namespace ORDER BY number;

-- name: all_headings_and_terms
SELECT document, number, heading, terms FROM chunk WHERE namespace = :namespace ORDER BY document, ordinal;

-- name: document_texts
SELECT d.title, d.metadata, c.number, c.heading, c.text
FROM document AS d JOIN chunk AS c ON c.document = d.number
WHERE d.namespace = :namespace AND d.number = :document
ORDER BY c.ordinal;

-- name: calibration_of
SELECT value FROM calibration WHERE namespace = :namespace;

-- name: all_jobs
SELECT id, source, state, result FROM job WHERE namespace = :namespace ORDER BY id;

-- name: set_metadata
UPDATE document SET metadata = :metadata WHERE namespace = :namespace AND number = :number;

-- name: set_heading
UPDATE chunk SET heading = :heading WHERE namespace = :namespace AND number = :number;

-- name: set_terms
UPDATE chunk SET terms = :terms, length = :length WHERE namespace = :namespace AND number = :number;

-- name: labels_of
SELECT key, value FROM label WHERE namespace = :namespace AND document = :document ORDER BY key, value;

-- name: all_labels
SELECT document, key, value FROM label WHERE namespace = :namespace;

-- name: delete_lost_label
DELETE FROM label
WHERE document NOT IN (SELECT number FROM document) OR namespace NOT IN (SELECT number FROM namespace);
