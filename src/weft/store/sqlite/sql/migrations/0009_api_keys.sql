-- Who may come in through a door that others can reach; no part of any namespace.
CREATE TABLE api_key (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,                  -- SHA-256 of the whole key, in hex
    namespaces TEXT NOT NULL,              -- a JSON array
    access TEXT NOT NULL,                  -- read or write
    created TEXT NOT NULL,
    revoked TEXT                           -- NULL: it opens its namespaces
) STRICT, WITHOUT ROWID;
