-- Statements that both databases run as they are; SQLite without the schema `weft`.

-- name: document_number
SELECT number FROM weft.document WHERE namespace = :namespace AND id = :id;

-- name: has_content
SELECT EXISTS (SELECT 1 FROM weft.document WHERE namespace = :namespace)
    OR EXISTS (SELECT 1 FROM weft.fact WHERE namespace = :namespace);

-- name: delete_document
DELETE FROM weft.document WHERE namespace = :namespace AND number = :document;

-- name: delete_labels
DELETE FROM weft.label WHERE namespace = :namespace AND document = :document;

-- name: write_label
INSERT INTO weft.label (namespace, document, key, value) VALUES (:namespace, :document, :key, :value);

-- name: content_hashes
SELECT d.id, d.source, d.content_hash FROM weft.document AS d WHERE d.namespace = :namespace;

-- name: delete_chunk
DELETE FROM weft.chunk WHERE namespace = :namespace AND number = :number;

-- name: delete_other_models
DELETE FROM weft.model WHERE namespace = :namespace AND number <> :model;

-- name: delete_calibration
DELETE FROM weft.calibration WHERE namespace = :namespace;

-- name: write_posting
INSERT INTO weft.posting (namespace, term, block, entries) VALUES (:namespace, :term, :block, :entries)
ON CONFLICT (namespace, term, block) DO UPDATE SET entries = excluded.entries;

-- name: delete_posting
DELETE FROM weft.posting WHERE namespace = :namespace AND term = :term AND block = :block;

-- name: delete_postings
DELETE FROM weft.posting WHERE namespace = :namespace;

-- name: all_postings
SELECT term, block, entries FROM weft.posting WHERE namespace = :namespace;

-- name: delete_terms
DELETE FROM weft.term WHERE namespace = :namespace;

-- name: all_term_counts
SELECT term, chunks FROM weft.term WHERE namespace = :namespace;

-- name: count_documents
SELECT count(*) FROM weft.document WHERE namespace = :namespace;

-- name: forget_content_hash
UPDATE weft.document SET content_hash = '' WHERE namespace = :namespace AND id = :id;

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

-- name: adopt_job
UPDATE weft.job SET run = :run
WHERE namespace = :namespace AND id = :id AND content_hash = :content_hash AND recipe = :recipe AND state = 'running';

-- name: write_job
INSERT INTO weft.job
    (namespace, id, run, source, content_hash, recipe, payload, state, attempts, worker, expires, result, error)
VALUES (:namespace, :id, :run, :source, :content_hash, :recipe, :payload, 'waiting', 0, '', 0, '', '')
ON CONFLICT (namespace, id) DO UPDATE SET
    run = excluded.run, source = excluded.source, content_hash = excluded.content_hash, recipe = excluded.recipe,
    payload = excluded.payload, state = excluded.state, attempts = excluded.attempts, worker = excluded.worker,
    expires = excluded.expires, result = excluded.result, error = excluded.error;

-- name: fail_job
UPDATE weft.job
SET state = CASE WHEN attempts >= :attempts THEN 'failed' ELSE 'waiting' END, worker = '', error = :error
WHERE namespace = :namespace AND id = :id AND worker = :worker AND state = 'running';

-- name: finish_job
UPDATE weft.job
SET state = 'done', worker = '', expires = :expires, result = :result, payload = '', error = ''
WHERE namespace = :namespace AND id = :id AND worker = :worker AND state = 'running';

-- name: withdraw_jobs
DELETE FROM weft.job WHERE namespace = :namespace AND run = :run AND state = :state;

-- name: failed_jobs
SELECT id, run, source, content_hash, recipe, attempts, error FROM weft.job
WHERE namespace = :namespace AND state = 'failed' AND (:run = '' OR run = :run)
ORDER BY source
LIMIT :limit;

-- name: count_jobs
SELECT state, count(*) FROM weft.job
WHERE namespace = :namespace AND (:run = '' OR run = :run) AND (:recipe = '' OR recipe = :recipe)
GROUP BY state;

-- name: all_metadata
SELECT number, id, source, metadata FROM weft.document WHERE namespace = :namespace ORDER BY number;

-- name: calibration_of
SELECT value FROM weft.calibration WHERE namespace = :namespace;

-- name: all_jobs
SELECT id, source, state, result FROM weft.job WHERE namespace = :namespace ORDER BY id;

-- name: set_metadata
UPDATE weft.document SET metadata = :metadata WHERE namespace = :namespace AND number = :number;

-- name: set_heading
UPDATE weft.chunk SET heading = :heading WHERE namespace = :namespace AND number = :number;

-- name: all_labels
SELECT document, key, value FROM weft.label WHERE namespace = :namespace;

-- name: write_key
INSERT INTO weft.api_key (id, name, digest, namespaces, access, created, revoked)
VALUES (:id, :name, :digest, :namespaces, :access, :created, :revoked)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, digest = excluded.digest, namespaces = excluded.namespaces,
    access = excluded.access, created = excluded.created, revoked = excluded.revoked;

-- name: write_llm_run
INSERT INTO weft.llm_run (namespace, id, at, model, usage) VALUES (:namespace, :id, :at, :model, :usage)
ON CONFLICT (namespace, id) DO UPDATE SET at = excluded.at, model = excluded.model, usage = excluded.usage;
