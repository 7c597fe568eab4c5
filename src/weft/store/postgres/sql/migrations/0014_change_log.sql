-- Chunks that each write has changed, for read indexes beside a serving process.
ALTER TABLE weft.namespace ADD COLUMN stamp bigint NOT NULL DEFAULT 0;
CREATE TABLE weft.change (
    namespace text COLLATE "C" NOT NULL,
    generation bigint NOT NULL,
    since bigint NOT NULL,
    stamp bigint NOT NULL,
    chunks bigint[],
    PRIMARY KEY (namespace, generation)
) /* by namespace */;
ALTER TABLE weft.change ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.change ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.change FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.change USING (namespace = current_setting('weft.namespace', TRUE));
