-- Check and reset of JSON columns, and of the labels derived from them.

-- name: set_terms
UPDATE weft.chunk SET terms = :terms::jsonb, length = :length WHERE namespace = :namespace AND number = :number;
