-- Check and reset of JSON columns, and of the labels derived from them.

-- name: all_metadata
SELECT number, id, source, metadata FROM weft.document WHERE namespace = :namespace ORDER BY number;

-- name: all_headings_and_terms
SELECT document, number, heading, terms::text FROM weft.chunk WHERE namespace = :namespace ORDER BY document, ordinal;

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

-- name: all_labels
SELECT document, key, value FROM weft.label WHERE namespace = :namespace;
