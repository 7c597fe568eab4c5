-- Numbers the keys of names. Nominations and claims refer to the numbers, and an entity has the number of its key.
-- The primary key of nominations becomes short, because every index repeats it.
CREATE TABLE name (
    number INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    UNIQUE (namespace, key)
) STRICT;

-- batch: entity.number
INSERT INTO name (number, namespace, key)
SELECT number, namespace, key FROM entity WHERE number > :after AND number <= :until;
-- batch: chunk.number
INSERT INTO name (namespace, key)
SELECT namespace, key FROM nomination WHERE chunk > :after AND chunk <= :until
UNION
SELECT namespace, source FROM claim WHERE chunk > :after AND chunk <= :until
UNION
SELECT namespace, target FROM claim WHERE chunk > :after AND chunk <= :until
ON CONFLICT (namespace, key) DO NOTHING;
-- once
CREATE TABLE numbered_nomination (
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    place INTEGER NOT NULL,                -- position among the nominations of the key by the chunk
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    document INTEGER NOT NULL,
    origin TEXT NOT NULL,                  -- name of the import; empty: the document itself
    key INTEGER NOT NULL REFERENCES name (number),
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    vote INTEGER NOT NULL,                 -- 2 makes an entity, 1 together with another document, 0 never
    rank INTEGER NOT NULL,                 -- smaller is better: source of name, type and description
    type TEXT NOT NULL,
    description TEXT NOT NULL,
    about INTEGER NOT NULL,
    alias_of TEXT NOT NULL,                -- key
    reason TEXT NOT NULL,
    extractor TEXT NOT NULL,               -- who read it: nothing for the rules, + before a name: the rules too
    PRIMARY KEY (chunk, key, place)        -- short, because every index below repeats it
) STRICT, WITHOUT ROWID;

-- batch: chunk.number
INSERT INTO numbered_nomination
SELECT
    n.chunk, row_number() OVER (PARTITION BY n.chunk, n.key ORDER BY n.kind, n.name, n.origin) - 1, n.namespace,
    n.document, n.origin, w.number, n.name, n.kind, n.vote, n.rank, n.type, n.description, n.about, n.alias_of, n.reason,
    n.extractor
FROM nomination AS n CROSS JOIN name AS w ON w.namespace = n.namespace AND w.key = n.key
WHERE n.chunk > :after AND n.chunk <= :until;
-- once
DROP TABLE nomination;
ALTER TABLE numbered_nomination RENAME TO nomination;
-- once
CREATE INDEX nomination_by_vote ON nomination (key, vote, document);
-- once
CREATE INDEX nomination_by_rank ON nomination (key, rank, name);
-- once
CREATE INDEX nomination_with_type ON nomination (key, rank, type) WHERE type <> '';
-- once
CREATE INDEX nomination_with_description ON nomination (key, rank, description) WHERE description <> '';
-- once
CREATE INDEX nomination_alias ON nomination (key, alias_of, reason) WHERE alias_of <> '';
CREATE INDEX nomination_own ON nomination (key)
WHERE vote = 2 AND alias_of = '' AND kind IN ('title', 'definition', 'field', 'given');
CREATE INDEX nomination_of_import ON nomination (namespace, origin) WHERE origin <> '';
CREATE INDEX nomination_by_extractor ON nomination (key, extractor) WHERE extractor <> '';

-- once
CREATE TABLE numbered_claim (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    origin TEXT NOT NULL,                  -- name of the import; empty: the document itself; *: derived from mentions
    source INTEGER NOT NULL,               -- source and target are numbers of keys
    target INTEGER NOT NULL,
    type TEXT NOT NULL,
    weight REAL NOT NULL,
    description TEXT NOT NULL,
    place INTEGER NOT NULL,                -- first 32 bits of the chunk's id, for ties
    extractor TEXT NOT NULL,               -- as in `nomination`
    PRIMARY KEY (chunk, source, target, type, origin)
) STRICT, WITHOUT ROWID;

-- batch: chunk.number
INSERT INTO numbered_claim
SELECT
    c.namespace, c.chunk, c.origin, s.number, t.number, c.type, c.weight, c.description, c.place, c.extractor
FROM claim AS c
CROSS JOIN name AS s ON s.namespace = c.namespace AND s.key = c.source
CROSS JOIN name AS t ON t.namespace = c.namespace AND t.key = c.target
WHERE c.chunk > :after AND c.chunk <= :until;
-- once
DROP TABLE claim;
ALTER TABLE numbered_claim RENAME TO claim;
-- once
CREATE INDEX claim_by_pair ON claim (source, target, type, weight DESC, place, chunk);
-- once
CREATE INDEX claim_of_import ON claim (namespace, origin) WHERE origin NOT IN ('', '*');
CREATE INDEX claim_given ON claim (source, target, type, weight DESC) WHERE origin <> '*';
CREATE INDEX claim_by_target ON claim (target) WHERE origin <> '*'; -- no query needs derived claims
