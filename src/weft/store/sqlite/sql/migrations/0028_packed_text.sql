-- Compresses the texts of chunks. The column gets another type, which changes no row.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'text TEXT NOT NULL', 'text ANY NOT NULL')
WHERE type = 'table' AND name = 'chunk';
PRAGMA writable_schema = RESET;
-- batch: chunk.number
UPDATE chunk SET text = pack_text(text) WHERE number > :after AND number <= :until;
