-- Packed postings replace one row of terms for each chunk; they are filled after this file. Labels are found by value.
CREATE TABLE weft.posting (
    namespace text COLLATE "C" NOT NULL,
    term text COLLATE "C" NOT NULL,
    block bigint NOT NULL,
    entries bytea NOT NULL,
    PRIMARY KEY (namespace, term, block)
) /* by namespace */;
ALTER TABLE weft.posting ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.posting ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.posting FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.posting USING (namespace = current_setting('weft.namespace', TRUE));
ALTER TABLE weft.label ADD COLUMN beginning text COLLATE "C" GENERATED ALWAYS AS (left(value, 100)) STORED;
CREATE INDEX label_by_value ON weft.label (namespace, key, beginning, document);
DROP INDEX weft.chunk_by_document;
CREATE INDEX chunk_by_document ON weft.chunk (namespace, document, ordinal) INCLUDE (number);
