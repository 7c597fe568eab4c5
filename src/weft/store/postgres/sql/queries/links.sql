-- Links between pages: pages by path, links as stated (`!`), resolved relations and aliases (origin `@`).
-- Keys of pages begin with `/`, keys of links with `!`; see `weft.extract.links.page_keys`.

-- name: pages_by_prefix
-- For each pair of lowest key and limit: the pages between them, as a JSON list.
SELECT k.value ->> 0, coalesce((
    SELECT json_agg(json_build_array(p.key, p.alias_of)) FROM (
        SELECT n.key, n.alias_of FROM weft.candidate AS n
        WHERE n.namespace = :namespace AND n.key >= k.value ->> 0 AND n.key < k.value ->> 1 AND n.kind = 'page'
        ORDER BY n.key, n.alias_of
        LIMIT :limit::bigint
    ) AS p
), '[]')::text
FROM rows(:ranges) AS k;

-- name: page_titles
-- For each page: the key of its title.
SELECT n.key, n.alias_of FROM weft.candidate AS n
WHERE n.namespace = :namespace AND n.kind = 'page' AND n.key IN texts(:keys);

-- name: titled_pages
-- For each key of a title: the first and the last page with it.
SELECT k.value,
    (SELECT min(n.alias_of) FROM weft.candidate AS n
     WHERE n.namespace = :namespace AND n.key = k.value AND n.alias_of <> ''),
    (SELECT max(n.alias_of) FROM weft.candidate AS n
     WHERE n.namespace = :namespace AND n.key = k.value AND n.alias_of <> '')
FROM texts(:keys) AS k;

-- name: known_sections
SELECT DISTINCT n.key FROM weft.candidate AS n
WHERE n.namespace = :namespace AND n.kind = 'section' AND n.key IN texts(:keys);

-- name: page_votes
-- Of pages and sections: whether a document has them, and whether a resolved link starts or ends there.
SELECT k.value,
    EXISTS (
        SELECT 1 FROM weft.candidate AS n
        WHERE n.namespace = :namespace AND n.key = k.value AND n.kind IN ('page', 'section')
    ),
    EXISTS (
        SELECT 1 FROM weft.stated_relation AS c
        WHERE c.namespace = :namespace AND c.source = k.value AND c.origin >= '@' AND c.origin < 'A'
    ) OR EXISTS (
        SELECT 1 FROM weft.stated_relation AS c
        WHERE c.namespace = :namespace AND c.target = k.value AND c.origin <> '*'
            AND c.origin >= '@' AND c.origin < 'A'
    )
FROM texts(:keys) AS k;

-- name: links_by_stem
SELECT c.chunk, c.source, c.target FROM rows(:ranges) AS k
JOIN weft.stated_relation AS c ON c.namespace = :namespace AND c.target >= k.value ->> 0 AND c.target < k.value ->> 1
WHERE c.origin = '' AND c.origin <> '*'; -- the second condition allows the index

-- name: links_at
-- Links whose resolved relations start or end at one of these keys.
SELECT c.chunk, c.origin FROM weft.stated_relation AS c
WHERE c.namespace = :namespace AND c.origin >= '@' AND c.origin < 'A' AND c.source IN texts(:keys)
UNION
SELECT c.chunk, c.origin FROM weft.stated_relation AS c
WHERE c.namespace = :namespace AND c.origin <> '*' AND c.origin >= '@' AND c.origin < 'A' AND c.target IN texts(:keys);

-- name: chunk_links
SELECT k.number, k.id, k.document, c.source, c.target, c.weight, c.description, c.extractor
FROM weft.chunk AS k JOIN weft.stated_relation AS c ON c.namespace = :namespace AND c.chunk = k.number
WHERE k.namespace = :namespace AND c.origin = '' AND c.target >= '!' AND c.target < '"'
    AND k.number IN numbers(:chunks);

-- name: chunk_labels
SELECT n.chunk, n.alias_of, n.key, n.name FROM weft.candidate AS n
WHERE n.namespace = :namespace AND n.origin = '' AND n.kind = 'label' AND n.chunk IN numbers(:chunks);

-- name: chunk_resolved_stated_relations
SELECT c.chunk, c.origin, c.source, c.target, c.type, c.weight, c.description, c.extractor FROM weft.stated_relation AS c
WHERE c.namespace = :namespace AND c.origin >= '@' AND c.origin < 'A' AND c.chunk IN numbers(:chunks);

-- name: chunk_resolved_aliases
SELECT n.chunk, n.origin, n.key, n.name, n.alias_of FROM weft.candidate AS n
WHERE n.namespace = :namespace AND n.origin >= '@' AND n.origin < 'A' AND n.chunk IN numbers(:chunks);

-- name: delete_alias
DELETE FROM weft.candidate AS n
WHERE n.namespace = :namespace AND n.chunk = :chunk AND n.key = :key AND n.kind = 'anchor' AND n.name = :name
    AND n.origin = :origin;

-- name: delete_resolved_stated_relations
DELETE FROM weft.stated_relation AS c WHERE c.namespace = :namespace AND c.origin >= '@' AND c.origin < 'A';

-- name: delete_resolved_aliases
DELETE FROM weft.candidate AS n WHERE n.namespace = :namespace AND n.origin >= '@' AND n.origin < 'A';

-- name: all_broken_links
-- The same for all documents, from the targets of links: most documents of a large namespace have none.
SELECT d.source, k.number, k.start_line, c.target
FROM weft.stated_relation AS c
JOIN weft.chunk AS k ON k.namespace = :namespace AND k.number = c.chunk
JOIN weft.document AS d ON d.namespace = :namespace AND d.number = k.document
WHERE c.namespace = :namespace AND c.origin <> '*' AND c.origin = '' AND c.target >= '!' AND c.target < '"'
    AND NOT EXISTS (
        SELECT 1 FROM weft.stated_relation AS r
        WHERE r.namespace = :namespace AND r.chunk = c.chunk AND r.origin = '@' || c.target
    )
ORDER BY d.source, k.ordinal, c.target;

-- name: broken_links
-- Links of documents without a resolved relation, in the order of the text.
SELECT d.source, k.number, k.start_line, c.target
FROM weft.document AS d
JOIN weft.chunk AS k ON k.namespace = :namespace AND k.document = d.number
JOIN weft.stated_relation AS c ON c.namespace = :namespace AND c.chunk = k.number
WHERE d.namespace = :namespace AND c.origin = '' AND c.target >= '!' AND c.target < '"' AND d.id IN texts(:ids)
    AND NOT EXISTS (
        SELECT 1 FROM weft.stated_relation AS r
        WHERE r.namespace = :namespace AND r.chunk = c.chunk AND r.origin = '@' || c.target
    )
ORDER BY d.source, k.ordinal, c.target;
