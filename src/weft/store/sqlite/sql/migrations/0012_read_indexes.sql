-- Numbers the terms of chunks and the vectors of fact entities without reuse, so that read indexes can detect new
-- ones. Adds document frequencies.
CREATE TABLE chunk_terms (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused; changed terms get a new one
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    chunk INTEGER NOT NULL UNIQUE REFERENCES chunk (number) ON DELETE CASCADE
) STRICT;

CREATE INDEX chunk_terms_by_namespace ON chunk_terms (namespace);

CREATE TABLE term (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    term TEXT NOT NULL,
    chunks INTEGER NOT NULL,               -- document frequency
    PRIMARY KEY (namespace, term)
) STRICT, WITHOUT ROWID;

INSERT INTO chunk_terms (namespace, chunk) SELECT namespace, number FROM chunk ORDER BY number;
INSERT INTO term (namespace, term, chunks)
SELECT namespace, term, sum(length(entries) / 4) FROM posting GROUP BY namespace, term;

CREATE INDEX chunk_names ON chunk (number, id); -- covers lookups of ids, without reading texts

CREATE TABLE numbered_vector (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused; a changed vector gets a new one. Key of the read indexes
    model INTEGER NOT NULL REFERENCES model (number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    sketch BLOB NOT NULL,                  -- sign bits of the vector
    vector BLOB NOT NULL,                  -- float32, little-endian, unit length
    UNIQUE (model, key)
) STRICT;

INSERT INTO numbered_vector (model, key, sketch, vector) SELECT model, key, sketch, vector FROM fact_vector ORDER BY rowid;
DROP TABLE fact_vector;
ALTER TABLE numbered_vector RENAME TO fact_vector;

CREATE INDEX fact_vector_sketch ON fact_vector (model, sketch); -- covers the preselection at a thirtieth of the size
CREATE INDEX fact_vector_by_model ON fact_vector (model);
