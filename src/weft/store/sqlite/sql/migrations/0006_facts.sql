-- What is remembered: facts, what happened to them, and the entities they are about or lead to.
-- Times are microseconds since 1970 in UTC.

CREATE TABLE fact_entity (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
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
    model INTEGER NOT NULL REFERENCES model (number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    sketch BLOB NOT NULL,                  -- which of its numbers are positive, a bit each
    vector BLOB NOT NULL,                  -- float32, little-endian, unit length
    UNIQUE (model, key)
) STRICT;

CREATE INDEX fact_vector_sketch ON fact_vector (model, sketch); -- all a first look needs, and a thirtieth of the size

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
