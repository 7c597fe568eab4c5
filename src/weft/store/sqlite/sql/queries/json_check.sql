-- Check and reset of JSON columns, and of the labels derived from them.

-- name: all_metadata
SELECT number, id, source, metadata FROM document WHERE namespace = :namespace ORDER BY number;

-- name: all_headings_and_terms
SELECT document, number, heading, unpack_terms(terms, text) FROM chunk WHERE namespace = :namespace ORDER BY document, ordinal;

-- name: calibration_of
SELECT value FROM calibration WHERE namespace = :namespace;

-- name: all_jobs
SELECT id, source, state, result FROM job WHERE namespace = :namespace ORDER BY id;

-- name: set_metadata
UPDATE document SET metadata = :metadata WHERE namespace = :namespace AND number = :number;

-- name: set_heading
UPDATE chunk SET heading = :heading WHERE namespace = :namespace AND number = :number;

-- name: set_terms
UPDATE chunk SET terms = pack_terms(:terms, text), length = :length WHERE namespace = :namespace AND number = :number;

-- name: all_labels
SELECT document, key, value FROM label WHERE namespace = :namespace;

-- name: delete_lost_label
DELETE FROM label
WHERE document NOT IN (SELECT number FROM document) OR namespace NOT IN (SELECT number FROM namespace);
