-- Export of documents as they were written, for copying into another store.

-- name: own_candidates
SELECT n.chunk, n.key, n.name, n.kind, n.type, n.description, n.about, n.alias_of, n.reason, n.extractor
FROM weft.candidate AS n
WHERE n.namespace = :namespace AND n.origin = '' AND n.chunk IN numbers(:numbers)
ORDER BY n.chunk, n.key, n.kind, n.name;

-- name: own_stated_relations
SELECT c.chunk, c.source, c.target, c.type, c.weight, c.description, c.extractor FROM weft.stated_relation AS c
WHERE c.namespace = :namespace AND c.origin = '' AND c.chunk IN numbers(:numbers)
ORDER BY c.chunk, c.source, c.target, c.type;

-- name: import_names
SELECT n.origin FROM weft.candidate AS n WHERE n.namespace = :namespace AND n.origin <> '' AND n.kind <> 'anchor'
UNION
SELECT c.origin FROM weft.stated_relation AS c WHERE c.namespace = :namespace AND c.origin NOT IN ('', '*')
    AND NOT (c.origin >= '@' AND c.origin < 'A')
ORDER BY 1;
