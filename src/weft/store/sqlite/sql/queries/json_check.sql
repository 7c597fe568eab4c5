-- Check and reset of JSON columns, and of the labels derived from them.

-- name: set_terms
UPDATE chunk SET terms = pack_terms(:terms, text), length = :length WHERE namespace = :namespace AND number = :number;
