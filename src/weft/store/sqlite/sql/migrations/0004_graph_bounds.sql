-- Bounds the cost of writing a document and of a question, however often an entity is mentioned.

ALTER TABLE claim ADD COLUMN place INTEGER NOT NULL DEFAULT 0;

UPDATE claim SET place = (
    SELECT (instr('123456789abcdef', substr(id, 2, 1)) << 28) + (instr('123456789abcdef', substr(id, 3, 1)) << 24)
        + (instr('123456789abcdef', substr(id, 4, 1)) << 20) + (instr('123456789abcdef', substr(id, 5, 1)) << 16)
        + (instr('123456789abcdef', substr(id, 6, 1)) << 12) + (instr('123456789abcdef', substr(id, 7, 1)) << 8)
        + (instr('123456789abcdef', substr(id, 8, 1)) << 4) + instr('123456789abcdef', substr(id, 9, 1))
    FROM chunk WHERE number = claim.chunk
);

DROP INDEX claim_by_pair;
CREATE INDEX claim_by_pair ON claim (namespace, source, target, type, weight DESC, place, chunk);
CREATE INDEX claim_of_import ON claim (namespace, origin) WHERE origin NOT IN ('', '*');

DROP INDEX nomination_alias;
CREATE INDEX nomination_alias ON nomination (namespace, key, alias_of, reason) WHERE alias_of <> '';
CREATE INDEX nomination_own ON nomination (namespace, key)
WHERE vote = 2 AND alias_of = '' AND kind IN ('title', 'definition', 'field', 'given');
CREATE INDEX nomination_of_import ON nomination (namespace, origin) WHERE origin <> '';

CREATE INDEX entity_by_chunks ON entity (namespace, chunks DESC, key) WHERE strong AND same_as = key;
