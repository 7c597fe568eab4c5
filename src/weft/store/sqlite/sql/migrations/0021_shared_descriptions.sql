-- Stores a description once if the title and the definition of a chunk have the same. A number is less than any text.
-- The column gets another type, which changes no row.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'description TEXT NOT NULL', 'description ANY NOT NULL')
WHERE type = 'table' AND name = 'nomination';
PRAGMA writable_schema = RESET;
DROP INDEX nomination_with_description;
-- batch: chunk.number
UPDATE nomination SET description = coalesce(
    (
        SELECT t.place FROM nomination AS t
        WHERE t.chunk = nomination.chunk AND t.key = nomination.key AND t.kind = 'title' AND +t.origin = ''
            AND t.description = nomination.description
    ),
    description
)
WHERE chunk > :after AND chunk <= :until AND kind = 'definition' AND +origin = '' AND description > '';
-- once
CREATE INDEX nomination_with_description ON nomination (key, rank, description) WHERE description > '';
