-- Stores postings in blocks of 4,096 chunks instead of 256, with two bytes per chunk instead of four. Lengths of chunks
-- are stored once. `merge_blocks` and `merge_lengths` are functions of the migration.
CREATE TABLE larger_posting (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    term TEXT NOT NULL,
    block INTEGER NOT NULL,
    entries BLOB NOT NULL,
    PRIMARY KEY (namespace, term, block)
) STRICT, WITHOUT ROWID;
CREATE TABLE numbered_term (number INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, term TEXT NOT NULL) STRICT;
INSERT INTO numbered_term (namespace, term) SELECT namespace, term FROM term ORDER BY namespace, term;
-- batch: numbered_term.number
INSERT INTO larger_posting (namespace, term, block, entries)
SELECT p.namespace, p.term, p.block / 16, merge_blocks(p.block % 16, p.entries)
FROM numbered_term AS t CROSS JOIN posting AS p ON p.namespace = t.namespace AND p.term = t.term
WHERE t.number > :after AND t.number <= :until
GROUP BY p.namespace, p.term, p.block / 16;
-- once
DROP TABLE numbered_term;
DROP TABLE posting;
ALTER TABLE larger_posting RENAME TO posting;
-- batch: chunk.number
INSERT INTO posting (namespace, term, block, entries)
SELECT namespace, ' ', number / 4096, merge_lengths(number % 4096, length)
FROM chunk
WHERE number > :after AND number <= :until
GROUP BY namespace, number / 4096
ON CONFLICT (namespace, term, block) DO UPDATE SET entries = CAST(entries || excluded.entries AS BLOB);
