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
CREATE INDEX chunk_names ON chunk (number, id); -- ids of many chunks without their texts

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
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- never given again, also not when a vector changes: read indexes go by it
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    model INTEGER NOT NULL REFERENCES model (number) ON DELETE CASCADE,
    vector BLOB NOT NULL,                  -- float32, little-endian, unit length
    UNIQUE (model, chunk)
) STRICT;

CREATE INDEX chunk_vector_by_chunk ON chunk_vector (chunk);
CREATE INDEX chunk_vector_by_model ON chunk_vector (model);

-- Who holds a term: chunks by 256 consecutive numbers, four bytes each (place in the block, frequency,
-- length of the chunk), in order of place. Derived from chunk.terms alone.
CREATE TABLE posting (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    term TEXT NOT NULL,
    block INTEGER NOT NULL,
    entries BLOB NOT NULL,
    PRIMARY KEY (namespace, term, block)
) STRICT, WITHOUT ROWID;

CREATE TABLE chunk_terms (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- never given again, also not when the terms of a chunk change
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    chunk INTEGER NOT NULL UNIQUE REFERENCES chunk (number) ON DELETE CASCADE
) STRICT;

CREATE INDEX chunk_terms_by_namespace ON chunk_terms (namespace);

CREATE TABLE term (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    term TEXT NOT NULL,
    chunks INTEGER NOT NULL,               -- how many hold it
    PRIMARY KEY (namespace, term)
) STRICT, WITHOUT ROWID;

-- Entities, where they are mentioned, and how they relate.
-- What documents say stands in `nomination` and `claim`. What follows from all of them together (`entity`, `mention`,
-- derived claims and `relation`) is kept in step by every write, and is a function of the documents and of `edit` alone.

CREATE TABLE nomination (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    document INTEGER NOT NULL,
    origin TEXT NOT NULL,                  -- the import that says so; empty: the document itself
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    vote INTEGER NOT NULL,                 -- 2 makes an entity alone, 1 together with another document, 0 never
    rank INTEGER NOT NULL,                 -- smaller is better: whose spelling, type and description are used
    type TEXT NOT NULL,
    description TEXT NOT NULL,
    about INTEGER NOT NULL,
    alias_of TEXT NOT NULL,
    reason TEXT NOT NULL,
    extractor TEXT NOT NULL DEFAULT '',    -- who read it: nothing for the rules, + before a name: the rules too
    PRIMARY KEY (chunk, key, kind, name, origin)
) STRICT, WITHOUT ROWID;

CREATE INDEX nomination_by_vote ON nomination (namespace, key, vote, document);
CREATE INDEX nomination_by_rank ON nomination (namespace, key, rank, name);
CREATE INDEX nomination_with_type ON nomination (namespace, key, rank, type) WHERE type <> '';
CREATE INDEX nomination_with_description ON nomination (namespace, key, rank, description) WHERE description <> '';
CREATE INDEX nomination_alias ON nomination (namespace, key, alias_of, reason) WHERE alias_of <> '';
CREATE INDEX nomination_own ON nomination (namespace, key)
WHERE vote = 2 AND alias_of = '' AND kind IN ('title', 'definition', 'field', 'given');
CREATE INDEX nomination_of_import ON nomination (namespace, origin) WHERE origin <> '';
CREATE INDEX nomination_by_extractor ON nomination (namespace, key, extractor) WHERE extractor <> '';

CREATE TABLE claim (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    origin TEXT NOT NULL,                  -- the import that says so; empty: the document itself; *: follows from mentions
    source TEXT NOT NULL,                  -- keys of entities
    target TEXT NOT NULL,
    type TEXT NOT NULL,
    weight REAL NOT NULL,
    description TEXT NOT NULL,
    place INTEGER NOT NULL DEFAULT 0,      -- first digits of the chunk's id, for ties
    extractor TEXT NOT NULL DEFAULT '',    -- who read it, as above
    PRIMARY KEY (chunk, source, target, type, origin)
) STRICT, WITHOUT ROWID;

CREATE INDEX claim_by_pair ON claim (namespace, source, target, type, weight DESC, place, chunk);
CREATE INDEX claim_of_import ON claim (namespace, origin) WHERE origin NOT IN ('', '*');
CREATE INDEX claim_given ON claim (namespace, source, target, type, weight DESC) WHERE origin <> '*';
CREATE INDEX claim_by_target ON claim (namespace, target);

CREATE TABLE entity (
    number INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    id TEXT NOT NULL,
    key TEXT NOT NULL,
    strong INTEGER NOT NULL,
    same_as TEXT NOT NULL,                 -- key of the entity this is another name of, or its own
    reason TEXT NOT NULL,                  -- why
    mentions INTEGER NOT NULL DEFAULT 0,
    chunks INTEGER NOT NULL DEFAULT 0,
    head INTEGER NOT NULL DEFAULT 0,       -- number of the entity it is read under, at the end of the chain of same_as
    UNIQUE (namespace, key),
    UNIQUE (namespace, id)
) STRICT;

CREATE INDEX entity_by_same ON entity (namespace, same_as);
CREATE INDEX entity_by_head ON entity (head);
CREATE INDEX entity_by_letters ON entity (namespace, replace(key, ' ', ''));
CREATE INDEX entity_by_chunks ON entity (namespace, chunks DESC, key) WHERE strong AND same_as = key;

CREATE TABLE mention (
    entity INTEGER NOT NULL REFERENCES entity (number) ON DELETE CASCADE,
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    count INTEGER NOT NULL,
    about INTEGER NOT NULL,
    place INTEGER NOT NULL,                -- first digits of the chunk's id: ties fall the same way in every file
    PRIMARY KEY (entity, about DESC, count DESC, place, chunk)
) STRICT, WITHOUT ROWID;

CREATE INDEX mention_by_chunk ON mention (chunk);

CREATE TABLE relation (
    source INTEGER NOT NULL REFERENCES entity (number) ON DELETE CASCADE,
    target INTEGER NOT NULL REFERENCES entity (number) ON DELETE CASCADE,
    type TEXT NOT NULL,
    weight REAL NOT NULL,
    support INTEGER NOT NULL,              -- chunks that say so, counted to 256
    place INTEGER NOT NULL,                -- first digits of both ids, for ties
    PRIMARY KEY (source, target, type)
) STRICT, WITHOUT ROWID;

CREATE INDEX relation_by_source ON relation (source, weight DESC, place, target, type);
CREATE INDEX relation_by_target ON relation (target, weight DESC, place, source, type);

-- Relations of one type; those that only follow from mentions are nearly all, and nobody asks for them by type.
CREATE INDEX relation_by_source_type ON relation (source, type, weight DESC, place, target)
WHERE type NOT IN ('co_occurs_with', 'mentions');
CREATE INDEX relation_by_target_type ON relation (target, type, weight DESC, place, source)
WHERE type NOT IN ('co_occurs_with', 'mentions');

CREATE TABLE entity_vector (
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    model INTEGER NOT NULL REFERENCES model (number) ON DELETE CASCADE,
    vector BLOB NOT NULL,
    PRIMARY KEY (model, chunk, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX entity_vector_by_chunk ON entity_vector (chunk);

-- What the user said about entities; nothing else survives the documents.
CREATE TABLE edit (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    kind TEXT NOT NULL,                    -- merge, unmerge, alias, rename
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (namespace, kind, key, value)
) STRICT, WITHOUT ROWID;

-- What is remembered: facts, what happened to them, and the entities they are about or lead to.
-- Times are microseconds since 1970 in UTC.

CREATE TABLE fact_entity (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    type TEXT NOT NULL DEFAULT '',
    declared INTEGER NOT NULL DEFAULT 0,   -- given as a thing of its own: stays when no fact names it
    PRIMARY KEY (namespace, key)
) STRICT, WITHOUT ROWID;

-- The words of their keys, for finding one by a part of its name.
CREATE TABLE fact_word (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    word TEXT NOT NULL,
    key TEXT NOT NULL,
    size INTEGER NOT NULL,                 -- how many words the key has
    PRIMARY KEY (namespace, word, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX fact_word_by_key ON fact_word (namespace, key);

CREATE TABLE fact_vector (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- never given again, also not when a vector changes: read indexes go by it
    model INTEGER NOT NULL REFERENCES model (number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    sketch BLOB NOT NULL,                  -- which of its numbers are positive, a bit each
    vector BLOB NOT NULL,                  -- float32, little-endian, unit length
    UNIQUE (model, key)
) STRICT;

CREATE INDEX fact_vector_sketch ON fact_vector (model, sketch); -- all a first look needs, and a thirtieth of the size
CREATE INDEX fact_vector_by_model ON fact_vector (model);

CREATE TABLE fact (
    number INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    id TEXT NOT NULL,
    subject TEXT NOT NULL,                 -- key of an entity
    predicate TEXT NOT NULL,
    object TEXT NOT NULL,                  -- key of an entity; empty where `value` is a literal
    value TEXT NOT NULL,
    content TEXT NOT NULL,                 -- the same for equal statements
    confidence REAL NOT NULL,
    source TEXT NOT NULL,
    status TEXT NOT NULL,
    created INTEGER NOT NULL,
    valid_from INTEGER,
    valid_to INTEGER,
    accessed INTEGER,
    accesses INTEGER NOT NULL DEFAULT 0,
    supersedes TEXT NOT NULL,              -- id of a fact, or empty
    note TEXT NOT NULL,
    spelling TEXT NOT NULL DEFAULT '',     -- the predicate as it was first written, where that is not the same
    UNIQUE (namespace, id)
) STRICT;

-- Ten rows of a subject are ten rows of these, however many facts it has: those that hold until further notice
-- by how sure they are, those with an end by that end.
CREATE INDEX fact_standing ON fact (namespace, subject, confidence DESC, created DESC, id)
WHERE valid_to IS NULL AND status IN ('staged', 'confirmed');
CREATE INDEX fact_ending ON fact (namespace, subject, valid_to) WHERE valid_to IS NOT NULL AND status <> 'rejected';
CREATE INDEX fact_standing_object ON fact (namespace, object, confidence DESC, created DESC, id)
WHERE valid_to IS NULL AND status IN ('staged', 'confirmed') AND object <> '';
CREATE INDEX fact_ending_object ON fact (namespace, object, valid_to)
WHERE valid_to IS NOT NULL AND status <> 'rejected' AND object <> '';
CREATE INDEX fact_by_subject ON fact (namespace, subject, predicate);
CREATE INDEX fact_by_object ON fact (namespace, object) WHERE object <> '';
CREATE INDEX fact_by_content ON fact (namespace, content);
CREATE INDEX fact_by_superseded ON fact (namespace, supersedes) WHERE supersedes <> '';

CREATE TABLE fact_event (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    fact TEXT NOT NULL,                    -- id of the fact
    place INTEGER NOT NULL,                -- from 1, in the order of the events of a fact
    at INTEGER NOT NULL,
    action TEXT NOT NULL,
    detail TEXT NOT NULL,
    other TEXT NOT NULL,                   -- id of a fact that had to do with it, or empty
    PRIMARY KEY (namespace, fact, place)
) STRICT, WITHOUT ROWID;

CREATE INDEX fact_event_by_other ON fact_event (namespace, other) WHERE other <> '';

-- How sure a namespace is of its answers, where that was fitted to it.
CREATE TABLE calibration (
    namespace INTEGER PRIMARY KEY REFERENCES namespace (number) ON DELETE CASCADE,
    model INTEGER REFERENCES model (number) ON DELETE CASCADE, -- NULL: there is no embedder
    value TEXT NOT NULL                    -- a JSON object
) STRICT;

CREATE INDEX calibration_by_model ON calibration (model);

-- Which documents state a fact; it goes with the last of them, unless somebody stated it too.
CREATE TABLE fact_origin (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    fact TEXT NOT NULL,                    -- id of the fact
    document TEXT NOT NULL,                -- id of a document; empty: stated by hand as well
    PRIMARY KEY (namespace, fact, document)
) STRICT, WITHOUT ROWID;

CREATE INDEX fact_origin_by_document ON fact_origin (namespace, document) WHERE document <> '';

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

-- What asking a language model cost, run by run.
CREATE TABLE llm_run (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    id TEXT NOT NULL,
    at REAL NOT NULL,                      -- when it was last heard of, seconds since 1970
    model TEXT NOT NULL,
    usage TEXT NOT NULL,                   -- a JSON object
    PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;
