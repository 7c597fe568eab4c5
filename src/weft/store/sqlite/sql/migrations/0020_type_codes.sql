-- Stores the derived relation types as numbers. They are nearly all rows, and each index repeats them.
CREATE TABLE coded_claim (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    origin TEXT NOT NULL,                  -- name of the import; empty: the document itself; *: derived from mentions
    source INTEGER NOT NULL,               -- source and target are numbers of keys
    target INTEGER NOT NULL,
    code ANY NOT NULL,                     -- 0 and 1 for the derived types, else the type
    weight REAL NOT NULL,
    description TEXT NOT NULL,
    place INTEGER NOT NULL,                -- first 32 bits of the chunk's id, for ties
    extractor TEXT NOT NULL,               -- as in `nomination`
    type TEXT AS (CASE code WHEN 0 THEN 'co_occurs_with' WHEN 1 THEN 'mentions' ELSE code END),
    PRIMARY KEY (chunk, source, target, code, origin)
) STRICT, WITHOUT ROWID;

-- batch: chunk.number
INSERT INTO coded_claim (namespace, chunk, origin, source, target, code, weight, description, place, extractor)
SELECT
    namespace, chunk, origin, source, target,
    CASE type WHEN 'co_occurs_with' THEN 0 WHEN 'mentions' THEN 1 ELSE type END, weight, description, place, extractor
FROM claim
WHERE chunk > :after AND chunk <= :until;
-- once
DROP TABLE claim;
ALTER TABLE coded_claim RENAME TO claim;
-- once
CREATE INDEX claim_by_pair ON claim (source, target, code, weight DESC, place, chunk);
-- once
CREATE INDEX claim_of_import ON claim (namespace, origin) WHERE origin NOT IN ('', '*');
CREATE INDEX claim_given ON claim (source, target, code, weight DESC) WHERE origin <> '*';
CREATE INDEX claim_by_target ON claim (target) WHERE origin <> '*'; -- no query needs derived claims

-- once
CREATE TABLE coded_relation (
    source INTEGER NOT NULL REFERENCES entity (number) ON DELETE CASCADE,
    target INTEGER NOT NULL REFERENCES entity (number) ON DELETE CASCADE,
    code ANY NOT NULL,                     -- as in `claim`
    weight REAL NOT NULL,
    support INTEGER NOT NULL,              -- number of claiming chunks, at most 256
    place INTEGER NOT NULL,                -- first bits of both ids, for ties
    type TEXT AS (CASE code WHEN 0 THEN 'co_occurs_with' WHEN 1 THEN 'mentions' ELSE code END),
    PRIMARY KEY (source, target, code)
) STRICT, WITHOUT ROWID;

-- batch: entity.number
INSERT INTO coded_relation (source, target, code, weight, support, place)
SELECT
    source, target, CASE type WHEN 'co_occurs_with' THEN 0 WHEN 'mentions' THEN 1 ELSE type END, weight, support, place
FROM relation
WHERE source > :after AND source <= :until;
-- once
DROP TABLE relation;
ALTER TABLE coded_relation RENAME TO relation;
-- once
CREATE INDEX relation_by_source ON relation (source, weight DESC, place, target, code);
-- once
CREATE INDEX relation_by_target ON relation (target, weight DESC, place, source, code);
CREATE INDEX relation_by_source_type ON relation (source, code, weight DESC, place, target) WHERE code NOT IN (0, 1);
CREATE INDEX relation_by_target_type ON relation (target, code, weight DESC, place, source) WHERE code NOT IN (0, 1);

DROP INDEX entity_by_same;
CREATE INDEX entity_by_same ON entity (namespace, same_as) WHERE same_as <> key;
