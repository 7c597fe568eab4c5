-- Placeholders are :name, as in SQLite. `namespace` is the name of the namespace. Every table reference of every
-- statement is bound to it, so that a statement runs on one shard and sees one tenant.

-- name: bind_namespace
-- Binds the transaction for row security.
-- A scan of a vector index continues until it has found enough rows of this namespace.
SELECT set_config('weft.namespace', :name, TRUE), set_config('hnsw.ef_search', :candidates, TRUE),
    set_config('hnsw.max_scan_tuples', :max_tuples, TRUE), set_config('hnsw.iterative_scan', 'relaxed_order', TRUE);

-- name: set_index_candidates
SELECT set_config('hnsw.ef_search', :candidates, TRUE);

-- name: limit_statements
SELECT set_config('statement_timeout', CASE
    WHEN current_setting('statement_timeout')::interval
        BETWEEN interval '1 millisecond' AND :milliseconds::integer * interval '1 millisecond'
    THEN current_setting('statement_timeout') ELSE :milliseconds::text END, TRUE);

-- name: find_namespace
-- Counts, embedders, the calibration of the active one, whether a fact has an entity as its object and a chunk a time,
-- the first and the last absolute source, and the numbers of pending deltas and of their chunks.
SELECT n.namespace, n.number, n.generation + pending.count, n.chunks + pending.chunks, n.length + pending.length,
    coalesce((
        SELECT json_agg(json_build_array(m.number, m.name, m.fingerprint, m.dimension, m.active)
            ORDER BY m.active DESC, m.fingerprint)
        FROM weft.model AS m WHERE m.namespace = :name
    ), '[]')::text,
    (
        SELECT c.value FROM weft.calibration AS c
        WHERE c.namespace = :name
            AND c.model IS NOT DISTINCT FROM (SELECT m.number FROM weft.model AS m WHERE m.namespace = :name AND m.active)
    ),
    EXISTS (SELECT 1 FROM weft.fact AS f WHERE f.namespace = :name AND f.object <> ''),
    EXISTS (SELECT 1 FROM weft.chunk AS c WHERE c.namespace = :name AND c.start_time IS NOT NULL),
    (SELECT min(d.source) FROM weft.document AS d WHERE d.namespace = :name AND d.source >= '/' AND d.source < '0'),
    (SELECT max(d.source) FROM weft.document AS d WHERE d.namespace = :name AND d.source >= '/' AND d.source < '0'),
    pending.count, pending.touched
FROM weft.namespace AS n
CROSS JOIN LATERAL (
    SELECT count(*) AS count, coalesce(sum(d.chunks), 0)::bigint AS chunks,
        coalesce(sum(d.length), 0)::bigint AS length, coalesce(sum(d.touched), 0)::bigint AS touched
    FROM weft.write_delta AS d WHERE d.namespace = :name
) AS pending
WHERE n.namespace = :name;

-- name: share_namespace
-- Turns: `shared` and `next` are compatible, `next` excludes itself, `alone` excludes all.
SELECT chunks FROM weft.namespace WHERE namespace = :name FOR KEY SHARE;

-- part: chunks_of_locked()
SELECT n.chunks + (SELECT coalesce(sum(d.chunks), 0) FROM weft.write_delta AS d WHERE d.namespace = :name)::bigint
FROM weft.namespace AS n
WHERE n.namespace = :name

-- name: lock_namespace
{chunks_of_locked()} FOR NO KEY UPDATE OF n;

-- name: hold_namespace
{chunks_of_locked()} FOR UPDATE OF n;

-- name: try_namespace
SELECT namespace FROM weft.namespace WHERE namespace = :name FOR NO KEY UPDATE SKIP LOCKED;

-- name: lock_documents
-- In one order, so that two writers of the same documents never wait for each other.
SELECT pg_advisory_xact_lock(k.hash) FROM (
    SELECT DISTINCT hashtextextended(:name || chr(31) || id, 0) AS hash FROM unnest(:ids::text[]) AS d (id)
    ORDER BY hash
) AS k;

-- name: write_namespace
INSERT INTO weft.namespace (namespace) VALUES (:name) ON CONFLICT (namespace) DO NOTHING;

-- name: touch_namespace
INSERT INTO weft.write_delta (namespace, chunks, length) VALUES (:namespace, :chunks, :length);

-- name: write_term_delta
INSERT INTO weft.write_delta (namespace, added, removed, touched)
VALUES (:namespace, :added::bigint[], :removed::jsonb, :touched);

-- part: pending_numbers()
SELECT unnest(a.added) FROM weft.write_delta AS a WHERE a.namespace = :namespace
UNION
SELECT r.key::bigint FROM weft.write_delta AS d CROSS JOIN LATERAL jsonb_object_keys(d.removed) AS r (key)
WHERE d.namespace = :namespace

-- part: outdated()
-- Chunks whose postings in the blocks are outdated, with the terms they had there. A chunk that is itself pending has none.
SELECT DISTINCT ON (r.key) r.key::bigint AS number, r.value AS terms
FROM weft.write_delta AS d CROSS JOIN LATERAL jsonb_each(d.removed) AS r (key, value)
WHERE d.namespace = :namespace AND NOT EXISTS (
    SELECT 1 FROM weft.write_delta AS a WHERE a.namespace = :namespace AND r.key::bigint = ANY (a.added)
)
ORDER BY r.key, d.number

-- name: pending_removals
SELECT o.number, o.terms::text FROM ({outdated()}) AS o;

-- name: pending_chunks
SELECT c.number, c.terms::text, c.length FROM weft.chunk AS c
WHERE c.namespace = :namespace AND c.number = ANY (ARRAY({pending_numbers()}));

-- name: count_terms
-- Distinct terms: those that are counted, and the difference that folding would make.
SELECT (SELECT count(*) FROM weft.term AS t WHERE t.namespace = :namespace) + coalesce((
    SELECT sum((coalesce(s.chunks, 0) + x.change > 0)::integer - (s.term IS NOT NULL)::integer)::bigint
    FROM (
        SELECT y.term, sum(y.change) AS change FROM (
            SELECT k.term, 1 AS change
            FROM weft.chunk AS c CROSS JOIN LATERAL jsonb_object_keys(c.terms) AS k (term)
            WHERE c.namespace = :namespace AND c.number = ANY (ARRAY({pending_numbers()}))
            UNION ALL
            SELECT jsonb_array_elements_text(o.terms), -1 FROM ({outdated()}) AS o
        ) AS y
        GROUP BY y.term
    ) AS x LEFT JOIN weft.term AS s ON s.namespace = :namespace AND s.term = x.term
), 0);

-- name: forget_pending_terms
UPDATE weft.write_delta SET added = '{}', removed = '{}', touched = 0
WHERE namespace = :namespace AND touched > 0;

-- name: fold_writes
UPDATE weft.namespace AS n
SET generation = n.generation + d.count, chunks = n.chunks + d.chunks, length = n.length + d.length
FROM (
    SELECT p.namespace, count(*) AS count, sum(p.chunks) AS chunks, sum(p.length) AS length FROM weft.write_delta AS p
    WHERE p.namespace = :namespace
    GROUP BY p.namespace
) AS d
WHERE n.namespace = :namespace AND d.namespace = n.namespace;

-- name: delete_write_deltas
DELETE FROM weft.write_delta WHERE namespace = :namespace;

-- name: list_namespaces
SELECT namespace FROM weft.namespace ORDER BY namespace;

-- name: all_namespaces
SELECT namespace, namespace, chunks, length FROM weft.namespace ORDER BY namespace;

-- name: delete_namespace
DELETE FROM weft.namespace WHERE namespace = :name;

-- name: draw_numbers
-- Numbers of new documents, then of new chunks.
SELECT nextval('weft.number') FROM generate_series(1, :documents + :chunks);

-- name: filter_chunks
-- Number of the chunks that pass a filter, and their numbers as an array in text form.
SELECT count(*), coalesce(array_agg(c.number), '{}')::text {chunks_of_filter()};

-- name: filter_chunks_by_label
-- The same for a filter with labels. With `is_plain` it has nothing else about documents.
WITH labelled AS MATERIALIZED (
    SELECT found.document FROM jsonb_array_elements(:labels::jsonb) WITH ORDINALITY AS wanted (value, nth)
    CROSS JOIN LATERAL (
        SELECT l.document FROM weft.label AS l
        WHERE l.namespace = :namespace AND l.key = wanted.value ->> 0
            AND l.beginning IN (left(wanted.value ->> 1, 100), left(wanted.value ->> 2, 100))
            AND l.value IN (wanted.value ->> 1, wanted.value ->> 2)
        OFFSET 0  -- keeps the join order: without it all labels may be read
    ) AS found
    GROUP BY found.document
    HAVING count(DISTINCT wanted.nth) = jsonb_array_length(:labels::jsonb)
)
SELECT count(*), coalesce(array_agg(c.number), '{}')::text
FROM weft.chunk AS c
WHERE c.namespace = :namespace AND c.document = ANY (ARRAY(SELECT labelled.document FROM labelled))
    AND (:is_plain::boolean OR EXISTS (
        SELECT 1 FROM weft.document AS d
        WHERE d.namespace = :namespace AND d.number = c.document AND starts_with(d.source, :prefix)
            AND (:all_documents::boolean OR d.id IN texts(:documents))
    ))
    AND {in_period()};

-- name: opening_chunks
SELECT p.id, c.id, d.id, c.ordinal, c.heading, c.start_line, c.end_line, c.text, c.start_time, c.end_time
FROM weft.chunk AS p
CROSS JOIN LATERAL (
    SELECT o.* FROM weft.chunk AS o
    WHERE o.namespace = :namespace AND o.document = p.document AND o.ordinal < p.ordinal AND o.heading = '[]'
    ORDER BY o.ordinal DESC
    LIMIT 1
) AS c
JOIN weft.document AS d ON d.namespace = :namespace AND d.number = c.document
WHERE p.namespace = :namespace AND p.id IN texts(:ids)
    AND p.start_time IS NOT NULL AND p.heading <> '[]';

-- name: chunk_frequencies
-- Id and length of chunks, and how often they contain each term.
SELECT c.number, c.id, c.length, ARRAY(
    SELECT coalesce((plain.terms -> t.term)::integer, 0) FROM unnest(:terms::text[]) AS t (term)
)
FROM weft.chunk AS c
CROSS JOIN LATERAL (SELECT c.terms || '{}' AS terms OFFSET 0) AS plain  -- decompresses them once
WHERE c.namespace = :namespace AND c.number = ANY (:numbers::bigint[]);

-- name: write_calibration
INSERT INTO weft.calibration (namespace, model, value)
SELECT n.namespace, m.number, :value
FROM weft.namespace AS n LEFT JOIN weft.model AS m ON m.namespace = :namespace AND m.active
WHERE n.namespace = :namespace;

-- name: write_vector
INSERT INTO weft.chunk_vector (namespace, chunk, model, vector) VALUES (:namespace, :chunk, :model, :vector::vector)
ON CONFLICT (namespace, model, chunk) DO UPDATE SET vector = excluded.vector;

-- name: write_vector_by_id
INSERT INTO weft.chunk_vector (namespace, chunk, model, vector)
SELECT c.namespace, c.number, :model::bigint, :vector::vector FROM weft.chunk AS c WHERE c.namespace = :namespace AND c.id = :id
ON CONFLICT (namespace, model, chunk) DO UPDATE SET vector = excluded.vector;

-- name: search_vector
-- Full scan: for small namespaces, and for filters that few chunks pass.
-- Returns mean and mean square of all cosines with the best rows. Only these get their ids.
WITH scored AS MATERIALIZED (
    SELECT v.chunk AS number, 1 - (v.vector <=> :vector::vector) AS score
    FROM weft.chunk_vector AS v
    WHERE v.namespace = :namespace AND v.model = :model
), spread (total, squares, compared) AS (
    SELECT sum(score), sum(score * score), count(*) FROM scored  -- avg() takes longer
), best AS MATERIALIZED (
    SELECT s.number, s.score FROM scored AS s
    WHERE :everything::boolean OR s.number IN (SELECT unnest(:chunks::bigint[]))  -- hashed, unlike = ANY
    ORDER BY s.score DESC
    FETCH FIRST (:limit::bigint) ROWS WITH TIES
)
SELECT c.id, best.score, spread.total / spread.compared, spread.squares / spread.compared, spread.compared
FROM best CROSS JOIN spread
CROSS JOIN LATERAL (  -- LIMIT keeps the join order
    SELECT x.id FROM weft.chunk AS x WHERE x.namespace = :namespace AND x.number = best.number LIMIT 1
) AS c
ORDER BY best.score DESC, c.id
LIMIT :limit;

-- name: search_vector_among
-- The same for given chunks of a large namespace, looked up one by one; only the best ones get their ids.
-- The planner would examine each number of an array that it knows.
SELECT c.id, best.score
FROM (
    SELECT v.chunk, 1 - (v.vector <=> :vector::vector) AS score FROM weft.chunk_vector AS v
    WHERE v.namespace = :namespace AND v.model = :model
        AND v.chunk = ANY (ARRAY(SELECT k.number FROM unnest(:chunks::bigint[]) AS k (number)))
    ORDER BY v.vector <=> :vector::vector
    FETCH FIRST (:limit::bigint) ROWS WITH TIES
) AS best JOIN weft.chunk AS c ON c.namespace = :namespace AND c.number = best.chunk
ORDER BY best.score DESC, c.id
LIMIT :limit;

-- name: search_vector_index
-- Searches the half-precision index of this dimension; its candidates are ranked by the full vectors, and only the
-- best ones get their ids.
WITH near AS MATERIALIZED (
    SELECT v.chunk AS number, v.vector FROM weft.chunk_vector AS v
    WHERE v.namespace = :namespace AND v.model = :model AND vector_dims(v.vector) = {dimension}
    ORDER BY v.vector::halfvec({dimension}) <=> :vector::vector::halfvec({dimension})
    LIMIT :looks
)
SELECT c.id, best.score, best.number
FROM (
    SELECT near.number, 1 - (near.vector <=> :vector::vector) AS score FROM near
    ORDER BY score DESC
    FETCH FIRST (:limit::bigint) ROWS WITH TIES
) AS best JOIN weft.chunk AS c ON c.namespace = :namespace AND c.number = best.number
ORDER BY best.score DESC, c.id
LIMIT :limit;

-- name: sample_vectors
-- Sample of vectors of the namespace, for mean and deviation of cosines.
SELECT v.vector FROM weft.chunk_vector AS v
WHERE v.namespace = :namespace AND v.model = :model AND abs(hashint8(v.chunk)::bigint) % :every::bigint = 0
LIMIT :limit;

-- name: append_postings
-- Adds the entries of new chunks to their blocks, in any order.
INSERT INTO weft.posting AS p (namespace, term, block, entries)
SELECT n.namespace, a.term, a.block, a.entries
FROM weft.namespace AS n
CROSS JOIN unnest(:terms::text[], :blocks::bigint[], :entries::bytea[]) AS a (term, block, entries)
WHERE n.namespace = :namespace
ON CONFLICT (namespace, term, block) DO UPDATE SET entries = p.entries || excluded.entries;

-- name: postings_of
-- Numbers, bytes and entries of all blocks of each term. One row per block would cost the client more.
SELECT p.term, array_agg(p.block), array_agg(length(p.entries)), string_agg(p.entries, ''::bytea)
FROM weft.posting AS p
WHERE p.namespace = :namespace AND p.term = ANY (:terms::text[])
GROUP BY p.term;

-- name: first_postings
-- For each term: the document frequency, its pending changes (new entries, then chunks whose stored entry is outdated), and
-- the stored postings of the rarer ones, which are the rarest and others up to a total number.
WITH pending AS MATERIALIZED (
    SELECT k.number, k.length, k.terms || '{}' AS terms FROM weft.chunk AS k  -- decompresses them once
    WHERE k.namespace = :namespace AND k.number = ANY (ARRAY({pending_numbers()}))
), outdated AS MATERIALIZED ({outdated()}), counted AS MATERIALIZED (
    SELECT t.term, coalesce(s.chunks, 0) + cardinality(new.numbers) - cardinality(old.numbers) AS chunks,
        new.numbers, new.lengths, new.frequencies, old.numbers AS outdated
    FROM unnest(:terms::text[]) AS t (term)
    LEFT JOIN weft.term AS s ON s.namespace = :namespace AND s.term = t.term
    CROSS JOIN LATERAL (
        SELECT coalesce(array_agg(p.number ORDER BY p.number), '{}') AS numbers,
            coalesce(array_agg(p.length ORDER BY p.number), '{}') AS lengths,
            coalesce(array_agg((p.terms -> t.term)::integer ORDER BY p.number), '{}') AS frequencies
        FROM pending AS p WHERE p.terms ? t.term
    ) AS new
    CROSS JOIN LATERAL (
        SELECT coalesce(array_agg(o.number ORDER BY o.number), '{}') AS numbers FROM outdated AS o WHERE o.terms ? t.term
    ) AS old
), ranked AS MATERIALIZED (
    SELECT c.*, c.chunks > 0 AND (
        row_number() OVER (ORDER BY c.chunks = 0, c.chunks, c.term) = 1
        OR sum(c.chunks) OVER (ORDER BY c.chunks, c.term) <= :most::bigint
    ) AS is_read
    FROM counted AS c
)
SELECT r.term, r.chunks, r.numbers, r.lengths, r.frequencies, r.outdated, f.blocks, f.sizes, f.entries FROM ranked AS r
CROSS JOIN LATERAL (
    SELECT array_agg(p.block) AS blocks, array_agg(length(p.entries)) AS sizes,
        string_agg(p.entries, ''::bytea) AS entries
    FROM weft.posting AS p
    WHERE p.namespace = :namespace AND p.term = r.term AND r.is_read AND :most::bigint > 0
) AS f;

-- name: postings_at
SELECT f.term, f.block, f.entries FROM unnest(:terms::text[], :blocks::bigint[]) AS w (term, block)
CROSS JOIN LATERAL (  -- LIMIT keeps the join order
    SELECT p.term, p.block, p.entries FROM weft.posting AS p
    WHERE p.namespace = :namespace AND p.term = w.term AND p.block = w.block
    LIMIT 1
) AS f;

-- name: count_term
INSERT INTO weft.term (namespace, term, chunks)
SELECT n.namespace, t.term, t.chunks
FROM weft.namespace AS n CROSS JOIN jsonb_to_recordset(:counts::jsonb) AS t (term text, chunks bigint)
WHERE n.namespace = :namespace
ON CONFLICT (namespace, term) DO UPDATE SET chunks = weft.term.chunks + excluded.chunks;

-- name: drop_terms
DELETE FROM weft.term WHERE namespace = :namespace AND term = ANY (:terms::text[]) AND chunks <= 0;

-- name: set_counts
-- Counts after which the pending ones result in these.
UPDATE weft.namespace AS n
SET chunks = :chunks - d.chunks, length = :length - d.length, generation = n.generation + 1
FROM (
    SELECT coalesce(sum(p.chunks), 0) AS chunks, coalesce(sum(p.length), 0) AS length FROM weft.write_delta AS p
    WHERE p.namespace = :namespace
) AS d
WHERE n.namespace = :namespace;

-- name: bad_vectors
SELECT count(*) FROM weft.model AS m JOIN weft.chunk_vector AS v ON v.namespace = :namespace AND v.model = m.number
WHERE m.namespace = :namespace AND vector_dims(v.vector) <> m.dimension;

-- name: delete_bad_vectors
DELETE FROM weft.chunk_vector AS v USING weft.model AS m
WHERE v.namespace = :namespace AND m.namespace = :namespace AND m.number = v.model
    AND vector_dims(v.vector) <> m.dimension;

-- name: search_fact_vectors
SELECT v.key, 1 - (v.vector <=> :vector::vector) AS score FROM weft.fact_vector AS v
WHERE v.namespace = :namespace AND v.model = :model
ORDER BY score DESC, v.key
LIMIT :limit;

-- name: search_fact_vectors_index
WITH near AS MATERIALIZED (
    SELECT v.key, v.vector FROM weft.fact_vector AS v
    WHERE v.namespace = :namespace AND v.model = :model AND vector_dims(v.vector) = {dimension}
    ORDER BY v.vector::halfvec({dimension}) <=> :vector::vector::halfvec({dimension})
    LIMIT :looks
)
SELECT near.key, 1 - (near.vector <=> :vector::vector) AS score FROM near
ORDER BY score DESC, near.key
LIMIT :limit;

-- name: terms_among
SELECT c.id, ARRAY(SELECT t.value FROM texts(:terms) AS t WHERE c.terms ? t.value)
FROM weft.chunk AS c
WHERE c.namespace = :namespace AND c.id IN texts(:ids);
