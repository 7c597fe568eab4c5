-- Compresses the terms of chunks. The column gets another type, which changes no row.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'terms TEXT NOT NULL', 'terms ANY NOT NULL')
WHERE type = 'table' AND name = 'chunk';
PRAGMA writable_schema = RESET;
-- batch: chunk.number
UPDATE chunk SET terms = pack_terms(terms, text) WHERE number > :after AND number <= :until;
