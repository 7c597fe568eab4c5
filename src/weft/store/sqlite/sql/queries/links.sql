-- Links between pages: pages by path, links as stated (`!`), resolved relations and aliases (origin `@`).
-- Keys of pages begin with `/`, keys of links with `!`; see `weft.extract.links.page_keys`.

-- name: pages_by_prefix
-- For each pair of lowest key and limit: the pages between them, as a JSON list.
SELECT k.value ->> 0, (
    SELECT json_group_array(json_array(p.key, p.alias_of)) FROM (
        SELECT w.key, n.alias_of FROM name AS w CROSS JOIN candidate AS n ON n.key = w.number AND n.kind = 'page'
        WHERE w.namespace = :namespace AND w.key >= k.value ->> 0 AND w.key < k.value ->> 1
        ORDER BY w.key, n.alias_of
        LIMIT :limit
    ) AS p
)
FROM json_each(:ranges) AS k;

-- name: page_titles
-- For each page: the key of its title.
SELECT w.key, n.alias_of FROM json_each(:keys) AS k
CROSS JOIN name AS w ON w.namespace = :namespace AND w.key = k.value
CROSS JOIN candidate AS n ON n.key = w.number AND n.kind = 'page';

-- name: titled_pages
-- For each key of a title: the first and the last page with it.
SELECT k.value,
    (SELECT min(alias_of) FROM candidate WHERE key = w.number AND alias_of <> ''),
    (SELECT max(alias_of) FROM candidate WHERE key = w.number AND alias_of <> '')
FROM json_each(:keys) AS k LEFT JOIN name AS w ON w.namespace = :namespace AND w.key = k.value;

-- name: known_sections
SELECT DISTINCT w.key FROM json_each(:keys) AS k
CROSS JOIN name AS w ON w.namespace = :namespace AND w.key = k.value
CROSS JOIN candidate AS n ON n.key = w.number AND n.kind = 'section';

-- name: page_votes
-- Of pages and sections: whether a document has them, and whether a resolved link starts or ends there.
SELECT k.value,
    EXISTS (SELECT 1 FROM candidate WHERE key = w.number AND kind IN ('page', 'section')),
    EXISTS (SELECT 1 FROM stated_relation WHERE source = w.number AND origin >= '@' AND origin < 'A')
    OR EXISTS (SELECT 1 FROM stated_relation WHERE target = w.number AND origin >= '@' AND origin < 'A')
FROM json_each(:keys) AS k LEFT JOIN name AS w ON w.namespace = :namespace AND w.key = k.value;

-- name: links_by_stem
SELECT c.chunk, s.key, w.key FROM json_each(:ranges) AS k
CROSS JOIN name AS w ON w.namespace = :namespace AND w.key >= k.value ->> 0 AND w.key < k.value ->> 1
CROSS JOIN stated_relation AS c ON c.target = w.number CROSS JOIN name AS s ON s.number = c.source
WHERE c.origin = '';

-- name: links_at
-- Links whose resolved relations start or end at one of these keys.
SELECT c.chunk, c.origin FROM json_each(:keys) AS k
CROSS JOIN name AS w ON w.namespace = :namespace AND w.key = k.value
CROSS JOIN stated_relation AS c INDEXED BY stated_relation_by_pair
    ON c.source = w.number AND c.origin >= '@' AND c.origin < 'A'
UNION
SELECT c.chunk, c.origin FROM json_each(:keys) AS k
CROSS JOIN name AS w ON w.namespace = :namespace AND w.key = k.value
CROSS JOIN stated_relation AS c ON c.target = w.number AND c.origin >= '@' AND c.origin < 'A';

-- name: chunk_links
SELECT k.number, k.id, k.document, s.key, t.key, c.weight, c.description, c.extractor
FROM json_each(:chunks) AS n
CROSS JOIN chunk AS k ON k.number = n.value AND k.namespace = :namespace
CROSS JOIN stated_relation AS c ON c.chunk = k.number
CROSS JOIN name AS t ON t.number = c.target CROSS JOIN name AS s ON s.number = c.source
WHERE c.origin = '' AND t.key >= '!' AND t.key < '"';

-- name: chunk_labels
SELECT n.chunk, n.alias_of, w.key, coalesce(n.name, w.spelling) FROM json_each(:chunks) AS k
CROSS JOIN candidate AS n ON n.chunk = k.value CROSS JOIN name AS w ON w.number = n.key
WHERE n.origin = '' AND n.kind = 'label';

-- name: chunk_resolved_stated_relations
SELECT c.chunk, c.origin, s.key, t.key, c.type, c.weight, c.description, c.extractor
FROM json_each(:chunks) AS k CROSS JOIN stated_relation AS c ON c.chunk = k.value
CROSS JOIN name AS s ON s.number = c.source CROSS JOIN name AS t ON t.number = c.target
WHERE c.origin >= '@' AND c.origin < 'A';

-- name: chunk_resolved_aliases
SELECT n.chunk, n.origin, w.key, coalesce(n.name, w.spelling), n.alias_of FROM json_each(:chunks) AS k
CROSS JOIN candidate AS n ON n.chunk = k.value CROSS JOIN name AS w ON w.number = n.key
WHERE n.origin >= '@' AND n.origin < 'A';

-- name: delete_alias
DELETE FROM candidate
WHERE namespace = :namespace AND chunk = :chunk AND key = :key AND kind = 'anchor' AND origin = :origin
    AND name IS nullif(:name, (SELECT spelling FROM name WHERE number = :key));

-- name: delete_resolved_stated_relations
DELETE FROM stated_relation
WHERE chunk IN (SELECT number FROM chunk WHERE namespace = :namespace) AND origin >= '@' AND origin < 'A';

-- name: delete_resolved_aliases
DELETE FROM candidate
WHERE chunk IN (SELECT number FROM chunk WHERE namespace = :namespace) AND +origin >= '@' AND origin < 'A';

-- name: all_broken_links
-- The same for all documents, from the names of links: most documents of a large namespace have none.
SELECT d.source, k.number, k.start_line, t.key
FROM name AS t
CROSS JOIN stated_relation AS c ON c.target = t.number AND c.origin <> '*' -- as in `stated_relation_by_target`
CROSS JOIN chunk AS k ON k.number = c.chunk CROSS JOIN document AS d ON d.number = k.document
WHERE t.namespace = :namespace AND t.key >= '!' AND t.key < '"' AND d.namespace = :namespace AND c.origin = ''
    AND NOT EXISTS (SELECT 1 FROM stated_relation AS r WHERE r.chunk = c.chunk AND r.origin = '@' || t.key)
ORDER BY d.source, k.ordinal, t.key;

-- name: broken_links
-- Links of documents without a resolved relation, in the order of the text.
SELECT d.source, k.number, k.start_line, t.key
FROM json_each(:ids) AS i
CROSS JOIN document AS d ON d.namespace = :namespace AND d.id = i.value
CROSS JOIN chunk AS k ON k.document = d.number
CROSS JOIN stated_relation AS c ON c.chunk = k.number CROSS JOIN name AS t ON t.number = c.target
WHERE c.origin = '' AND t.key >= '!' AND t.key < '"'
    AND NOT EXISTS (SELECT 1 FROM stated_relation AS r WHERE r.chunk = c.chunk AND r.origin = '@' || t.key)
ORDER BY d.source, k.ordinal, t.key;
