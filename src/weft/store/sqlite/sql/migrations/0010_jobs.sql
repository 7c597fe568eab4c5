-- Job queue: documents waiting to be indexed. Not part of the content of a namespace.
CREATE TABLE job (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    id TEXT NOT NULL,                      -- id of the document
    run TEXT NOT NULL,                     -- id of the run that enqueued it
    source TEXT NOT NULL,
    content_hash TEXT NOT NULL,            -- content hash that the document will have
    recipe TEXT NOT NULL,                  -- indexing settings; workers with other settings skip it
    state TEXT NOT NULL,                   -- waiting, running, done or failed
    attempts INTEGER NOT NULL,             -- number of attempts begun
    worker TEXT NOT NULL,                  -- worker that claimed it; empty: none
    expires REAL NOT NULL,                 -- running: end of the lease; done: time of deletion
    result TEXT NOT NULL,                  -- done: JSON object
    error TEXT NOT NULL,                   -- last error
    payload TEXT NOT NULL,                 -- document as JSON; empty when done
    PRIMARY KEY (namespace, id)
) STRICT;
