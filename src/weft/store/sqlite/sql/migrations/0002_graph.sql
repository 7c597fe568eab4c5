-- Entities, mentions and relations.
-- `nomination` and `claim` hold the statements of documents and imports. `entity`, `mention`, derived claims and
-- `relation` are derived from all of them and from `edit`, and are updated by every write.

CREATE TABLE nomination (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    document INTEGER NOT NULL,
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    vote INTEGER NOT NULL,                 -- 2 makes an entity, 1 together with another document, 0 never
    rank INTEGER NOT NULL,                 -- smaller is better: source of name, type and description
    type TEXT NOT NULL,
    description TEXT NOT NULL,
    about INTEGER NOT NULL,
    alias_of TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (chunk, key, kind, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX nomination_by_vote ON nomination (namespace, key, vote, document);
CREATE INDEX nomination_by_rank ON nomination (namespace, key, rank, name);
CREATE INDEX nomination_with_type ON nomination (namespace, key, rank, type) WHERE type <> '';
CREATE INDEX nomination_with_description ON nomination (namespace, key, rank, description) WHERE description <> '';
CREATE INDEX nomination_alias ON nomination (namespace, key, alias_of) WHERE alias_of <> '';

CREATE TABLE claim (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    source TEXT NOT NULL,                  -- source and target are keys of entities
    target TEXT NOT NULL,
    type TEXT NOT NULL,
    weight REAL NOT NULL,
    description TEXT NOT NULL,
    PRIMARY KEY (chunk, source, target, type)
) STRICT, WITHOUT ROWID;

CREATE INDEX claim_by_pair ON claim (namespace, source, target, type, weight DESC, chunk);
CREATE INDEX claim_by_target ON claim (namespace, target);

CREATE TABLE entity (
    number INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    id TEXT NOT NULL,
    key TEXT NOT NULL,
    strong INTEGER NOT NULL,
    same_as TEXT NOT NULL,                 -- key of the entity it is an alias of, or its own
    reason TEXT NOT NULL,                  -- reason of the alias
    mentions INTEGER NOT NULL DEFAULT 0,
    chunks INTEGER NOT NULL DEFAULT 0,
    UNIQUE (namespace, key),
    UNIQUE (namespace, id)
) STRICT;

CREATE INDEX entity_by_same ON entity (namespace, same_as);

CREATE TABLE mention (
    entity INTEGER NOT NULL REFERENCES entity (number) ON DELETE CASCADE,
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    count INTEGER NOT NULL,
    about INTEGER NOT NULL,
    place INTEGER NOT NULL,                -- first 32 bits of the chunk's id: the same tie order in every file
    PRIMARY KEY (entity, about DESC, count DESC, place, chunk)
) STRICT, WITHOUT ROWID;

CREATE INDEX mention_by_chunk ON mention (chunk);

CREATE TABLE relation (
    source INTEGER NOT NULL REFERENCES entity (number) ON DELETE CASCADE,
    target INTEGER NOT NULL REFERENCES entity (number) ON DELETE CASCADE,
    type TEXT NOT NULL,
    weight REAL NOT NULL,
    support INTEGER NOT NULL,              -- number of claiming chunks
    place INTEGER NOT NULL,                -- first bits of both ids, for ties
    PRIMARY KEY (source, weight DESC, place, target, type)
) STRICT, WITHOUT ROWID;

CREATE INDEX relation_by_target ON relation (target, weight DESC, place, source, type);

CREATE TABLE entity_vector (
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    model INTEGER NOT NULL REFERENCES model (number) ON DELETE CASCADE,
    vector BLOB NOT NULL,
    PRIMARY KEY (model, chunk, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX entity_vector_by_chunk ON entity_vector (chunk);

-- Edits of entities by the user. They are the only part of the graph that does not depend on documents.
CREATE TABLE edit (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    kind TEXT NOT NULL,                    -- merge, unmerge, alias, rename
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (namespace, kind, key, value)
) STRICT, WITHOUT ROWID;
