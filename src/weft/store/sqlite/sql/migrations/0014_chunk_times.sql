-- Times of the turns in a chunk of a conversation, in microseconds since 1970 in UTC; NULL for other chunks.
ALTER TABLE chunk ADD COLUMN start_time INTEGER;
ALTER TABLE chunk ADD COLUMN end_time INTEGER;
CREATE INDEX chunk_by_time ON chunk (namespace, start_time, end_time, document) WHERE start_time IS NOT NULL;
