-- Stores vectors of described names with 12 bits per component. `to_twelve` is a function of the migration.
-- batch: chunk.number
UPDATE entity_vector SET vector = to_twelve(vector)
WHERE (model, chunk, key) IN (
    SELECT v.model, v.chunk, v.key FROM chunk AS c CROSS JOIN entity_vector AS v ON v.chunk = c.number
    WHERE c.number > :after AND c.number <= :until
);
