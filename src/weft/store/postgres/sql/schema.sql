-- One database for all namespaces, made to be spread over machines: `namespace` comes first in every key and in every
-- reference, so that everything of a namespace lives on one shard and no statement has to look at another one.
-- Text is compared byte by byte, as in the embedded store. `number` is internal; ids are what callers see.
-- `/* by namespace */` marks where a table may be partitioned.

CREATE SCHEMA IF NOT EXISTS weft;

CREATE TABLE weft.schema_version (
    version integer NOT NULL,
    step integer NOT NULL                  -- how many statements of the next migration are done
);

CREATE SEQUENCE weft.number;

CREATE TABLE weft.namespace (
    namespace text COLLATE "C" NOT NULL PRIMARY KEY,
    generation bigint NOT NULL DEFAULT 0,  -- grows with every committed write
    chunks bigint NOT NULL DEFAULT 0,      -- for BM25: how many chunks,
    length bigint NOT NULL DEFAULT 0       -- and how many terms in all of them
) /* by namespace */;

CREATE TABLE weft.document (
    namespace text COLLATE "C" NOT NULL,
    number bigint NOT NULL DEFAULT nextval('weft.number'),
    id text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    title text COLLATE "C" NOT NULL,
    metadata text COLLATE "C" NOT NULL,    -- a JSON object
    content_hash text COLLATE "C" NOT NULL,
    unit text COLLATE "C" NOT NULL,
    PRIMARY KEY (namespace, number),
    UNIQUE (namespace, id),
    UNIQUE (namespace, source)
) /* by namespace */;

-- What documents are filtered by: each scalar of the metadata as text. Derived from document.metadata alone.
CREATE TABLE weft.label (
    namespace text COLLATE "C" NOT NULL,
    number bigint NOT NULL DEFAULT nextval('weft.number'),
    document bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,       -- may be longer than a key of an index can be
    PRIMARY KEY (namespace, number)
) /* by namespace */;

CREATE TABLE weft.chunk (
    namespace text COLLATE "C" NOT NULL,
    number bigint NOT NULL DEFAULT nextval('weft.number'),
    document bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    ordinal integer NOT NULL,
    heading text COLLATE "C" NOT NULL,     -- a JSON array
    start_line integer NOT NULL,
    end_line integer NOT NULL,
    text text COLLATE "C" NOT NULL,
    terms jsonb NOT NULL,                  -- term and frequency: the source of `chunk_term` and `term`
    length integer NOT NULL,               -- sum of those frequencies
    PRIMARY KEY (namespace, number),
    UNIQUE (namespace, id)
) /* by namespace */;

-- What a chunk is found by. Derived from chunk.terms alone.
CREATE TABLE weft.chunk_term (
    namespace text COLLATE "C" NOT NULL,
    chunk bigint NOT NULL,
    held bigint[] NOT NULL,                -- a number for each of its terms in this namespace
    counts smallint[] NOT NULL,            -- how often it holds each of them, counted to 255
    length integer NOT NULL,               -- how many terms it has, counted to 65,535
    weights sparsevec(1000000000) NOT NULL, -- how much each counts, at the mean length there was when it was written
    PRIMARY KEY (namespace, chunk)
) /* by namespace */;

-- In how many chunks a term stands. Derived from chunk.terms alone.
CREATE TABLE weft.term (
    namespace text COLLATE "C" NOT NULL,
    term text COLLATE "C" NOT NULL,
    chunks bigint NOT NULL,
    PRIMARY KEY (namespace, term)
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

-- Indexes over vectors are made for each dimension that is used, when it is first used.
CREATE TABLE weft.chunk_vector (
    namespace text COLLATE "C" NOT NULL,
    model bigint NOT NULL,
    chunk bigint NOT NULL,
    vector vector NOT NULL,                -- unit length
    PRIMARY KEY (namespace, model, chunk)
) /* by namespace */;

-- Entities, where they are mentioned, and how they relate.
-- What documents say stands in `nomination` and `claim`. What follows from all of them together (`entity`, `mention`,
-- derived claims and `relation`) is kept in step by every write, and is a function of the documents and of `edit` alone.

CREATE TABLE weft.nomination (
    namespace text COLLATE "C" NOT NULL,
    chunk bigint NOT NULL,
    document bigint NOT NULL,
    origin text COLLATE "C" NOT NULL,      -- the import that says so; empty: the document itself
    key text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    vote integer NOT NULL,                 -- 2 makes an entity alone, 1 together with another document, 0 never
    rank integer NOT NULL,                 -- smaller is better: whose spelling, type and description are used
    type text COLLATE "C" NOT NULL,
    description text COLLATE "C" NOT NULL,
    about boolean NOT NULL,
    alias_of text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL,
    extractor text COLLATE "C" NOT NULL DEFAULT '', -- who read it: nothing for the rules, + before a name: the rules too
    PRIMARY KEY (namespace, chunk, key, kind, name, origin)
) /* by namespace */;

CREATE TABLE weft.claim (
    namespace text COLLATE "C" NOT NULL,
    chunk bigint NOT NULL,
    origin text COLLATE "C" NOT NULL,      -- the import that says so; empty: the document itself; *: follows from mentions
    source text COLLATE "C" NOT NULL,      -- keys of entities
    target text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    weight double precision NOT NULL,
    description text COLLATE "C" NOT NULL,
    place bigint NOT NULL DEFAULT 0,       -- first digits of the chunk's id, for ties
    extractor text COLLATE "C" NOT NULL DEFAULT '', -- who read it, as above
    PRIMARY KEY (namespace, chunk, source, target, type, origin)
) /* by namespace */;

CREATE TABLE weft.entity (
    namespace text COLLATE "C" NOT NULL,
    number bigint NOT NULL DEFAULT nextval('weft.number'),
    id text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    letters text COLLATE "C" GENERATED ALWAYS AS (replace(key, ' ', '')) STORED, -- row security bars indexes over calls
    first text COLLATE "C" GENERATED ALWAYS AS (split_part(key, ' ', 1)) STORED, -- word
    strong boolean NOT NULL,
    same_as text COLLATE "C" NOT NULL,     -- key of the entity this is another name of, or its own
    reason text COLLATE "C" NOT NULL,      -- why
    mentions bigint NOT NULL DEFAULT 0,
    chunks bigint NOT NULL DEFAULT 0,
    head bigint NOT NULL DEFAULT 0,        -- number of the entity it is read under, at the end of the chain of same_as
    PRIMARY KEY (namespace, number),
    UNIQUE (namespace, key),
    UNIQUE (namespace, id)
) /* by namespace */;

CREATE TABLE weft.mention (
    namespace text COLLATE "C" NOT NULL,
    entity bigint NOT NULL,
    chunk bigint NOT NULL,
    count integer NOT NULL,
    about boolean NOT NULL,
    place bigint NOT NULL,                 -- first digits of the chunk's id: ties fall the same way in every database
    PRIMARY KEY (namespace, chunk, entity)
) /* by namespace */;

CREATE TABLE weft.relation (
    namespace text COLLATE "C" NOT NULL,
    source bigint NOT NULL,
    target bigint NOT NULL,
    type text COLLATE "C" NOT NULL,
    weight double precision NOT NULL,
    support integer NOT NULL,              -- chunks that say so, counted to 256
    place bigint NOT NULL,                 -- first digits of both ids, for ties
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

-- What the user said about entities; nothing else survives the documents.
CREATE TABLE weft.edit (
    namespace text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,        -- merge, unmerge, alias, rename
    key text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    PRIMARY KEY (namespace, kind, key, value)
) /* by namespace */;

-- What is remembered: facts, what happened to them, and the entities they are about or lead to.
-- Times are microseconds since 1970 in UTC.

CREATE TABLE weft.fact_entity (
    namespace text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    description text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL DEFAULT '',
    declared boolean NOT NULL DEFAULT FALSE, -- given as a thing of its own: stays when no fact names it
    PRIMARY KEY (namespace, key)
) /* by namespace */;

-- The words of their keys, for finding one by a part of its name.
CREATE TABLE weft.fact_word (
    namespace text COLLATE "C" NOT NULL,
    word text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    size integer NOT NULL,                 -- how many words the key has
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
    object text COLLATE "C" NOT NULL,      -- key of an entity; empty where `value` is a literal
    value text COLLATE "C" NOT NULL,
    content text COLLATE "C" NOT NULL,     -- the same for equal statements
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
    spelling text COLLATE "C" NOT NULL DEFAULT '', -- the predicate as it was first written, where that is not the same
    PRIMARY KEY (namespace, number),
    UNIQUE (namespace, id)
) /* by namespace */;

CREATE TABLE weft.fact_event (
    namespace text COLLATE "C" NOT NULL,
    fact text COLLATE "C" NOT NULL,        -- id of the fact
    place bigint NOT NULL,                 -- from 1, in the order of the events of a fact
    at bigint NOT NULL,
    action text COLLATE "C" NOT NULL,
    detail text COLLATE "C" NOT NULL,
    other text COLLATE "C" NOT NULL,       -- id of a fact that had to do with it, or empty
    PRIMARY KEY (namespace, fact, place)
) /* by namespace */;

-- Which documents state a fact; it goes with the last of them, unless somebody stated it too.
CREATE TABLE weft.fact_origin (
    namespace text COLLATE "C" NOT NULL,
    fact text COLLATE "C" NOT NULL,        -- id of the fact
    document text COLLATE "C" NOT NULL,    -- id of a document; empty: stated by hand as well
    PRIMARY KEY (namespace, fact, document)
) /* by namespace */;

-- How sure a namespace is of its answers, where that was fitted to it.
CREATE TABLE weft.calibration (
    namespace text COLLATE "C" NOT NULL PRIMARY KEY,
    model bigint,                          -- NULL: there is no embedder
    value text COLLATE "C" NOT NULL        -- a JSON object
) /* by namespace */;

-- Documents that wait to be indexed by whoever has time. Of no namespace's content: it only leads there.
CREATE TABLE weft.job (
    namespace text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,          -- of the document
    run text COLLATE "C" NOT NULL,         -- who waits for it
    source text COLLATE "C" NOT NULL,
    content_hash text COLLATE "C" NOT NULL, -- what the document must come to
    recipe text COLLATE "C" NOT NULL,      -- how it is to be indexed: a worker with other settings leaves it alone
    state text COLLATE "C" NOT NULL,       -- waiting, running, done or failed
    attempts integer NOT NULL,             -- how often it was begun
    worker text COLLATE "C" NOT NULL,      -- who has it, empty: nobody
    expires double precision NOT NULL,     -- running: when others may take it, done: when it is forgotten
    result text COLLATE "C" NOT NULL,      -- done: a JSON object
    error text COLLATE "C" NOT NULL,       -- what went wrong last
    payload text COLLATE "C" NOT NULL,     -- the document as JSON, empty once it is done
    PRIMARY KEY (namespace, id)
) /* by namespace */;

-- What asking a language model cost, run by run.
CREATE TABLE weft.llm_run (
    namespace text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    at double precision NOT NULL,          -- when it was last heard of, seconds since 1970
    model text COLLATE "C" NOT NULL,
    usage text COLLATE "C" NOT NULL,       -- a JSON object
    PRIMARY KEY (namespace, id)
) /* by namespace */;

-- Who may come in through a door that others can reach; no part of any namespace.
CREATE TABLE weft.api_key (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,      -- SHA-256 of the whole key, in hex
    namespaces text COLLATE "C" NOT NULL,  -- a JSON array
    access text COLLATE "C" NOT NULL,      -- read or write
    created text COLLATE "C" NOT NULL,
    revoked text COLLATE "C"               -- NULL: it opens its namespaces
);

-- What belongs to what, once the tables are where they are to be.

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
ALTER TABLE weft.term ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.label ADD FOREIGN KEY (namespace, document)
REFERENCES weft.document (namespace, number) ON DELETE CASCADE;
ALTER TABLE weft.chunk ADD FOREIGN KEY (namespace, document)
REFERENCES weft.document (namespace, number) ON DELETE CASCADE;
ALTER TABLE weft.chunk_term ADD FOREIGN KEY (namespace, chunk)
REFERENCES weft.chunk (namespace, number) ON DELETE CASCADE;
ALTER TABLE weft.chunk_vector ADD FOREIGN KEY (namespace, model)
REFERENCES weft.model (namespace, number) ON DELETE CASCADE;
ALTER TABLE weft.chunk_vector ADD FOREIGN KEY (namespace, chunk)
REFERENCES weft.chunk (namespace, number) ON DELETE CASCADE;
ALTER TABLE weft.nomination ADD FOREIGN KEY (namespace, chunk)
REFERENCES weft.chunk (namespace, number) ON DELETE CASCADE;
ALTER TABLE weft.claim ADD FOREIGN KEY (namespace, chunk) REFERENCES weft.chunk (namespace, number) ON DELETE CASCADE;
ALTER TABLE weft.mention ADD FOREIGN KEY (namespace, entity)
REFERENCES weft.entity (namespace, number) ON DELETE CASCADE;
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

CREATE INDEX label_by_document ON weft.label (namespace, document);
CREATE INDEX chunk_by_document ON weft.chunk (namespace, document, ordinal);
CREATE INDEX chunk_term_held ON weft.chunk_term USING gin (held);
CREATE UNIQUE INDEX one_active_model ON weft.model (namespace) WHERE active;
CREATE INDEX chunk_vector_by_chunk ON weft.chunk_vector (namespace, chunk);
CREATE INDEX nomination_by_vote ON weft.nomination (namespace, key, vote, document);
CREATE INDEX nomination_by_rank ON weft.nomination (namespace, key, rank, name);
CREATE INDEX nomination_with_type ON weft.nomination (namespace, key, rank, type) WHERE type <> '';
CREATE INDEX nomination_with_description ON weft.nomination (namespace, key, rank) WHERE description <> '';
CREATE INDEX nomination_alias ON weft.nomination (namespace, key, alias_of, reason) WHERE alias_of <> '';
CREATE INDEX nomination_own ON weft.nomination (namespace, key)
WHERE vote = 2 AND alias_of = '' AND kind IN ('title', 'definition', 'field', 'given');
CREATE INDEX nomination_of_import ON weft.nomination (namespace, origin) WHERE origin <> '';
CREATE INDEX nomination_by_extractor ON weft.nomination (namespace, key, extractor) WHERE extractor <> '';
CREATE INDEX claim_by_pair ON weft.claim (namespace, source, target, type, weight DESC, place, chunk);
CREATE INDEX claim_of_import ON weft.claim (namespace, origin) WHERE origin NOT IN ('', '*');
CREATE INDEX claim_given ON weft.claim (namespace, source, target, type, weight DESC) WHERE origin <> '*';
CREATE INDEX claim_by_target ON weft.claim (namespace, target);
CREATE INDEX entity_by_same ON weft.entity (namespace, same_as);
CREATE INDEX entity_by_head ON weft.entity (namespace, head);
CREATE INDEX entity_by_letters ON weft.entity (namespace, letters);
CREATE INDEX entity_by_first ON weft.entity (namespace, first);
CREATE INDEX entity_by_chunks ON weft.entity (namespace, chunks DESC, key) WHERE strong AND same_as = key;
CREATE INDEX mention_by_entity ON weft.mention (namespace, entity, about DESC, count DESC, place, chunk);
CREATE INDEX relation_by_source ON weft.relation (namespace, source, weight DESC, place, target, type);
CREATE INDEX relation_by_target ON weft.relation (namespace, target, weight DESC, place, source, type);
-- Relations of one type; those that only follow from mentions are nearly all, and nobody asks for them by type.
CREATE INDEX relation_by_source_type ON weft.relation (namespace, source, type, weight DESC, place, target)
WHERE type NOT IN ('co_occurs_with', 'mentions');
CREATE INDEX relation_by_target_type ON weft.relation (namespace, target, type, weight DESC, place, source)
WHERE type NOT IN ('co_occurs_with', 'mentions');
CREATE INDEX entity_vector_by_chunk ON weft.entity_vector (namespace, chunk);
CREATE INDEX fact_word_by_key ON weft.fact_word (namespace, key);
-- Ten rows of a subject are ten rows of these, however many facts it has: those that hold until further notice
-- by how sure they are, those with an end by that end.
CREATE INDEX fact_standing ON weft.fact (namespace, subject, confidence DESC, created DESC, id)
WHERE valid_to IS NULL AND status IN ('staged', 'confirmed');
CREATE INDEX fact_ending ON weft.fact (namespace, subject, valid_to) WHERE valid_to IS NOT NULL AND status <> 'rejected';
CREATE INDEX fact_standing_object ON weft.fact (namespace, object, confidence DESC, created DESC, id)
WHERE valid_to IS NULL AND status IN ('staged', 'confirmed') AND object <> '';
CREATE INDEX fact_ending_object ON weft.fact (namespace, object, valid_to)
WHERE valid_to IS NOT NULL AND status <> 'rejected' AND object <> '';
-- Their other collation, which compares the same, keeps these from being read, and sorted, in place of those above.
CREATE INDEX fact_by_subject ON weft.fact (namespace, subject COLLATE "POSIX", predicate);
CREATE INDEX fact_by_object ON weft.fact (namespace, object COLLATE "POSIX") WHERE object <> '';
CREATE INDEX fact_by_content ON weft.fact (namespace, content);
CREATE INDEX fact_by_superseded ON weft.fact (namespace, supersedes) WHERE supersedes <> '';
CREATE INDEX fact_event_by_other ON weft.fact_event (namespace, other) WHERE other <> '';
CREATE INDEX fact_origin_by_document ON weft.fact_origin (namespace, document) WHERE document <> '';

-- A second wall: whoever is not above row security sees only the namespace that its transaction is bound to.
-- Which namespaces there are can be read by all, and so can `chunk_term`, whose index row security would bar: it holds
-- no text, and its numbers of terms are made from the namespace, so that those of one lead to nothing of another.
-- Neither can be changed from another namespace.

ALTER TABLE weft.namespace ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.namespace FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.namespace USING (namespace = current_setting('weft.namespace', TRUE));
CREATE POLICY all_read ON weft.namespace FOR SELECT USING (TRUE);

ALTER TABLE weft.chunk_term ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.chunk_term FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.chunk_term USING (namespace = current_setting('weft.namespace', TRUE));
CREATE POLICY all_read ON weft.chunk_term FOR SELECT USING (TRUE);

ALTER TABLE weft.document ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.document FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.document USING (namespace = current_setting('weft.namespace', TRUE));

ALTER TABLE weft.label ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.label FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.label USING (namespace = current_setting('weft.namespace', TRUE));

ALTER TABLE weft.chunk ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.chunk FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.chunk USING (namespace = current_setting('weft.namespace', TRUE));

ALTER TABLE weft.term ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.term FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.term USING (namespace = current_setting('weft.namespace', TRUE));

ALTER TABLE weft.model ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.model FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.model USING (namespace = current_setting('weft.namespace', TRUE));

ALTER TABLE weft.chunk_vector ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.chunk_vector FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.chunk_vector USING (namespace = current_setting('weft.namespace', TRUE));

ALTER TABLE weft.nomination ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.nomination FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.nomination USING (namespace = current_setting('weft.namespace', TRUE));

ALTER TABLE weft.claim ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.claim FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.claim USING (namespace = current_setting('weft.namespace', TRUE));

ALTER TABLE weft.entity ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.entity FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.entity USING (namespace = current_setting('weft.namespace', TRUE));

ALTER TABLE weft.mention ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.mention FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.mention USING (namespace = current_setting('weft.namespace', TRUE));

ALTER TABLE weft.relation ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.relation FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.relation USING (namespace = current_setting('weft.namespace', TRUE));

ALTER TABLE weft.entity_vector ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.entity_vector FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.entity_vector USING (namespace = current_setting('weft.namespace', TRUE));

ALTER TABLE weft.edit ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.edit FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.edit USING (namespace = current_setting('weft.namespace', TRUE));

ALTER TABLE weft.fact_entity ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.fact_entity FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.fact_entity USING (namespace = current_setting('weft.namespace', TRUE));

ALTER TABLE weft.fact_word ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.fact_word FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.fact_word USING (namespace = current_setting('weft.namespace', TRUE));

ALTER TABLE weft.fact_vector ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.fact_vector FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.fact_vector USING (namespace = current_setting('weft.namespace', TRUE));

ALTER TABLE weft.fact ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.fact FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.fact USING (namespace = current_setting('weft.namespace', TRUE));

ALTER TABLE weft.fact_event ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.fact_event FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.fact_event USING (namespace = current_setting('weft.namespace', TRUE));

ALTER TABLE weft.fact_origin ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.fact_origin FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.fact_origin USING (namespace = current_setting('weft.namespace', TRUE));

ALTER TABLE weft.calibration ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.calibration FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.calibration USING (namespace = current_setting('weft.namespace', TRUE));

ALTER TABLE weft.job ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.job FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.job USING (namespace = current_setting('weft.namespace', TRUE));

ALTER TABLE weft.llm_run ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.llm_run FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.llm_run USING (namespace = current_setting('weft.namespace', TRUE));
