-- Check and reset of JSON columns, and of the labels derived from them.

-- name: all_headings_and_terms
SELECT document, number, heading, terms::text FROM weft.chunk WHERE namespace = :namespace ORDER BY document, ordinal;

-- name: set_terms
UPDATE weft.chunk SET terms = :terms::jsonb, length = :length WHERE namespace = :namespace AND number = :number;
