-- Numbers that are never given again for the terms of chunks and for the vectors of entities of facts, so that read
-- indexes beside the file know what is new to them; and how many chunks hold a term.
CREATE TABLE chunk_terms (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- never given again, also not when the terms of a chunk change
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    chunk INTEGER NOT NULL UNIQUE REFERENCES chunk (number) ON DELETE CASCADE
) STRICT;

CREATE INDEX chunk_terms_by_namespace ON chunk_terms (namespace);

CREATE TABLE term (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    term TEXT NOT NULL,
    chunks INTEGER NOT NULL,               -- how many hold it
    PRIMARY KEY (namespace, term)
) STRICT, WITHOUT ROWID;

INSERT INTO chunk_terms (namespace, chunk) SELECT namespace, number FROM chunk ORDER BY number;
INSERT INTO term (namespace, term, chunks)
SELECT namespace, term, sum(length(entries) / 4) FROM posting GROUP BY namespace, term;

CREATE INDEX chunk_names ON chunk (number, id); -- ids of many chunks without their texts

CREATE TABLE numbered_vector (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- never given again, also not when a vector changes: read indexes go by it
    model INTEGER NOT NULL REFERENCES model (number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    sketch BLOB NOT NULL,                  -- which of its numbers are positive, a bit each
    vector BLOB NOT NULL,                  -- float32, little-endian, unit length
    UNIQUE (model, key)
) STRICT;

INSERT INTO numbered_vector (model, key, sketch, vector) SELECT model, key, sketch, vector FROM fact_vector ORDER BY rowid;
DROP TABLE fact_vector;
ALTER TABLE numbered_vector RENAME TO fact_vector;

CREATE INDEX fact_vector_sketch ON fact_vector (model, sketch); -- all a first look needs, and a thirtieth of the size
CREATE INDEX fact_vector_by_model ON fact_vector (model);
