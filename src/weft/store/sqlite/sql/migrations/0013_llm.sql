-- Costs of language models, one row per run.
CREATE TABLE llm_run (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    id TEXT NOT NULL,
    at REAL NOT NULL,                      -- time of the last update, seconds since 1970
    model TEXT NOT NULL,
    usage TEXT NOT NULL,                   -- JSON object
    PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;

-- Extractor of a nomination or claim: empty for the rules, else its name, with a + before it if the rules found it too.
ALTER TABLE nomination ADD COLUMN extractor TEXT NOT NULL DEFAULT '';
ALTER TABLE claim ADD COLUMN extractor TEXT NOT NULL DEFAULT '';
CREATE INDEX nomination_by_extractor ON nomination (namespace, key, extractor) WHERE extractor <> '';
