-- Adds annotations of imports, and the entity that each alias resolves to.

CREATE TABLE nomination_new (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    document INTEGER NOT NULL,
    origin TEXT NOT NULL,                  -- name of the import; empty: the document itself
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
    PRIMARY KEY (chunk, key, kind, name, origin)
) STRICT, WITHOUT ROWID;

INSERT INTO nomination_new
SELECT namespace, chunk, document, '', key, name, kind, vote, rank, type, description, about, alias_of, reason
FROM nomination;
DROP TABLE nomination;
ALTER TABLE nomination_new RENAME TO nomination;

CREATE INDEX nomination_by_vote ON nomination (namespace, key, vote, document);
CREATE INDEX nomination_by_rank ON nomination (namespace, key, rank, name);
CREATE INDEX nomination_with_type ON nomination (namespace, key, rank, type) WHERE type <> '';
CREATE INDEX nomination_with_description ON nomination (namespace, key, rank, description) WHERE description <> '';
CREATE INDEX nomination_alias ON nomination (namespace, key, alias_of) WHERE alias_of <> '';

CREATE TABLE claim_new (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    origin TEXT NOT NULL,                  -- name of the import; empty: the document itself; *: derived from mentions
    source TEXT NOT NULL,                  -- source and target are keys of entities
    target TEXT NOT NULL,
    type TEXT NOT NULL,
    weight REAL NOT NULL,
    description TEXT NOT NULL,
    PRIMARY KEY (chunk, source, target, type, origin)
) STRICT, WITHOUT ROWID;

INSERT INTO claim_new
SELECT namespace, chunk, CASE WHEN type IN ('co_occurs_with', 'mentions') THEN '*' ELSE '' END,
    source, target, type, weight, description
FROM claim;
DROP TABLE claim;
ALTER TABLE claim_new RENAME TO claim;

CREATE INDEX claim_by_pair ON claim (namespace, source, target, type, weight DESC, chunk);
CREATE INDEX claim_given ON claim (namespace, source, target, type, weight DESC) WHERE origin <> '*';
CREATE INDEX claim_by_target ON claim (namespace, target);

CREATE TABLE relation_new (
    source INTEGER NOT NULL REFERENCES entity (number) ON DELETE CASCADE,
    target INTEGER NOT NULL REFERENCES entity (number) ON DELETE CASCADE,
    type TEXT NOT NULL,
    weight REAL NOT NULL,
    support INTEGER NOT NULL,              -- number of claiming chunks, at most 256
    place INTEGER NOT NULL,                -- first bits of both ids, for ties
    PRIMARY KEY (source, target, type)
) STRICT, WITHOUT ROWID;

INSERT INTO relation_new SELECT source, target, type, weight, min(support, 256), place FROM relation;
DROP TABLE relation;
ALTER TABLE relation_new RENAME TO relation;

CREATE INDEX relation_by_source ON relation (source, weight DESC, place, target, type);
CREATE INDEX relation_by_target ON relation (target, weight DESC, place, source, type);

ALTER TABLE entity ADD COLUMN head INTEGER NOT NULL DEFAULT 0;

CREATE INDEX entity_by_head ON entity (head);
CREATE INDEX entity_by_letters ON entity (namespace, replace(key, ' ', ''));

UPDATE entity SET head = coalesce(
    (SELECT t.number FROM entity AS t WHERE t.namespace = entity.namespace AND t.key = entity.same_as), number
);
UPDATE entity SET head = (SELECT t.head FROM entity AS t WHERE t.number = entity.head);
UPDATE entity SET head = (SELECT t.head FROM entity AS t WHERE t.number = entity.head);
