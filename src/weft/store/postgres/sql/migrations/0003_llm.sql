-- What asking a language model cost, run by run.
CREATE TABLE weft.llm_run (
    namespace text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    at double precision NOT NULL,          -- when it was last heard of, seconds since 1970
    model text COLLATE "C" NOT NULL,
    usage text COLLATE "C" NOT NULL,       -- a JSON object
    PRIMARY KEY (namespace, id)
) /* by namespace */;

ALTER TABLE weft.llm_run ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;

ALTER TABLE weft.llm_run ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.llm_run FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.llm_run USING (namespace = current_setting('weft.namespace', TRUE));

-- Who read a name or a relation: nothing for the rules, else a name; a + before it says that the rules read it too.
ALTER TABLE weft.nomination ADD COLUMN extractor text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE weft.claim ADD COLUMN extractor text COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX nomination_by_extractor ON weft.nomination (namespace, key, extractor) WHERE extractor <> '';
