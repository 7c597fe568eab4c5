-- Links between pages: pages by path, links as stated (`!`), resolved claims and aliases (origin `@`).
-- Keys of pages begin with `/`, keys of links with `!`; see `weft.extract.links.page_keys`.

-- name: pages_by_prefix
-- For each pair of lowest key and limit: the pages between them, as a JSON list.
SELECT k.value ->> 0, (
    SELECT json_group_array(json_array(p.key, p.alias_of)) FROM (
        SELECT key, alias_of FROM nomination
        WHERE namespace = :namespace AND key >= k.value ->> 0 AND key < k.value ->> 1 AND kind = 'page'
        ORDER BY key, alias_of
        LIMIT :limit
    ) AS p
)
FROM json_each(:ranges) AS k;

-- name: page_titles
-- For each page: the key of its title.
SELECT n.key, n.alias_of FROM json_each(:keys) AS k
CROSS JOIN nomination AS n ON n.namespace = :namespace AND n.key = k.value AND n.kind = 'page';

-- name: titled_pages
-- For each key of a title: the first and the last page with it.
SELECT k.value,
    (SELECT min(alias_of) FROM nomination WHERE namespace = :namespace AND key = k.value AND alias_of <> ''),
    (SELECT max(alias_of) FROM nomination WHERE namespace = :namespace AND key = k.value AND alias_of <> '')
FROM json_each(:keys) AS k;

-- name: known_sections
SELECT DISTINCT n.key FROM json_each(:keys) AS k
CROSS JOIN nomination AS n ON n.namespace = :namespace AND n.key = k.value AND n.kind = 'section';

-- name: page_votes
-- Of pages and sections: whether a document has them, and whether a resolved link starts or ends there.
SELECT k.value,
    EXISTS (
        SELECT 1 FROM nomination WHERE namespace = :namespace AND key = k.value AND kind IN ('page', 'section')
    ),
    EXISTS (
        SELECT 1 FROM claim
        WHERE namespace = :namespace AND source = k.value AND origin <> '*' AND origin >= '@' AND origin < 'A'
    ) OR EXISTS (
        SELECT 1 FROM claim
        WHERE namespace = :namespace AND target = k.value AND origin <> '*' AND origin >= '@' AND origin < 'A'
    )
FROM json_each(:keys) AS k;

-- name: links_by_stem
SELECT c.chunk, c.source, c.target FROM json_each(:ranges) AS k
CROSS JOIN claim AS c ON c.namespace = :namespace AND c.target >= k.value ->> 0 AND c.target < k.value ->> 1
WHERE c.origin = '' AND c.origin <> '*'; -- the second condition allows the index

-- name: links_at
-- Links whose resolved claims start or end at one of these keys.
SELECT c.chunk, c.origin FROM json_each(:keys) AS k
CROSS JOIN claim AS c INDEXED BY claim_given
    ON c.namespace = :namespace AND c.source = k.value AND c.origin <> '*' AND c.origin >= '@' AND c.origin < 'A'
UNION
SELECT c.chunk, c.origin FROM json_each(:keys) AS k
CROSS JOIN claim AS c
    ON c.namespace = :namespace AND c.target = k.value AND c.origin <> '*' AND c.origin >= '@' AND c.origin < 'A';

-- name: chunk_links
SELECT k.number, k.id, k.document, c.source, c.target, c.weight, c.description, c.extractor
FROM json_each(:chunks) AS n
CROSS JOIN chunk AS k ON k.number = n.value AND k.namespace = :namespace
CROSS JOIN claim AS c ON c.chunk = k.number AND c.namespace = :namespace
WHERE c.origin = '' AND +c.target >= '!' AND +c.target < '"'; -- + keeps the lookup by chunk

-- name: chunk_labels
SELECT n.chunk, n.alias_of, n.key, n.name FROM json_each(:chunks) AS k
CROSS JOIN nomination AS n ON n.chunk = k.value AND n.namespace = :namespace
WHERE n.origin = '' AND n.kind = 'label';

-- name: chunk_resolved_claims
SELECT c.chunk, c.origin, c.source, c.target, c.type, c.weight, c.description, c.extractor
FROM json_each(:chunks) AS k CROSS JOIN claim AS c ON c.chunk = k.value AND c.namespace = :namespace
WHERE c.origin >= '@' AND c.origin < 'A';

-- name: chunk_resolved_aliases
SELECT n.chunk, n.origin, n.key, n.name, n.alias_of FROM json_each(:chunks) AS k
CROSS JOIN nomination AS n ON n.chunk = k.value AND n.namespace = :namespace
WHERE n.origin >= '@' AND n.origin < 'A';

-- name: delete_alias
DELETE FROM nomination
WHERE namespace = :namespace AND chunk = :chunk AND key = :key AND kind = 'anchor' AND name = :name AND origin = :origin;

-- name: delete_resolved_claims
DELETE FROM claim WHERE namespace = :namespace AND origin >= '@' AND origin < 'A';

-- name: delete_resolved_aliases
DELETE FROM nomination WHERE namespace = :namespace AND origin >= '@' AND origin < 'A';

-- name: broken_links
-- Links of documents without a resolved claim, in the order of the text.
SELECT d.source, k.number, k.start_line, c.target
FROM json_each(:ids) AS i
CROSS JOIN document AS d ON d.namespace = :namespace AND d.id = i.value
CROSS JOIN chunk AS k ON k.document = d.number
CROSS JOIN claim AS c ON c.chunk = k.number AND +c.namespace = :namespace
WHERE c.origin = '' AND +c.target >= '!' AND +c.target < '"' -- + keeps the lookup by chunk
    AND NOT EXISTS (SELECT 1 FROM claim AS r WHERE r.chunk = c.chunk AND r.origin = '@' || c.target)
ORDER BY d.source, k.ordinal, c.target;
