-- Documents, chunks, their vectors and their postings.
-- `number` is SQLite's own row number: small, local to the file, never shown. Ids are what callers see.

CREATE TABLE namespace (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    generation INTEGER NOT NULL DEFAULT 0, -- grows with every committed write
    chunks INTEGER NOT NULL DEFAULT 0,     -- for BM25: how many chunks,
    length INTEGER NOT NULL DEFAULT 0      -- and how many terms in all of them
) STRICT;

CREATE TABLE document (
    number INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    id TEXT NOT NULL,
    source TEXT NOT NULL,
    title TEXT NOT NULL,
    metadata TEXT NOT NULL,                -- a JSON object
    content_hash TEXT NOT NULL,
    unit TEXT NOT NULL,
    UNIQUE (namespace, id),
    UNIQUE (namespace, source)
) STRICT;

-- What documents are filtered by: each scalar of the metadata as text. Derived from document.metadata alone.
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
    heading TEXT NOT NULL,                 -- a JSON array
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    text TEXT NOT NULL,
    terms TEXT NOT NULL,                   -- a JSON object of term and frequency: the source of `posting`
    length INTEGER NOT NULL,               -- sum of those frequencies
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

-- Who holds a term: chunks by 256 consecutive numbers, four bytes each (place in the block, frequency,
-- length of the chunk), in order of place. Derived from chunk.terms alone.
CREATE TABLE posting (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    term TEXT NOT NULL,
    block INTEGER NOT NULL,
    entries BLOB NOT NULL,
    PRIMARY KEY (namespace, term, block)
) STRICT, WITHOUT ROWID;
