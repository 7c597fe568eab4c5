-- Export of documents as they were written, for copying into another store.

-- name: whole_chunks
SELECT d.id, c.number, c.id, c.ordinal, c.heading, c.start_line, c.end_line, c.text, c.terms::text,
    c.start_time, c.end_time
FROM weft.document AS d JOIN weft.chunk AS c ON c.namespace = :namespace AND c.document = d.number
WHERE d.namespace = :namespace
    AND d.id = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value)))
ORDER BY d.id, c.ordinal;

-- name: own_candidates
SELECT n.chunk, n.key, n.name, n.kind, n.type, n.description, n.about, n.alias_of, n.reason, n.extractor
FROM weft.candidate AS n
WHERE n.namespace = :namespace AND n.origin = ''
    AND n.chunk = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:numbers::jsonb) AS k(value)))
ORDER BY n.chunk, n.key, n.kind, n.name;

-- name: own_stated_relations
SELECT c.chunk, c.source, c.target, c.type, c.weight, c.description, c.extractor FROM weft.stated_relation AS c
WHERE c.namespace = :namespace AND c.origin = ''
    AND c.chunk = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:numbers::jsonb) AS k(value)))
ORDER BY c.chunk, c.source, c.target, c.type;

-- name: chunk_vectors
SELECT v.chunk, v.vector FROM weft.chunk_vector AS v
WHERE v.namespace = :namespace AND v.model = :model
    AND v.chunk = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:numbers::jsonb) AS k(value)));

-- name: name_vectors
SELECT c.id, v.key, v.vector FROM weft.chunk AS c
JOIN weft.entity_vector AS v ON v.namespace = :namespace AND v.model = :model AND v.chunk = c.number
WHERE c.namespace = :namespace
    AND c.id = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value)));

-- name: import_names
SELECT n.origin FROM weft.candidate AS n WHERE n.namespace = :namespace AND n.origin <> '' AND n.kind <> 'anchor'
UNION
SELECT c.origin FROM weft.stated_relation AS c WHERE c.namespace = :namespace AND c.origin NOT IN ('', '*')
    AND NOT (c.origin >= '@' AND c.origin < 'A')
ORDER BY 1;

-- name: fact_entity_vectors
SELECT v.key, v.vector FROM weft.fact_vector AS v
WHERE v.namespace = :namespace AND v.model = :model
    AND v.key = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:keys::jsonb) AS k(value)));

-- name: set_accesses
UPDATE weft.fact AS f SET accessed = :accessed::bigint, accesses = :accesses
WHERE f.namespace = :namespace AND f.id = :id;
