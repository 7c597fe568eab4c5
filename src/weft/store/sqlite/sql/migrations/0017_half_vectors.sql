-- Stores vectors of chunks and of described names as float16. `to_half` is a function of the migration.
-- batch: chunk_vector.number
UPDATE chunk_vector SET vector = to_half(vector) WHERE number > :after AND number <= :until;
-- batch: chunk.number
UPDATE entity_vector SET vector = to_half(vector)
WHERE (model, chunk, key) IN (
    SELECT v.model, v.chunk, v.key FROM chunk AS c CROSS JOIN entity_vector AS v ON v.chunk = c.number
    WHERE c.number > :after AND c.number <= :until
);
