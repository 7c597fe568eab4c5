-- Stores ids of entities as 12 bytes instead of 25 letters, and no key of an alias for names that are none.
CREATE TABLE hashed_entity (
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

-- batch: entity.number
INSERT INTO hashed_entity (number, namespace, hash, key, strong, alias_of, reason, mentions, chunks, head)
SELECT
    number, namespace, coalesce(unhex(substr(id, 2)), CAST(id AS BLOB)), key, strong, nullif(same_as, key), reason,
    mentions, chunks, head
FROM entity
WHERE number > :after AND number <= :until;
-- once
DROP TABLE entity;
ALTER TABLE hashed_entity RENAME TO entity;
-- once
CREATE INDEX entity_by_same ON entity (namespace, alias_of) WHERE alias_of IS NOT NULL;
CREATE INDEX entity_by_head ON entity (head);
CREATE INDEX entity_by_letters ON entity (namespace, replace(key, ' ', ''));
CREATE INDEX entity_by_chunks ON entity (namespace, chunks DESC, key) WHERE strong AND alias_of IS NULL;
