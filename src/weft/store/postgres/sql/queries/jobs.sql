-- Job queue. Transactions without the namespace lock skip rows that others have locked; they never wait, so there is
-- no deadlock.

-- name: read_clock
SELECT extract(EPOCH FROM now())::double precision;

-- name: pick_jobs
SELECT id, run, source, content_hash, recipe, payload, attempts, error FROM weft.job
WHERE namespace = :namespace AND recipe = :recipe AND attempts BETWEEN :lowest AND :highest
    AND (state = 'waiting' OR (state = 'running' AND expires <= :at))
ORDER BY attempts, id
LIMIT :limit
FOR UPDATE SKIP LOCKED;

-- name: claim_jobs
UPDATE weft.job SET state = 'running', attempts = attempts + 1, worker = :worker, expires = :expires
WHERE namespace = :namespace AND id IN (SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value));

-- name: give_up_jobs
UPDATE weft.job SET state = 'failed', worker = '', error = CASE WHEN error = '' THEN :error ELSE error END
WHERE namespace = :namespace AND id IN (SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value));

-- name: held_jobs
SELECT id FROM weft.job WHERE namespace = :namespace AND worker = :worker AND state = 'running' FOR UPDATE SKIP LOCKED;

-- name: renew_jobs
UPDATE weft.job SET expires = :expires
WHERE namespace = :namespace AND id IN (SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value));

-- name: release_jobs
UPDATE weft.job SET state = 'waiting', worker = '', attempts = attempts - :back
WHERE namespace = :namespace AND id IN (SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value));

-- name: done_jobs
SELECT id, run, source, content_hash, recipe, attempts, result FROM weft.job
WHERE namespace = :namespace AND run = :run AND state = 'done'
ORDER BY id
LIMIT :limit
FOR UPDATE SKIP LOCKED;

-- name: delete_jobs
DELETE FROM weft.job
WHERE namespace = :namespace AND id IN (SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value));

-- name: discard_jobs
DELETE FROM weft.job
WHERE namespace = :namespace AND state <> 'done'
    AND id IN (SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value));

-- name: expired_jobs
SELECT id FROM weft.job WHERE namespace = :namespace AND state = 'done' AND expires <= :at FOR UPDATE SKIP LOCKED;
