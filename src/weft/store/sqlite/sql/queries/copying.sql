-- Export of documents as they were written, for copying into another store.

-- name: own_candidates
SELECT n.chunk, w.key, coalesce(n.name, w.spelling), n.kind, n.type, CASE
        WHEN typeof(n.description) = 'text' THEN n.description -- `1` is not compared with a place
        ELSE (SELECT t.description FROM candidate AS t
              WHERE t.chunk = n.chunk AND t.key = n.key AND t.place = n.description)
    END, n.about, n.alias_of, n.reason, n.extractor
FROM json_each(:numbers) AS k CROSS JOIN candidate AS n ON n.chunk = k.value AND n.namespace = :namespace
CROSS JOIN name AS w ON w.number = n.key
WHERE n.origin = ''
ORDER BY n.chunk, w.key, n.kind, coalesce(n.name, w.spelling);

-- name: own_stated_relations
SELECT c.chunk, s.key, t.key, c.type, c.weight, c.description, c.extractor
FROM json_each(:numbers) AS k CROSS JOIN stated_relation AS c ON c.chunk = k.value AND c.namespace = :namespace
CROSS JOIN name AS s ON s.number = c.source CROSS JOIN name AS t ON t.number = c.target
WHERE c.origin = ''
ORDER BY c.chunk, s.key, t.key, c.type;

-- name: import_names
SELECT origin FROM candidate WHERE namespace = :namespace AND origin <> '' AND kind <> 'anchor'
UNION
SELECT origin FROM stated_relation WHERE namespace = :namespace AND origin <> ''
    AND NOT (origin >= '@' AND origin < 'A')
ORDER BY 1;
