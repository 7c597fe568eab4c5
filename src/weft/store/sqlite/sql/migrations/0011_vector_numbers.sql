-- A number for each vector that is never given again, so that read indexes beside the file know what is new to them.
CREATE TABLE numbered_vector (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- never given again, also not when a vector changes: read indexes go by it
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    model INTEGER NOT NULL REFERENCES model (number) ON DELETE CASCADE,
    vector BLOB NOT NULL,                  -- float32, little-endian, unit length
    UNIQUE (model, chunk)
) STRICT;

INSERT INTO numbered_vector (chunk, model, vector) SELECT chunk, model, vector FROM chunk_vector ORDER BY model, chunk;
DROP TABLE chunk_vector;
ALTER TABLE numbered_vector RENAME TO chunk_vector;

CREATE INDEX chunk_vector_by_chunk ON chunk_vector (chunk);
CREATE INDEX chunk_vector_by_model ON chunk_vector (model);
