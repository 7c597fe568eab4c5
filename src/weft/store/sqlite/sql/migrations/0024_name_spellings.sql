-- Stores the spelling of a name once per key instead of in every nomination and its index, and kinds as numbers.
ALTER TABLE name ADD COLUMN spelling TEXT;

CREATE TABLE coded_nomination (
    chunk INTEGER NOT NULL REFERENCES chunk (number) ON DELETE CASCADE,
    place INTEGER NOT NULL,                -- position among the nominations of the key by the chunk
    namespace INTEGER NOT NULL REFERENCES namespace (number) ON DELETE CASCADE,
    document INTEGER NOT NULL,
    origin TEXT NOT NULL,                  -- name of the import; empty: the document itself
    key INTEGER NOT NULL REFERENCES name (number),
    name TEXT,                             -- NULL: the spelling of the key in `name`
    code ANY NOT NULL,                     -- number of the kind, see `kind`
    vote INTEGER NOT NULL,                 -- 2 makes an entity, 1 together with another document, 0 never
    rank INTEGER NOT NULL,                 -- smaller is better: source of name, type and description
    type TEXT NOT NULL,
    description ANY NOT NULL,              -- text, or the place of the chunk's title of the same key and description
    about INTEGER NOT NULL,
    alias_of TEXT NOT NULL,                -- key
    reason TEXT NOT NULL,
    extractor TEXT NOT NULL,               -- who read it: nothing for the rules, + before a name: the rules too
    kind TEXT AS (CASE code
        WHEN 0 THEN 'phrase' WHEN 1 THEN 'title' WHEN 2 THEN 'definition' WHEN 3 THEN 'quoted' WHEN 4 THEN 'variant'
        WHEN 5 THEN 'abbreviation' WHEN 6 THEN 'heading' WHEN 7 THEN 'link' WHEN 8 THEN 'label' WHEN 9 THEN 'section'
        WHEN 10 THEN 'page' WHEN 11 THEN 'anchor' WHEN 12 THEN 'name' WHEN 13 THEN 'identifier' WHEN 14 THEN 'term'
        WHEN 15 THEN 'metadata' WHEN 16 THEN 'field' WHEN 17 THEN 'given' ELSE code END
    ),
    PRIMARY KEY (chunk, key, place)        -- short, because every index below repeats it
) STRICT, WITHOUT ROWID;

-- batch: chunk.number
UPDATE name SET spelling = n.name FROM nomination AS n
WHERE n.chunk > :after AND n.chunk <= :until AND name.number = n.key AND name.spelling IS NULL;
INSERT INTO coded_nomination
    (chunk, place, namespace, document, origin, key, name, code, vote, rank, type, description, about, alias_of, reason,
    extractor)
SELECT
    n.chunk, n.place, n.namespace, n.document, n.origin, n.key, nullif(n.name, w.spelling), CASE n.kind
        WHEN 'phrase' THEN 0 WHEN 'title' THEN 1 WHEN 'definition' THEN 2 WHEN 'quoted' THEN 3 WHEN 'variant' THEN 4
        WHEN 'abbreviation' THEN 5 WHEN 'heading' THEN 6 WHEN 'link' THEN 7 WHEN 'label' THEN 8 WHEN 'section' THEN 9
        WHEN 'page' THEN 10 WHEN 'anchor' THEN 11 WHEN 'name' THEN 12 WHEN 'identifier' THEN 13 WHEN 'term' THEN 14
        WHEN 'metadata' THEN 15 WHEN 'field' THEN 16 WHEN 'given' THEN 17 ELSE n.kind
    END,
    n.vote, n.rank, n.type, n.description, n.about, n.alias_of, n.reason, n.extractor
FROM nomination AS n CROSS JOIN name AS w ON w.number = n.key
WHERE n.chunk > :after AND n.chunk <= :until;
-- once
DROP TABLE nomination;
ALTER TABLE coded_nomination RENAME TO nomination;
-- once
CREATE INDEX nomination_strong ON nomination (key) WHERE vote = 2;
-- once
CREATE INDEX nomination_by_rank ON nomination (key, rank, name);
-- once
CREATE INDEX nomination_with_type ON nomination (key, rank, type) WHERE type <> '';
CREATE INDEX nomination_with_description ON nomination (key, rank, description) WHERE description > '';
CREATE INDEX nomination_alias ON nomination (key, alias_of, reason) WHERE alias_of <> '';
CREATE INDEX nomination_own ON nomination (key)
WHERE vote = 2 AND alias_of = '' AND kind IN ('title', 'definition', 'field', 'given');
CREATE INDEX nomination_of_import ON nomination (namespace, origin) WHERE origin <> '';
CREATE INDEX nomination_by_extractor ON nomination (key, extractor) WHERE extractor <> '';

-- Best name of each key: the smallest of the best rank. NULL sorts first, so at most two rows are read.
CREATE VIEW best_name AS
SELECT w.number AS key, (
    SELECT CASE WHEN n.name IS NULL THEN min(w.spelling, coalesce((
        SELECT min(o.name) FROM nomination AS o WHERE o.key = n.key AND o.rank = n.rank AND o.name > ''
    ), w.spelling)) ELSE n.name END
    FROM nomination AS n
    WHERE n.key = w.number
    ORDER BY n.rank, n.name
    LIMIT 1
) AS name
FROM name AS w;
