-- The packed postings are complete: the terms of each chunk and their secrets are no longer needed.
DROP FUNCTION weft.search_terms;
DROP FUNCTION weft.find_holders;
DROP TABLE weft.chunk_term;
ALTER TABLE weft.namespace DROP COLUMN secret;
