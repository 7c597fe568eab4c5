-- API keys of the server interfaces. They belong to no namespace.
CREATE TABLE api_key (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,                  -- SHA-256 of the whole key, in hex
    namespaces TEXT NOT NULL,              -- JSON array
    access TEXT NOT NULL,                  -- read or write
    created TEXT NOT NULL,
    revoked TEXT                           -- NULL: valid
) STRICT, WITHOUT ROWID;
