-- Stores vectors of chunks and of described names as float16. `to_half` is a function of the migration.
UPDATE chunk_vector SET vector = to_half(vector);
UPDATE entity_vector SET vector = to_half(vector);
