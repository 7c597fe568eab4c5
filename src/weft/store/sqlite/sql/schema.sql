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
    namespace INTEGER NOT NULL,
    document INTEGER NOT NULL REFERENCES document (number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (document, key, value)
) STRICT, WITHOUT ROWID;

CREATE TABLE chunk (
    number INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    document INTEGER NOT NULL REFERENCES document (number) ON DELETE CASCADE,
    id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    heading TEXT NOT NULL,                 -- JSON array
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    text ANY NOT NULL,                     -- text, or packed (`pack_text`)
    terms ANY NOT NULL,                    -- JSON object of term and frequency, or packed (`pack_terms`); source of `posting`
    length INTEGER NOT NULL,               -- sum of these frequencies
    start_time INTEGER,                    -- earliest time of its turns, microseconds since 1970; NULL: no conversation
    end_time INTEGER,
    UNIQUE (namespace, id)
) STRICT;

CREATE INDEX chunk_by_document ON chunk (document, ordinal);
CREATE INDEX chunk_by_time ON chunk (namespace, start_time, end_time, document) WHERE start_time IS NOT NULL;

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
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused; a changed vector gets a new one. Key of the read indexes
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    model INTEGER NOT NULL REFERENCES model (number) ON DELETE CASCADE,
    vector BLOB NOT NULL,                  -- float16, little-endian, unit length
    UNIQUE (model, chunk)
) STRICT;

CREATE INDEX chunk_vector_by_chunk ON chunk_vector (chunk);
CREATE INDEX chunk_vector_by_model ON chunk_vector (model);

-- Postings: blocks of 4,096 consecutive chunk numbers, two bytes per chunk (position in the block, frequency), ordered by
-- position. The term ' ' has the lengths of chunks. Derived from chunk.terms only.
CREATE TABLE posting (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    term TEXT NOT NULL,
    block INTEGER NOT NULL,
    entries BLOB NOT NULL,
    PRIMARY KEY (namespace, term, block)
) STRICT, WITHOUT ROWID;

CREATE TABLE chunk_terms (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused; changed terms get a new one
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    chunk INTEGER NOT NULL UNIQUE REFERENCES chunk (number) ON DELETE CASCADE
) STRICT;

CREATE INDEX chunk_terms_by_namespace ON chunk_terms (namespace);

CREATE TABLE term (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    term TEXT NOT NULL,
    chunks INTEGER NOT NULL,               -- document frequency
    PRIMARY KEY (namespace, term)
) STRICT, WITHOUT ROWID;

-- Entities, mentions and relations.
-- `candidate`, `stated_relation` and `mention` hold the statements of documents and imports. `entity` and `relation` are derived from
-- them and from `edit`, and are updated by the writes that state or withdraw their names and stated relations.

-- Numbers of the keys of names. A key without a candidate, a stated relation and an entity has no row.
CREATE TABLE name (
    number INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    spelling TEXT,                         -- as first proposed; never changed. NULL: first used by a stated relation
    UNIQUE (namespace, key)
) STRICT;

CREATE TABLE candidate (
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    place INTEGER NOT NULL,                -- position among the candidates of the key by the chunk
    namespace INTEGER NOT NULL,
    document INTEGER NOT NULL,
    origin TEXT NOT NULL,                  -- name of the import; empty: the document itself
    key INTEGER NOT NULL REFERENCES name (number),
    name TEXT,                             -- NULL: the spelling of the key in `name`
    code ANY NOT NULL,                     -- number of the kind, see `kind`
    vote INTEGER NOT NULL,                 -- 2 makes an entity, 1 together with another document, 0 never
    rank INTEGER NOT NULL,                 -- smaller is better: source of name, type and description
    type TEXT NOT NULL,
    description ANY NOT NULL,              -- text, or the place of the chunk's title of the same key and description
    about INTEGER NOT NULL,
    alias_of TEXT NOT NULL,                -- key
    reason TEXT NOT NULL,
    extractor TEXT NOT NULL,               -- who read it: nothing for the rules, + before a name: the rules too
    kind TEXT AS (CASE code
        WHEN 0 THEN 'phrase' WHEN 1 THEN 'title' WHEN 2 THEN 'definition' WHEN 3 THEN 'quoted' WHEN 4 THEN 'variant'
        WHEN 5 THEN 'abbreviation' WHEN 6 THEN 'heading' WHEN 7 THEN 'link' WHEN 8 THEN 'label' WHEN 9 THEN 'section'
        WHEN 10 THEN 'page' WHEN 11 THEN 'anchor' WHEN 12 THEN 'name' WHEN 13 THEN 'identifier' WHEN 14 THEN 'term'
        WHEN 15 THEN 'metadata' WHEN 16 THEN 'field' WHEN 17 THEN 'given' ELSE code END
    ),
    PRIMARY KEY (chunk, key, place)        -- short, because every index below repeats it
) STRICT, WITHOUT ROWID;

CREATE INDEX candidate_strong ON candidate (key, alias_of, code) WHERE vote = 2;
CREATE INDEX candidate_by_rank ON candidate (key, rank, name);
CREATE INDEX candidate_with_type ON candidate (key, rank, type) WHERE type <> '';
CREATE INDEX candidate_with_description ON candidate (key, rank, substr(description, 1, 48)) WHERE description > '';
CREATE INDEX candidate_alias ON candidate (key, alias_of, reason) WHERE alias_of <> '';
CREATE INDEX candidate_of_import ON candidate (namespace, origin) WHERE origin <> '';
CREATE INDEX candidate_by_extractor ON candidate (key, extractor) WHERE extractor <> '';

-- Best name of each key: the smallest of the best rank. NULL sorts first, so at most two rows are read.
CREATE VIEW best_name AS
SELECT w.number AS key, (
    SELECT CASE WHEN n.name IS NULL THEN min(w.spelling, coalesce((
        SELECT min(o.name) FROM candidate AS o WHERE o.key = n.key AND o.rank = n.rank AND o.name > ''
    ), w.spelling)) ELSE n.name END
    FROM candidate AS n
    WHERE n.key = w.number
    ORDER BY n.rank, n.name
    LIMIT 1
) AS name
FROM name AS w;

CREATE TABLE stated_relation (
    namespace INTEGER NOT NULL,
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    origin TEXT NOT NULL,                  -- name of the import; empty: the document itself
    source INTEGER NOT NULL,               -- source and target are numbers of keys
    target INTEGER NOT NULL,
    type TEXT NOT NULL,
    weight REAL NOT NULL,
    description TEXT NOT NULL,
    place INTEGER NOT NULL,                -- first 32 bits of the chunk's id, for ties
    extractor TEXT NOT NULL,               -- as in `candidate`
    PRIMARY KEY (chunk, source, target, type, origin)
) STRICT, WITHOUT ROWID;

CREATE INDEX stated_relation_by_pair ON stated_relation (source, target, type, weight DESC, place, chunk);
CREATE INDEX stated_relation_of_import ON stated_relation (namespace, origin) WHERE origin <> '';
CREATE INDEX stated_relation_by_target ON stated_relation (target);

CREATE TABLE entity (
    number INTEGER PRIMARY KEY,            -- that of its key in `name`
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    hash BLOB NOT NULL,                    -- the id without its first letter
    key TEXT NOT NULL,
    strong INTEGER NOT NULL,
    alias_of TEXT,                         -- key of the entity it is an alias of; NULL: it is none
    reason TEXT NOT NULL,                  -- reason of the alias
    mentions INTEGER NOT NULL DEFAULT 0,
    chunks INTEGER NOT NULL DEFAULT 0,
    head INTEGER NOT NULL DEFAULT 0,       -- number of the entity at the end of the same_as chain
    id TEXT AS ('e' || lower(hex(hash))),
    same_as TEXT AS (coalesce(alias_of, key)),
    UNIQUE (namespace, key),
    UNIQUE (namespace, hash)
) STRICT;

CREATE INDEX entity_by_same ON entity (namespace, alias_of) WHERE alias_of IS NOT NULL;
CREATE INDEX entity_by_head ON entity (head);
CREATE INDEX entity_by_letters ON entity (namespace, replace(key, ' ', ''));
CREATE INDEX entity_by_chunks ON entity (namespace, chunks DESC, key) WHERE strong AND alias_of IS NULL;

-- Names that a chunk proposes and its text contains, and its subjects. No row depends on another chunk.
CREATE TABLE mention (
    key INTEGER NOT NULL REFERENCES name (number) ON DELETE CASCADE,
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    count INTEGER NOT NULL,
    about INTEGER NOT NULL,
    place INTEGER NOT NULL,                -- first 32 bits of the chunk's id: the same tie order in every file
    sentences INTEGER NOT NULL,            -- bits of the sentences with the name, see `StatedMention`
    PRIMARY KEY (key, about DESC, count DESC, place, chunk)
) STRICT, WITHOUT ROWID;

CREATE INDEX mention_by_chunk ON mention (chunk);

CREATE TABLE relation (
    source INTEGER NOT NULL REFERENCES entity (number) ON DELETE CASCADE,
    target INTEGER NOT NULL REFERENCES entity (number) ON DELETE CASCADE,
    type TEXT NOT NULL,
    weight REAL NOT NULL,                  -- the largest of its stated relations
    place INTEGER NOT NULL,                -- from the ids of both entities, for ties
    PRIMARY KEY (source, target, type)
) STRICT, WITHOUT ROWID;

CREATE INDEX relation_by_source ON relation (source, weight DESC, place, target, type);
CREATE INDEX relation_by_target ON relation (target, weight DESC, place, source, type);
CREATE INDEX relation_by_source_type ON relation (source, type, weight DESC, place, target);
CREATE INDEX relation_by_target_type ON relation (target, type, weight DESC, place, source);

CREATE TABLE entity_vector (
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    model INTEGER NOT NULL REFERENCES model (number) ON DELETE CASCADE,
    vector BLOB NOT NULL,                  -- 12 bits per component, see `pack_twelve`
    PRIMARY KEY (model, chunk, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX entity_vector_by_chunk ON entity_vector (chunk);

-- Edits of entities by the user. They are the only part of the graph that does not depend on documents.
CREATE TABLE edit (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    kind TEXT NOT NULL,                    -- merge, unmerge, alias, rename, delete
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (namespace, kind, key, value)
) STRICT, WITHOUT ROWID;

-- Facts, their history, and their subject and object entities.
-- Times are microseconds since 1970 in UTC.

CREATE TABLE fact_entity (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    type TEXT NOT NULL DEFAULT '',
    declared INTEGER NOT NULL DEFAULT 0,   -- kept when no fact uses it
    PRIMARY KEY (namespace, key)
) STRICT, WITHOUT ROWID;

-- Words of the entity keys, for searching by parts of a name.
CREATE TABLE fact_word (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    word TEXT NOT NULL,
    key TEXT NOT NULL,
    size INTEGER NOT NULL,                 -- number of words of the key
    PRIMARY KEY (namespace, word, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX fact_word_by_key ON fact_word (namespace, key);

CREATE TABLE fact_vector (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused; a changed vector gets a new one. Key of the read indexes
    model INTEGER NOT NULL REFERENCES model (number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    sketch BLOB NOT NULL,                  -- sign bits of the vector
    vector BLOB NOT NULL,                  -- float32, little-endian, unit length
    UNIQUE (model, key)
) STRICT;

CREATE INDEX fact_vector_sketch ON fact_vector (model, sketch); -- covers the preselection at a thirtieth of the size
CREATE INDEX fact_vector_by_model ON fact_vector (model);

CREATE TABLE fact (
    number INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    id TEXT NOT NULL,
    subject TEXT NOT NULL,                 -- key of an entity
    predicate TEXT NOT NULL,
    object TEXT NOT NULL,                  -- key of an entity; empty if `value` is a literal
    value TEXT NOT NULL,
    content TEXT NOT NULL,                 -- content hash, equal for equal statements
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
    spelling TEXT NOT NULL DEFAULT '',     -- first spelling of the predicate, if different
    UNIQUE (namespace, id)
) STRICT;

-- Ten facts of a subject take ten rows of these indexes, however many facts it has: open-ended ones are ordered by
-- confidence, others by their end.
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

-- Vectors of facts as sentences, for recall by meaning.
CREATE TABLE fact_text_vector (
    model INTEGER NOT NULL REFERENCES model (number) ON DELETE CASCADE,
    fact INTEGER NOT NULL REFERENCES fact (number) ON DELETE CASCADE,
    sketch BLOB NOT NULL,                  -- sign bits of the vector
    vector BLOB NOT NULL,                  -- float32, little-endian, unit length
    PRIMARY KEY (model, fact)
) STRICT, WITHOUT ROWID;

CREATE INDEX fact_text_vector_sketch ON fact_text_vector (model, sketch); -- covers the preselection
CREATE INDEX fact_text_vector_by_fact ON fact_text_vector (fact);

CREATE TABLE fact_event (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    fact TEXT NOT NULL,                    -- id of the fact
    place INTEGER NOT NULL,                -- position in the history of a fact, from 1
    at INTEGER NOT NULL,
    action TEXT NOT NULL,
    detail TEXT NOT NULL,
    other TEXT NOT NULL,                   -- id of a related fact, or empty
    PRIMARY KEY (namespace, fact, place)
) STRICT, WITHOUT ROWID;

CREATE INDEX fact_event_by_other ON fact_event (namespace, other) WHERE other <> '';

-- Calibration of a namespace, if one was fitted.
CREATE TABLE calibration (
    namespace INTEGER PRIMARY KEY REFERENCES namespace (number) ON DELETE CASCADE,
    model INTEGER REFERENCES model (number) ON DELETE CASCADE, -- NULL: no embedder
    value TEXT NOT NULL                    -- JSON object
) STRICT;

CREATE INDEX calibration_by_model ON calibration (model);

-- Documents that state a fact. The fact is deleted with the last of them, unless it was stated by hand too.
CREATE TABLE fact_origin (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    fact TEXT NOT NULL,                    -- id of the fact
    document TEXT NOT NULL,                -- id of a document; empty: stated by hand too
    PRIMARY KEY (namespace, fact, document)
) STRICT, WITHOUT ROWID;

CREATE INDEX fact_origin_by_document ON fact_origin (namespace, document) WHERE document <> '';

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

-- Costs of language models, one row per run.
CREATE TABLE llm_run (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    id TEXT NOT NULL,
    at REAL NOT NULL,                      -- time of the last update, seconds since 1970
    model TEXT NOT NULL,
    usage TEXT NOT NULL,                   -- JSON object
    PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;
