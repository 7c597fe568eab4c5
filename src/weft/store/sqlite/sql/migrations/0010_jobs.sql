-- Documents that wait to be indexed by whoever has time. Of no namespace's content: it only leads there.
CREATE TABLE job (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    id TEXT NOT NULL,                      -- of the document
    run TEXT NOT NULL,                     -- who waits for it
    source TEXT NOT NULL,
    content_hash TEXT NOT NULL,            -- what the document must come to
    recipe TEXT NOT NULL,                  -- how it is to be indexed: a worker with other settings leaves it alone
    state TEXT NOT NULL,                   -- waiting, running, done or failed
    attempts INTEGER NOT NULL,             -- how often it was begun
    worker TEXT NOT NULL,                  -- who has it, empty: nobody
    expires REAL NOT NULL,                 -- running: when others may take it, done: when it is forgotten
    result TEXT NOT NULL,                  -- done: a JSON object
    error TEXT NOT NULL,                   -- what went wrong last
    payload TEXT NOT NULL,                 -- the document as JSON, empty once it is done
    PRIMARY KEY (namespace, id)
) STRICT;
