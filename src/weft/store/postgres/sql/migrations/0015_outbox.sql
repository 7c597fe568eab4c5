-- Writers of documents in different parts do not wait for each other: the graph follows from an outbox.
CREATE TABLE weft.outbox (
    namespace text COLLATE "C" NOT NULL,
    number bigint NOT NULL DEFAULT nextval('weft.number'),
    document text COLLATE "C" NOT NULL,
    chunks integer NOT NULL,
    removed text[] COLLATE "C" NOT NULL,
    statements text COLLATE "C" NOT NULL,
    PRIMARY KEY (namespace, number)
) /* by namespace */;
ALTER TABLE weft.outbox ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.outbox ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.outbox FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.outbox USING (namespace = current_setting('weft.namespace', TRUE));
