-- Times of the turns in a chunk of a conversation, in microseconds since 1970 in UTC; NULL for other chunks.
ALTER TABLE weft.chunk ADD COLUMN start_time bigint;
ALTER TABLE weft.chunk ADD COLUMN end_time bigint;
CREATE INDEX chunk_by_time ON weft.chunk (namespace, start_time, end_time, document, number)
WHERE start_time IS NOT NULL;
