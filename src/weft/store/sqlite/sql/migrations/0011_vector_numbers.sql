-- Numbers vectors without reuse, so that read indexes can detect new ones.
CREATE TABLE numbered_vector (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused; a changed vector gets a new one. Key of the read indexes
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
