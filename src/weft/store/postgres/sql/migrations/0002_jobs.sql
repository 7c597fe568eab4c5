-- Job queue: documents waiting to be indexed. Not part of the content of a namespace.
CREATE TABLE weft.job (
    namespace text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,          -- id of the document
    run text COLLATE "C" NOT NULL,         -- id of the run that enqueued it
    source text COLLATE "C" NOT NULL,
    content_hash text COLLATE "C" NOT NULL, -- content hash that the document will have
    recipe text COLLATE "C" NOT NULL,      -- indexing settings; workers with other settings skip it
    state text COLLATE "C" NOT NULL,       -- waiting, running, done or failed
    attempts integer NOT NULL,             -- number of attempts begun
    worker text COLLATE "C" NOT NULL,      -- worker that claimed it; empty: none
    expires double precision NOT NULL,     -- running: end of the lease; done: time of deletion
    result text COLLATE "C" NOT NULL,      -- done: JSON object
    error text COLLATE "C" NOT NULL,       -- last error
    payload text COLLATE "C" NOT NULL,     -- document as JSON; empty when done
    PRIMARY KEY (namespace, id)
) /* by namespace */;

ALTER TABLE weft.job ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;

ALTER TABLE weft.job ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.job FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.job USING (namespace = current_setting('weft.namespace', TRUE));
