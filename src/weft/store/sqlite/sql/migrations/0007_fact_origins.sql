-- Adds facts stated by documents, declared entities, and the spelling of predicates.

ALTER TABLE fact_entity ADD COLUMN type TEXT NOT NULL DEFAULT '';
ALTER TABLE fact_entity ADD COLUMN declared INTEGER NOT NULL DEFAULT 0;
ALTER TABLE fact ADD COLUMN spelling TEXT NOT NULL DEFAULT '';

-- Documents that state a fact. The fact is deleted with the last of them, unless it was stated by hand too.
CREATE TABLE fact_origin (
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    fact TEXT NOT NULL,                    -- id of the fact
    document TEXT NOT NULL,                -- id of a document; empty: stated by hand too
    PRIMARY KEY (namespace, fact, document)
) STRICT, WITHOUT ROWID;

CREATE INDEX fact_origin_by_document ON fact_origin (namespace, document) WHERE document <> '';
