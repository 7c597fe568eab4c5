-- Chunks of a name that changed are read again in several transactions.
CREATE TABLE reread (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    lost INTEGER,                          -- NULL: a new entity. Else it was deleted; 1: the chunk defined it
    PRIMARY KEY (chunk, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX reread_by_namespace ON reread (namespace);
