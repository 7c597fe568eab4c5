-- Documents, chunks, their vectors and their postings.
-- `number` is SQLite's own row number: small, local to the file, never shown. Callers see ids.

CREATE TABLE namespace (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    generation INTEGER NOT NULL DEFAULT 0, -- increased by every committed write
    chunks INTEGER NOT NULL DEFAULT 0,     -- number of chunks, for BM25
    length INTEGER NOT NULL DEFAULT 0      -- number of terms of all chunks, for BM25
) STRICT;

CREATE TABLE document (
    number INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    id TEXT NOT NULL,
    source TEXT NOT NULL,
    title TEXT NOT NULL,
    metadata TEXT NOT NULL,                -- JSON object
    content_hash TEXT NOT NULL,
    unit TEXT NOT NULL,
    UNIQUE (namespace, id),
    UNIQUE (namespace, source)
) STRICT;

-- Labels, which filters compare: each scalar of the metadata as text. Derived from document.metadata only.
CREATE TABLE label (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    document INTEGER NOT NULL REFERENCES document (number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (document, key, value)
) STRICT, WITHOUT ROWID;

CREATE INDEX label_by_namespace ON label (namespace);

CREATE TABLE chunk (
    number INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    document INTEGER NOT NULL REFERENCES document (number) ON DELETE CASCADE,
    id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    heading TEXT NOT NULL,                 -- JSON array
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    text TEXT NOT NULL,
    terms TEXT NOT NULL,                   -- JSON object of term and frequency; source of `posting`
    length INTEGER NOT NULL,               -- sum of these frequencies
    UNIQUE (namespace, id)
) STRICT;

CREATE INDEX chunk_by_document ON chunk (document, ordinal);

CREATE TABLE model (
    number INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    name TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    active INTEGER NOT NULL,
    UNIQUE (namespace, fingerprint)
) STRICT;

CREATE UNIQUE INDEX one_active_model ON model (namespace) WHERE active;

CREATE TABLE chunk_vector (
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    model INTEGER NOT NULL REFERENCES model (number) ON DELETE CASCADE,
    vector BLOB NOT NULL,                  -- float32, little-endian, unit length
    UNIQUE (model, chunk)
) STRICT;

CREATE INDEX chunk_vector_by_chunk ON chunk_vector (chunk);

-- Postings: blocks of 256 consecutive chunk numbers, four bytes per chunk (position in the block, frequency,
-- length of the chunk), ordered by position. Derived from chunk.terms only.
CREATE TABLE posting (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    term TEXT NOT NULL,
    block INTEGER NOT NULL,
    entries BLOB NOT NULL,
    PRIMARY KEY (namespace, term, block)
) STRICT, WITHOUT ROWID;
