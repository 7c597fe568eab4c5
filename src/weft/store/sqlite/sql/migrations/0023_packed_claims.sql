-- Moves derived claims, rows with the origin *, into the relations that they support.
ALTER TABLE relation ADD COLUMN chunks BLOB NOT NULL DEFAULT x'';
-- batch: entity.number
UPDATE relation SET chunks = pack_chunks(
    (
        SELECT json_group_array(chunk) FROM (
            SELECT chunk FROM claim
            WHERE source = relation.source AND target = relation.target AND code = relation.code AND origin = '*'
            ORDER BY place, chunk
            LIMIT 32
        )
    ),
    (
        SELECT count(*) FROM claim
        WHERE source = relation.source AND target = relation.target AND code = relation.code AND origin = '*'
    )
)
WHERE source > :after AND source <= :until AND code IN (0, 1);
-- batch: chunk.number
DELETE FROM claim WHERE chunk > :after AND chunk <= :until AND origin = '*';
-- once
DROP INDEX claim_of_import;
DROP INDEX claim_given;
DROP INDEX claim_by_target;
CREATE INDEX claim_of_import ON claim (namespace, origin) WHERE origin <> '';
CREATE INDEX claim_by_target ON claim (target);
