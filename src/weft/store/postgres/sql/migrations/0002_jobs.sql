-- Documents that wait to be indexed by whoever has time. Of no namespace's content: it only leads there.
CREATE TABLE weft.job (
    namespace text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,          -- of the document
    run text COLLATE "C" NOT NULL,         -- who waits for it
    source text COLLATE "C" NOT NULL,
    content_hash text COLLATE "C" NOT NULL, -- what the document must come to
    recipe text COLLATE "C" NOT NULL,      -- how it is to be indexed: a worker with other settings leaves it alone
    state text COLLATE "C" NOT NULL,       -- waiting, running, done or failed
    attempts integer NOT NULL,             -- how often it was begun
    worker text COLLATE "C" NOT NULL,      -- who has it, empty: nobody
    expires double precision NOT NULL,     -- running: when others may take it, done: when it is forgotten
    result text COLLATE "C" NOT NULL,      -- done: a JSON object
    error text COLLATE "C" NOT NULL,       -- what went wrong last
    payload text COLLATE "C" NOT NULL,     -- the document as JSON, empty once it is done
    PRIMARY KEY (namespace, id)
) /* by namespace */;

ALTER TABLE weft.job ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;

ALTER TABLE weft.job ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.job FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON weft.job USING (namespace = current_setting('weft.namespace', TRUE));
