-- Facts, their history, and their subject and object entities.
-- Times are microseconds since 1970 in UTC.

CREATE TABLE fact_entity (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
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
    model INTEGER NOT NULL REFERENCES model (number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    sketch BLOB NOT NULL,                  -- sign bits of the vector
    vector BLOB NOT NULL,                  -- float32, little-endian, unit length
    UNIQUE (model, key)
) STRICT;

CREATE INDEX fact_vector_sketch ON fact_vector (model, sketch); -- covers the preselection at a thirtieth of the size

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
