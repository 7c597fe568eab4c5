-- Vectors of facts as sentences, for recall by meaning.
CREATE TABLE fact_text_vector (
    model INTEGER NOT NULL REFERENCES model (number) ON DELETE CASCADE,
    fact INTEGER NOT NULL REFERENCES fact (number) ON DELETE CASCADE,
    sketch BLOB NOT NULL,                  -- sign bits of the vector
    vector BLOB NOT NULL,                  -- float32, little-endian, unit length
    PRIMARY KEY (model, fact)
) STRICT, WITHOUT ROWID;

CREATE INDEX fact_text_vector_sketch ON fact_text_vector (model, sketch); -- covers the preselection
CREATE INDEX fact_text_vector_by_fact ON fact_text_vector (fact);
