-- Export of documents as they were written, for copying into another store.

-- name: whole_chunks
SELECT d.id, c.number, c.id, c.ordinal, c.heading, c.start_line, c.end_line, c.text, c.terms, c.start_time, c.end_time
FROM json_each(:ids) AS k CROSS JOIN document AS d ON d.namespace = :namespace AND d.id = k.value
CROSS JOIN chunk AS c ON c.document = d.number
ORDER BY d.id, c.ordinal;

-- name: own_nominations
SELECT n.chunk, n.key, n.name, n.kind, n.type, n.description, n.about, n.alias_of, n.reason, n.extractor
FROM json_each(:numbers) AS k CROSS JOIN nomination AS n ON n.chunk = k.value AND n.namespace = :namespace
WHERE n.origin = ''
ORDER BY n.chunk, n.key, n.kind, n.name;

-- name: own_claims
SELECT c.chunk, c.source, c.target, c.type, c.weight, c.description, c.extractor
FROM json_each(:numbers) AS k CROSS JOIN claim AS c ON c.chunk = k.value AND c.namespace = :namespace
WHERE c.origin = ''
ORDER BY c.chunk, c.source, c.target, c.type;

-- name: chunk_vectors
SELECT v.chunk, v.vector FROM json_each(:numbers) AS k
CROSS JOIN chunk_vector AS v ON v.model = :model AND v.chunk = k.value;

-- name: name_vectors
SELECT c.id, v.key, v.vector FROM json_each(:ids) AS k
CROSS JOIN chunk AS c ON c.namespace = :namespace AND c.id = k.value
CROSS JOIN entity_vector AS v ON v.model = :model AND v.chunk = c.number;

-- name: import_names
SELECT origin FROM nomination WHERE namespace = :namespace AND origin <> '' AND kind <> 'anchor'
UNION
SELECT origin FROM claim WHERE namespace = :namespace AND origin NOT IN ('', '*')
    AND NOT (origin >= '@' AND origin < 'A')
ORDER BY 1;

-- name: fact_entity_vectors
SELECT v.key, v.vector FROM json_each(:keys) AS k
CROSS JOIN fact_vector AS v ON v.model = :model AND v.key = k.value;

-- name: set_accesses
UPDATE fact SET accessed = :accessed, accesses = :accesses WHERE namespace = :namespace AND id = :id;
