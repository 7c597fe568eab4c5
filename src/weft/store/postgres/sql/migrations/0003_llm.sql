-- Costs of language models, one row per run.
CREATE TABLE weft.llm_run (
    namespace text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    at double precision NOT NULL,          -- time of the last update, seconds since 1970
    model text COLLATE "C" NOT NULL,
    usage text COLLATE "C" NOT NULL,       -- JSON object
    PRIMARY KEY (namespace, id)
) /* by namespace */;

ALTER TABLE weft.llm_run ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;

ALTER TABLE weft.llm_run ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.llm_run FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.llm_run USING (namespace = current_setting('weft.namespace', TRUE));

-- Extractor of a nomination or claim: empty for the rules, else its name, with a + before it if the rules found it too.
ALTER TABLE weft.nomination ADD COLUMN extractor text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE weft.claim ADD COLUMN extractor text COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX nomination_by_extractor ON weft.nomination (namespace, key, extractor) WHERE extractor <> '';
