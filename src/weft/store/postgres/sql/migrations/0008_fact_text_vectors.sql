-- Vectors of facts as sentences, for recall by meaning.
CREATE TABLE weft.fact_text_vector (
    namespace text COLLATE "C" NOT NULL,
    model bigint NOT NULL,
    fact bigint NOT NULL,
    vector vector NOT NULL,                -- unit length
    PRIMARY KEY (namespace, model, fact)
) /* by namespace */;

ALTER TABLE weft.fact_text_vector ADD FOREIGN KEY (namespace, model)
    REFERENCES weft.model (namespace, number) ON DELETE CASCADE;
ALTER TABLE weft.fact_text_vector ADD FOREIGN KEY (namespace, fact)
    REFERENCES weft.fact (namespace, number) ON DELETE CASCADE;

CREATE INDEX fact_text_vector_by_fact ON weft.fact_text_vector (namespace, fact);

ALTER TABLE weft.fact_text_vector ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.fact_text_vector FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.fact_text_vector USING (namespace = current_setting('weft.namespace', TRUE));
