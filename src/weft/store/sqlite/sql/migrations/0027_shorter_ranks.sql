-- Stores 23 bits of each id for ties, instead of 32 in mentions and 63 in relations. `tie_place` is a function of the
-- migration.
DROP INDEX chunk_names;
CREATE TABLE placed_mention (
    entity INTEGER NOT NULL REFERENCES entity (number) ON DELETE CASCADE,
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    count INTEGER NOT NULL,
    about INTEGER NOT NULL,
    place INTEGER NOT NULL,                -- first 23 bits of the chunk's id: the same tie order in every file
    PRIMARY KEY (entity, about DESC, count DESC, place, chunk)
) STRICT, WITHOUT ROWID;
CREATE TABLE placed_relation (
    source INTEGER NOT NULL REFERENCES entity (number) ON DELETE CASCADE,
    target INTEGER NOT NULL REFERENCES entity (number) ON DELETE CASCADE,
    code ANY NOT NULL,                     -- as in `claim`
    weight REAL NOT NULL,
    support INTEGER NOT NULL,              -- number of claiming chunks, at most 256
    places INTEGER NOT NULL,               -- first 23 bits of the source's id and of the target's, for ties
    source_place INTEGER AS (places >> 23),
    target_place INTEGER AS (places & 8388607),
    type TEXT AS (CASE code WHEN 0 THEN 'co_occurs_with' WHEN 1 THEN 'mentions' ELSE code END),
    chunks BLOB NOT NULL DEFAULT x'',      -- packed list of the chunks that it is derived from (`chunk_lists`)
    PRIMARY KEY (source, target, code)
) STRICT, WITHOUT ROWID;

-- batch: entity.number
INSERT INTO placed_mention (entity, chunk, count, about, place)
SELECT entity, chunk, count, about, place >> 9 FROM mention
WHERE entity > :after AND entity <= :until;
INSERT INTO placed_relation (source, target, code, weight, support, places, chunks)
SELECT r.source, r.target, r.code, r.weight, r.support, tie_place(s.id) << 23 | tie_place(t.id), r.chunks
FROM relation AS r CROSS JOIN entity AS s ON s.number = r.source CROSS JOIN entity AS t ON t.number = r.target
WHERE r.source > :after AND r.source <= :until;
-- once
DROP TABLE mention;
ALTER TABLE placed_mention RENAME TO mention;
-- once
DROP TABLE relation;
ALTER TABLE placed_relation RENAME TO relation;
-- once
CREATE INDEX mention_by_chunk ON mention (chunk);
-- once
CREATE INDEX relation_by_source ON relation (source, weight DESC, target_place, target, code);
-- once
CREATE INDEX relation_by_target ON relation (target, weight DESC, source_place, source, code);
-- once
CREATE INDEX relation_by_source_type ON relation (source, code, weight DESC, target_place, target)
WHERE code NOT IN (0, 1);
CREATE INDEX relation_by_target_type ON relation (target, code, weight DESC, source_place, source)
WHERE code NOT IN (0, 1);
