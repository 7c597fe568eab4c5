-- One database for all namespaces, which can be sharded: `namespace` is the first column of every key and of every
-- reference, so that a namespace lives on one shard and every statement reads one shard.
-- Text is compared byte by byte, as in SQLite. `number` is internal; callers see ids.
-- `/* by namespace */` marks where a table may be partitioned.

CREATE SCHEMA IF NOT EXISTS weft;

CREATE TABLE weft.schema_version (
    version integer NOT NULL PRIMARY KEY
);

CREATE SEQUENCE weft.number;

CREATE TABLE weft.namespace (
    namespace text COLLATE "C" NOT NULL PRIMARY KEY,
    generation bigint NOT NULL DEFAULT 0,  -- increased by every committed write; these three without `write_delta`
    chunks bigint NOT NULL DEFAULT 0,      -- number of chunks, for BM25
    length bigint NOT NULL DEFAULT 0,      -- number of terms of all chunks, for BM25
    number bigint NOT NULL DEFAULT nextval('weft.number') -- of its creation: a dropped one is created with another
) /* by namespace */;

CREATE TABLE weft.document (
    namespace text COLLATE "C" NOT NULL,
    number bigint NOT NULL DEFAULT nextval('weft.number'),
    id text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    title text COLLATE "C" NOT NULL,
    metadata text COLLATE "C" NOT NULL,    -- JSON object
    content_hash text COLLATE "C" NOT NULL,
    unit text COLLATE "C" NOT NULL,
    PRIMARY KEY (namespace, number),
    UNIQUE (namespace, id),
    UNIQUE (namespace, source)
) /* by namespace */;

-- Labels, which filters compare: each scalar of the metadata as text. Derived from document.metadata only.
CREATE TABLE weft.label (
    namespace text COLLATE "C" NOT NULL,
    number bigint NOT NULL DEFAULT nextval('weft.number'),
    document bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,       -- may exceed the maximum size of an index key
    beginning text COLLATE "C" GENERATED ALWAYS AS (left(value, 100)) STORED, -- row security bars expression indexes
    PRIMARY KEY (namespace, number)
) /* by namespace */;

CREATE TABLE weft.chunk (
    namespace text COLLATE "C" NOT NULL,
    number bigint NOT NULL DEFAULT nextval('weft.number'),
    document bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    ordinal integer NOT NULL,
    heading text COLLATE "C" NOT NULL,     -- JSON array
    start_line integer NOT NULL,
    end_line integer NOT NULL,
    text text COLLATE "C" NOT NULL,
    terms jsonb NOT NULL,                  -- term and frequency; source of `posting` and `term`
    length integer NOT NULL,               -- sum of these frequencies
    start_time bigint,                     -- earliest time of its turns, microseconds since 1970; NULL: no conversation
    end_time bigint,
    PRIMARY KEY (namespace, number),
    UNIQUE (namespace, id)
) /* by namespace */;

-- Keyword index: packed postings. Derived from chunk.terms only.
CREATE TABLE weft.posting (
    namespace text COLLATE "C" NOT NULL,
    term text COLLATE "C" NOT NULL,
    block bigint NOT NULL,                 -- number of the chunk, divided by 4,096
    entries bytea NOT NULL,                -- layout: weft/store/postgres/terms.py
    PRIMARY KEY (namespace, term, block)
) /* by namespace */;

-- Document frequencies. Derived from chunk.terms only.
CREATE TABLE weft.term (
    namespace text COLLATE "C" NOT NULL,
    term text COLLATE "C" NOT NULL,
    chunks bigint NOT NULL,
    PRIMARY KEY (namespace, term)
) /* by namespace */;

-- Deltas: what writes append to counters and postings until it is folded, see weft/store/postgres/deltas.py.
CREATE TABLE weft.write_delta (
    namespace text COLLATE "C" NOT NULL,
    number bigint NOT NULL DEFAULT nextval('weft.number'),
    chunks bigint NOT NULL DEFAULT 0,
    length bigint NOT NULL DEFAULT 0,
    added bigint[] NOT NULL DEFAULT '{}',  -- new chunks, whose terms are in no posting
    removed jsonb NOT NULL DEFAULT '{}',   -- number of a changed or deleted chunk: its terms in the postings
    touched integer NOT NULL DEFAULT 0,    -- number of both
    PRIMARY KEY (namespace, number)
) /* by namespace */;

CREATE TABLE weft.mention_delta (
    namespace text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    number bigint NOT NULL DEFAULT nextval('weft.number'),
    mentions bigint NOT NULL,
    chunks bigint NOT NULL,
    PRIMARY KEY (namespace, key, number)
) /* by namespace */;

CREATE TABLE weft.model (
    namespace text COLLATE "C" NOT NULL,
    number bigint NOT NULL DEFAULT nextval('weft.number'),
    name text COLLATE "C" NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    dimension integer NOT NULL,
    active boolean NOT NULL,
    PRIMARY KEY (namespace, number),
    UNIQUE (namespace, fingerprint)
) /* by namespace */;

-- Vector indexes are created for each dimension at its first use.
CREATE TABLE weft.chunk_vector (
    namespace text COLLATE "C" NOT NULL,
    model bigint NOT NULL,
    chunk bigint NOT NULL,
    vector vector NOT NULL,                -- unit length
    PRIMARY KEY (namespace, model, chunk)
) /* by namespace */;

-- Entities, mentions and relations.
-- `candidate`, `stated_relation` and `mention` hold the statements of documents and imports. `entity` and `relation` are derived from
-- them and from `edit`, and are updated by the writes that state or withdraw their names and stated relations.

CREATE TABLE weft.candidate (
    namespace text COLLATE "C" NOT NULL,
    chunk bigint NOT NULL,
    document bigint NOT NULL,
    origin text COLLATE "C" NOT NULL,      -- name of the import; empty: the document itself
    key text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    vote integer NOT NULL,                 -- 2 makes an entity, 1 together with another document, 0 never
    rank integer NOT NULL,                 -- smaller is better: source of name, type and description
    type text COLLATE "C" NOT NULL,
    description text COLLATE "C" NOT NULL,
    about boolean NOT NULL,
    alias_of text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL,
    extractor text COLLATE "C" NOT NULL DEFAULT '', -- who read it: nothing for the rules, + before a name: the rules too
    PRIMARY KEY (namespace, chunk, key, kind, name, origin)
) /* by namespace */;

CREATE TABLE weft.stated_relation (
    namespace text COLLATE "C" NOT NULL,
    chunk bigint NOT NULL,
    origin text COLLATE "C" NOT NULL,      -- name of the import; empty: the document itself
    source text COLLATE "C" NOT NULL,      -- source and target are keys of entities
    target text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    weight double precision NOT NULL,
    description text COLLATE "C" NOT NULL,
    place bigint NOT NULL DEFAULT 0,       -- first 32 bits of the chunk's id, for ties
    extractor text COLLATE "C" NOT NULL DEFAULT '', -- as in `candidate`
    PRIMARY KEY (namespace, chunk, source, target, type, origin)
) /* by namespace */;

CREATE TABLE weft.entity (
    namespace text COLLATE "C" NOT NULL,
    number bigint NOT NULL DEFAULT nextval('weft.number'),
    id text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    letters text COLLATE "C" GENERATED ALWAYS AS (replace(key, ' ', '')) STORED, -- row security bars expression indexes
    first text COLLATE "C" GENERATED ALWAYS AS (split_part(key, ' ', 1)) STORED, -- first word
    strong boolean NOT NULL,
    same_as text COLLATE "C" NOT NULL,     -- key of the entity it is an alias of, or its own
    reason text COLLATE "C" NOT NULL,      -- reason of the alias
    mentions bigint NOT NULL DEFAULT 0,
    chunks bigint NOT NULL DEFAULT 0,
    head bigint NOT NULL DEFAULT 0,        -- number of the entity at the end of the same_as chain
    PRIMARY KEY (namespace, number),
    UNIQUE (namespace, key),
    UNIQUE (namespace, id)
) /* by namespace */;

-- Names that a chunk proposes and its text contains, and its subjects. No row depends on another chunk.
CREATE TABLE weft.mention (
    namespace text COLLATE "C" NOT NULL,
    chunk bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    count integer NOT NULL,
    about boolean NOT NULL,
    place bigint NOT NULL,                 -- first 32 bits of the chunk's id: the same tie order in every database
    sentences bigint NOT NULL,             -- bits of the sentences with the name, see `StatedMention`
    PRIMARY KEY (namespace, chunk, key)
) /* by namespace */;

CREATE TABLE weft.relation (
    namespace text COLLATE "C" NOT NULL,
    source bigint NOT NULL,
    target bigint NOT NULL,
    type text COLLATE "C" NOT NULL,
    weight double precision NOT NULL,      -- the largest of its stated relations
    place bigint NOT NULL,                 -- from the ids of both entities, for ties
    PRIMARY KEY (namespace, source, target, type)
) /* by namespace */;

CREATE TABLE weft.entity_vector (
    namespace text COLLATE "C" NOT NULL,
    model bigint NOT NULL,
    chunk bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    vector vector NOT NULL,
    PRIMARY KEY (namespace, model, chunk, key)
) /* by namespace */;

-- Edits of entities by the user. They are the only part of the graph that does not depend on documents.
CREATE TABLE weft.edit (
    namespace text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,        -- merge, unmerge, alias, rename, delete
    key text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    PRIMARY KEY (namespace, kind, key, value)
) /* by namespace */;

-- Facts, their history, and their subject and object entities.
-- Times are microseconds since 1970 in UTC.

CREATE TABLE weft.fact_entity (
    namespace text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    description text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL DEFAULT '',
    declared boolean NOT NULL DEFAULT FALSE, -- kept when no fact uses it
    PRIMARY KEY (namespace, key)
) /* by namespace */;

-- Words of the entity keys, for searching by parts of a name.
CREATE TABLE weft.fact_word (
    namespace text COLLATE "C" NOT NULL,
    word text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    size integer NOT NULL,                 -- number of words of the key
    PRIMARY KEY (namespace, word, key)
) /* by namespace */;

CREATE TABLE weft.fact_vector (
    namespace text COLLATE "C" NOT NULL,
    model bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    vector vector NOT NULL,                -- unit length
    PRIMARY KEY (namespace, model, key)
) /* by namespace */;

CREATE TABLE weft.fact (
    namespace text COLLATE "C" NOT NULL,
    number bigint NOT NULL DEFAULT nextval('weft.number'),
    id text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,     -- key of an entity
    predicate text COLLATE "C" NOT NULL,
    object text COLLATE "C" NOT NULL,      -- key of an entity; empty if `value` is a literal
    value text COLLATE "C" NOT NULL,
    content text COLLATE "C" NOT NULL,     -- content hash, equal for equal statements
    confidence double precision NOT NULL,
    source text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    created bigint NOT NULL,
    valid_from bigint,
    valid_to bigint,
    accessed bigint,
    accesses bigint NOT NULL DEFAULT 0,
    supersedes text COLLATE "C" NOT NULL,  -- id of a fact, or empty
    note text COLLATE "C" NOT NULL,
    spelling text COLLATE "C" NOT NULL DEFAULT '', -- first spelling of the predicate, if different
    PRIMARY KEY (namespace, number),
    UNIQUE (namespace, id)
) /* by namespace */;

-- Vectors of facts as sentences, for recall by meaning.
CREATE TABLE weft.fact_text_vector (
    namespace text COLLATE "C" NOT NULL,
    model bigint NOT NULL,
    fact bigint NOT NULL,
    vector vector NOT NULL,                -- unit length
    PRIMARY KEY (namespace, model, fact)
) /* by namespace */;

CREATE TABLE weft.fact_event (
    namespace text COLLATE "C" NOT NULL,
    fact text COLLATE "C" NOT NULL,        -- id of the fact
    place bigint NOT NULL,                 -- position in the history of a fact, from 1
    at bigint NOT NULL,
    action text COLLATE "C" NOT NULL,
    detail text COLLATE "C" NOT NULL,
    other text COLLATE "C" NOT NULL,       -- id of a related fact, or empty
    PRIMARY KEY (namespace, fact, place)
) /* by namespace */;

-- Documents that state a fact. The fact is deleted with the last of them, unless it was stated by hand too.
CREATE TABLE weft.fact_origin (
    namespace text COLLATE "C" NOT NULL,
    fact text COLLATE "C" NOT NULL,        -- id of the fact
    document text COLLATE "C" NOT NULL,    -- id of a document; empty: stated by hand too
    PRIMARY KEY (namespace, fact, document)
) /* by namespace */;

-- Calibration of a namespace, if one was fitted.
CREATE TABLE weft.calibration (
    namespace text COLLATE "C" NOT NULL PRIMARY KEY,
    model bigint,                          -- NULL: no embedder
    value text COLLATE "C" NOT NULL        -- JSON object
) /* by namespace */;

-- Job queue: documents waiting to be indexed. Not part of the content of a namespace.
CREATE TABLE weft.job (
    namespace text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,          -- id of the document
    run text COLLATE "C" NOT NULL,         -- id of the run that enqueued it
    source text COLLATE "C" NOT NULL,
    content_hash text COLLATE "C" NOT NULL, -- content hash that the document will have
    recipe text COLLATE "C" NOT NULL,      -- indexing settings; workers with other settings skip it
    state text COLLATE "C" NOT NULL,       -- waiting, running, done or failed
    attempts integer NOT NULL,             -- number of attempts begun
    worker text COLLATE "C" NOT NULL,      -- worker that claimed it; empty: none
    expires double precision NOT NULL,     -- running: end of the lease; done: time of deletion
    result text COLLATE "C" NOT NULL,      -- done: JSON object
    error text COLLATE "C" NOT NULL,       -- last error
    payload text COLLATE "C" NOT NULL,     -- document as JSON; empty when done
    PRIMARY KEY (namespace, id)
) /* by namespace */;

-- Costs of language models, one row per run.
CREATE TABLE weft.llm_run (
    namespace text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    at double precision NOT NULL,          -- time of the last update, seconds since 1970
    model text COLLATE "C" NOT NULL,
    usage text COLLATE "C" NOT NULL,       -- JSON object
    PRIMARY KEY (namespace, id)
) /* by namespace */;

-- API keys of the server interfaces. They belong to no namespace.
CREATE TABLE weft.api_key (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,      -- SHA-256 of the whole key, in hex
    namespaces text COLLATE "C" NOT NULL,  -- JSON array
    access text COLLATE "C" NOT NULL,      -- read or write
    created text COLLATE "C" NOT NULL,
    revoked text COLLATE "C"               -- NULL: valid
);

-- Foreign keys, added after the tables are distributed.

ALTER TABLE weft.calibration ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.document ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.edit ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.entity ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.fact ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.fact_entity ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.fact_event ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.fact_origin ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.fact_word ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.job ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.llm_run ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.model ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.posting ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.term ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.write_delta ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.mention_delta ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.label ADD FOREIGN KEY (namespace, document)
REFERENCES weft.document (namespace, number) ON DELETE CASCADE;
ALTER TABLE weft.chunk ADD FOREIGN KEY (namespace, document)
REFERENCES weft.document (namespace, number) ON DELETE CASCADE;
ALTER TABLE weft.chunk_vector ADD FOREIGN KEY (namespace, model)
REFERENCES weft.model (namespace, number) ON DELETE CASCADE;
ALTER TABLE weft.chunk_vector ADD FOREIGN KEY (namespace, chunk)
REFERENCES weft.chunk (namespace, number) ON DELETE CASCADE;
ALTER TABLE weft.candidate ADD FOREIGN KEY (namespace, chunk)
REFERENCES weft.chunk (namespace, number) ON DELETE CASCADE;
ALTER TABLE weft.stated_relation ADD FOREIGN KEY (namespace, chunk) REFERENCES weft.chunk (namespace, number) ON DELETE CASCADE;
ALTER TABLE weft.mention ADD FOREIGN KEY (namespace, chunk) REFERENCES weft.chunk (namespace, number) ON DELETE CASCADE;
ALTER TABLE weft.relation ADD FOREIGN KEY (namespace, source)
REFERENCES weft.entity (namespace, number) ON DELETE CASCADE;
ALTER TABLE weft.relation ADD FOREIGN KEY (namespace, target)
REFERENCES weft.entity (namespace, number) ON DELETE CASCADE;
ALTER TABLE weft.entity_vector ADD FOREIGN KEY (namespace, model)
REFERENCES weft.model (namespace, number) ON DELETE CASCADE;
ALTER TABLE weft.entity_vector ADD FOREIGN KEY (namespace, chunk)
REFERENCES weft.chunk (namespace, number) ON DELETE CASCADE;
ALTER TABLE weft.fact_vector ADD FOREIGN KEY (namespace, model)
REFERENCES weft.model (namespace, number) ON DELETE CASCADE;
ALTER TABLE weft.fact_text_vector ADD FOREIGN KEY (namespace, model)
    REFERENCES weft.model (namespace, number) ON DELETE CASCADE;
ALTER TABLE weft.fact_text_vector ADD FOREIGN KEY (namespace, fact)
    REFERENCES weft.fact (namespace, number) ON DELETE CASCADE;

CREATE INDEX label_by_document ON weft.label (namespace, document);
CREATE INDEX label_by_value ON weft.label (namespace, key, beginning, document);
CREATE INDEX chunk_by_document ON weft.chunk (namespace, document, ordinal) INCLUDE (number);
CREATE INDEX chunk_by_time ON weft.chunk (namespace, start_time, end_time, document, number)
WHERE start_time IS NOT NULL;
CREATE UNIQUE INDEX one_active_model ON weft.model (namespace) WHERE active;
CREATE INDEX chunk_vector_by_chunk ON weft.chunk_vector (namespace, chunk);
CREATE INDEX candidate_by_vote ON weft.candidate (namespace, key, vote, document);
CREATE INDEX candidate_by_rank ON weft.candidate (namespace, key, rank, name);
CREATE INDEX candidate_with_type ON weft.candidate (namespace, key, rank, type) WHERE type <> '';
CREATE INDEX candidate_with_description ON weft.candidate (namespace, key, rank) WHERE description <> '';
CREATE INDEX candidate_alias ON weft.candidate (namespace, key, alias_of, reason) WHERE alias_of <> '';
CREATE INDEX candidate_own ON weft.candidate (namespace, key)
WHERE vote = 2 AND alias_of = '' AND kind IN ('title', 'definition', 'field', 'given');
CREATE INDEX candidate_of_import ON weft.candidate (namespace, origin) WHERE origin <> '';
CREATE INDEX candidate_by_extractor ON weft.candidate (namespace, key, extractor) WHERE extractor <> '';
CREATE INDEX stated_relation_by_pair ON weft.stated_relation (namespace, source, target, type, weight DESC, place, chunk);
CREATE INDEX stated_relation_of_import ON weft.stated_relation (namespace, origin) WHERE origin <> '';
CREATE INDEX stated_relation_by_target ON weft.stated_relation (namespace, target);
CREATE INDEX entity_by_same ON weft.entity (namespace, same_as);
CREATE INDEX entity_by_head ON weft.entity (namespace, head);
CREATE INDEX entity_by_letters ON weft.entity (namespace, letters);
CREATE INDEX entity_by_first ON weft.entity (namespace, first);
CREATE INDEX entity_by_chunks ON weft.entity (namespace, chunks DESC, key) WHERE strong AND same_as = key;
CREATE INDEX mention_by_key ON weft.mention (namespace, key, about DESC, count DESC, place, chunk);
CREATE INDEX relation_by_source ON weft.relation (namespace, source, weight DESC, place, target, type);
CREATE INDEX relation_by_target ON weft.relation (namespace, target, weight DESC, place, source, type);
-- Relations of one type. Derived types are left out: they are nearly all rows, and no query selects them by type.
CREATE INDEX relation_by_source_type ON weft.relation (namespace, source, type, weight DESC, place, target);
CREATE INDEX relation_by_target_type ON weft.relation (namespace, target, type, weight DESC, place, source);
CREATE INDEX entity_vector_by_chunk ON weft.entity_vector (namespace, chunk);
CREATE INDEX fact_word_by_key ON weft.fact_word (namespace, key);
-- Ten facts of a subject take ten rows of these indexes, however many facts it has: open-ended ones are ordered by
-- confidence, others by their end.
CREATE INDEX fact_standing ON weft.fact (namespace, subject, confidence DESC, created DESC, id)
WHERE valid_to IS NULL AND status IN ('staged', 'confirmed');
CREATE INDEX fact_ending ON weft.fact (namespace, subject, valid_to) WHERE valid_to IS NOT NULL AND status <> 'rejected';
CREATE INDEX fact_standing_object ON weft.fact (namespace, object, confidence DESC, created DESC, id)
WHERE valid_to IS NULL AND status IN ('staged', 'confirmed') AND object <> '';
CREATE INDEX fact_ending_object ON weft.fact (namespace, object, valid_to)
WHERE valid_to IS NOT NULL AND status <> 'rejected' AND object <> '';
-- Their different collation (same order) keeps the planner from reading and sorting these instead of the ones above.
CREATE INDEX fact_by_subject ON weft.fact (namespace, subject COLLATE "POSIX", predicate);
CREATE INDEX fact_by_object ON weft.fact (namespace, object COLLATE "POSIX") WHERE object <> '';
CREATE INDEX fact_by_content ON weft.fact (namespace, content);
CREATE INDEX fact_by_superseded ON weft.fact (namespace, supersedes) WHERE supersedes <> '';
CREATE INDEX fact_text_vector_by_fact ON weft.fact_text_vector (namespace, fact);
CREATE INDEX fact_event_by_other ON weft.fact_event (namespace, other) WHERE other <> '';
CREATE INDEX fact_origin_by_document ON weft.fact_origin (namespace, document) WHERE document <> '';
