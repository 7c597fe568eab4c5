-- What asking a language model cost, run by run.
CREATE TABLE llm_run (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    id TEXT NOT NULL,
    at REAL NOT NULL,                      -- when it was last heard of, seconds since 1970
    model TEXT NOT NULL,
    usage TEXT NOT NULL,                   -- a JSON object
    PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;

-- Who read a name or a relation: nothing for the rules, else a name; a + before it says that the rules read it too.
ALTER TABLE nomination ADD COLUMN extractor TEXT NOT NULL DEFAULT '';
ALTER TABLE claim ADD COLUMN extractor TEXT NOT NULL DEFAULT '';
CREATE INDEX nomination_by_extractor ON nomination (namespace, key, extractor) WHERE extractor <> '';
