-- Outbox: what documents of a part state, until the graph of the home has it. Writers of a part add rows; a transaction
-- that has locked the home reads and deletes them.

-- name: write_outbox
INSERT INTO weft.outbox (namespace, document, chunks, removed, statements)
VALUES (:namespace, :document, :chunks, :removed, :statements);

-- name: read_outbox
SELECT o.number, o.document, o.chunks + cardinality(o.removed), o.statements FROM weft.outbox AS o
WHERE o.namespace = :namespace AND o.number <= :last
ORDER BY o.number
LIMIT :limit;

-- name: outbox_after
-- Entries of documents that were written.
SELECT o.number, o.document, o.chunks, o.statements FROM weft.outbox AS o
WHERE o.namespace = :namespace AND o.number > :last AND o.statements <> ''
ORDER BY o.number
LIMIT :limit;

-- name: waiting_documents
SELECT DISTINCT o.document FROM weft.outbox AS o WHERE o.namespace = :namespace;

-- name: delete_outbox
DELETE FROM weft.outbox AS o
WHERE o.namespace = :namespace
    AND o.number = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:numbers::jsonb) AS k (value)));

-- name: part_state
-- Counts of a part, and what of it is not in the graph: documents, chunks, last entry, deleted chunks.
SELECT n.generation, n.chunks, n.length, waiting.documents, waiting.chunks, waiting.last,
    ARRAY(
        SELECT r.id FROM weft.outbox AS o CROSS JOIN LATERAL unnest(o.removed) AS r (id)
        WHERE o.namespace = :namespace
    )
FROM weft.namespace AS n
CROSS JOIN LATERAL (
    SELECT count(DISTINCT o.document) AS documents, coalesce(sum(o.chunks), 0)::bigint AS chunks,
        coalesce(max(o.number), 0) AS last
    FROM weft.outbox AS o
    WHERE o.namespace = :namespace
) AS waiting
WHERE n.namespace = :namespace;

-- name: document_numbers
SELECT d.id, d.number FROM weft.document AS d
WHERE d.namespace = :namespace
    AND d.id = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k (value)));

-- name: graph_chunk_numbers
-- Those of the chunks that the graph has.
SELECT c.number FROM weft.chunk AS c
WHERE c.namespace = :namespace
    AND c.number = ANY (ARRAY(SELECT k.value::bigint FROM jsonb_array_elements_text(:numbers::jsonb) AS k (value)));

-- name: lock_jobs
-- Locks jobs in the order of their ids, as all writers without the lock of the namespace do.
SELECT j.id FROM weft.job AS j
WHERE j.namespace = :namespace
    AND j.id = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k (value)))
ORDER BY j.id
FOR UPDATE;
