-- name: write_fact
INSERT INTO weft.fact (
    namespace, id, subject, predicate, object, value, content, confidence, source, status, created, valid_from, valid_to,
    accessed, accesses, supersedes, note, spelling
)
VALUES (
    :namespace, :id, :subject, :predicate, :object, :value, :content, :confidence, :source, :status, :created,
    :valid_from, :valid_to, :accessed, :accesses, :supersedes, :note, :spelling
)
ON CONFLICT (namespace, id) DO UPDATE SET
    subject = excluded.subject, predicate = excluded.predicate, object = excluded.object, value = excluded.value,
    content = excluded.content, confidence = excluded.confidence, source = excluded.source, status = excluded.status,
    created = excluded.created, valid_from = excluded.valid_from, valid_to = excluded.valid_to,
    supersedes = excluded.supersedes, note = excluded.note, spelling = excluded.spelling;

-- name: write_fact_entity
INSERT INTO weft.fact_entity (namespace, key, name, description, type, declared)
VALUES (:namespace, :key, :name, :description, :type, :declared)
ON CONFLICT (namespace, key) DO UPDATE SET
    description = excluded.description, type = excluded.type, declared = excluded.declared;

-- name: write_fact_word
INSERT INTO weft.fact_word (namespace, word, key, size) VALUES (:namespace, :word, :key, :size)
ON CONFLICT (namespace, word, key) DO NOTHING;

-- name: write_fact_origin
INSERT INTO weft.fact_origin (namespace, fact, document) VALUES (:namespace, :fact, :document)
ON CONFLICT (namespace, fact, document) DO NOTHING;

-- part: fact_columns()
f.id, f.subject, s.name, f.predicate, f.object, coalesce(o.name, f.value), f.confidence, f.source, f.status,
    f.created, f.valid_from, f.valid_to, f.accessed, f.accesses, f.supersedes, f.note, f.spelling

-- name: facts_by_id
SELECT {fact_columns()}
FROM weft.fact AS f
JOIN weft.fact_entity AS s ON s.namespace = :namespace AND s.key = f.subject
LEFT JOIN weft.fact_entity AS o ON o.namespace = :namespace AND o.key = f.object AND f.object <> ''
WHERE f.namespace = :namespace AND f.id IN texts(:ids);

-- name: fact_ids_by_content
SELECT f.id FROM weft.fact AS f
WHERE f.namespace = :namespace AND f.content IN texts(:contents)
ORDER BY f.created, f.id;

-- name: fact_ids_by_predicate
SELECT f.id FROM weft.fact AS f
WHERE f.namespace = :namespace AND f.subject = :subject COLLATE "POSIX" AND f.predicate = :predicate
ORDER BY f.created, f.id;

-- name: fact_ids_after
SELECT f.id FROM weft.fact AS f WHERE f.namespace = :namespace AND f.id > :id ORDER BY f.id LIMIT :limit::bigint;

-- name: fact_ids_of_subject_after
SELECT f.id FROM weft.fact AS f
WHERE f.namespace = :namespace AND f.subject = :subject COLLATE "POSIX" AND f.id > :id
ORDER BY f.id
LIMIT :limit::bigint;

-- name: fact_history
SELECT e.fact, e.at, e.action, e.detail, e.other FROM weft.fact_event AS e
WHERE e.namespace = :namespace AND e.fact = :id
ORDER BY e.place;

-- name: fact_keys
SELECT DISTINCT e.key FROM weft.fact AS f
JOIN weft.fact_entity AS e ON e.namespace = :namespace AND e.key IN (f.subject, f.object)
WHERE f.namespace = :namespace AND f.id IN texts(:ids);

-- name: delete_facts
DELETE FROM weft.fact AS f WHERE f.namespace = :namespace AND f.id IN texts(:ids);

-- name: delete_fact_events
DELETE FROM weft.fact_event AS e WHERE e.namespace = :namespace AND e.fact IN texts(:ids);

-- name: forget_superseded
UPDATE weft.fact AS f SET supersedes = ''
WHERE f.namespace = :namespace AND f.supersedes <> '' AND f.supersedes IN texts(:ids);

-- name: forget_other
UPDATE weft.fact_event AS e SET other = '' WHERE e.namespace = :namespace AND e.other <> '' AND e.other IN texts(:ids);

-- name: unneeded_fact_keys
SELECT k.value FROM texts(:keys) AS k
WHERE NOT EXISTS (
        SELECT 1 FROM weft.fact AS f WHERE f.namespace = :namespace AND f.subject = k.value COLLATE "POSIX"
    )
    AND NOT EXISTS (
        SELECT 1 FROM weft.fact AS f
        WHERE f.namespace = :namespace AND f.object = k.value COLLATE "POSIX" AND f.object <> ''
    )
    AND (
        k.value IN texts(:released)
        OR coalesce(
            (SELECT NOT e.declared FROM weft.fact_entity AS e WHERE e.namespace = :namespace AND e.key = k.value), TRUE
        )
    );

-- name: delete_fact_origins
DELETE FROM weft.fact_origin AS o WHERE o.namespace = :namespace AND o.fact IN texts(:ids);

-- name: fact_origins
SELECT o.fact, o.document FROM weft.fact_origin AS o
WHERE o.namespace = :namespace AND o.fact IN texts(:ids)
ORDER BY o.fact, o.document;

-- name: facts_of_document
SELECT o.fact FROM weft.fact_origin AS o
WHERE o.namespace = :namespace AND o.document = :document AND o.document <> ''
ORDER BY o.fact;

-- name: keep_facts
-- Facts stated by hand are kept when the documents that state them too are deleted.
INSERT INTO weft.fact_origin (namespace, fact, document)
SELECT DISTINCT o.namespace, o.fact, '' FROM weft.fact_origin AS o
WHERE o.namespace = :namespace AND o.fact IN texts(:ids)
ON CONFLICT (namespace, fact, document) DO NOTHING;

-- name: delete_fact_origin
DELETE FROM weft.fact_origin AS o WHERE o.namespace = :namespace AND o.document = :document AND o.fact IN texts(:ids);

-- name: delete_fact_entities
DELETE FROM weft.fact_entity AS e WHERE e.namespace = :namespace AND e.key IN texts(:keys);

-- name: delete_fact_words
DELETE FROM weft.fact_word AS w WHERE w.namespace = :namespace AND w.key IN texts(:keys);

-- name: touch_facts
UPDATE weft.fact AS f
SET
    accesses = f.accesses + 1,
    accessed = CASE WHEN f.accessed BETWEEN :at::bigint AND :latest::bigint THEN f.accessed ELSE :at::bigint END
WHERE f.namespace = :namespace AND f.id IN texts(:ids);

-- name: fact_entities
SELECT e.key, e.name, e.description, e.type, e.declared FROM weft.fact_entity AS e
WHERE e.namespace = :namespace AND e.key IN texts(:keys);

-- name: fact_entities_after
SELECT e.key, e.name, e.description, e.type, e.declared FROM weft.fact_entity AS e
WHERE e.namespace = :namespace AND e.key > :key
ORDER BY e.key
LIMIT :limit::bigint;

-- name: unembedded_fact_entities
SELECT e.key, e.name, e.description FROM weft.fact_entity AS e
WHERE e.namespace = :namespace AND NOT EXISTS (
    SELECT 1 FROM weft.fact_vector AS v
    WHERE v.namespace = :namespace AND v.model = (
        SELECT m.number FROM weft.model AS m WHERE m.namespace = :namespace AND m.fingerprint = :fingerprint
    ) AND v.key = e.key
)
ORDER BY e.key
LIMIT :limit::bigint;

-- name: unembedded_facts
SELECT f.id FROM weft.fact AS f
WHERE f.namespace = :namespace AND NOT EXISTS (
    SELECT 1 FROM weft.fact_text_vector AS v
    WHERE v.namespace = :namespace AND v.fact = f.number AND v.model = (
        SELECT m.number FROM weft.model AS m WHERE m.namespace = :namespace AND m.fingerprint = :fingerprint
    )
)
ORDER BY f.id
LIMIT :limit::bigint;

-- name: fact_text_vectors
SELECT f.id, v.vector FROM weft.fact AS f
JOIN weft.fact_text_vector AS v ON v.namespace = :namespace AND v.model = :model AND v.fact = f.number
WHERE f.namespace = :namespace AND f.id IN texts(:keys);

-- name: fact_entity_vectors
SELECT v.key, v.vector FROM weft.fact_vector AS v
WHERE v.namespace = :namespace AND v.model = :model AND v.key IN texts(:keys);

-- name: frequent_subjects
-- Reads every fact that was ever accessed; used for prefetching in the background.
SELECT f.subject FROM weft.fact AS f
WHERE f.namespace = :namespace AND f.accesses > 0 AND f.status IN ('staged', 'confirmed')
GROUP BY f.subject ORDER BY sum(f.accesses) DESC, f.subject
LIMIT :limit::bigint;

-- name: count_facts
SELECT (SELECT count(*) FROM weft.fact AS f WHERE f.namespace = :namespace),
    (SELECT count(*) FROM weft.fact_entity AS e WHERE e.namespace = :namespace);

-- name: all_facts
SELECT f.id, f.subject, f.predicate, f.object, f.value, f.content, f.confidence, f.status, f.created, f.valid_from,
    f.valid_to, f.accessed, f.accesses, f.supersedes
FROM weft.fact AS f WHERE f.namespace = :namespace ORDER BY f.id;

-- name: all_fact_entities
SELECT e.key, e.declared FROM weft.fact_entity AS e WHERE e.namespace = :namespace ORDER BY e.key;

-- name: all_fact_words
SELECT w.key, w.word, w.size FROM weft.fact_word AS w WHERE w.namespace = :namespace;

-- name: delete_all_fact_words
DELETE FROM weft.fact_word AS w WHERE w.namespace = :namespace;

-- name: strange_fact_events
SELECT DISTINCT e.fact FROM weft.fact_event AS e
WHERE e.namespace = :namespace
    AND NOT EXISTS (SELECT 1 FROM weft.fact AS f WHERE f.namespace = :namespace AND f.id = e.fact)
ORDER BY e.fact;

-- name: facts_without_history
SELECT f.id, f.created, CASE
    WHEN f.status = 'staged' OR EXISTS (
        SELECT 1 FROM weft.fact_event AS e WHERE e.namespace = :namespace AND e.fact = f.id AND e.action = f.status
    )
    THEN '' ELSE f.status END
FROM weft.fact AS f
WHERE f.namespace = :namespace AND NOT EXISTS (
    SELECT 1 FROM weft.fact_event AS e WHERE e.namespace = :namespace AND e.fact = f.id AND e.action = 'added'
)
ORDER BY f.id;

-- name: stray_fact_references
SELECT f.supersedes FROM weft.fact AS f
WHERE f.namespace = :namespace AND f.supersedes <> ''
    AND NOT EXISTS (SELECT 1 FROM weft.fact AS g WHERE g.namespace = :namespace AND g.id = f.supersedes)
UNION
SELECT e.other FROM weft.fact_event AS e
WHERE e.namespace = :namespace AND e.other <> ''
    AND NOT EXISTS (SELECT 1 FROM weft.fact AS g WHERE g.namespace = :namespace AND g.id = e.other);

-- name: stray_fact_origins
SELECT o.fact, o.document FROM weft.fact_origin AS o
WHERE o.namespace = :namespace AND (
    NOT EXISTS (SELECT 1 FROM weft.fact AS f WHERE f.namespace = :namespace AND f.id = o.fact)
    OR (o.document <> '' AND NOT EXISTS (
        SELECT 1 FROM weft.document AS d WHERE d.namespace = :namespace AND d.id = o.document
    ))
    OR (o.document = '' AND NOT EXISTS (
        SELECT 1 FROM weft.fact_origin AS other
        WHERE other.namespace = :namespace AND other.fact = o.fact AND other.document <> ''
    ))
)
ORDER BY o.fact, o.document;

-- name: delete_fact_vector
DELETE FROM weft.fact_vector AS v WHERE v.namespace = :namespace AND v.model = :model AND v.key = :key;

-- name: set_fact_content
UPDATE weft.fact AS f SET content = :content WHERE f.namespace = :namespace AND f.id = :id;

-- name: set_fact_accesses
UPDATE weft.fact AS f SET accesses = :accesses, accessed = :accessed WHERE f.namespace = :namespace AND f.id = :id;
