-- What asking a language model cost, run by run.
CREATE TABLE llm_run (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    id TEXT NOT NULL,
    at REAL NOT NULL,                      -- when it was last heard of, seconds since 1970
    model TEXT NOT NULL,
    usage TEXT NOT NULL,                   -- a JSON object
    PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;
